// SPDX-License-Identifier: MIT
// cuFFT, as its manual has it: cufftXtMakePlanMany() for 64-bit sizes, work area by the
// library, the shared stream.
#include <cufftXt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../peers/peer.h"

struct peer_session {
    cudaStream_t stream;
    char version[32];
};

struct peer_plan {
    cufftHandle handle;
    int direction;
    void *in, *out;
};

// Element types by precision: real and complex.
static const struct {
    cudaDataType real, complex;
} types[KALLIMA_PRECISION_COUNT] = {
    [KALLIMA_F32] = { CUDA_R_32F, CUDA_C_32F },
    [KALLIMA_F64] = { CUDA_R_64F, CUDA_C_64F },
};

static struct peer_session *cufft_open(const struct peer_options *options, char *why,
                                       size_t capacity)
{
    struct peer_session *session = calloc(1, sizeof *session);
    int version = 0;
    if (!session || cufftGetVersion(&version) != CUFFT_SUCCESS) {
        snprintf(why, capacity, "cufft: cannot be opened");
        free(session);
        return NULL;
    }
    session->stream = (cudaStream_t)options->native->queue;
    snprintf(session->version, sizeof session->version, "%d.%d.%d", version / 1000,
             version / 100 % 10, version % 100);
    return session;
}

static void cufft_close(struct peer_session *session)
{
    free(session);
}

static struct peer_info cufft_get_info(const struct peer_session *session, int precision)
{
    (void)precision;
    return (struct peer_info){ session->version, "default" };
}

// Arrays of one side: numbers from line to line of the last axis, and from transform to transform.
struct extent {
    long long embed[KALLIMA_MAX_RANK], distance;
};

// In place a line of reals is padded to the place that its spectrum takes.
static struct extent get_extent(const kallima_desc *desc, bool is_real)
{
    const int last = desc->rank - 1;
    const bool is_half = !is_real && desc->kind != KALLIMA_C2C;
    const long long half = desc->n[last] / 2 + 1;
    struct extent extent = { .distance = 1 };
    for (int i = 0; i <= last; i++) {
        extent.embed[i] = i < last || !(is_half || is_real) ? desc->n[i]
                          : is_half                         ? half
                                                            : 2 * half;
        extent.distance *= extent.embed[i];
    }
    return extent;
}

// Packed arrays are the library's basic layout; those of reals in place are told, as its manual
// leaves their padding to what the pointers are.
static cufftResult make(struct peer_plan *plan, const kallima_desc *desc)
{
    const cudaDataType real = types[desc->precision].real;
    const cudaDataType complex = types[desc->precision].complex;
    const bool is_told = desc->kind != KALLIMA_C2C && desc->placement == KALLIMA_IN_PLACE;
    struct extent in = get_extent(desc, desc->kind == KALLIMA_R2C);
    struct extent out = get_extent(desc, desc->kind == KALLIMA_C2R);
    long long n[KALLIMA_MAX_RANK];
    size_t work_bytes;

    for (int i = 0; i < desc->rank; i++)
        n[i] = desc->n[i];
    return cufftXtMakePlanMany(plan->handle, desc->rank, n, is_told ? in.embed : NULL, 1,
                               in.distance, desc->kind == KALLIMA_R2C ? real : complex,
                               is_told ? out.embed : NULL, 1, out.distance,
                               desc->kind == KALLIMA_C2R ? real : complex,
                               desc->batch ? desc->batch : 1, &work_bytes, complex);
}

static void cufft_plan_destroy(struct peer_plan *plan)
{
    cufftDestroy(plan->handle);
    free(plan);
}

static struct peer_plan *cufft_plan(struct peer_session *session,
                                    const kallima_desc *desc,
                                    const struct peer_arrays *arrays, char *why,
                                    size_t capacity)
{
    const bool inverse = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
    struct peer_plan *plan = malloc(sizeof *plan);

    if (!plan || cufftCreate(&plan->handle) != CUFFT_SUCCESS) {
        snprintf(why, capacity, "cufft: no plan can be created");
        free(plan);
        return NULL;
    }
    plan->direction = inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    plan->in = arrays->in[0];
    plan->out = arrays->out[0];
    cufftResult result = make(plan, desc);
    if (result == CUFFT_SUCCESS)
        result = cufftSetStream(plan->handle, session->stream);
    if (result == CUFFT_SUCCESS)
        return plan;
    snprintf(why, capacity, "cufft: no plan for the problem: error %d", (int)result);
    cufft_plan_destroy(plan);
    return NULL;
}

static bool cufft_execute(const struct peer_plan *plan)
{
    return cufftXtExec(plan->handle, plan->in, plan->out, plan->direction) ==
           CUFFT_SUCCESS;
}

extern const struct peer kallima_bench_peer;
__attribute__((visibility("default"))) const struct peer kallima_bench_peer = {
    .name = "cufft",
    .summary = "cuFFT of the CUDA toolkit",
    .either_placement = true,
    .open = cufft_open,
    .close = cufft_close,
    .get_info = cufft_get_info,
    .plan = cufft_plan,
    .execute = cufft_execute,
    .plan_destroy = cufft_plan_destroy,
};
