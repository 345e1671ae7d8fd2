// SPDX-License-Identifier: MIT
#include "problem_request.h"

bool problem_request_take(const struct cli *cli, int id, struct problem_request *request)
{
    kallima_desc *common = &request->common;

    switch ((enum problem_option)id) {
    case PROBLEM_OPTION_CASES: request->cases = optarg; return true;
    case PROBLEM_OPTION_KIND:
        return cli_choose(cli, "--kind", optarg, problem_kinds, KALLIMA_KIND_COUNT,
                          &common->kind);
    case PROBLEM_OPTION_PRECISION:
        return cli_choose(cli, "--precision", optarg, problem_precisions,
                          KALLIMA_PRECISION_COUNT, &common->precision);
    case PROBLEM_OPTION_BATCH:
        if (cli_parse_int64(optarg, 1, INT64_MAX, &common->batch))
            return true;
        cli_usage(cli, "--batch %s: must be an integer of at least 1", optarg);
        return false;
    case PROBLEM_OPTION_INVERSE: common->direction = KALLIMA_INVERSE; return true;
    case PROBLEM_OPTION_IN_PLACE: common->placement = KALLIMA_IN_PLACE; return true;
    case PROBLEM_OPTION_END: break;
    }
    return false;
}

// The command line has more than one way to be wrong.
static int check(const struct cli *cli, const struct problem_request *request,
                 const char *const *text)
{
    const kallima_desc *common = &request->common;
    if (common->kind == KALLIMA_R2C && common->direction == KALLIMA_INVERSE)
        return cli_usage(cli, "--inverse: r2c is forward only; c2r is its inverse");
    if (request->cases && *text)
        return cli_usage(cli, "give lengths or --cases, not both");
    return CLI_OK;
}

int problem_request_collect(const struct cli *cli, const struct problem_request *request,
                            const char *const *text, struct problems *problems)
{
    char why[512];
    const int status = check(cli, request, text);

    if (status != CLI_OK)
        return status;
    if (request->cases) {
        if (!problems_read(problems, request->cases, why, sizeof why))
            return cli_fail("%s", why);
        return problems->count > 0 ? CLI_OK : cli_fail("%s: no cases", request->cases);
    }
    for (; *text; text++) {
        kallima_desc desc = request->common;
        if (!problem_parse_lengths(*text, &desc))
            return cli_usage(cli, "lengths %s: must be such as 1024 or 256x256", *text);
        if (!problems_add(problems, &desc))
            return cli_fail("no memory left");
    }
    return CLI_OK;
}
