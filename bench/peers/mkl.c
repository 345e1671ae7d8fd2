// SPDX-License-Identifier: MIT
// Intel oneMKL, loaded at run time and declared here from its documentation.
// Source: Intel oneAPI Math Kernel Library, Developer Reference for C, "Fourier Transform
//         Functions" and "Support Functions", 2024; the values are those of its interface.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_side.h"
#include "library.h"
#include "peer.h"

// Values of the documented interface.
enum {
    DFTI_NUMBER_OF_TRANSFORMS = 7,
    DFTI_COMPLEX_STORAGE = 8,
    DFTI_CONJUGATE_EVEN_STORAGE = 10,
    DFTI_PLACEMENT = 11,
    DFTI_INPUT_STRIDES = 12,
    DFTI_OUTPUT_STRIDES = 13,
    DFTI_INPUT_DISTANCE = 14,
    DFTI_OUTPUT_DISTANCE = 15,
    DFTI_COMPLEX = 32,
    DFTI_REAL = 33,
    DFTI_SINGLE = 35,
    DFTI_DOUBLE = 36,
    DFTI_COMPLEX_COMPLEX = 39,
    DFTI_REAL_REAL = 42,
    DFTI_INPLACE = 43,
    DFTI_NOT_INPLACE = 44,
    LAYER_SEQUENTIAL = 1, // of mkl_set_threading_layer()
    LAYER_GNU = 3,
};

typedef long mkl_long; // its MKL_LONG, whatever its integers of linear algebra are
typedef void *handle;

// What mkl_get_version() fills in.
struct version {
    int major, minor, update;
    const char *status, *build, *processor, *platform;
};

struct library {
    mkl_long (*create)(handle *, int, int, mkl_long, ...);
    mkl_long (*set)(handle, int, ...);
    mkl_long (*commit)(handle);
    mkl_long (*forward)(handle, void *, ...);
    mkl_long (*backward)(handle, void *, ...);
    mkl_long (*destroy)(handle *);
    const char *(*get_message)(mkl_long);
    int (*set_layer)(int);
    void (*set_threads)(int);
    void (*get_version)(struct version *);
};

struct peer_session {
    struct library library;
    char version[128];
    char flags[64];
};

struct peer_plan {
    handle handle;
    const struct library *library;
    mkl_long (*compute)(handle, void *, ...);
    void *array
        [4]; // in the order that it takes them in; those that it does not read are NULL
};

// --- loading ------------------------------------------------------------------------

static void *open_any(const char *directory)
{
    static const char *const files[] = { "libmkl_rt.so.3", "libmkl_rt.so.2",
                                         "libmkl_rt.so" };
    void *library = NULL;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !library; i++)
        library = library_open(directory, files[i]);
    return library;
}

static bool load(struct library *lib, const char *directory)
{
    const struct library_symbol symbols[] = {
        { "DftiCreateDescriptor", &lib->create },
        { "DftiSetValue", &lib->set },
        { "DftiCommitDescriptor", &lib->commit },
        { "DftiComputeForward", &lib->forward },
        { "DftiComputeBackward", &lib->backward },
        { "DftiFreeDescriptor", &lib->destroy },
        { "DftiErrorMessage", &lib->get_message },
        { "MKL_Set_Threading_Layer", &lib->set_layer },
        { "MKL_Set_Num_Threads", &lib->set_threads },
        { "MKL_Get_Version", &lib->get_version },
    };
    return library_find_all(open_any(directory), symbols,
                            sizeof symbols / sizeof symbols[0]);
}

// Of its layers that for GNU's OpenMP: it is what Kallima runs on, so that both share one
// pool of threads. Chosen before anything else is asked of it; MKL_THREADING_LAYER is the
// user's choice.
static void choose_threads(struct peer_session *session, int threads)
{
    const struct library *lib = &session->library;
    const char *chosen = getenv("MKL_THREADING_LAYER");
    if (!chosen)
        lib->set_layer(threads == 1 ? LAYER_SEQUENTIAL : LAYER_GNU);
    lib->set_threads(threads);
    snprintf(session->flags, sizeof session->flags, "%.32s threads",
             chosen         ? chosen
             : threads == 1 ? "sequential, no"
                            : "GNU");
}

static void describe(struct peer_session *session)
{
    struct version version = { 0 };
    session->library.get_version(&version);
    snprintf(session->version, sizeof session->version, "%d.%d.%d %.16s", version.major,
             version.minor, version.update, version.build ? version.build : "");
}

static void mkl_close(struct peer_session *session)
{
    free(session);
}

static struct peer_session *mkl_open(const struct peer_options *options, char *why,
                                     size_t capacity)
{
    const char *named = options->mkl_directory;
    const char *directory = named ? named : getenv("MKLROOT");
    struct peer_session *session = calloc(1, sizeof *session);

    if (session && load(&session->library, directory)) {
        choose_threads(session, options->threads);
        describe(session);
        return session;
    }
    snprintf(why, capacity, "mkl: cannot load libmkl_rt.so%s%s",
             directory ? " from the lib directory of " : "", directory ? directory : "");
    free(session);
    return NULL;
}

static struct peer_info mkl_get_info(const struct peer_session *session, int precision)
{
    (void)precision;
    return (struct peer_info){ .version = session->version, .flags = session->flags };
}

// --- planning ----------------------------------------------------------------------

// A descriptor that is being filled in; the first failure sticks.
struct request {
    const struct library *lib;
    const kallima_desc *desc;
    struct side in, out;
    handle handle;
    mkl_long status;
};

static bool is_in_place(const struct request *request)
{
    return request->desc->placement == KALLIMA_IN_PLACE;
}

static bool is_backward(const struct request *request)
{
    return request->desc->kind == KALLIMA_C2R ||
           request->desc->direction == KALLIMA_INVERSE;
}

static void create(struct request *request)
{
    const kallima_desc *desc = request->desc;
    const int precision = desc->precision == KALLIMA_F64 ? DFTI_DOUBLE : DFTI_SINGLE;
    const int domain = desc->kind == KALLIMA_C2C ? DFTI_COMPLEX : DFTI_REAL;
    mkl_long n[KALLIMA_MAX_RANK];

    for (int i = 0; i < desc->rank; i++)
        n[i] = (mkl_long)desc->n[i];
    if (desc->rank == 1)
        request->status =
            request->lib->create(&request->handle, precision, domain, 1L, n[0]);
    else
        request->status = request->lib->create(&request->handle, precision, domain,
                                               (mkl_long)desc->rank, n);
}

static void set_choice(struct request *request, int parameter, int choice)
{
    if (request->status == 0)
        request->status = request->lib->set(request->handle, parameter, choice);
}

static void set_number(struct request *request, int parameter, int64_t number)
{
    if (request->status == 0)
        request->status = request->lib->set(request->handle, parameter, (mkl_long)number);
}

// An offset, then the strides.
static void set_strides(struct request *request, int parameter, const struct side *side)
{
    mkl_long strides[1 + KALLIMA_MAX_RANK] = { 0 };
    for (int i = 0; i < side->rank; i++)
        strides[1 + i] = (mkl_long)side->stride[i];
    if (request->status == 0)
        request->status = request->lib->set(request->handle, parameter, strides);
}

static void set_all(struct request *request)
{
    const struct side *in = &request->in, *out = &request->out;
    if (request->desc->kind != KALLIMA_C2C)
        set_choice(request, DFTI_CONJUGATE_EVEN_STORAGE, DFTI_COMPLEX_COMPLEX);
    if (in->is_planar)
        set_choice(request, DFTI_COMPLEX_STORAGE, DFTI_REAL_REAL);
    set_choice(request, DFTI_PLACEMENT,
               is_in_place(request) ? DFTI_INPLACE : DFTI_NOT_INPLACE);
    set_strides(request, DFTI_INPUT_STRIDES, in);
    set_strides(request, DFTI_OUTPUT_STRIDES, out);
    set_number(request, DFTI_NUMBER_OF_TRANSFORMS, in->batch);
    set_number(request, DFTI_INPUT_DISTANCE, in->batch_stride);
    set_number(request, DFTI_OUTPUT_DISTANCE, out->batch_stride);
    if (request->status == 0)
        request->status = request->lib->commit(request->handle);
}

// In place it takes the arrays of one side alone.
static void set_arrays(struct peer_plan *plan, const struct request *request,
                       const struct peer_arrays *arrays)
{
    const int each = side_arrays(&request->in);
    for (int i = 0; i < each; i++) {
        plan->array[i] = arrays->in[i];
        if (!is_in_place(request))
            plan->array[each + i] = arrays->out[i];
    }
}

// What its interface has no words for; NULL: nothing.
static const char *find_refusal(const struct request *request)
{
    const bool in = request->in.is_planar, out = request->out.is_planar;
    if (request->desc->kind != KALLIMA_C2C && (in || out))
        return "its real transforms have no planar side";
    return in != out ? "one side cannot be planar and the other not" : NULL;
}

static struct peer_plan *mkl_plan(struct peer_session *session, const kallima_desc *desc,
                                  const struct peer_arrays *arrays, char *why,
                                  size_t capacity)
{
    const struct library *lib = &session->library;
    struct request request = { .lib = lib, .desc = desc };
    struct peer_plan *plan = calloc(1, sizeof *plan);

    side_init(&request.in, desc, true);
    side_init(&request.out, desc, false);
    const char *refusal = plan ? find_refusal(&request) : "no memory left";
    if (!refusal) {
        create(&request);
        set_all(&request);
        refusal = request.status == 0 ? NULL : lib->get_message(request.status);
    }
    if (refusal) {
        snprintf(why, capacity, "mkl: no plan for the problem: %.200s", refusal);
        if (request.handle)
            lib->destroy(&request.handle);
        free(plan);
        return NULL;
    }
    plan->handle = request.handle;
    plan->library = lib;
    plan->compute = is_backward(&request) ? lib->backward : lib->forward;
    set_arrays(plan, &request, arrays);
    return plan;
}

static bool mkl_execute(const struct peer_plan *plan)
{
    void *const *array = plan->array;
    return plan->compute(plan->handle, array[0], array[1], array[2], array[3]) == 0;
}

static void mkl_plan_destroy(struct peer_plan *plan)
{
    plan->library->destroy(&plan->handle);
    free(plan);
}

extern const struct peer peer_mkl;
const struct peer peer_mkl = {
    .name = "mkl",
    .summary = "Intel oneMKL (libmkl_rt)",
    .any_layout = true,
    .open = mkl_open,
    .close = mkl_close,
    .get_info = mkl_get_info,
    .plan = mkl_plan,
    .execute = mkl_execute,
    .plan_destroy = mkl_plan_destroy,
};
