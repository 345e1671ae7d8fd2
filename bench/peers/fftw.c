// SPDX-License-Identifier: MIT
// FFTW 3, loaded at run time and declared here: it is free software under the GNU GPL, so
// that neither its header nor its library may be part of this program.
// Source: M. Frigo, S. G. Johnson, Proc. IEEE 93 (2005) 216-231,
//         doi:10.1109/JPROC.2004.840301; the interface is that of the manual of FFTW 3.3.10.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_side.h"
#include "library.h"
#include "peer.h"

// Values of the documented interface.
enum {
    FFTW_FORWARD = -1,
    FFTW_BACKWARD = +1,
    FFTW_MEASURE = 0,
    FFTW_PATIENT = 1 << 5,
    FFTW_ESTIMATE = 1 << 6,
    FFTW_DESTROY_INPUT = 1 << 0,
    FFTW_PRESERVE_INPUT = 1 << 4,
};

struct iodim64 {
    ptrdiff_t n, is, os;
};

typedef void *plan_complex(int, const struct iodim64 *, int, const struct iodim64 *,
                           void *, void *, int, unsigned);
typedef void *plan_real(int, const struct iodim64 *, int, const struct iodim64 *, void *,
                        void *, unsigned);
// Of planar arrays, where strides count reals.
typedef void *plan_split(int, const struct iodim64 *, int, const struct iodim64 *, void *,
                         void *, void *, void *, unsigned);
typedef void *plan_split_real(int, const struct iodim64 *, int, const struct iodim64 *,
                              void *, void *, void *, unsigned);

// One precision of the library.
struct library {
    void *base, *threaded;
    plan_complex *plan_dft;
    plan_split *plan_split_dft;
    plan_real *plan_r2c, *plan_c2r;
    plan_split_real *plan_split_r2c, *plan_split_c2r;
    void (*execute)(void *);
    void (*destroy)(void *);
    int (*init_threads)(void);
    void (*set_threads)(int);
    void (*set_timelimit)(double);
    char version[128];
};

struct peer_session {
    struct library library[KALLIMA_PRECISION_COUNT];
    unsigned effort;
    char flags[64];
};

struct peer_plan {
    void *handle;
    const struct library *library;
};

static const char suffixes[KALLIMA_PRECISION_COUNT][2] = {
    [KALLIMA_F32] = "f",
    [KALLIMA_F64] = "",
};

static const struct {
    const char *name;
    unsigned flag;
} efforts[] = {
    { "measure", FFTW_MEASURE },
    { "patient", FFTW_PATIENT },
    { "estimate", FFTW_ESTIMATE },
};

// --- loading ------------------------------------------------------------------------

static void *open_file(const char *directory, const char *suffix, const char *part)
{
    char file[64];
    snprintf(file, sizeof file, "libfftw3%s%s.so.3", suffix, part);
    return library_open(directory, file);
}

// The address of "fftw<suffix>_<name>".
static void find_symbol(void *library, const char *suffix, const char *name, void *out)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "fftw%s_%s", suffix, name);
    library_find(library, symbol, out);
}

// The last word on what is loaded: version and SIMD levels, such as
// "fftw-3.3.10-sse2-avx", and how it runs in parallel.
static void describe(struct library *lib, const char *suffix, const char *threading)
{
    const char *version;
    find_symbol(lib->base, suffix, "version", &version);
    snprintf(lib->version, sizeof lib->version, "%s%s", version ? version : "unknown",
             threading);
}

// OpenMP first: it is what Kallima runs on, so that both share one pool of threads.
static void load_threads(struct library *lib, const char *directory, const char *suffix)
{
    static const struct {
        const char *part, *label;
    } variants[] = { { "_omp", " omp" }, { "_threads", " threads" } };

    for (size_t i = 0; i < sizeof variants / sizeof variants[0] && !lib->threaded; i++) {
        lib->threaded = open_file(directory, suffix, variants[i].part);
        if (lib->threaded)
            describe(lib, suffix, variants[i].label);
    }
    find_symbol(lib->threaded, suffix, "init_threads", &lib->init_threads);
    find_symbol(lib->threaded, suffix, "plan_with_nthreads", &lib->set_threads);
}

static bool load(struct library *lib, const char *directory, const char *suffix)
{
    lib->base = open_file(directory, suffix, "");
    if (!lib->base)
        return false;
    describe(lib, suffix, "");
    find_symbol(lib->base, suffix, "plan_guru64_dft", &lib->plan_dft);
    find_symbol(lib->base, suffix, "plan_guru64_dft_r2c", &lib->plan_r2c);
    find_symbol(lib->base, suffix, "plan_guru64_dft_c2r", &lib->plan_c2r);
    find_symbol(lib->base, suffix, "plan_guru64_split_dft", &lib->plan_split_dft);
    find_symbol(lib->base, suffix, "plan_guru64_split_dft_r2c", &lib->plan_split_r2c);
    find_symbol(lib->base, suffix, "plan_guru64_split_dft_c2r", &lib->plan_split_c2r);
    find_symbol(lib->base, suffix, "execute", &lib->execute);
    find_symbol(lib->base, suffix, "destroy_plan", &lib->destroy);
    find_symbol(lib->base, suffix, "set_timelimit", &lib->set_timelimit);
    load_threads(lib, directory, suffix);
    return lib->plan_dft && lib->plan_r2c && lib->plan_c2r && lib->plan_split_dft &&
           lib->plan_split_r2c && lib->plan_split_c2r && lib->execute && lib->destroy;
}

static void fftw_close(struct peer_session *session)
{
    free(session);
}

// Load both precisions and tell them how many threads to use.
static bool load_all(struct peer_session *session, const struct peer_options *options,
                     char *why, size_t capacity)
{
    for (int i = 0; i < KALLIMA_PRECISION_COUNT; i++) {
        struct library *lib = &session->library[i];
        if (!load(lib, options->fftw_directory, suffixes[i])) {
            snprintf(why, capacity, "fftw: cannot load libfftw3%s.so.3%s%s", suffixes[i],
                     options->fftw_directory ? " from the lib directory of " : "",
                     options->fftw_directory ? options->fftw_directory : "");
            return false;
        }
        if (options->plan_seconds > 0 && lib->set_timelimit)
            lib->set_timelimit(options->plan_seconds);
        if (options->threads == 1)
            continue;
        if (!lib->init_threads || !lib->set_threads || !lib->init_threads()) {
            snprintf(why, capacity, "fftw: libfftw3%s has no threads; use --threads 1",
                     suffixes[i]);
            return false;
        }
        lib->set_threads(options->threads);
    }
    return true;
}

static bool choose_effort(struct peer_session *session, const char *effort,
                          double plan_seconds)
{
    for (size_t i = 0; i < sizeof efforts / sizeof efforts[0]; i++) {
        if (strcmp(effort, efforts[i].name) == 0) {
            session->effort = efforts[i].flag;
            snprintf(session->flags, sizeof session->flags, "%s", effort);
            if (plan_seconds > 0)
                snprintf(session->flags, sizeof session->flags,
                         "%s, planning at most %g s", effort, plan_seconds);
            return true;
        }
    }
    return false;
}

static struct peer_session *fftw_open(const struct peer_options *options, char *why,
                                      size_t capacity)
{
    struct peer_session *session = calloc(1, sizeof *session);
    const char *effort = options->effort ? options->effort : "measure";

    if (!session) {
        snprintf(why, capacity, "fftw: no memory left");
        return NULL;
    }
    if (!choose_effort(session, effort, options->plan_seconds)) {
        snprintf(why, capacity,
                 "fftw: effort %s is not one of measure, patient, estimate", effort);
    } else if (load_all(session, options, why, capacity)) {
        return session;
    }
    fftw_close(session);
    return NULL;
}

static struct peer_info fftw_get_info(const struct peer_session *session, int precision)
{
    return (struct peer_info){
        .version = session->library[precision].version,
        .flags = session->flags,
    };
}

// --- planning ----------------------------------------------------------------------

// What FFTW is asked for. Strides count elements, or reals if a side is planar.
struct request {
    const struct library *lib;
    const kallima_desc *desc;
    struct side in, out;
    struct iodim64 dims[KALLIMA_MAX_RANK], batch;
    const struct peer_arrays *arrays;
};

static bool is_planar(const struct request *request)
{
    return request->in.is_planar || request->out.is_planar;
}

// Reals that a step of one element is.
static int64_t step_of(const struct request *request, const struct side *side)
{
    return is_planar(request) && !side->is_planar && !side->is_real ? 2 : 1;
}

static void set_strides(struct request *request)
{
    const struct side *in = &request->in, *out = &request->out;
    const int64_t in_step = step_of(request, in), out_step = step_of(request, out);
    for (int i = 0; i < in->rank; i++)
        request->dims[i] = (struct iodim64){ request->desc->n[i], in->stride[i] * in_step,
                                             out->stride[i] * out_step };
    request->batch = (struct iodim64){ in->batch, in->batch_stride * in_step,
                                       out->batch_stride * out_step };
}

// The imaginary parts of a complex side.
static void *imaginary(const struct side *side, void *const array[2])
{
    return side->is_planar
               ? array[1]
               : (char *)array[0] + (side->is_f64 ? sizeof(double) : sizeof(float));
}

static void *plan_planar(const struct request *request, unsigned flags)
{
    const struct library *lib = request->lib;
    const struct iodim64 *dims = request->dims, *batch = &request->batch;
    const int rank = request->desc->rank;
    void *re_in = request->arrays->in[0], *re_out = request->arrays->out[0];
    void *im_in = imaginary(&request->in, request->arrays->in);
    void *im_out = imaginary(&request->out, request->arrays->out);

    if (request->desc->kind == KALLIMA_R2C)
        return lib->plan_split_r2c(rank, dims, 1, batch, re_in, re_out, im_out, flags);
    if (request->desc->kind == KALLIMA_C2R)
        return lib->plan_split_c2r(rank, dims, 1, batch, re_in, im_in, re_out, flags);
    // It has no sign: backward is with real and imaginary parts exchanged.
    if (request->desc->direction == KALLIMA_INVERSE)
        return lib->plan_split_dft(rank, dims, 1, batch, im_in, re_in, im_out, re_out,
                                   flags);
    return lib->plan_split_dft(rank, dims, 1, batch, re_in, im_in, re_out, im_out, flags);
}

static void *plan_interleaved(const struct request *request, unsigned flags)
{
    const struct library *lib = request->lib;
    const kallima_desc *desc = request->desc;
    const int sign = desc->direction == KALLIMA_INVERSE ? FFTW_BACKWARD : FFTW_FORWARD;
    void *in = request->arrays->in[0], *out = request->arrays->out[0];

    if (desc->kind == KALLIMA_C2C)
        return lib->plan_dft(desc->rank, request->dims, 1, &request->batch, in, out, sign,
                             flags);
    return (desc->kind == KALLIMA_R2C ? lib->plan_r2c : lib->plan_c2r)(
        desc->rank, request->dims, 1, &request->batch, in, out, flags);
}

static void *make(const struct request *request, unsigned flags)
{
    return (is_planar(request) ? plan_planar : plan_interleaved)(request, flags);
}

static struct peer_plan *fftw_plan(struct peer_session *session, const kallima_desc *desc,
                                   const struct peer_arrays *arrays, char *why,
                                   size_t capacity)
{
    const unsigned keep = desc->placement == KALLIMA_IN_PLACE ? 0
                          : desc->destroy_input               ? FFTW_DESTROY_INPUT
                                                              : FFTW_PRESERVE_INPUT;
    struct request request = { .lib = &session->library[desc->precision],
                               .desc = desc,
                               .arrays = arrays };
    struct peer_plan *plan = malloc(sizeof *plan);

    side_init(&request.in, desc, true);
    side_init(&request.out, desc, false);
    set_strides(&request);
    void *handle = plan ? make(&request, session->effort | keep) : NULL;
    // A multi-dimensional C2R has no algorithm that keeps its input.
    if (plan && !handle && keep == FFTW_PRESERVE_INPUT && desc->kind != KALLIMA_C2C)
        handle = make(&request, session->effort);
    if (!handle) {
        snprintf(why, capacity, "fftw: no plan for the problem");
        free(plan);
        return NULL;
    }
    *plan = (struct peer_plan){ handle, request.lib };
    return plan;
}

static bool fftw_execute(const struct peer_plan *plan)
{
    plan->library->execute(plan->handle);
    return true;
}

static void fftw_plan_destroy(struct peer_plan *plan)
{
    plan->library->destroy(plan->handle);
    free(plan);
}

extern const struct peer peer_fftw;
const struct peer peer_fftw = {
    .name = "fftw",
    .ends_planning = true,
    .summary = "FFTW 3 (libfftw3, libfftw3f; OpenMP or threads)",
    .any_layout = true,
    .open = fftw_open,
    .close = fftw_close,
    .get_info = fftw_get_info,
    .plan = fftw_plan,
    .execute = fftw_execute,
    .plan_destroy = fftw_plan_destroy,
};
