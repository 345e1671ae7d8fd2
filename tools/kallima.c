// SPDX-License-Identifier: MIT
// The command line program: finds the subcommand in a table and runs it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "file.h"

// clang-format off
static const struct {
    const char *name; // one word, or a group and a word
    command *run;
    const char *summary;
} commands[] = {
    { "devices",        cmd_devices,        "list the devices that are present" },
    { "image filter",   cmd_image_filter,   "low-pass, high-pass, band-pass or band-stop an image" },
    { "image spectrum", cmd_image_spectrum, "show the spectrum of an image" },
    { "image convolve", cmd_image_convolve, "convolve an image with a kernel" },
    { "transform",      cmd_transform,      "transform a NumPy array" },
    { "plan",           cmd_plan,           "show how a transform would be computed" },
    { "codelet",        cmd_codelet,        "count or print a short transform" },
    { "verify",         cmd_verify,         "check the accuracy on this device" },
    { "bench",          cmd_bench,          "measure the speed on this device" },
    { "compare",        cmd_compare,        "compare devices and libraries, and draw a report" },
    { "good-size",      cmd_good_size,      "the next length that is fast here" },
    { "tune",           cmd_tune,           "find the fastest plans, and keep them" },
    { "wisdom list",    cmd_wisdom_list,    "list what tuning learnt" },
    { "wisdom show",    cmd_wisdom_show,    "show it whole, and what of it is used" },
    { "wisdom merge",   cmd_wisdom_merge,   "merge files of wisdom into one" },
    { "wisdom forget",  cmd_wisdom_forget,  "take entries out of a file of wisdom" },
    { "wisdom check",   cmd_wisdom_check,   "say which lines and entries are refused" },
};
// clang-format on

// Print the help of the program, or of the group of commands that begins with `group`.
static int print_help(const char *group)
{
    const size_t length = strlen(group);
    printf("usage: kallima %s%sCOMMAND [OPTION]...\n\nCommands:\n", group,
           length ? " " : "");
    for (size_t i = 0; i < CLI_COUNT(commands); i++) {
        if (length == 0 || (strncmp(commands[i].name, group, length) == 0 &&
                            commands[i].name[length] == ' '))
            printf("  %-15s %s\n", commands[i].name, commands[i].summary);
    }
    printf("\n%s\nkallima COMMAND --help explains a command.\n", cli_common_help);
    return CLI_OK;
}

static bool is_group(const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i < CLI_COUNT(commands); i++) {
        if (strncmp(commands[i].name, word, length) == 0 &&
            commands[i].name[length] == ' ')
            return true;
    }
    return false;
}

// Store the text after "--name=" or in the next argument, if argv[i] is the option `name`.
// Returns how many arguments that takes; 0: it is another option; -1: the value lacks.
static int match_option(const char *name, char **argv, int i, const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(argv[i], name, length) != 0)
        return 0;
    if (argv[i][length] == '=') {
        *value = argv[i] + length + 1;
        return 1;
    }
    if (argv[i][length] != '\0')
        return 0;
    *value = argv[i + 1];
    return *value ? 2 : -1;
}

// Take the common options out of argv, wherever they stand before "--".
static bool take_common(struct cli *cli, int *argc, char **argv)
{
    static const char *const names[] = { "--device", "--simd", "--threads" };
    const char *threads = NULL;
    const char **const values[] = { &cli->device, &cli->simd, &threads };
    int kept = 1;
    for (int i = 1; i < *argc;) {
        int taken = 0;
        if (strcmp(argv[i], "--") == 0) {
            while (i < *argc)
                argv[kept++] = argv[i++];
            break;
        }
        for (size_t k = 0; k < CLI_COUNT(names) && taken == 0; k++)
            taken = match_option(names[k], argv, i, values[k]);
        if (taken < 0) {
            cli_usage(cli, "%s needs a value", argv[i]);
            return false;
        }
        if (taken == 0)
            argv[kept++] = argv[i];
        i += taken ? taken : 1;
    }
    *argc = kept;
    argv[kept] = NULL;

    int64_t count = 0;
    if (threads && !cli_parse_int64(threads, 1, 4096, &count)) {
        cli_usage(cli, "--threads %s: must be an integer from 1 to 4096", threads);
        return false;
    }
    cli->threads = (int32_t)count;
    return true;
}

// Run the command that the first word, or the first two, name.
static int dispatch(struct cli *cli, int argc, char **argv)
{
    const bool group = is_group(argv[1]);
    if (group && (!argv[2] || strcmp(argv[2], "--help") == 0)) {
        if (argv[2])
            return print_help(argv[1]);
        return cli_usage(cli, "%s needs a command", argv[1]);
    }
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", argv[1], group ? " " : "",
             group ? argv[2] : "");
    for (size_t i = 0; i < CLI_COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            cli->command = commands[i].name;
            return commands[i].run(cli, argc - 1 - group, argv + 1 + group);
        }
    }
    return cli_usage(cli, "unknown command %s", name);
}

static bool has_option(const char *name, char **argv)
{
    for (argv++; *argv && strcmp(*argv, "--") != 0; argv++) {
        if (strcmp(*argv, name) == 0)
            return true;
    }
    return false;
}

static int run(struct cli *cli, int argc, char **argv)
{
    if (!take_common(cli, &argc, argv))
        return CLI_USAGE;
    if (has_option("--version", argv)) {
        printf("kallima %s\n", kallima_version());
        return CLI_OK;
    }
    if (argc < 2)
        return cli_usage(cli, "a command is needed");
    if (strcmp(argv[1], "--help") == 0)
        return print_help("");
    if (argv[1][0] == '-')
        return cli_usage(cli, "unknown option %s", argv[1]);
    return dispatch(cli, argc, argv);
}

int main(int argc, char **argv)
{
    struct cli cli = { .command = "" };
    output_catch_signals();
    const int status = run(&cli, argc, argv);
    const bool was_lost = ferror(stdout);
    errno = 0; // the flush meets again what an earlier write met
    const bool written = fflush(stdout) == 0 && !was_lost;
    if (written || status != CLI_OK)
        return status;
    return errno ? cli_fail("cannot write to standard output: %s", strerror(errno))
                 : cli_fail("cannot write to standard output"); // the cause is gone
}
