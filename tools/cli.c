// SPDX-License-Identifier: MIT
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_common_help[] =
    "Options of every command:\n"
    "  --device SELECTOR  the device to use, such as cpu; see kallima devices\n"
    "                     (default: $KALLIMA_DEVICE, else the best one present)\n"
    "  --threads N        threads of the cpu device (default: $OMP_NUM_THREADS, else "
    "all)\n"
    "  --simd LEVEL       scalar, sse2, avx2, avx512 or neon, for the cpu "
    "device\n"
    "  --help             explain the command\n"
    "  --version          print the version\n";

int cli_print_help(const char *text)
{
    printf("%s\n%s", text, cli_common_help);
    return CLI_OK;
}

int cli_fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("kallima: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return CLI_FAILED;
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
    const bool named = cli->command[0] != '\0';
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "kallima: %s%s", cli->command, named ? ": " : "");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "; see kallima %s%s--help\n", cli->command, named ? " " : "");
    va_end(args);
    return CLI_USAGE;
}

// Say what getopt_long() disliked about the argument that it has just left behind.
static void explain(const struct cli *cli, char **argv, const struct option *options)
{
    const char *argument = argv[optind - 1];
    if (strncmp(argument, "--", 2) != 0) {
        cli_usage(cli, "unknown option -%c", optopt);
        return;
    }
    for (; options->name; options++) {
        if (optopt != 0 && options->val == optopt) {
            cli_usage(cli, "--%s takes no value", options->name);
            return;
        }
    }
    cli_usage(cli, "unknown option %s", argument);
}

int cli_getopt(const struct cli *cli, int argc, char **argv, const struct option *options)
{
    opterr = 0;
    const int code = getopt_long(argc, argv, ":", options, NULL);
    if (code == ':')
        cli_usage(cli, "%s needs a value", argv[optind - 1]);
    else if (code == '?')
        explain(cli, argv, options);
    return code == ':' ? '?' : code;
}

// The last sentence about wisdom, which is no failure of a command.
static char sentence[1024];

static void hear(void *user, kallima_status status, const char *text)
{
    (void)user;
    if (status == KALLIMA_E_WISDOM)
        snprintf(sentence, sizeof sentence, "%s", text);
}

void cli_warn_of_wisdom(void)
{
    if (sentence[0])
        cli_fail("%s", sentence);
    sentence[0] = '\0';
}

bool cli_open_device(const struct cli *cli, kallima_device **out)
{
    const kallima_device_options options = {
        .log = hear,
        .threads = cli->threads,
        .simd = cli->simd,
    };
    if (kallima_device_open(out, cli->device, &options) == KALLIMA_OK) {
        cli_warn_of_wisdom();
        return true;
    }
    cli_fail("%s", kallima_last_error());
    return false;
}

bool cli_parse_int64(const char *text, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool cli_parse_number(const char *text, double *out, const char **end)
{
    char *stop;
    const double value = strtod(text, &stop);
    if (stop == text || !isfinite(value))
        return false;
    *out = value;
    *end = stop;
    return true;
}

bool cli_parse_seconds(const struct cli *cli, const char *option, double low, double high,
                       double *out)
{
    const char *end;
    if (cli_parse_number(optarg, out, &end) && *end == '\0' && *out >= low &&
        *out <= high)
        return true;
    cli_usage(cli, "%s %s: must be a number of seconds from %g to %.0f", option, optarg,
              low, high);
    return false;
}

int cli_find(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0)
            return i;
    }
    return -1;
}

bool cli_choose(const struct cli *cli, const char *option, const char *text,
                const char *const *names, int count, int *out)
{
    char list[256] = "";
    const int found = cli_find(text, names, count);
    if (found >= 0) {
        *out = found;
        return true;
    }
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    cli_usage(cli, "%s %s: must be one of %s", option, text, list);
    return false;
}

void cli_print_json(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}
