// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

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
    "  --source LANGUAGE  print the kernels, in opencl or cuda, for the device given, "
    "else\n"
    "                     for a GPU that need not be here\n"
    "  --json             one JSON object\n";

static const char *const kinds[] = { "c2c", "r2c", "c2r" };
static const char *const precisions[] = { "f32", "f64" };
static const char *const languages[] = { "opencl", "cuda" };
static const char *const imagined[] = { "nullopencl", "nullcuda" };

/** What the command line asks for. */
struct request {
    kallima_desc desc;
    const char *recipe;
    const char *source; // a language; NULL: no kernels
    bool json;
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
    puts("}");
}

static int print_plan(const kallima_plan *plan, bool json)
{
    kallima_plan_cost cost;
    if (kallima_plan_get_cost(plan, &cost) != KALLIMA_OK)
        return cli_fail("%s", kallima_last_error());
    char *recipe = plan_text(kallima_plan_get_recipe, plan);
    char *text = recipe ? plan_text(kallima_plan_describe, plan) : NULL;
    if (text)
        (json ? print_json : print_people)(recipe, text, &cost);
    const int status = text ? CLI_OK : CLI_FAILED;
    free(recipe);
    free(text);
    return status;
}

static int print_source(const kallima_plan *plan, bool json)
{
    char *text = plan_text(kallima_plan_get_source, plan);
    if (!text)
        return CLI_FAILED;
    if (json) {
        fputs("{\"source\": ", stdout);
        cli_print_json(text);
        puts("}");
    } else {
        fputs(text, stdout);
    }
    free(text);
    return CLI_OK;
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
    case 's':
        if (!cli_choose(cli, "--source", optarg, languages, CLI_COUNT(languages),
                        &choice))
            return CLI_USAGE;
        request->source = languages[choice];
        return CLI_OK;
    case 'j': request->json = true; return CLI_OK;
    default: return CLI_USAGE;
    }
}

// The device that writes kernels in the language asked for. Returns CLI_OK or CLI_USAGE.
static int choose_device(struct cli *cli, const char *language)
{
    const int which = cli_find(language, languages, CLI_COUNT(languages));
    const char *device = cli->device;
    if (!device)
        cli->device = imagined[which];
    else if (strncmp(device, language, strlen(language)) != 0 &&
             strcmp(device, imagined[which]) != 0)
        return cli_usage(cli, "--source %s: the device %s writes none", language, device);
    return CLI_OK;
}

static int run(const struct cli *cli, const struct request *request)
{
    const kallima_plan_options options = { .recipe = request->recipe };
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    if (!cli_open_device(cli, &device))
        return CLI_FAILED;

    int status;
    if (kallima_plan_create(&plan, device, &request->desc, &options) != KALLIMA_OK)
        status = cli_fail("%s", kallima_last_error());
    else if (request->source)
        status = print_source(plan, request->json);
    else
        status = print_plan(plan, request->json);
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
        { "source", required_argument, NULL, 's' },
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
    struct cli chosen = *cli;
    if (request.source && choose_device(&chosen, request.source) != CLI_OK)
        return CLI_USAGE;
    return run(&chosen, &request);
}
