// SPDX-License-Identifier: MIT
// clFFT with its defaults. Its axes are numbered from the fastest.
#define CL_TARGET_OPENCL_VERSION 120
#include <clFFT.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../peers/peer.h"

enum { MAX_DIMENSIONS = 3 };

struct peer_session {
    cl_context context;
    cl_command_queue queue;
    char version[32];
};

struct peer_plan {
    clfftPlanHandle handle;
    clfftDirection direction;
    cl_command_queue queue;
    cl_mem in, out;
    cl_mem work; // NULL: it needs none
};

static const struct {
    clfftLayout in, out;
} layouts[KALLIMA_KIND_COUNT] = {
    [KALLIMA_C2C] = { CLFFT_COMPLEX_INTERLEAVED, CLFFT_COMPLEX_INTERLEAVED },
    [KALLIMA_R2C] = { CLFFT_REAL, CLFFT_HERMITIAN_INTERLEAVED },
    [KALLIMA_C2R] = { CLFFT_HERMITIAN_INTERLEAVED, CLFFT_REAL },
};

static struct peer_session *clfft_open(const struct peer_options *options, char *why,
                                       size_t capacity)
{
    struct peer_session *session = calloc(1, sizeof *session);
    cl_uint major = 0, minor = 0, patch = 0;
    clfftSetupData setup;

    if (!session || clfftInitSetupData(&setup) != CLFFT_SUCCESS ||
        clfftSetup(&setup) != CLFFT_SUCCESS ||
        clfftGetVersion(&major, &minor, &patch) != CLFFT_SUCCESS) {
        snprintf(why, capacity, "clfft: cannot be opened");
        free(session);
        return NULL;
    }
    session->context = options->native->context;
    session->queue = options->native->queue;
    snprintf(session->version, sizeof session->version, "%u.%u.%u", major, minor, patch);
    return session;
}

static void clfft_close(struct peer_session *session)
{
    clfftTeardown();
    free(session);
}

static struct peer_info clfft_get_info(const struct peer_session *session, int precision)
{
    (void)precision;
    return (struct peer_info){ session->version, "default" };
}

// Packed strides of one side, and the distance between transforms. In place a line of reals is
// padded to the place that its spectrum takes.
static size_t pack(const kallima_desc *desc, bool is_real, size_t stride[MAX_DIMENSIONS])
{
    const bool is_half = !is_real && desc->kind != KALLIMA_C2C;
    const bool is_padded = is_real && desc->placement == KALLIMA_IN_PLACE;
    size_t next = 1;
    for (int i = 0; i < desc->rank; i++) {
        const size_t n = (size_t)desc->n[desc->rank - 1 - i];
        stride[i] = next;
        next *= i > 0 ? n : is_half ? n / 2 + 1 : is_padded ? 2 * (n / 2 + 1) : n;
    }
    return next;
}

static clfftStatus set_layout(clfftPlanHandle handle, const kallima_desc *desc)
{
    const clfftDim dim = (clfftDim)desc->rank;
    size_t in[MAX_DIMENSIONS], out[MAX_DIMENSIONS];
    const size_t in_distance = pack(desc, desc->kind == KALLIMA_R2C, in);
    const size_t out_distance = pack(desc, desc->kind == KALLIMA_C2R, out);
    clfftStatus status =
        clfftSetLayout(handle, layouts[desc->kind].in, layouts[desc->kind].out);
    if (status == CLFFT_SUCCESS)
        status = clfftSetPlanInStride(handle, dim, in);
    if (status == CLFFT_SUCCESS)
        status = clfftSetPlanOutStride(handle, dim, out);
    if (status == CLFFT_SUCCESS)
        status = clfftSetPlanDistance(handle, in_distance, out_distance);
    return status;
}

static clfftStatus configure(clfftPlanHandle handle, const kallima_desc *desc)
{
    const size_t batch = desc->batch ? (size_t)desc->batch : 1;
    const bool in_place = desc->placement == KALLIMA_IN_PLACE;
    clfftStatus status = clfftSetPlanPrecision(
        handle, desc->precision == KALLIMA_F64 ? CLFFT_DOUBLE : CLFFT_SINGLE);
    if (status == CLFFT_SUCCESS)
        status = clfftSetPlanBatchSize(handle, batch);
    if (status == CLFFT_SUCCESS)
        status = clfftSetPlanScale(handle, CLFFT_BACKWARD, 1);
    if (status == CLFFT_SUCCESS)
        status =
            clfftSetResultLocation(handle, in_place ? CLFFT_INPLACE : CLFFT_OUTOFPLACE);
    return status == CLFFT_SUCCESS ? set_layout(handle, desc) : status;
}

// Compile the kernels, and allocate what they need here and not in the first execution.
static clfftStatus bake(struct peer_plan *plan, const struct peer_session *session)
{
    size_t bytes = 0;
    clfftStatus status = clfftBakePlan(plan->handle, 1, &plan->queue, NULL, NULL);
    if (status == CLFFT_SUCCESS)
        status = clfftGetTmpBufSize(plan->handle, &bytes);
    if (status == CLFFT_SUCCESS && bytes > 0) {
        cl_int result;
        plan->work =
            clCreateBuffer(session->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
        status = (clfftStatus)result;
    }
    return status;
}

static void clfft_plan_destroy(struct peer_plan *plan)
{
    if (plan->handle)
        clfftDestroyPlan(&plan->handle);
    if (plan->work)
        clReleaseMemObject(plan->work);
    free(plan);
}

static clfftStatus make(struct peer_plan *plan, const struct peer_session *session,
                        const kallima_desc *desc)
{
    size_t lengths[MAX_DIMENSIONS];
    for (int i = 0; i < desc->rank; i++)
        lengths[i] = (size_t)desc->n[desc->rank - 1 - i];
    clfftStatus status = clfftCreateDefaultPlan(&plan->handle, session->context,
                                                (clfftDim)desc->rank, lengths);
    if (status == CLFFT_SUCCESS)
        status = configure(plan->handle, desc);
    return status == CLFFT_SUCCESS ? bake(plan, session) : status;
}

static bool is_offered(const kallima_desc *desc, char *why, size_t capacity)
{
    if (desc->rank <= MAX_DIMENSIONS)
        return true;
    snprintf(why, capacity, "clfft: has no more than 3 dimensions");
    return false;
}

static struct peer_plan *clfft_plan(struct peer_session *session,
                                    const kallima_desc *desc,
                                    const struct peer_arrays *arrays, char *why,
                                    size_t capacity)
{
    const bool inverse = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
    struct peer_plan *plan;

    if (!is_offered(desc, why, capacity))
        return NULL;
    if (!(plan = calloc(1, sizeof *plan))) {
        snprintf(why, capacity, "clfft: no memory left");
        return NULL;
    }
    plan->direction = inverse ? CLFFT_BACKWARD : CLFFT_FORWARD;
    plan->queue = session->queue;
    plan->in = arrays->in[0];
    plan->out = arrays->out[0];
    const clfftStatus status = make(plan, session, desc);
    if (status == CLFFT_SUCCESS)
        return plan;
    snprintf(why, capacity, "clfft: no plan for the problem: error %d", (int)status);
    clfft_plan_destroy(plan);
    return NULL;
}

static bool clfft_execute(const struct peer_plan *plan)
{
    cl_command_queue queue = plan->queue;
    cl_mem in = plan->in, out = plan->out;
    return clfftEnqueueTransform(plan->handle, plan->direction, 1, &queue, 0, NULL, NULL,
                                 &in, &out, plan->work) == CLFFT_SUCCESS;
}

extern const struct peer kallima_bench_peer;
__attribute__((visibility("default"))) const struct peer kallima_bench_peer = {
    .name = "clfft",
    .summary = "clFFT",
    .open = clfft_open,
    .close = clfft_close,
    .get_info = clfft_get_info,
    .plan = clfft_plan,
    .execute = clfft_execute,
    .plan_destroy = clfft_plan_destroy,
};
