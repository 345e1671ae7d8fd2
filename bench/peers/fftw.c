// SPDX-License-Identifier: MIT
// FFTW 3, loaded at run time and declared here: it is free software under the GNU GPL, so
// that neither its header nor its library may be part of this program.
// Source: M. Frigo, S. G. Johnson, Proc. IEEE 93 (2005) 216-231,
//         doi:10.1109/JPROC.2004.840301; the interface is that of the manual of FFTW 3.3.10.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// One precision of the library.
struct library {
    void *base, *threaded;
    plan_complex *plan_dft;
    plan_real *plan_r2c, *plan_c2r;
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
    char path[4096];
    const char *slash = directory ? "/lib/" : "";
    snprintf(path, sizeof path, "%s%slibfftw3%s%s.so.3", directory ? directory : "",
             slash, suffix, part);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// The address of "fftw<suffix>_<name>"; ISO C has no cast from it to a function.
static void find_symbol(void *library, const char *suffix, const char *name, void *out)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "fftw%s_%s", suffix, name);
    void *address = library ? dlsym(library, symbol) : NULL;
    memcpy(out, &address, sizeof address);
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
    find_symbol(lib->base, suffix, "execute", &lib->execute);
    find_symbol(lib->base, suffix, "destroy_plan", &lib->destroy);
    find_symbol(lib->base, suffix, "set_timelimit", &lib->set_timelimit);
    load_threads(lib, directory, suffix);
    return lib->plan_dft && lib->plan_r2c && lib->plan_c2r && lib->execute &&
           lib->destroy;
}

static void fftw_close(struct peer_session *session)
{
    // The libraries stay loaded: OpenMP threads may still be running their code.
    free(session);
}

// Load both precisions and tell them how many threads to use.
static bool load_all(struct peer_session *session, const struct peer_options *options,
                     char *why, size_t capacity)
{
    for (int i = 0; i < KALLIMA_PRECISION_COUNT; i++) {
        struct library *lib = &session->library[i];
        if (!load(lib, options->directory, suffixes[i])) {
            snprintf(why, capacity, "fftw: cannot load libfftw3%s.so.3%s%s", suffixes[i],
                     options->directory ? " from the lib directory of " : "",
                     options->directory ? options->directory : "");
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

// Fill in packed strides of one side. `padded` is how many elements a line occupies.
static ptrdiff_t pack(const kallima_desc *desc, struct iodim64 *dims, ptrdiff_t padded,
                      bool is_input)
{
    ptrdiff_t stride = 1;
    for (int i = desc->rank - 1; i >= 0; i--) {
        dims[i].n = desc->n[i];
        *(is_input ? &dims[i].is : &dims[i].os) = stride;
        stride *= i == desc->rank - 1 ? padded : desc->n[i];
    }
    return stride;
}

static ptrdiff_t line_elements(const kallima_desc *desc, bool is_real)
{
    const ptrdiff_t length = desc->n[desc->rank - 1];
    if (desc->kind == KALLIMA_C2C)
        return length;
    if (!is_real)
        return length / 2 + 1;
    return desc->placement == KALLIMA_IN_PLACE ? 2 * (length / 2 + 1) : length;
}

static struct peer_plan *fftw_plan(struct peer_session *session, const kallima_desc *desc,
                                   void *in, void *out, char *why, size_t capacity)
{
    struct library *lib = &session->library[desc->precision];
    const unsigned keep = desc->placement == KALLIMA_IN_PLACE ? 0
                          : desc->destroy_input               ? FFTW_DESTROY_INPUT
                                                              : FFTW_PRESERVE_INPUT;
    const int sign = desc->direction == KALLIMA_INVERSE ? FFTW_BACKWARD : FFTW_FORWARD;
    struct iodim64 dims[KALLIMA_MAX_RANK], batch = { .n = desc->batch ? desc->batch : 1 };
    struct peer_plan *plan = malloc(sizeof *plan);
    void *handle = NULL;

    batch.is = pack(desc, dims, line_elements(desc, desc->kind == KALLIMA_R2C), true);
    batch.os = pack(desc, dims, line_elements(desc, desc->kind == KALLIMA_C2R), false);
    if (plan && desc->kind == KALLIMA_C2C) {
        handle = lib->plan_dft(desc->rank, dims, 1, &batch, in, out, sign,
                               session->effort | keep);
    } else if (plan) {
        plan_real *make = desc->kind == KALLIMA_R2C ? lib->plan_r2c : lib->plan_c2r;
        handle = make(desc->rank, dims, 1, &batch, in, out, session->effort | keep);
        // A multi-dimensional C2R has no algorithm that keeps its input.
        if (!handle && keep == FFTW_PRESERVE_INPUT)
            handle = make(desc->rank, dims, 1, &batch, in, out, session->effort);
    }
    if (!handle) {
        snprintf(why, capacity, "fftw: no plan for the problem");
        free(plan);
        return NULL;
    }
    *plan = (struct peer_plan){ handle, lib };
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
    .summary = "FFTW 3 (libfftw3, libfftw3f; OpenMP or threads)",
    .open = fftw_open,
    .close = fftw_close,
    .get_info = fftw_get_info,
    .plan = fftw_plan,
    .execute = fftw_execute,
    .plan_destroy = fftw_plan_destroy,
};
