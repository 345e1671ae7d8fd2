// SPDX-License-Identifier: MIT
// What is special to Vulkan, on the first device present. Its operations: device/operations.c.
// `test_vulkan without REASON` is for an environment whose module with the compiler cannot be
// used; `test_vulkan offend` breaks a rule, for the validation layer to find.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../jobs.h"
#include "../rows.h"
#include "base/place.h"
#include "device/vulkan/driver.h"
#include "device/vulkan/export.h"

static struct counting counting;

static void look(const kallima_device *device, const kallima_device_info *info)
{
    const struct kal_caps *caps = &device->caps;
    ROW_CHECK(kal_caps_takes_glsl(caps));
    ROW_CHECK(caps->group_lanes >= 64 && caps->group_bytes >= 16384);
    ROW_CHECK(caps->buffer_bytes >= 1u << 27 && caps->memory_bytes > 0);
    ROW_CHECK(!strstr(info->name, "llvmpipe") == !info->is_software);
}

static void limits_are_those_of_version_1_1(void **state)
{
    (void)state;
    job_each_device("vulkan", look);
    ROWS_FINISH();
}

static uint64_t most_bytes(const kallima_device *device)
{
    return ((const struct vk_device *)device)->facts.allocation_bytes;
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    (void)state;
    job_check_largest("vulkan", most_bytes);
    ROWS_FINISH();
}

// A binary's head says what it is, and how long.
static void damaged_binaries_are_refused(void **state)
{
    kallima_device *device = job_open("vulkan", &counting);
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };
    struct job_text job;

    (void)state;
    job_write(&job, device, JOB_SAXPY);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &job.text, NULL, &made) ==
              KALLIMA_OK);
    ROW_CHECK(made.bytes > 100);
    device->ops->kernel_destroy(kernel);
    for (uint64_t bytes = 0; bytes < 64; bytes++) { // cut short
        const struct kal_binary cut = { made.data, bytes };
        ROW_CHECK(job_try(device, &job.text, &cut) == KALLIMA_E_COMPILE);
    }
    for (int i = 0; i < 4; i++) {
        unsigned char *byte = (unsigned char *)made.data + 2 * i + 1;
        *byte ^= 0xa5;
        ROW_CHECK(job_try(device, &job.text, &made) == KALLIMA_E_COMPILE);
        ROW_CHECK(strstr(kallima_last_error(), "saxpy"));
        *byte ^= 0xa5;
    }
    kal_free(&device->host, made.data);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// Memory that the host does not reach, as that of most GPUs.
static void transfers_go_through_staging_memory(void **state)
{
    enum { WORDS = (5 * VK_STAGING_BYTES / 2) / 4 + 3 };
    kallima_device *device = job_open("vulkan", &counting);
    VkPhysicalDeviceMemoryProperties *memory =
        &((struct vk_device *)device)->facts.memory;
    uint32_t *x = malloc(4 * WORDS), *y = malloc(4 * WORDS);

    (void)state;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        memory->memoryTypes[i].propertyFlags &=
            ~(uint32_t)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    for (uint32_t i = 0; i < WORDS; i++)
        x[i] = i * 2654435761u;
    memset(y, 0, 4 * WORDS);
    kallima_buffer *a = job_upload(device, x, 4 * WORDS),
                   *b = job_upload(device, y, 4 * WORDS);
    ROW_CHECK(kal_vk_memory(a->memory)->address == NULL);
    ROW_CHECK(kallima_buffer_copy(b, 4, a, 0, 4 * WORDS - 4) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_write(b, 12, x, 8) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 4, y, 4 * WORDS - 4) == KALLIMA_OK);
    ROW_CHECK(y[2] == x[0] && y[3] == x[1]);
    y[2] = x[2];
    y[3] = x[3];
    ROW_CHECK(memcmp(x, y, 4 * WORDS - 4) == 0);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    job_check_offsets(device);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    free(x);
    free(y);
    ROWS_FINISH();
}

// --- what a driver may answer ---------------------------------------------------------------

static VkResult lose_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *info,
                            VkFence fence)
{
    (void)queue, (void)count, (void)info, (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lose_fence(VkDevice device, uint32_t count, const VkFence *fences,
                           VkBool32 all, uint64_t timeout)
{
    (void)device, (void)count, (void)fences, (void)all, (void)timeout;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult deny_memory(VkDevice device, const VkMemoryAllocateInfo *info,
                            const VkAllocationCallbacks *callbacks,
                            VkDeviceMemory *memory)
{
    (void)device, (void)info, (void)callbacks, (void)memory;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult deny_pipeline(VkDevice device, VkPipelineCache cache, uint32_t count,
                              const VkComputePipelineCreateInfo *info,
                              const VkAllocationCallbacks *callbacks,
                              VkPipeline *pipeline)
{
    (void)device, (void)cache, (void)count, (void)info, (void)callbacks, (void)pipeline;
    return VK_ERROR_INITIALIZATION_FAILED;
}

static void a_lost_device_is_told(void **state)
{
    uint32_t x[JOB_NUMBERS] = { 0 };
    kallima_device *device = job_open("vulkan", &counting);
    struct vk_api *vk = &((struct vk_device *)device)->vk;
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    const struct vk_api own = *vk;

    (void)state;
    vk->QueueSubmit = lose_submit;
    job_run(kernel, job_at(a, 0), job_at(a, 0), 1); // which may wait for more
    device->ops->kernel_destroy(kernel); // which does not wait for what was not submitted
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "vkQueueSubmit: VK_ERROR_DEVICE_LOST"));
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    vk->QueueSubmit = own.QueueSubmit;
    vk->WaitForFences = lose_fence;
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "vkWaitForFences: VK_ERROR_DEVICE_LOST"));
    vk->WaitForFences = own.WaitForFences;
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    kernel = job_compile(device, JOB_SAXPY);
    vk->QueueSubmit = lose_submit;
    const bool waits = job_run(kernel, job_at(a, 0), job_at(a, 0), 1) == KALLIMA_OK;
    ROW_CHECK(waits == kal_vk_needs_no_sets((struct vk_device *)device));
    device->ops->kernel_destroy(kernel);
    vk->QueueSubmit = own.QueueSubmit; // whoever waits is told that something is missing
    ROW_CHECK(kallima_device_finish(device) == (waits ? KALLIMA_E_DEVICE : KALLIMA_OK));
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static VkResult is_not_ready(VkDevice device, VkFence fence)
{
    (void)device, (void)fence;
    return VK_NOT_READY;
}

static PFN_vkQueueSubmit submit_really;
static int submissions;

static VkResult count_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *info,
                             VkFence fence)
{
    submissions++;
    return submit_really(queue, count, info, fence);
}

// While the queue is at work as many go together as one submission may hold, and the rest when
// somebody waits for it.
static void executions_are_gathered_while_the_queue_is_at_work(void **state)
{
    enum { CALLS = 2 * VK_GATHERED + 5 };
    uint32_t list[1 + CALLS] = { 0 };
    const uint32_t number = 7;
    kallima_device *device = job_open("vulkan", &counting);
    struct vk_device *vulkan = (struct vk_device *)device;
    struct kal_device_kernel *kernel = job_compile(device, JOB_APPEND);
    kallima_buffer *a = job_upload(device, list, sizeof list),
                   *b = job_upload(device, &number, sizeof number);

    (void)state;
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    submit_really = vulkan->vk.QueueSubmit;
    vulkan->vk.QueueSubmit = count_submit;
    vulkan->vk.GetFenceStatus = is_not_ready;
    vulkan->completed = vulkan->submitted - 1; // its last one is not seen as done
    submissions = 0;
    for (int i = 0; i < CALLS; i++)
        ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(b, 0), 1) == KALLIMA_OK);
    const bool pushes = kal_vk_needs_no_sets(vulkan);
    ROW_CHECK(submissions == (pushes ? 2 : CALLS));
    device->ops->kernel_destroy(kernel); // which waits for what uses it
    ROW_CHECK(submissions == (pushes ? 3 : CALLS) && vulkan->gathered == 0);
    ROW_CHECK(kallima_buffer_read(a, 0, list, sizeof list) == KALLIMA_OK);
    ROW_CHECK(list[0] == CALLS && list[CALLS] == number);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void a_driver_out_of_memory_is_told(void **state)
{
    kallima_device *device = job_open("vulkan", &counting);
    struct vk_api *vk = &((struct vk_device *)device)->vk;
    const struct vk_api own = *vk;
    kallima_buffer *buffer = NULL;
    struct job_text job;

    (void)state;
    job_write(&job, device, JOB_SAXPY);
    vk->AllocateMemory = deny_memory;
    ROW_CHECK(kallima_buffer_create(&buffer, device, 12345) == KALLIMA_E_MEMORY);
    ROW_CHECK(buffer == NULL && strstr(kallima_last_error(), "12345 bytes"));
    ROW_CHECK(strstr(kallima_last_error(), "VK_ERROR_OUT_OF_DEVICE_MEMORY"));
    vk->AllocateMemory = own.AllocateMemory;
    vk->CreateComputePipelines = deny_pipeline;
    ROW_CHECK(job_try(device, &job.text, NULL) == KALLIMA_E_COMPILE);
    ROW_CHECK(strstr(kallima_last_error(), "kernel saxpy"));
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// --- the caller's own objects ---------------------------------------------------------------

struct own {
    kallima_vulkan_handles handles;
    struct vk_instance instance;
    struct vk_api vk;
};

// What kernels reach their arrays by; at last, with passes that share a launch.
enum way { BY_SETS, BY_PUSHED_SETS, BY_ADDRESSES, BY_TICKETS, WAY_COUNT };

static bool is_offered(enum way way)
{
    const struct vk_facts *facts = kal_vk_find(0);
    return way < BY_ADDRESSES ||
           (facts->has_addresses && (way < BY_TICKETS || facts->has_memory_model));
}

// A device of the test's own, with the extensions that one way needs.
static void own_init(struct own *own, enum way way)
{
    static const char *const extensions[] = {
        VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME,
        VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME,
        VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME,
    };
    static const uint32_t first[WAY_COUNT] = { 0, 0, 1, 1 };
    static const uint32_t count[WAY_COUNT] = { 0, 1, 1, 2 };
    VkPhysicalDeviceVulkanMemoryModelFeatures model = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
        .vulkanMemoryModel = VK_TRUE,
        .vulkanMemoryModelDeviceScope = VK_TRUE,
    };
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .pNext = way == BY_TICKETS ? &model : NULL,
        .bufferDeviceAddress = VK_TRUE,
    };
    static const float priority = 1.0f;
    const struct vk_facts *facts = kal_vk_find(0);
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = facts->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = way >= BY_ADDRESSES ? &addresses : NULL,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count[way],
        .ppEnabledExtensionNames = &extensions[first[way]],
    };
    own->instance = *kal_vk_instance();
    own->handles = (kallima_vulkan_handles){ .instance = own->instance.handle,
                                             .physical_device = facts->handle,
                                             .queue_family = facts->family,
                                             .has_buffer_addresses = way >= BY_ADDRESSES,
                                             .has_memory_model = way == BY_TICKETS };
    assert_int_equal(
        own->instance.CreateDevice(facts->handle, &info, NULL, &own->handles.device), 0);
    assert_true(kal_vk_api_load(&own->vk, &own->instance, own->handles.device));
    own->vk.GetDeviceQueue(own->handles.device, facts->family, 0, &own->handles.queue);
}

static void own_clear(struct own *own)
{
    own->vk.DestroyDevice(own->handles.device, NULL);
}

static kallima_device *adopt(const struct own *own)
{
    const kallima_device_options o = job_options(&counting);
    kallima_device *device = NULL;
    if (kallima_vulkan_adopt(&device, &own->handles, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

static void adopted_devices_compute(void **state)
{
    (void)state;
    for (enum way way = BY_SETS; way < WAY_COUNT; way++) {
        struct own own;
        if (!is_offered(way))
            continue;
        own_init(&own, way);
        kallima_device *device = adopt(&own);
        const struct vk_device *vulkan = (struct vk_device *)device;
        ROW_CHECK(!vulkan->vk.CmdPushDescriptorSetKHR == (way != BY_PUSHED_SETS));
        ROW_CHECK(kal_vk_takes_addresses(vulkan) == (way >= BY_ADDRESSES));
        ROW_CHECK(device->caps.has_forward_progress ==
                  (way == BY_TICKETS && (vulkan->facts.processors ||
                                         kal_switch_is_on("KALLIMA_VULKAN_PROGRESS"))));
        ROW_CHECK(!device->caps.has_f64);
        job_check_offsets(device);
        job_check_callers(device);
        kallima_device_close(&device);
        ROW_CHECK(counting.live == 0);
        own_clear(&own);
    }
    ROWS_FINISH();
}

static void handles_that_do_not_fit_are_refused(void **state)
{
    struct own own;
    kallima_device *device = NULL;

    (void)state;
    own_init(&own, BY_PUSHED_SETS);
    kallima_vulkan_handles missing[4] = { own.handles, own.handles, own.handles,
                                          own.handles };
    missing[0].instance = NULL;
    missing[1].physical_device = NULL;
    missing[2].device = NULL;
    missing[3].queue = NULL;
    for (int i = 0; i < 4; i++)
        ROW_CHECK(kallima_vulkan_adopt(&device, &missing[i], NULL) == KALLIMA_E_ARGUMENT);
    kallima_vulkan_handles stranger = own.handles;
    stranger.queue_family = 77;
    ROW_CHECK(kallima_vulkan_adopt(&device, &stranger, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "queue_family = 77"));
    ROW_CHECK(kallima_vulkan_adopt(NULL, &own.handles, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_adopt(&device, NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL);
    own_clear(&own);
    ROWS_FINISH();
}

// Two buffers behind each other in one VkBuffer are two places in one memory.
static void check_wrapped(enum way way)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
    struct own own;
    kallima_buffer *part[3] = { NULL };

    own_init(&own, way);
    kallima_device *device = adopt(&own), *null = NULL;
    kallima_buffer *whole = NULL;
    ROW_CHECK(kallima_buffer_create(&whole, device, 2 * sizeof x) == KALLIMA_OK);
    const VkBuffer buffer = kal_vk_memory(whole->memory)->buffer;
    ROW_CHECK(kallima_vulkan_wrap(&part[0], device, buffer, 0, 4000) == KALLIMA_OK);
    ROW_CHECK(kallima_vulkan_wrap(&part[1], device, buffer, 4000, 4000) == KALLIMA_OK);
    ROW_CHECK(kallima_vulkan_wrap(&part[2], device, buffer, 0, 8000) == KALLIMA_OK);
    ROW_CHECK(part[0]->memory.object == part[1]->memory.object);
    ROW_CHECK(part[0]->memory.object == part[2]->memory.object);
    job_ramp(x, JOB_NUMBERS, 1);
    ROW_CHECK(kallima_buffer_write(part[1], 0, x, sizeof x) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(part[0], 0, part[1], 0, sizeof x) == KALLIMA_OK);
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    ROW_CHECK(job_run(kernel, job_at(part[0], 0), job_at(part[1], 0),
                      JOB_NUMBERS / JOB_LANES) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(part[2], 4000, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < JOB_NUMBERS; i++)
        ROW_CHECK(y[i] == 3 * (uint32_t)i);
    device->ops->kernel_destroy(kernel);

    kallima_buffer *none = NULL;
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, 8, 16) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "offset_bytes = 8"));
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, 0, 0) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, UINT64_MAX - 15, 64) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "64 bytes from 18446744073709551600"));
    ROW_CHECK(kallima_vulkan_wrap(&none, device, 0, 0, 16) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_open(&null, "null", NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_vulkan_wrap(&none, null, buffer, 0, 16) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "\"null\""));
    kallima_device_close(&null);
    // Reach is counted from a multiple of what the device demands.
    ((struct vk_device *)device)->facts.offset_bytes = 256;
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, 16, device->caps.buffer_bytes) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(none == NULL);
    for (int i = 0; i < 3; i++)
        kallima_buffer_destroy(&part[i]);
    kallima_buffer_destroy(&whole);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
}

static void wrapped_ranges_are_of_one_memory(void **state)
{
    (void)state;
    for (enum way way = BY_PUSHED_SETS; way < WAY_COUNT; way++) {
        if (is_offered(way))
            check_wrapped(way);
    }
    ROWS_FINISH();
}

// A plan of two launches, and the arrays that it transforms.
struct recorded {
    kallima_plan *plan;
    kallima_device_arrays arrays;
};

enum { POINTS = 64 };

static struct recorded make_recorded(kallima_device *device)
{
    const kallima_desc desc = { .rank = 1, .n = { POINTS } };
    const kallima_plan_options o = { .recipe = "four-step(local(8), local(8))" };
    struct recorded r = { NULL, { .workspace = NULL } };
    float x[POINTS][2] = { { 0 } };

    x[1][0] = 1.0f;
    if (kallima_plan_create(&r.plan, device, &desc, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    r.arrays.in[0] = job_upload(device, x, sizeof x);
    r.arrays.out[0] = job_upload(device, x, sizeof x);
    return r;
}

static void clear_recorded(struct recorded *r)
{
    kallima_buffer_destroy(&r->arrays.in[0]);
    kallima_buffer_destroy(&r->arrays.out[0]);
    kallima_plan_destroy(&r->plan);
}

// Of element 1 alone the transform is exp(-2 pi i k / n).
static int count_wrong(const kallima_buffer *out)
{
    float y[POINTS][2];
    int wrong = 0;
    ROW_CHECK(kallima_buffer_read(out, 0, y, sizeof y) == KALLIMA_OK);
    for (int k = 0; k < POINTS; k++) {
        const double angle = -6.283185307179586 * k / POINTS;
        wrong += !(hypot(y[k][0] - cos(angle), y[k][1] - sin(angle)) < 1e-6);
    }
    return wrong;
}

// Recorded once and submitted twice, between fills of the caller's in the same commands.
static void check_recorded(enum way way)
{
    struct own own;
    own_init(&own, way);
    kallima_device *device = adopt(&own);
    struct vk_device *vk = (struct vk_device *)device;
    struct recorded r = make_recorded(device);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
    };
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vk->pool,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands;
    const float poison[2] = { 7.0f, 7.0f };

    ROW_CHECK(own.vk.AllocateCommandBuffers(own.handles.device, &info, &commands) == 0);
    ROW_CHECK(own.vk.BeginCommandBuffer(commands, &begin) == 0);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.in[0]->memory)->buffer, 0,
                         VK_WHOLE_SIZE, 0);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.out[0]->memory)->buffer, 0,
                         VK_WHOLE_SIZE, 0x7fc00000);
    kal_vk_barrier_all(vk, commands);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.in[0]->memory)->buffer, 8, 4,
                         0x3f800000); // 1.0f
    ROW_CHECK(kallima_vulkan_record(r.plan, &r.arrays, commands) == KALLIMA_OK);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.in[0]->memory)->buffer, 0,
                         VK_WHOLE_SIZE, 0x7fc00000);
    ROW_CHECK(own.vk.EndCommandBuffer(commands) == 0);
    for (int i = 0; i < 2; i++) {
        const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                      .commandBufferCount = 1,
                                      .pCommandBuffers = &commands };
        ROW_CHECK(own.vk.QueueSubmit(own.handles.queue, 1, &submit, VK_NULL_HANDLE) == 0);
        ROW_CHECK(count_wrong(r.arrays.out[0]) == 0);
        ROW_CHECK(kallima_buffer_write(r.arrays.out[0], 0, poison, 8) == KALLIMA_OK);
    }
    ROW_CHECK(kallima_vulkan_record(NULL, &r.arrays, commands) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_record(r.plan, NULL, commands) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_record(r.plan, &r.arrays, NULL) == KALLIMA_E_ARGUMENT);
    clear_recorded(&r);
    kallima_device_close(&device); // with its pool the command buffer
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
}

static void plans_are_recorded_into_the_callers_commands(void **state)
{
    (void)state;
    for (enum way way = BY_PUSHED_SETS; way < WAY_COUNT; way++) {
        if (is_offered(way))
            check_recorded(way);
    }
    ROWS_FINISH();
}

static void recording_without_the_extension_is_refused(void **state)
{
    struct own own;
    (void)state;
    own_init(&own, BY_SETS);
    kallima_device *device = adopt(&own);
    struct recorded r = make_recorded(device);
    VkCommandBuffer commands = ((struct vk_device *)device)->slot[0].commands;
    ROW_CHECK(kallima_plan_execute(r.plan, &r.arrays) == KALLIMA_OK);
    ROW_CHECK(count_wrong(r.arrays.out[0]) == 0);
    ROW_CHECK(kallima_vulkan_record(r.plan, &r.arrays, commands) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "VK_KHR_push_descriptor"));
    clear_recorded(&r);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
    ROWS_FINISH();
}

// Where the module cannot be used kernels are refused with the reason, and the device is never
// chosen by default.
static int check_module(const char *reason)
{
    kallima_device *device = NULL;
    struct kal_device_kernel *kernel = NULL;
    struct job_text job;
    int bad = 0;
    if (kallima_device_open(&device, "vulkan", NULL) != KALLIMA_OK)
        return 1;
    job_write(&job, device, JOB_SAXPY);
    bad += device->ops->kernel_create(&kernel, device, &job.text, NULL, NULL) !=
           KALLIMA_E_UNSUPPORTED;
    bad += kernel != NULL || !strstr(kallima_last_error(), reason);
    bad += device->ops->is_complete();
    if (bad)
        puts(kallima_last_error());
    kallima_device_close(&device);
    return bad;
}

// What the validation layer must find: a length that is not a multiple of 4.
static int offend(void)
{
    kallima_device *device = job_open("vulkan", &counting);
    kallima_buffer *buffer = NULL;
    struct vk_device *vk = (struct vk_device *)device;
    struct vk_slot *slot;
    int bad = kallima_buffer_create(&buffer, device, 64) != KALLIMA_OK ||
              kal_vk_begin(vk, &slot) != KALLIMA_OK;
    if (!bad) {
        vk->vk.CmdFillBuffer(slot->commands, kal_vk_memory(buffer->memory)->buffer, 0, 3,
                             0);
        kal_vk_end(vk, KALLIMA_E_ARGUMENT, 0, NULL);
    }
    kallima_buffer_destroy(&buffer);
    kallima_device_close(&device);
    return bad;
}

// For OpenGL of the same device.
static void memory_is_given_away(void **state)
{
    enum { BYTES = 3 << 20 };
    static const uint8_t nobodys[KAL_VK_UUID_BYTES] = { 0xde, 0xad };
    const struct vk_facts *facts = kal_vk_find(0);
    const struct kal_host host = { .allocator = counting_allocator(&counting) };
    struct kal_vk_exporter *exporter = kal_vk_exporter_open(&host, facts->device_uuid);
    struct kal_vk_memory_file file = { -1, 0 };

    (void)state;
    ROW_CHECK(!kal_vk_exporter_open(&host, nobodys));
    ROW_CHECK(!exporter == !facts->exports);
    if (exporter) {
        ROW_CHECK(kal_vk_export(&file, exporter, BYTES) == KALLIMA_OK);
        ROW_CHECK(file.bytes >= BYTES && close(file.descriptor) == 0);
        ROW_CHECK(kal_vk_export(&file, exporter, UINT64_MAX / 4) == KALLIMA_E_MEMORY);
    }
    kal_vk_exporter_close(exporter);
    kal_vk_exporter_close(NULL);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_version_1_1),
        cmocka_unit_test(large_buffers_are_refused_with_both_numbers),
        cmocka_unit_test(damaged_binaries_are_refused),
        cmocka_unit_test(transfers_go_through_staging_memory),
        cmocka_unit_test(a_lost_device_is_told),
        cmocka_unit_test(executions_are_gathered_while_the_queue_is_at_work),
        cmocka_unit_test(a_driver_out_of_memory_is_told),
        cmocka_unit_test(adopted_devices_compute),
        cmocka_unit_test(handles_that_do_not_fit_are_refused),
        cmocka_unit_test(wrapped_ranges_are_of_one_memory),
        cmocka_unit_test(plans_are_recorded_into_the_callers_commands),
        cmocka_unit_test(recording_without_the_extension_is_refused),
        cmocka_unit_test(memory_is_given_away),
    };
    if (argc > 2 && strcmp(argv[1], "without") == 0)
        return kal_vk_find(0) ? check_module(argv[2]) : 77;
    if (!kal_vk_find(0)) {
        puts("no Vulkan device is present");
        return getenv("CI") ? EXIT_FAILURE : 77;
    }
    if (argc > 1 && strcmp(argv[1], "offend") == 0)
        return offend();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
