// SPDX-License-Identifier: MIT
// kallima verify: how accurate transforms are on this device, family by family.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_problem.h"
#include "bench_side.h"
#include "bench_verify.h"
#include "cli.h"
#include "commands.h"
#include "progress.h"
#include "reference.h"

static const char help[] =
    "usage: kallima verify [--quick] [--part I/N] [--json]\n"
    "\n"
    "Compare transforms of random data on this device with a reference in quadruple\n"
    "precision: relative errors in the 2-norm, the worst of each family beside its "
    "bound.\n"
    "Outputs are poisoned before, and memory around all arrays is watched.\n"
    "\n"
    "  --quick     short lengths only: a few seconds\n"
    "  --part I/N  every Nth problem of each family, from the Ith on: where compilers\n"
    "              take long, N processes share the work\n"
    "  --json      one JSON object a line on standard output instead of the table\n"
    "\n"
    "Exit status: 0; 1 if an error is above its bound or a transform fails; 2 for a "
    "usage\n"
    "error. docs/numerics.md says where the bounds come from.\n";

// --- what is verified --------------------------------------------------------------------

static void as_it_is(kallima_desc *desc)
{
    (void)desc;
}

static void inverse(kallima_desc *desc)
{
    desc->direction = KALLIMA_INVERSE;
}

static void in_place(kallima_desc *desc)
{
    desc->placement = KALLIMA_IN_PLACE;
    desc->batch = 3;
}

static void batched(kallima_desc *desc)
{
    desc->batch = 19;
}

static void scaled(kallima_desc *desc)
{
    desc->scale = 1.0 / 3;
    desc->batch = 2;
}

static void destroying(kallima_desc *desc)
{
    desc->destroy_input = 1;
    desc->batch = 2;
}

static void planar(kallima_desc *desc)
{
    desc->in.format = KALLIMA_PLANAR;
    desc->out.format = KALLIMA_PLANAR;
    desc->batch = 3;
}

static void planar_to_interleaved(kallima_desc *desc)
{
    desc->in.format = KALLIMA_PLANAR;
    desc->batch = 2;
}

static void planar_in_place(kallima_desc *desc)
{
    planar(desc);
    desc->placement = KALLIMA_IN_PLACE;
}

// Spread a side out: `step` between neighbours, a gap behind each line and each transform.
static void spread(const kallima_desc *desc, kallima_layout *layout, int64_t step)
{
    int64_t stride = step;
    for (int i = desc->rank - 1; i >= 0; i--) {
        layout->stride[i] = stride;
        stride = stride * desc->n[i] + 1;
    }
    layout->batch_stride = stride + 3;
    layout->offset = 5;
}

static void strided(kallima_desc *desc)
{
    desc->batch = 3;
    spread(desc, &desc->in, 2);
    spread(desc, &desc->out, 3);
}

static void strided_in_place(kallima_desc *desc)
{
    strided(desc);
    desc->out = desc->in;
    desc->placement = KALLIMA_IN_PLACE;
}

// Neighbours far apart, transforms close together: the lines of a column-major matrix.
static void columns(kallima_desc *desc)
{
    int64_t stride = desc->batch = 5;
    for (int i = desc->rank - 1; i >= 0; i--) {
        desc->in.stride[i] = desc->out.stride[i] = stride;
        stride *= desc->n[i];
    }
    desc->in.batch_stride = desc->out.batch_stride = 1;
}

// The input runs backwards along the last axis.
static void backwards(kallima_desc *desc)
{
    struct side in;
    side_init(&in, desc, true);
    const int last = desc->rank - 1;
    strided(desc);
    desc->in.offset += (in.n[last] - 1) * desc->in.stride[last];
    desc->in.stride[last] = -desc->in.stride[last];
}

// One row of the table: lengths are separated by spaces, 1-64 is a range.
struct family {
    const char *name;
    kallima_kind kind;
    void (*adapt)(kallima_desc *desc);
    const char *quick, *full; // `full` comes on top of `quick`
};

#define MIXED "1 2 8 12 13 30 64 101 128 210 1000"
#define RANKS "1x1 7x1 1x9 8x8 15x16 5x1x6 3x4x5 17x12 2x3x4x5 64x32"

// clang-format off
static const struct family families[] = {
    { "every short length",     KALLIMA_C2C, as_it_is, "1-64", "65-512" },
    { "powers of two",          KALLIMA_C2C, as_it_is, "128 256 512 1024 2048 4096", "8192 16384 32768 65536 131072 262144 1048576" },
    { "near powers of two",     KALLIMA_C2C, as_it_is, "127 129 255 257 511 513 1023 1025", "4095 4097 16383 16385 65535 65537" },
    { "powers of 3 to 13",      KALLIMA_C2C, as_it_is, "81 125 243 343 121 169 729 625 1331", "6561 15625 16807 14641 28561 177147 161051" },
    { "small prime factors",    KALLIMA_C2C, as_it_is, "60 100 360 720 1000 1001 2310", "5040 10000 30030 46200 100000 720720" },
    { "primes",                 KALLIMA_C2C, as_it_is, "17 19 31 61 67 97 101 211 499 1009", "2053 4099 10007 65537 100003" },
    { "large prime factors",    KALLIMA_C2C, as_it_is, "34 202 303 289 358 1018", "10201 20014 30021 10403 99998 200006" },
    { "inverse",                KALLIMA_C2C, inverse, MIXED, "1-200 4096 10007 65536 100000" },
    { "real to complex",        KALLIMA_R2C, as_it_is, "1-32 " MIXED, "33-300 999 4096 4097 10007 65536 100000 262144" },
    { "complex to real",        KALLIMA_C2R, as_it_is, "1-32 " MIXED, "33-300 999 4096 4097 10007 65536 100000 262144" },
    { "several axes",           KALLIMA_C2C, as_it_is, RANKS, "128x128 256x100 101x103 16x17x18 64x64x64 3x1x5x1x7 2x2x2x2x2x2x2x2 512x512" },
    { "real, several axes",     KALLIMA_R2C, as_it_is, RANKS, "128x128 256x100 101x103 16x17x18 3x1x5x1x7 2x2x2x2x2x2x2x2" },
    { "to real, several axes",  KALLIMA_C2R, as_it_is, RANKS, "128x128 256x100 101x103 16x17x18 3x1x5x1x7 2x2x2x2x2x2x2x2" },
    { "batches",                KALLIMA_C2C, batched, MIXED, "15x16 17 243 4096" },
    { "real, batches",          KALLIMA_R2C, batched, MIXED, "15x16 17 243 4096" },
    { "to real, batches",       KALLIMA_C2R, batched, MIXED, "15x16 17 243 4096" },
    { "in place",               KALLIMA_C2C, in_place, MIXED " 8x8 15x16 3x4x5", "1-150 4096 10007 65536 131072 256x100" },
    { "real in place",          KALLIMA_R2C, in_place, MIXED " 8x8 15x16 3x4x5", "1-150 4096 10007 65536 131072 256x100" },
    { "to real in place",       KALLIMA_C2R, in_place, MIXED " 8x8 15x16 3x4x5", "1-150 4096 10007 65536 131072 256x100" },
    { "strides and offsets",    KALLIMA_C2C, strided, MIXED " " RANKS, "2-100 4096 10007 256x100" },
    { "real, strides",          KALLIMA_R2C, strided, MIXED " " RANKS, "2-100 4096 10007 256x100" },
    { "to real, strides",       KALLIMA_C2R, strided, MIXED " " RANKS, "2-100 4096 10007 256x100" },
    { "strides in place",       KALLIMA_C2C, strided_in_place, MIXED " " RANKS, "2-100 4096 10007 256x100" },
    { "columns",                KALLIMA_C2C, columns, MIXED, "2-100 4096 10007 16x17" },
    { "negative strides",       KALLIMA_C2C, backwards, MIXED, "2-100 4096 10007 256x100" },
    { "real, negative strides", KALLIMA_R2C, backwards, MIXED, "2-100 4096 10007 256x100" },
    { "planar",                 KALLIMA_C2C, planar, MIXED " 15x16", "2-100 4096 10007 65536 256x100" },
    { "real to planar",         KALLIMA_R2C, planar, MIXED " 15x16", "2-100 4096 10007 65536 256x100" },
    { "planar to real",         KALLIMA_C2R, planar, MIXED " 15x16", "2-100 4096 10007 65536 256x100" },
    { "planar to interleaved",  KALLIMA_C2C, planar_to_interleaved, MIXED " 15x16", "4096 10007 65536 256x100" },
    { "planar in place",        KALLIMA_C2C, planar_in_place, MIXED " 15x16", "4096 10007 65536 256x100" },
    { "scaled",                 KALLIMA_C2C, scaled, MIXED " 15x16", "4096 10007 65536" },
    { "scaled, to real",        KALLIMA_C2R, scaled, MIXED " 15x16", "4096 10007 65536" },
    { "input destroyed",        KALLIMA_C2C, destroying, MIXED " 15x16", "4096 10007 65536" },
    { "to real, destroyed",     KALLIMA_C2R, destroying, MIXED " 15x16", "4096 10007 65536" },
};
// clang-format on

// Append the problems of a list of lengths.
static bool add_lengths(struct problems *problems, const struct family *family,
                        int precision, const char *list)
{
    char text[64];
    int used;
    for (; sscanf(list, " %63s%n", text, &used) == 1; list += used) {
        kallima_desc desc = { .kind = family->kind, .precision = precision };
        long long first, last;
        if (sscanf(text, "%lld-%lld", &first, &last) != 2) {
            first = last = 0;
            problem_parse_lengths(text, &desc);
        }
        for (long long n = first; n <= last; n++) {
            kallima_desc one = desc;
            if (n > 0) {
                one.rank = 1;
                one.n[0] = n;
            }
            family->adapt(&one);
            if (!problems_add(problems, &one))
                return false;
        }
    }
    return true;
}

// --- running ----------------------------------------------------------------------------

struct run {
    const struct cli *cli;
    kallima_device *device;
    kallima_device_info info;
    int32_t fma_roundings[KALLIMA_PRECISION_COUNT];
    int part, parts; // of `parts`, counted from 1; parts = 1: all
    bool quick, json, help;
    struct progress progress;
};

// The worst problem of a family, by its error over its bound, and the failures.
struct row {
    const struct family *family;
    int precision, problems, failures;
    double error, bound;
    char where[PROBLEM_TEXT];
    char why[256];                   // of the first failure; empty: none
    char failed_where[PROBLEM_TEXT]; //
};

static double error_bound(const struct run *run, const kallima_desc *desc)
{
    const double epsilon = desc->precision == KALLIMA_F64 ? 0x1p-53 : 0x1p-24;
    const double bound = reference_widening(run->fma_roundings[desc->precision]) *
                         reference_bound(desc->rank, desc->n, epsilon);
    return reference_scaled_bound(bound, desc->scale, epsilon);
}

static void run_problem(struct run *run, const kallima_desc *desc, struct row *row)
{
    const double bound = error_bound(run, desc);
    char why[256] = "";
    double error;

    const bool computed = verify_problem(run->device, desc, &error, why, sizeof why);
    if (computed && !(error <= bound))
        snprintf(why, sizeof why, "error %.2e is above the bound %.2e", error, bound);
    if (why[0] && row->failures++ == 0) {
        snprintf(row->why, sizeof row->why, "%s", why);
        problem_print(desc, row->failed_where);
    }
    if (computed && !(error / bound <= row->error / row->bound)) {
        row->error = error;
        row->bound = bound;
        problem_print_lengths(desc, row->where);
    }
    row->problems++;
}

static void print_row(const struct run *run, const struct row *row)
{
    const char *precision = problem_precisions[row->precision];
    if (run->json) {
        printf("{\"family\": \"%s\", \"kind\": \"%s\", \"precision\": \"%s\", "
               "\"problems\": %d, \"failures\": %d, ",
               row->family->name, problem_kinds[row->family->kind], precision,
               row->problems, row->failures);
        if (isfinite(row->error))
            printf("\"error\": %.6g, ", row->error);
        else
            printf("\"error\": null, ");
        printf("\"bound\": %.6g, \"lengths\": \"%s\", \"device\": \"%s\"}\n", row->bound,
               row->where, run->info.selector);
    } else {
        printf("%-24s %-4s %8d %12.2e %12.2e %7.2f  %-12s %s\n", row->family->name,
               precision, row->problems, row->error, row->bound, row->error / row->bound,
               row->where, row->failures ? "FAILED" : "ok");
    }
    if (row->failures) {
        fflush(stdout);
        fprintf(stderr, "%s: %d of %d problems failed; the first: %s: %s\n",
                row->family->name, row->failures, row->problems, row->failed_where,
                row->why);
    }
    fflush(stdout);
}

// Returns the number of failures, or -1 if memory is exhausted.
static int run_family(struct run *run, const struct family *family, int precision)
{
    struct row row = {
        .family = family, .precision = precision, .error = -1, .bound = 1
    };
    struct problems problems = { 0 };

    bool ok = add_lengths(&problems, family, precision, family->quick);
    if (ok && !run->quick)
        ok = add_lengths(&problems, family, precision, family->full);
    for (int i = run->part - 1; ok && i < problems.count; i += run->parts)
        run_problem(run, &problems.desc[i], &row);
    problems_clear(&problems);
    if (!ok)
        return -1;
    progress_end(&run->progress);
    if (row.problems > 0)
        print_row(run, &row);
    progress_step(&run->progress, 1);
    return row.failures;
}

static int count_precisions(const struct run *run)
{
    return run->info.has_f64 ? KALLIMA_PRECISION_COUNT : 1;
}

static bool find_rounding(struct run *run)
{
    for (int i = 0; i < count_precisions(run); i++) {
        if (kallima_device_find_rounding(run->device, i, &run->fma_roundings[i]) !=
            KALLIMA_OK)
            return false;
        if (run->fma_roundings[i] > 1 && !run->json)
            printf("%s: fma() of this device rounds twice: bounds are wider by "
                   "sqrt(4/3)\n",
                   i == KALLIMA_F64 ? "f64" : "f32");
    }
    return true;
}

static int run_all(struct run *run)
{
    const int precisions = count_precisions(run);
    const int families_count = (int)CLI_COUNT(families);
    int failures = 0;

    if (!run->json) {
        printf("%s, %s, threads: %d\n", run->info.name, run->info.driver,
               run->info.threads);
        printf("%-24s %-4s %8s %12s %12s %7s  %s\n", "family", "", "problems",
               "worst error", "its bound", "ratio", "lengths");
        fflush(stdout);
    }
    progress_begin(&run->progress, (int64_t)families_count * precisions, "verify");
    for (int i = 0; i < families_count * precisions; i++) {
        const int failed = run_family(run, &families[i / precisions], i % precisions);
        if (failed < 0)
            return cli_fail("no memory left");
        failures += failed;
    }
    progress_end(&run->progress);
    if (failures > 0)
        return cli_fail("verify: %d problems failed", failures);
    if (!run->json)
        printf("all errors are within their bounds\n");
    return CLI_OK;
}

static bool parse_part(struct run *run, const char *text)
{
    char more;
    if (sscanf(text, "%d/%d%c", &run->part, &run->parts, &more) == 2 && run->part >= 1 &&
        run->part <= run->parts)
        return true;
    cli_usage(run->cli, "--part %s: must be I/N with I from 1 to N, such as 1/4", text);
    return false;
}

static bool parse_options(struct run *run, int argc, char **argv)
{
    static const struct option options[] = {
        { "quick", no_argument, NULL, 'q' },
        { "part", required_argument, NULL, 'p' },
        { "json", no_argument, NULL, 'j' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    int id;
    while ((id = cli_getopt(run->cli, argc, argv, options)) != -1) {
        if (id == '?' || (id == 'p' && !parse_part(run, optarg)))
            return false;
        run->quick |= id == 'q';
        run->json |= id == 'j';
        run->help |= id == 'h';
    }
    if (optind == argc)
        return true;
    cli_usage(run->cli, "unexpected argument %s", argv[optind]);
    return false;
}

int cmd_verify(const struct cli *cli, int argc, char **argv)
{
    struct run run = { .cli = cli, .part = 1, .parts = 1 };

    if (!parse_options(&run, argc, argv))
        return CLI_USAGE;
    if (run.help)
        return cli_print_help(help);
    if (!cli_open_device(cli, &run.device))
        return CLI_FAILED;
    kallima_device_get_info(run.device, &run.info);
    const int status =
        find_rounding(&run) ? run_all(&run) : cli_fail("%s", kallima_last_error());
    kallima_device_close(&run.device);
    return status;
}
