// SPDX-License-Identifier: MIT
// A transform in a program that uses Vulkan already: recorded into its own command buffer,
// between a command that makes the input and one that takes the output, on its own buffers.
#include <kallima/interop/vulkan.h>
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum {
    N = 360,
    HEADER = 1024, // bytes of the program's own
    BYTES = N * 2 * sizeof(float)
};

// The program's own objects: `host` is memory that it writes and reads, `data` the device's.
struct program {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkBuffer host, data;
    VkDeviceMemory host_memory, data_memory;
    float (*mapped)[2];
};

// Every call of Vulkan and of the library that fails ends the program.
static void check(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "%s: %s (%d)\n", what, kallima_last_error(), failed);
        exit(EXIT_FAILURE);
    }
}

static void find_device(struct program *p)
{
    const VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                            .apiVersion = VK_API_VERSION_1_1 };
    const VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                        .pApplicationInfo = &application };
    VkQueueFamilyProperties families[16];
    uint32_t one = 1, count = 16;

    if (vkCreateInstance(&info, NULL, &p->instance) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(p->instance, &one, &p->physical) < 0 || one == 0) {
        puts("no Vulkan device is present");
        exit(77);
    }
    vkGetPhysicalDeviceQueueFamilyProperties(p->physical, &count, families);
    while (p->family < count && !(families[p->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        p->family++;
    check(p->family == count, "no queues that compute");
}

// Recording needs the extension VK_KHR_push_descriptor.
static void make_device(struct program *p)
{
    static const char *const extension = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = p->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = &extension,
    };
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = p->family,
    };
    check(vkCreateDevice(p->physical, &device, NULL, &p->device), "device");
    vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
    check(vkCreateCommandPool(p->device, &pool, NULL, &p->pool), "pool");
}

static uint32_t memory_type(const struct program *p, uint32_t types,
                            VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t i = 0;
    vkGetPhysicalDeviceMemoryProperties(p->physical, &memory);
    while (
        i < memory.memoryTypeCount &&
        (!(types >> i & 1) || (memory.memoryTypes[i].propertyFlags & wanted) != wanted))
        i++;
    check(i == memory.memoryTypeCount, "no such memory");
    return i;
}

// The usages that the library's wrapped buffers must have.
static VkBuffer make_buffer(const struct program *p, VkDeviceSize bytes,
                            VkMemoryPropertyFlags wanted, VkDeviceMemory *memory)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkMemoryRequirements needed;
    VkBuffer buffer;

    check(vkCreateBuffer(p->device, &info, NULL, &buffer), "buffer");
    vkGetBufferMemoryRequirements(p->device, buffer, &needed);
    const VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needed.size,
        .memoryTypeIndex = memory_type(p, needed.memoryTypeBits, wanted),
    };
    check(vkAllocateMemory(p->device, &allocation, NULL, memory), "memory");
    check(vkBindBufferMemory(p->device, buffer, *memory, 0), "bind");
    return buffer;
}

static void start(struct program *p)
{
    void *mapped;
    find_device(p);
    make_device(p);
    p->host = make_buffer(p, BYTES,
                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                              VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                          &p->host_memory);
    p->data = make_buffer(p, HEADER + 2 * BYTES, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                          &p->data_memory);
    check(vkMapMemory(p->device, p->host_memory, 0, VK_WHOLE_SIZE, 0, &mapped), "map");
    p->mapped = mapped;
}

static void stop(struct program *p)
{
    vkDestroyBuffer(p->device, p->host, NULL);
    vkDestroyBuffer(p->device, p->data, NULL);
    vkFreeMemory(p->device, p->host_memory, NULL);
    vkFreeMemory(p->device, p->data_memory, NULL);
    vkDestroyCommandPool(p->device, p->pool, NULL);
    vkDestroyDevice(p->device, NULL);
    vkDestroyInstance(p->instance, NULL);
}

// The device, a plan, and two buffers behind each other in the program's memory.
static kallima_plan *prepare(const struct program *p, kallima_device_arrays *arrays)
{
    const kallima_vulkan_handles handles = { .instance = p->instance,
                                             .physical_device = p->physical,
                                             .device = p->device,
                                             .queue = p->queue,
                                             .queue_family = p->family };
    const kallima_desc desc = { .rank = 1, .n = { N } };
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;

    check(kallima_vulkan_adopt(&device, &handles, NULL), "adopt");
    check(kallima_vulkan_wrap(&arrays->in[0], device, p->data, HEADER, BYTES), "wrap");
    check(kallima_vulkan_wrap(&arrays->out[0], device, p->data, HEADER + BYTES, BYTES),
          "wrap");
    check(kallima_plan_create(&plan, device, &desc, NULL), "plan");
    kallima_device_close(&device); // plan and buffers keep it
    return plan;
}

// To the device, the transform, and back: three commands of one command buffer. The library
// brings the barriers around its own.
static void run(const struct program *p, const kallima_plan *plan,
                const kallima_device_arrays *arrays)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
    };
    const VkBufferCopy there = { 0, HEADER, BYTES }, back = { HEADER + BYTES, 0, BYTES };
    const VkMemoryBarrier to_host = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                      .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                      .dstAccessMask = VK_ACCESS_HOST_READ_BIT };
    VkCommandBuffer commands;

    check(vkAllocateCommandBuffers(p->device, &info, &commands), "commands");
    check(vkBeginCommandBuffer(commands, &begin), "begin");
    vkCmdCopyBuffer(commands, p->host, p->data, 1, &there);
    check(kallima_vulkan_record(plan, arrays, commands), "record");
    vkCmdCopyBuffer(commands, p->data, p->host, 1, &back);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    check(vkEndCommandBuffer(commands), "end");

    const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &commands };
    check(vkQueueSubmit(p->queue, 1, &submit, VK_NULL_HANDLE), "submit");
    check(vkQueueWaitIdle(p->queue), "wait");
}

// The largest distance from the sum over j of in[j] * exp(-2*pi*i * j*k / N).
static double largest_error(float in[N][2], float out[N][2])
{
    double largest = 0.0;
    for (int k = 0; k < N; k++) {
        double re = 0.0, im = 0.0;
        for (int j = 0; j < N; j++) {
            const double angle = -6.283185307179586 * (j * k % N) / N;
            re += in[j][0] * cos(angle) - in[j][1] * sin(angle);
            im += in[j][0] * sin(angle) + in[j][1] * cos(angle);
        }
        largest = fmax(largest, hypot(out[k][0] - re, out[k][1] - im));
    }
    return largest;
}

int main(void)
{
    static float in[N][2]; // real and imaginary parts
    struct program p = { 0 };
    kallima_device_arrays arrays = { .workspace = NULL };

    for (int j = 0; j < N; j++) {
        in[j][0] = (float)sin(0.1 * j * j);
        in[j][1] = (float)cos(0.3 * j);
    }
    start(&p);
    kallima_plan *plan = prepare(&p, &arrays);
    memcpy(p.mapped, in, sizeof in);
    run(&p, plan, &arrays);
    const double error = largest_error(in, p.mapped);
    printf("largest error: %.1e\n", error);

    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&arrays.in[0]);
    kallima_buffer_destroy(&arrays.out[0]);
    stop(&p);
    return error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
