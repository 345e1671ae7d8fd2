// SPDX-License-Identifier: MIT
// What every subcommand shares: the common options, messages, numbers from text.
//
// A subcommand returns its exit status: CLI_OK, CLI_FAILED or CLI_USAGE. The common options
// (--device, --threads, --simd) are taken out of argv before the subcommand sees it;
// argv[0] is the subcommand's name, so that getopt_long() works as usual. --help is the
// subcommand's: print to stdout, return CLI_OK.
#ifndef KALLIMA_TOOLS_CLI_H_
#define KALLIMA_TOOLS_CLI_H_

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kallima/kallima.h>

#define CLI_COUNT(array)        (sizeof(array) / sizeof((array)[0]))
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/** The common options. */
struct cli {
    const char *command; // the subcommand as the user knows it: "image filter"
    const char *device;  // --device; NULL: the library chooses
    const char *simd;    // --simd; NULL: the best
    int32_t threads;     // --threads; 0: the library chooses
};

/** The options of every command, for the end of a help text. */
extern const char cli_common_help[];

/** Print a command's help and the common options on stdout; return CLI_OK. */
int cli_print_help(const char *text);

/** Print "kallima: <sentence>" on stderr and return CLI_FAILED. */
int cli_fail(const char *fmt, ...) CLI_PRINTF(1, 2);

/** Print "kallima: <command>: <sentence>" and where the help is; return CLI_USAGE. */
int cli_usage(const struct cli *cli, const char *fmt, ...) CLI_PRINTF(2, 3);

/**
 * Call getopt_long() with long options only. On an unknown option, an option that lacks
 * its argument or one that takes none, print the usage error and return '?'.
 */
int cli_getopt(const struct cli *cli, int argc, char **argv,
               const struct option *options);

/**
 * Open the device that the common options ask for; on failure print why. Damaged wisdom is
 * no failure, but said.
 *
 * Owner: the caller frees *out with kallima_device_close().
 */
bool cli_open_device(const struct cli *cli, kallima_device **out);

/** Print what the library said about wisdom that it leaves alone, if it did; once. */
void cli_warn_of_wisdom(void);

/** Print `text` as a JSON string on stdout. */
void cli_print_json(const char *text);

/** Read a whole decimal integer from low to high; false if `text` is anything else. */
bool cli_parse_int64(const char *text, int64_t low, int64_t high, int64_t *out);

/** Read a finite decimal number; *end is what follows it. False if there is none. */
bool cli_parse_number(const char *text, double *out, const char **end);

/** Read `optarg`, of `option`, as seconds from low to high; false: it is none, which is said. */
bool cli_parse_seconds(const struct cli *cli, const char *option, double low, double high,
                       double *out);

/** Return the index of `text` in `names`, or -1. */
int cli_find(const char *text, const char *const *names, int count);

/** As cli_find() for an option's value; print the usage error if it is none of `names`. */
bool cli_choose(const struct cli *cli, const char *option, const char *text,
                const char *const *names, int count, int *out);

#endif
