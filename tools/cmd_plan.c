// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "explanation.h"

static const char help[] =
    "usage: kallima plan LENGTHS [OPTION]...\n"
    "\n"
    "Show how a transform would be computed: its recipe, its passes, and what they "
    "cost.\n"
    "LENGTHS is one length or up to 8 with x between them, the last axis contiguous:\n"
    "4096, 1024x1024.\n"
    "\n"
    "  --kind KIND        c2c (the default), r2c or c2r\n"
    "  --precision P      f32 (the default) or f64\n"
    "  --batch B          number of transforms (1)\n"
    "  --inverse          the inverse transform\n"
    "  --in-place         the output takes the place of the input\n"
    "  --recipe TEXT      follow this recipe instead of choosing one\n"
    "  --planning MODE    default: follow wisdom of this problem if there is any; "
    "fixed:\n"
    "                     never; wisdom-only: fail if there is none\n"
    "  --source LANGUAGE  print the kernels instead, each under its passes, in opencl, "
    "cuda,\n"
    "                     opengl, opengles, vulkan or d3d11: for the device given, which "
    "must\n"
    "                     take that language, else for a GPU that need not be here\n"
    "  --explain          say behind it where the plan comes from, what else there was, "
    "what is\n"
    "                     predicted and was measured of each, and why this one was "
    "chosen\n"
    "  --all              with --explain: show all that there was, not the best 20\n"
    "  --json             one JSON object\n";

static const char *const kinds[] = { "c2c", "r2c", "c2r" };
static const char *const precisions[] = { "f32", "f64" };
static const char *const languages[] = { "opencl",   "cuda",   "opengl",
                                         "opengles", "vulkan", "d3d11" };
static const char *const plannings[] = { "default", "fixed", "wisdom-only" };
static const char *const imagined[] = { "nullopencl",   "nullcuda",   "nullopengl",
                                        "nullopengles", "nullvulkan", "nulld3d11" };

/** What the command line asks for. */
struct request {
    kallima_desc desc;
    const char *recipe;
    int planning;         // kallima_planning
    const char *source;   // a language; NULL: no kernels
    const char *imagined; // the device that writes it where none is given
    bool explains, all, json;
};

typedef kallima_status text_writer(const kallima_plan *plan, char *text, size_t capacity,
                                   size_t *length);

// A text that the library writes about the plan; the caller frees. NULL: the error is said.
static char *plan_text(text_writer *writer, const kallima_plan *plan)
{
    size_t length = 0;
    if (writer(plan, NULL, 0, &length) != KALLIMA_OK) {
        cli_fail("%s", kallima_last_error());
        return NULL;
    }
    char *text = malloc(length + 1);
    if (!text) {
        cli_fail("no memory for the plan's text");
    } else if (writer(plan, text, length + 1, NULL) != KALLIMA_OK) {
        cli_fail("%s", kallima_last_error());
        free(text);
        text = NULL;
    }
    return text;
}

// The description begins each line with a word of up to 8 letters; so does this.
static void print_people(const char *recipe, const char *text,
                         const kallima_plan_cost *cost)
{
    (void)recipe; // the description has it
    fputs(text, stdout);
    printf("cost     %" PRId32 " passes, %" PRIu64 " bytes read and written\n",
           cost->passes, cost->bytes);
    printf("         %.0f operations, nominal %.0f\n", cost->operations,
           cost->nominal_operations);
    printf("         workspace of %" PRIu64 " bytes\n", cost->workspace_bytes);
}

static void print_json(const char *recipe, const char *text,
                       const kallima_plan_cost *cost)
{
    fputs("{\"recipe\": ", stdout);
    cli_print_json(recipe);
    printf(", \"passes\": %" PRId32 ", \"bytes\": %" PRIu64
           ", \"operations\": %.0f, \"nominal_operations\": %.0f"
           ", \"workspace_bytes\": %" PRIu64 ", \"description\": ",
           cost->passes, cost->bytes, cost->operations, cost->nominal_operations,
           cost->workspace_bytes);
    cli_print_json(text);
}

// What --explain adds to the plan; nothing for NULL.
static void print_explanation(const struct explanation *explanation,
                              const struct request *request)
{
    if (explanation && request->json)
        fputs(", \"explanation\": ", stdout);
    if (explanation && request->json)
        explanation_print_json(explanation);
    else if (explanation)
        explanation_print(explanation, request->all);
    fputs(request->json ? "}\n" : "", stdout);
}

static int print_plan(const kallima_plan *plan, kallima_device *device,
                      const struct request *request)
{
    struct explanation *explanation = NULL;
    kallima_plan_cost cost;

    if (kallima_plan_get_cost(plan, &cost) != KALLIMA_OK)
        return cli_fail("%s", kallima_last_error());
    if (request->explains && !(explanation = explanation_create(plan, device)))
        return CLI_FAILED;
    char *recipe = plan_text(kallima_plan_get_recipe, plan);
    char *text = recipe ? plan_text(kallima_plan_describe, plan) : NULL;
    if (text) {
        (request->json ? print_json : print_people)(recipe, text, &cost);
        print_explanation(explanation, request);
    }
    const int status = text ? CLI_OK : CLI_FAILED;
    free(recipe);
    free(text);
    explanation_destroy(&explanation);
    return status;
}

// The length of the first line, its newline included.
static size_t line_length(const char *text)
{
    const size_t length = strcspn(text, "\n");
    return length + (text[length] == '\n');
}

// Print, as comments, what the description says of the passes of the next kernel: of one,
// or of all of a phase if they meet in the scratch of a chunk. Returns what follows them.
static const char *print_passes(const char *description)
{
    const char *line = description;
    while (*line && strncmp(line, "pass ", 5) != 0)
        line += line_length(line);
    const char *end = line;
    while (strncmp(end, "pass ", 5) == 0)
        end += line_length(end);
    const char *chunk = strstr(line, " chunk");
    if (!chunk || chunk >= end)
        end = line + line_length(line);

    for (; line < end; line += line_length(line))
        printf("// %.*s", (int)line_length(line), line);
    return end;
}

// The texts of all kernels begin with the same line, which tells them apart.
static void print_kernels(const char *description, const char *source)
{
    const size_t first = line_length(source);
    const char *passes = description;
    size_t length;

    for (const char *line = source; *line; line += length) {
        length = line_length(line);
        if (length == first && memcmp(line, source, length) == 0) {
            fputs(line == source ? "" : "\n", stdout);
            passes = print_passes(passes);
        }
        fwrite(line, 1, length, stdout);
    }
}

static int print_source(const kallima_plan *plan, bool json)
{
    char *source = plan_text(kallima_plan_get_source, plan);
    char *description = source ? plan_text(kallima_plan_describe, plan) : NULL;
    const int status = description ? CLI_OK : CLI_FAILED;
    if (description && json) {
        fputs("{\"source\": ", stdout);
        cli_print_json(source);
        puts("}");
    } else if (description) {
        print_kernels(description, source);
    }
    free(source);
    free(description);
    return status;
}

// "1024x768" -> rank and n.
static bool parse_lengths(const char *text, kallima_desc *desc)
{
    char digits[32];
    for (desc->rank = 0; desc->rank < KALLIMA_MAX_RANK;) {
        const size_t length = strcspn(text, "x");
        if (length >= sizeof digits)
            return false;
        memcpy(digits, text, length);
        digits[length] = '\0';
        if (!cli_parse_int64(digits, 1, INT64_MAX, &desc->n[desc->rank]))
            return false;
        desc->rank++;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
    return false;
}

// Take the option `code` into the request. Returns CLI_OK or CLI_USAGE.
static int take_option(const struct cli *cli, int code, struct request *request)
{
    kallima_desc *desc = &request->desc;
    int choice = 0;
    switch (code) {
    case 'k':
        if (!cli_choose(cli, "--kind", optarg, kinds, CLI_COUNT(kinds), &choice))
            return CLI_USAGE;
        desc->kind = choice;
        return CLI_OK;
    case 'p':
        if (!cli_choose(cli, "--precision", optarg, precisions, CLI_COUNT(precisions),
                        &choice))
            return CLI_USAGE;
        desc->precision = choice;
        return CLI_OK;
    case 'b':
        if (!cli_parse_int64(optarg, 1, INT64_MAX, &desc->batch))
            return cli_usage(cli, "--batch %s: must be a positive integer", optarg);
        return CLI_OK;
    case 'i': desc->direction = KALLIMA_INVERSE; return CLI_OK;
    case 'P': desc->placement = KALLIMA_IN_PLACE; return CLI_OK;
    case 'r': request->recipe = optarg; return CLI_OK;
    case 'm':
        if (!cli_choose(cli, "--planning", optarg, plannings, CLI_COUNT(plannings),
                        &request->planning))
            return CLI_USAGE;
        return CLI_OK;
    case 's':
        if (!cli_choose(cli, "--source", optarg, languages, CLI_COUNT(languages),
                        &choice))
            return CLI_USAGE;
        request->source = languages[choice];
        request->imagined = imagined[choice];
        return CLI_OK;
    case 'e': request->explains = true; return CLI_OK;
    case 'a': request->all = true; return CLI_OK;
    case 'j': request->json = true; return CLI_OK;
    default: return CLI_USAGE;
    }
}

// A device is named after the language of its kernels. Returns CLI_OK or another status.
static int check_language(const struct cli *cli, const kallima_device *device,
                          const struct request *request)
{
    kallima_device_info info;
    char language[sizeof info.selector + 2];
    if (kallima_device_get_info(device, &info) != KALLIMA_OK)
        return cli_fail("%s", kallima_last_error());
    snprintf(language, sizeof language, "%.*s%s", (int)strcspn(info.selector, ":"),
             info.selector, strncmp(info.driver, "OpenGL ES", 9) == 0 ? "es" : "");
    if (strcmp(info.selector, request->imagined) == 0 ||
        strcmp(language, request->source) == 0)
        return CLI_OK;
    return cli_usage(cli, "--source %s: the device %s takes no kernels in that language",
                     request->source, info.selector);
}

static int run(const struct cli *cli, const struct request *request)
{
    const kallima_plan_options options = {
        .recipe = request->recipe,
        .without_workspace = 1, // nothing is executed
        .planning = request->planning,
    };
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    if (!cli_open_device(cli, &device))
        return CLI_FAILED;

    int status = CLI_OK;
    if (request->source)
        status = check_language(cli, device, request);
    if (status == CLI_OK &&
        kallima_plan_create(&plan, device, &request->desc, &options) != KALLIMA_OK)
        status = cli_fail("%s", kallima_last_error());
    if (status == CLI_OK)
        cli_warn_of_wisdom();
    if (status == CLI_OK)
        status = request->source ? print_source(plan, request->json)
                                 : print_plan(plan, device, request);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    return status;
}

int cmd_plan(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "kind", required_argument, NULL, 'k' },
        { "precision", required_argument, NULL, 'p' },
        { "batch", required_argument, NULL, 'b' },
        { "inverse", no_argument, NULL, 'i' },
        { "in-place", no_argument, NULL, 'P' },
        { "recipe", required_argument, NULL, 'r' },
        { "planning", required_argument, NULL, 'm' },
        { "source", required_argument, NULL, 's' },
        { "explain", no_argument, NULL, 'e' },
        { "all", no_argument, NULL, 'a' },
        { "json", no_argument, NULL, 'j' },
        { 0 },
    };
    struct request request = { 0 };
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h')
            return cli_print_help(help);
        if (take_option(cli, code, &request) != CLI_OK)
            return CLI_USAGE;
    }
    if (argc - optind != 1)
        return cli_usage(cli, "the lengths are needed as one argument, %d are given",
                         argc - optind);
    if (!parse_lengths(argv[optind], &request.desc))
        return cli_usage(cli, "%s: must be 1 to %d positive lengths with x between them",
                         argv[optind], KALLIMA_MAX_RANK);
    if (request.desc.kind == KALLIMA_R2C && request.desc.direction == KALLIMA_INVERSE)
        return cli_usage(cli, "--inverse: r2c is forward only; its inverse is c2r");
    if (request.explains && request.source)
        return cli_usage(cli, "--explain and --source exclude each other");
    if (request.all && !request.explains)
        return cli_usage(cli, "--all goes with --explain");
    struct cli chosen = *cli;
    if (!chosen.device)
        chosen.device = request.imagined;
    return run(&chosen, &request);
}
