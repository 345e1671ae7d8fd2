// SPDX-License-Identifier: MIT
// VkFFT, a library in one header: built once for CUDA and once for OpenCL. Its default
// configuration; the result goes to its work buffer, as out of place it is meant to.
//
// A CUDA grid has up to 65535 blocks in y, where VkFFT puts a batch of lines. A larger one
// it cuts into several launches and tells each its place by a constant, written through the
// default stream: slow, the more so if the number of blocks has no good divisor; wrong on a
// stream that does not wait for that one; and beyond the arrays where the last block is not
// full, as its check leaves the constant out. VkFFT can have the batch in y and z, too, so
// the bench does that, and a second application transforms what is left over.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
// Its messages belong on standard error: standard output is for results.
#define printf(...) fprintf(stderr, __VA_ARGS__)
#include <vkFFT.h>
#undef printf
#pragma GCC diagnostic pop

#include "../peers/peer.h"

// What differs between the two builds: the types, and where the queue is given.
#if VKFFT_BACKEND == 1
typedef CUdevice vk_device;
typedef cudaStream_t vk_queue;
typedef void *vk_memory;
enum { MOST_LINES = 65535, ROW_OF_LINES = 32768 }; // in y at all, if there are more
#define VK_DEVICE(native) ((CUdevice)(intptr_t)(native))
#else
typedef cl_device_id vk_device;
typedef cl_command_queue vk_queue;
typedef cl_mem vk_memory;
enum { MOST_LINES = INT32_MAX, ROW_OF_LINES = 1 }; // as many as there are
#define VK_DEVICE(native) ((cl_device_id)(native))
#endif

struct peer_session {
    vk_device device;
    vk_queue queue;
    void *context;
    char version[32];
};

// Part of a batch. The configuration and the launch point here; it stays in place.
struct part {
    VkFFTApplication app;
    vk_memory buffer, input;
    uint64_t buffer_bytes, input_bytes;
    uint64_t first, rows, batches; // rows * batches transforms
};

struct peer_plan {
    struct peer_session *session;
    struct part part[2];
    int parts;
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
    stride[1] = stride[0] * (configuration->size[1] ? configuration->size[1] : 1);
    stride[2] = stride[1] * (configuration->size[2] ? configuration->size[2] : 1);
}

static uint64_t element_bytes(const kallima_desc *desc, bool is_real)
{
    return (desc->precision == KALLIMA_F64 ? 8 : 4) * (is_real ? 1 : 2);
}

// Only CUDA's batches have parts that begin elsewhere.
static vk_memory move(void *memory, uint64_t bytes)
{
    return (vk_memory)((char *)memory + bytes);
}

// Complex data is in `buffer`. Out of place, `inputBuffer` holds the input of C2C and the
// real side of the others; an inverse returns there.
static void set_memory(struct part *part, VkFFTConfiguration *configuration,
                       const kallima_desc *desc, void *in, void *out)
{
    const bool is_real = desc->kind != KALLIMA_C2C;
    const bool returns = desc->kind == KALLIMA_C2R;
    const uint64_t length = configuration->size[0];
    const uint64_t bytes = element_bytes(desc, false);
    const uint64_t input_bytes = element_bytes(desc, is_real);

    set_strides(configuration->bufferStride, configuration,
                is_real ? length / 2 + 1 : length);
    part->buffer =
        move(returns ? in : out, part->first * configuration->bufferStride[0] * bytes);
    part->buffer_bytes = bytes * configuration->bufferStride[2] * part->batches;
    configuration->buffer = &part->buffer;
    configuration->bufferSize = &part->buffer_bytes;
    if (in == out) {
        part->input = part->buffer;
        return;
    }
    set_strides(configuration->inputBufferStride, configuration, length);
    part->input = move(returns ? out : in, part->first * length * input_bytes);
    part->input_bytes = input_bytes * configuration->inputBufferStride[2] * part->batches;
    configuration->isInputFormatted = 1;
    configuration->inverseReturnToInputBuffer = returns;
    configuration->inputBuffer = &part->input;
    configuration->inputBufferSize = &part->input_bytes;
}

static VkFFTResult make_part(struct peer_plan *plan, struct part *part,
                             const kallima_desc *desc, void *in, void *out)
{
    const bool inverse = plan->sign > 0;
    VkFFTConfiguration configuration = {
        .FFTdim = (uint64_t)desc->rank,
        .numberBatches = part->batches,
        .doublePrecision = desc->precision == KALLIMA_F64,
        .performR2C = desc->kind != KALLIMA_C2C,
        .makeForwardPlanOnly = !inverse,
        .makeInversePlanOnly = inverse,
    };
    for (int i = 0; i < desc->rank; i++)
        configuration.size[i] = (uint64_t)desc->n[desc->rank - 1 - i];
    if (part->rows > 1)
        configuration.size[1] = part->rows; // beyond FFTdim: not transformed
    share_queue(&configuration, plan->session);
    set_memory(part, &configuration, desc, in, out);
    return initializeVkFFT(&part->app, configuration);
}

// Returns how many parts there are.
static int divide(struct part part[2], const kallima_desc *desc)
{
    const uint64_t batch = desc->batch ? (uint64_t)desc->batch : 1;
    if (desc->rank > 1 || batch <= MOST_LINES) {
        part[0] = (struct part){ .rows = 1, .batches = batch };
        return 1;
    }
    const uint64_t rest = batch % ROW_OF_LINES;
    part[0] = (struct part){ .rows = ROW_OF_LINES, .batches = batch / ROW_OF_LINES };
    part[1] = (struct part){ .first = batch - rest, .rows = 1, .batches = rest };
    return rest ? 2 : 1;
}

// On failure those parts that are made are gone.
static VkFFTResult make(struct peer_plan *plan, const kallima_desc *desc, void *in,
                        void *out)
{
    const int parts = divide(plan->part, desc);
    plan->sign = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE ? 1 : -1;
    for (plan->parts = 0; plan->parts < parts; plan->parts++) {
        const VkFFTResult result =
            make_part(plan, &plan->part[plan->parts], desc, in, out);
        if (result == VKFFT_SUCCESS)
            continue;
        // What failed has cleaned up behind itself.
        while (plan->parts-- > 0)
            deleteVkFFT(&plan->part[plan->parts].app);
        return result;
    }
    return VKFFT_SUCCESS;
}

static struct peer_plan *vkfft_plan(struct peer_session *session,
                                    const kallima_desc *desc,
                                    const struct peer_arrays *arrays, char *why,
                                    size_t capacity)
{
    struct peer_plan *plan = NULL;
    if (desc->rank > 3)
        snprintf(why, capacity, "vkfft: has no more than 3 dimensions");
    else if (!(plan = calloc(1, sizeof *plan)))
        snprintf(why, capacity, "vkfft: no memory left");
    else {
        plan->session = session;
        const VkFFTResult result = make(plan, desc, arrays->in[0], arrays->out[0]);
        if (result == VKFFT_SUCCESS)
            return plan;
        snprintf(why, capacity, "vkfft: no plan for the problem: error %d", (int)result);
        free(plan);
    }
    return NULL;
}

static bool vkfft_execute(const struct peer_plan *plan)
{
    struct peer_plan *own = (struct peer_plan *)plan;
    bool ok = true;
    for (int i = 0; ok && i < own->parts; i++) {
        struct part *part = &own->part[i];
        VkFFTLaunchParams launch = { .buffer = &part->buffer,
                                     .inputBuffer = &part->input };
#if VKFFT_BACKEND != 1
        launch.commandQueue = &own->session->queue;
#endif
        ok = VkFFTAppend(&part->app, own->sign, &launch) == VKFFT_SUCCESS;
    }
    return ok;
}

static void vkfft_plan_destroy(struct peer_plan *plan)
{
    for (int i = 0; i < plan->parts; i++)
        deleteVkFFT(&plan->part[i].app);
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
