// SPDX-License-Identifier: MIT
// VkFFT, a library in one header: built once for CUDA and once for OpenCL. Its default
// configuration; the result goes to its work buffer, as out of place it is meant to.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include <vkFFT.h>
#pragma GCC diagnostic pop

#include "../peers/peer.h"

// What differs between the two builds: the types, and where the queue is given.
#if VKFFT_BACKEND == 1
typedef CUdevice vk_device;
typedef cudaStream_t vk_queue;
typedef void *vk_memory;
#define VK_DEVICE(native) ((CUdevice)(intptr_t)(native))
#else
typedef cl_device_id vk_device;
typedef cl_command_queue vk_queue;
typedef cl_mem vk_memory;
#define VK_DEVICE(native) ((cl_device_id)(native))
#endif

struct peer_session {
    vk_device device;
    vk_queue queue;
    void *context;
    char version[32];
};

// The configuration and the launch point into the plan, which therefore stays in place.
struct peer_plan {
    struct peer_session *session;
    VkFFTApplication app;
    vk_memory buffer, input;
    uint64_t buffer_bytes, input_bytes;
    int sign;
};

static struct peer_session *vkfft_open(const struct peer_options *options, char *why,
                                       size_t capacity)
{
    struct peer_session *session = calloc(1, sizeof *session);
    const int version = VkFFTGetVersion();
    if (!session) {
        snprintf(why, capacity, "vkfft: no memory left");
        return NULL;
    }
    session->device = VK_DEVICE(options->native->device);
    session->queue = (vk_queue)options->native->queue;
    session->context = options->native->context;
    snprintf(session->version, sizeof session->version, "%d.%d.%d", version / 10000,
             version / 100 % 100, version % 100);
    return session;
}

static void vkfft_close(struct peer_session *session)
{
    free(session);
}

static struct peer_info vkfft_get_info(const struct peer_session *session, int precision)
{
    (void)precision;
    return (struct peer_info){ session->version, "default" };
}

static void share_queue(VkFFTConfiguration *configuration, struct peer_session *session)
{
    configuration->device = &session->device;
#if VKFFT_BACKEND == 1
    configuration->stream = &session->queue;
    configuration->num_streams = 1;
#else
    configuration->context = (cl_context *)&session->context;
#endif
}

// Its axes are numbered from the fastest; strides are those after axis 0, 1 and 2.
static void set_strides(uint64_t stride[3], const VkFFTConfiguration *configuration,
                        uint64_t line)
{
    stride[0] = line;
    stride[1] = stride[0] * (configuration->FFTdim > 1 ? configuration->size[1] : 1);
    stride[2] = stride[1] * (configuration->FFTdim > 2 ? configuration->size[2] : 1);
}

static uint64_t count_bytes(const kallima_desc *desc, const uint64_t stride[3],
                            bool is_real)
{
    const uint64_t real_bytes = desc->precision == KALLIMA_F64 ? 8 : 4;
    const uint64_t batch = desc->batch ? (uint64_t)desc->batch : 1;
    return (is_real ? 1 : 2) * real_bytes * stride[2] * batch;
}

// Complex data is in `buffer`. Out of place, `inputBuffer` holds the input of C2C and the
// real side of the others; an inverse returns there.
static void set_memory(struct peer_plan *plan, VkFFTConfiguration *configuration,
                       const kallima_desc *desc, void *in, void *out)
{
    const bool is_real = desc->kind != KALLIMA_C2C;
    const bool returns = desc->kind == KALLIMA_C2R;
    const uint64_t length = configuration->size[0];

    plan->buffer = (vk_memory)(returns ? in : out);
    plan->input = (vk_memory)(returns ? out : in);
    set_strides(configuration->bufferStride, configuration,
                is_real ? length / 2 + 1 : length);
    plan->buffer_bytes = count_bytes(desc, configuration->bufferStride, false);
    configuration->buffer = &plan->buffer;
    configuration->bufferSize = &plan->buffer_bytes;
    if (in == out)
        return;
    set_strides(configuration->inputBufferStride, configuration, length);
    plan->input_bytes = count_bytes(desc, configuration->inputBufferStride, is_real);
    configuration->isInputFormatted = 1;
    configuration->inverseReturnToInputBuffer = returns;
    configuration->inputBuffer = &plan->input;
    configuration->inputBufferSize = &plan->input_bytes;
}

static VkFFTResult make(struct peer_plan *plan, const kallima_desc *desc, void *in,
                        void *out)
{
    const bool inverse = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
    VkFFTConfiguration configuration = {
        .FFTdim = (uint64_t)desc->rank,
        .numberBatches = desc->batch ? (uint64_t)desc->batch : 1,
        .doublePrecision = desc->precision == KALLIMA_F64,
        .performR2C = desc->kind != KALLIMA_C2C,
        .makeForwardPlanOnly = !inverse,
        .makeInversePlanOnly = inverse,
    };
    for (int i = 0; i < desc->rank; i++)
        configuration.size[i] = (uint64_t)desc->n[desc->rank - 1 - i];
    share_queue(&configuration, plan->session);
    set_memory(plan, &configuration, desc, in, out);
    plan->sign = inverse ? 1 : -1;
    return initializeVkFFT(&plan->app, configuration);
}

static struct peer_plan *vkfft_plan(struct peer_session *session,
                                    const kallima_desc *desc, void *in, void *out,
                                    char *why, size_t capacity)
{
    struct peer_plan *plan = NULL;
    if (desc->rank > 3)
        snprintf(why, capacity, "vkfft: has no more than 3 dimensions");
    else if (!(plan = calloc(1, sizeof *plan)))
        snprintf(why, capacity, "vkfft: no memory left");
    else {
        plan->session = session;
        const VkFFTResult result = make(plan, desc, in, out);
        if (result == VKFFT_SUCCESS)
            return plan;
        // A failed initialisation has cleaned up behind itself.
        snprintf(why, capacity, "vkfft: no plan for the problem: error %d", (int)result);
        free(plan);
    }
    return NULL;
}

static bool vkfft_execute(const struct peer_plan *plan)
{
    struct peer_plan *own = (struct peer_plan *)plan;
    VkFFTLaunchParams launch = { .buffer = &own->buffer, .inputBuffer = &own->input };
#if VKFFT_BACKEND != 1
    launch.commandQueue = &own->session->queue;
#endif
    return VkFFTAppend(&own->app, own->sign, &launch) == VKFFT_SUCCESS;
}

static void vkfft_plan_destroy(struct peer_plan *plan)
{
    deleteVkFFT(&plan->app);
    free(plan);
}

extern const struct peer kallima_bench_peer;
__attribute__((visibility("default"))) const struct peer kallima_bench_peer = {
    .name = "vkfft",
    .summary = "VkFFT",
    .open = vkfft_open,
    .close = vkfft_close,
    .get_info = vkfft_get_info,
    .plan = vkfft_plan,
    .execute = vkfft_execute,
    .plan_destroy = vkfft_plan_destroy,
};
