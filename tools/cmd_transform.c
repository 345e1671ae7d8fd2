// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "npy.h"
#include "progress.h"

static const char help[] =
    "usage: kallima transform IN.npy OUT.npy [OPTION]...\n"
    "\n"
    "Transform a NumPy array as numpy.fft does: fftn, with --inverse ifftn, with --real\n"
    "rfftn, with both irfftn. float32 and complex64 are computed in single precision,\n"
    "everything else (float16, float64, complex128, integers, bool) in double "
    "precision.\n"
    "\n"
    "  --inverse          the inverse transform\n"
    "  --real             real numbers on the side that is not transformed; the other "
    "side\n"
    "                     holds n/2+1 coefficients on the last of the axes\n"
    "  --axes A,B,...     the axes to transform, at most 8; negative ones count from "
    "the\n"
    "                     end (default: all)\n"
    "  --norm NORM        backward (the default: 1/n on the inverse), ortho (1/sqrt(n) "
    "on\n"
    "                     both) or forward (1/n on the forward transform)\n"
    "  --length N         with --inverse --real: the length of the last axis of the\n"
    "                     result, 2m-2 (the default) or 2m-1 for m coefficients\n";

enum norm { BACKWARD, ORTHO, FORWARD, NORM_COUNT };
static const char *const norm_names[NORM_COUNT] = { "backward", "ortho", "forward" };

/** What the command line asks for. */
struct request {
    const char *in, *out;
    const char *axes; // NULL: all
    int axis_count;
    int axis[NPY_MAX_RANK];
    int norm;
    bool inverse, real;
    int64_t length; // 0: the default
};

/** An axis that is not transformed. */
struct rest {
    int64_t n, in_stride, out_stride;
};

/** A plan and the axes that it is repeated over. */
struct work {
    kallima_desc desc;
    int rest_count;
    struct rest rest[NPY_MAX_RANK];
    int64_t repeats; // product of the rest
};

static bool fail(const struct request *request, const char *cause)
{
    cli_fail("%s: %s", request->in, cause);
    return false;
}

// "0,-1" -> axis 0 and the last.
static bool parse_axes(struct request *request, int rank)
{
    const char *text = request->axes;
    bool seen[NPY_MAX_RANK] = { false };
    for (;;) {
        char *end;
        long axis = strtol(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0'))
            return fail(request, "--axes must be integers with commas between them");
        if (axis < -rank || axis >= rank) {
            cli_fail("%s: --axes: the array has %d axes, there is no axis %ld",
                     request->in, rank, axis);
            return false;
        }
        axis += axis < 0 ? rank : 0;
        if (seen[axis])
            return fail(request, "--axes: an axis is given twice");
        seen[axis] = true;
        request->axis[request->axis_count++] = (int)axis;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
}

static bool choose_axes(struct request *request, const struct npy *in)
{
    if (in->rank == 0)
        return fail(request, "the array has no axes");
    if (request->axes) {
        if (!parse_axes(request, in->rank))
            return false;
    } else {
        for (int i = 0; i < in->rank; i++)
            request->axis[request->axis_count++] = i;
    }
    if (request->axis_count <= KALLIMA_MAX_RANK)
        return true;
    cli_fail("%s: %d axes are to be transformed; at most %d can be, see --axes",
             request->in, request->axis_count, KALLIMA_MAX_RANK);
    return false;
}

// Give a real array zero imaginary parts, where the transform takes complex numbers.
static bool make_complex(const struct request *request, struct npy *in)
{
    const int64_t bytes = npy_element_bytes(in);
    char *wide = calloc((size_t)in->count, (size_t)(2 * bytes));
    if (!wide)
        return fail(request, "no memory for a complex copy");
    for (int64_t i = 0; i < in->count; i++)
        memcpy(wide + 2 * bytes * i, (const char *)in->data + bytes * i, (size_t)bytes);
    free(in->owned);
    in->data = in->owned = wide;
    in->complex = true;
    return true;
}

static bool match_kind(const struct request *request, struct npy *in)
{
    if (!request->real || request->inverse)
        return in->complex || make_complex(request, in);
    if (in->complex)
        return fail(request, "--real takes a real array, and this one is complex");
    return true;
}

// The length of the last axis of the result of --inverse --real, of m coefficients.
static bool choose_length(const struct request *request, int64_t m, int64_t *out)
{
    *out = request->length ? request->length : 2 * (m - 1);
    if (*out >= 1 && *out / 2 + 1 == m)
        return true;
    cli_fail("%s: %" PRId64 " coefficients on the last axis make a length of %" PRId64
             " or %" PRId64 ", not %" PRId64 "; see --length",
             request->in, m, m > 1 ? 2 * m - 2 : 1, 2 * m - 1, *out);
    return false;
}

// Shape, type and memory of the result.
static bool make_output(const struct request *request, const struct npy *in,
                        struct npy *out)
{
    int64_t *last = &out->shape[request->axis[request->axis_count - 1]];
    *out = *in;
    out->owned = NULL;
    out->complex = !(request->real && request->inverse);
    if (request->real && !request->inverse)
        *last = *last / 2 + 1;
    else if (request->real && !choose_length(request, *last, last))
        return false;
    if (!npy_pack(out))
        return fail(request, "the result is too large");
    out->data = out->owned = calloc((size_t)out->count, (size_t)npy_element_bytes(out));
    return out->data || fail(request, "no memory for the result");
}

static void set_scale(const struct request *request, kallima_desc *desc)
{
    double n = 1.0;
    for (int i = 0; i < desc->rank; i++)
        n *= (double)desc->n[i];
    if (request->norm == ORTHO)
        desc->scale = 1.0 / sqrt(n);
    else if ((request->norm == BACKWARD) == request->inverse)
        desc->scale = 1.0 / n;
}

static void set_axes(const struct request *request, const struct npy *in,
                     const struct npy *out, kallima_desc *desc)
{
    const struct npy *real_side = out->complex ? in : out;
    desc->rank = request->axis_count;
    for (int i = 0; i < desc->rank; i++) {
        const int axis = request->axis[i];
        desc->n[i] = real_side->shape[axis];
        desc->in.stride[i] = in->stride[axis];
        desc->out.stride[i] = out->stride[axis];
    }
}

static bool is_chosen(const struct request *request, int axis)
{
    for (int i = 0; i < request->axis_count; i++) {
        if (request->axis[i] == axis)
            return true;
    }
    return false;
}

// List the axes that stay; neighbours that one stride walks through count as one.
static void list_rest(const struct request *request, const struct npy *in,
                      const struct npy *out, struct work *work)
{
    for (int i = 0; i < in->rank; i++) {
        const struct rest axis = { in->shape[i], in->stride[i], out->stride[i] };
        struct rest *before =
            work->rest_count > 0 ? &work->rest[work->rest_count - 1] : NULL;
        if (axis.n == 1 || is_chosen(request, i))
            continue;
        if (before && before->in_stride == axis.n * axis.in_stride &&
            before->out_stride == axis.n * axis.out_stride)
            *before =
                (struct rest){ before->n * axis.n, axis.in_stride, axis.out_stride };
        else
            work->rest[work->rest_count++] = axis;
    }
}

// Make the longest of the rest the plan's batch.
static void take_batch(struct work *work)
{
    int longest = 0;
    for (int i = 1; i < work->rest_count; i++) {
        if (work->rest[i].n > work->rest[longest].n)
            longest = i;
    }
    if (work->rest_count > 0) {
        work->desc.batch = work->rest[longest].n;
        work->desc.in.batch_stride = work->rest[longest].in_stride;
        work->desc.out.batch_stride = work->rest[longest].out_stride;
        work->rest[longest] = work->rest[--work->rest_count];
    }
    work->repeats = 1;
    for (int i = 0; i < work->rest_count; i++)
        work->repeats *= work->rest[i].n;
}

static struct work make_work(const struct request *request, const struct npy *in,
                             const struct npy *out)
{
    struct work work = { .desc = {
                             .kind = !in->complex    ? KALLIMA_R2C
                                     : !out->complex ? KALLIMA_C2R
                                                     : KALLIMA_C2C,
                             .precision = in->f64 ? KALLIMA_F64 : KALLIMA_F32,
                             .direction =
                                 request->inverse ? KALLIMA_INVERSE : KALLIMA_FORWARD,
                         } };
    set_axes(request, in, out, &work.desc);
    set_scale(request, &work.desc);
    list_rest(request, in, out, &work);
    take_batch(&work);
    return work;
}

static bool execute(const kallima_plan *plan, const struct work *work,
                    const struct npy *in, struct npy *out)
{
    const int64_t in_bytes = npy_element_bytes(in), out_bytes = npy_element_bytes(out);
    struct progress progress;
    bool good = true;
    progress_begin(&progress, work->repeats, "transforming");
    for (int64_t repeat = 0; repeat < work->repeats && good; repeat++) {
        int64_t from = 0, to = 0, index = repeat;
        for (int i = 0; i < work->rest_count; i++) {
            const struct rest *rest = &work->rest[i];
            from += index % rest->n * rest->in_stride;
            to += index % rest->n * rest->out_stride;
            index /= rest->n;
        }
        good = kallima_plan_run(plan, (const char *)in->data + from * in_bytes,
                                (char *)out->data + to * out_bytes) == KALLIMA_OK;
        progress_step(&progress, 1);
    }
    progress_end(&progress);
    if (!good)
        cli_fail("%s", kallima_last_error());
    return good;
}

static bool transform(const struct cli *cli, const struct request *request,
                      const struct npy *in, struct npy *out)
{
    const struct work work = make_work(request, in, out);
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    if (!cli_open_device(cli, &device))
        return false;
    bool good = kallima_plan_create(&plan, device, &work.desc, NULL) == KALLIMA_OK;
    if (good)
        good = execute(plan, &work, in, out);
    else
        cli_fail("%s: %s", request->in, kallima_last_error());
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    return good;
}

static int run(const struct cli *cli, struct request *request)
{
    struct input input;
    struct npy in = { 0 }, out = { 0 };
    if (!input_read(&input, request->in))
        return CLI_FAILED;
    const bool good = npy_decode(&in, &input) && choose_axes(request, &in) &&
                      match_kind(request, &in) && make_output(request, &in, &out) &&
                      transform(cli, request, &in, &out) && npy_write(&out, request->out);
    npy_clear(&out);
    npy_clear(&in);
    input_clear(&input);
    return good ? CLI_OK : CLI_FAILED;
}

static int take_option(const struct cli *cli, int code, struct request *request)
{
    switch (code) {
    case 'i': request->inverse = true; return CLI_OK;
    case 'r': request->real = true; return CLI_OK;
    case 'a': request->axes = optarg; return CLI_OK;
    case 'n':
        return cli_choose(cli, "--norm", optarg, norm_names, NORM_COUNT, &request->norm)
                   ? CLI_OK
                   : CLI_USAGE;
    case 'l':
        if (!cli_parse_int64(optarg, 1, INT64_MAX, &request->length))
            return cli_usage(cli, "--length %s: must be a positive integer", optarg);
        return CLI_OK;
    default: return CLI_USAGE;
    }
}

int cmd_transform(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "inverse", no_argument, NULL, 'i' },
        { "real", no_argument, NULL, 'r' },
        { "axes", required_argument, NULL, 'a' },
        { "norm", required_argument, NULL, 'n' },
        { "length", required_argument, NULL, 'l' },
        { 0 },
    };
    struct request request = { .norm = BACKWARD };
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h')
            return cli_print_help(help);
        if (take_option(cli, code, &request) != CLI_OK)
            return CLI_USAGE;
    }
    if (argc - optind != 2)
        return cli_usage(cli, "an input and an output are needed, %d names are given",
                         argc - optind);
    if (request.length && !(request.inverse && request.real))
        return cli_usage(cli, "--length needs --inverse and --real");
    request.in = argv[optind];
    request.out = argv[optind + 1];
    return run(cli, &request);
}
