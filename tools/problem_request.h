// SPDX-License-Identifier: MIT
// The options that say which problems a command is about, and the problems that they name.
#ifndef KALLIMA_TOOLS_PROBLEM_REQUEST_H_
#define KALLIMA_TOOLS_PROBLEM_REQUEST_H_

#include "bench_problem.h"
#include "cli.h"

/** Codes of the options; a command's own begin at PROBLEM_OPTION_END. */
enum problem_option {
    PROBLEM_OPTION_CASES = 1,
    PROBLEM_OPTION_KIND,
    PROBLEM_OPTION_PRECISION,
    PROBLEM_OPTION_BATCH,
    PROBLEM_OPTION_INVERSE,
    PROBLEM_OPTION_IN_PLACE,
    PROBLEM_OPTION_END
};

/** Rows of a command's table of options, and their part of its help. */
#define PROBLEM_OPTION_ROWS                                                 \
    { "cases", required_argument, NULL, PROBLEM_OPTION_CASES },             \
        { "kind", required_argument, NULL, PROBLEM_OPTION_KIND },           \
        { "precision", required_argument, NULL, PROBLEM_OPTION_PRECISION }, \
        { "batch", required_argument, NULL, PROBLEM_OPTION_BATCH },         \
        { "inverse", no_argument, NULL, PROBLEM_OPTION_INVERSE },           \
    {                                                                       \
        "in-place", no_argument, NULL, PROBLEM_OPTION_IN_PLACE              \
    }

#define PROBLEM_OPTION_HELP                                           \
    "Problems:\n"                                                     \
    "  --cases FILE        one a line: kind precision lengths batch " \
    "[inverse] [in-place]\n"                                          \
    "                      [planar] [stride=S] [distance=D]\n"        \
    "  --kind KIND         c2c (default), r2c or c2r\n"               \
    "  --precision P       f32 (default) or f64\n"                    \
    "  --batch N           transforms at once (default: 1)\n"         \
    "  --inverse           exp(+2*pi*i*j*k/n)\n"                      \
    "  --in-place          output over the input\n"

/** What they say. All zero is the default. */
struct problem_request {
    kallima_desc common; // all of a problem but its lengths
    const char *cases;
};

/** Take the option `id`, with its value in optarg; false: it is none of these, or is told. */
bool problem_request_take(const struct cli *cli, int id, struct problem_request *request);

/**
 * Collect the problems of the request: its cases, or one for each text of lengths up to NULL.
 * Returns CLI_OK, or the status of the failure that it has told.
 */
int problem_request_collect(const struct cli *cli, const struct problem_request *request,
                            const char *const *text, struct problems *problems);

#endif
