// SPDX-License-Identifier: MIT
#include "hlsl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#include "device/null/null.h"
#include "hlsl.h"

enum { MOST_SLOTS = 8, CONSTANTS = 15, BINDINGS = 16, ROW = 65535, MAX_SPIRV = 1 << 24 };

static struct {
    VkPhysicalDevice adapter;
    VkDevice device;
    VkQueue queue;
    VkCommandBuffer commands;
    VkDescriptorPool pool;
    VkFence fence;
} vulkan;

struct memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *mapped;
};

/** As the kernels declare it. */
struct constants {
    uint32_t offset[MOST_SLOTS], first_group, unused[3];
};
static struct memory constants;

struct kernel {
    struct kal_device_kernel base;
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    int slots;
    uint32_t named;
};

static void check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: Vulkan's error %d\n", what, (int)result);
    abort();
}

static uint32_t host_memory(uint32_t kinds)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties about;
    vkGetPhysicalDeviceMemoryProperties(vulkan.adapter, &about);
    for (uint32_t i = 0; i < about.memoryTypeCount; i++) {
        if ((kinds >> i & 1) && (about.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    abort();
}

static void memory_init(struct memory *m, uint64_t bytes, VkBufferUsageFlags usage)
{
    const VkBufferCreateInfo buffer = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                        .size = (bytes + 15) / 16 * 16,
                                        .usage = usage };
    VkMemoryRequirements needs;
    check(vkCreateBuffer(vulkan.device, &buffer, NULL, &m->buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(vulkan.device, m->buffer, &needs);
    const VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                          .allocationSize = needs.size,
                                          .memoryTypeIndex =
                                              host_memory(needs.memoryTypeBits) };
    check(vkAllocateMemory(vulkan.device, &memory, NULL, &m->memory), "vkAllocateMemory");
    check(vkBindBufferMemory(vulkan.device, m->buffer, m->memory, 0),
          "vkBindBufferMemory");
    check(vkMapMemory(vulkan.device, m->memory, 0, VK_WHOLE_SIZE, 0, &m->mapped),
          "vkMapMemory");
    memset(m->mapped, 0xff, bytes); // not a number
}

static struct memory *memory_of(const kallima_buffer *buffer)
{
    return buffer->memory.object;
}

static kallima_status buffer_create(kallima_buffer **out, kallima_device *device,
                                    uint64_t bytes)
{
    struct memory *memory = malloc(sizeof *memory);
    *out = calloc(1, sizeof **out);
    memory_init(memory, bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    **out = (kallima_buffer){ .device = device, .bytes = bytes, .memory.object = memory };
    return KALLIMA_OK;
}

static void buffer_destroy(kallima_buffer *buffer)
{
    struct memory *memory = memory_of(buffer);
    vkDestroyBuffer(vulkan.device, memory->buffer, NULL);
    vkFreeMemory(vulkan.device, memory->memory, NULL);
    free(memory);
    free(buffer);
}

static kallima_status buffer_write(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes)
{
    memcpy((char *)memory_of(buffer)->mapped + offset, source, bytes);
    return KALLIMA_OK;
}

static kallima_status buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes)
{
    memcpy(target, (const char *)memory_of(buffer)->mapped + offset, bytes);
    return KALLIMA_OK;
}

static kallima_status buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes)
{
    return buffer_write(target, target_offset,
                        (const char *)memory_of(source)->mapped + source_offset, bytes);
}

static VkShaderModule load_module(const char *text)
{
    static uint32_t code[MAX_SPIRV / 4];
    VkShaderModule module = VK_NULL_HANDLE;
    char path[] = "/tmp/kallima_spirv_XXXXXX";
    const int file = mkstemp(path);

    if (file >= 0 && hlsl_compile(text, path)) {
        const ssize_t bytes = read(file, code, sizeof code);
        const VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = (size_t)bytes,
            .pCode = code,
        };
        check(vkCreateShaderModule(vulkan.device, &info, NULL, &module),
              "vkCreateShaderModule");
    }
    close(file);
    unlink(path);
    return module;
}

static void make_layouts(struct kernel *kernel)
{
    VkDescriptorSetLayoutBinding binding[MOST_SLOTS + 1];
    uint32_t count = 0;

    for (uint32_t i = 0; i < BINDINGS; i++) {
        if (i == CONSTANTS || (kernel->named >> i & 1))
            binding[count++] = (VkDescriptorSetLayoutBinding){
                .binding = i,
                .descriptorType = i == CONSTANTS ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                                 : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                .descriptorCount = 1,
                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            };
    }
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = binding,
    };
    check(vkCreateDescriptorSetLayout(vulkan.device, &set, NULL, &kernel->set),
          "vkCreateDescriptorSetLayout");
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &kernel->set,
    };
    check(vkCreatePipelineLayout(vulkan.device, &layout, NULL, &kernel->layout),
          "vkCreatePipelineLayout");
}

static kallima_status kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    const VkShaderModule module = load_module(text->text);

    (void)binary;
    (void)made;
    if (!module)
        return kal_fail(&device->host, KALLIMA_E_COMPILE, "glslang refuses a kernel");
    struct kernel *kernel = calloc(1, sizeof *kernel);
    kernel->base.device = device;
    kernel->slots = text->slots;
    kernel->named = text->named;
    make_layouts(kernel);
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                   .module = module,
                   .pName = text->name },
        .layout = kernel->layout,
    };
    check(vkCreateComputePipelines(vulkan.device, NULL, 1, &pipeline, NULL,
                                   &kernel->pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(vulkan.device, module, NULL);
    *out = &kernel->base;
    return KALLIMA_OK;
}

static void kernel_destroy(struct kal_device_kernel *base)
{
    struct kernel *kernel = (struct kernel *)base;
    vkDestroyPipeline(vulkan.device, kernel->pipeline, NULL);
    vkDestroyPipelineLayout(vulkan.device, kernel->layout, NULL);
    vkDestroyDescriptorSetLayout(vulkan.device, kernel->set, NULL);
    free(kernel);
}

static VkDescriptorSet bind(const struct kernel *kernel, const struct kal_work *work)
{
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = vulkan.pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &kernel->set,
    };
    VkDescriptorSet set;

    check(vkResetDescriptorPool(vulkan.device, vulkan.pool, 0), "vkResetDescriptorPool");
    check(vkAllocateDescriptorSets(vulkan.device, &info, &set),
          "vkAllocateDescriptorSets");
    for (uint32_t i = 0; i < BINDINGS; i++) {
        if (i != CONSTANTS && !(kernel->named >> i & 1))
            continue;
        const struct memory *memory =
            i == CONSTANTS ? &constants : (const struct memory *)work->slot[i].object;
        const VkDescriptorBufferInfo whole = { memory->buffer, 0, VK_WHOLE_SIZE };
        const VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = i == CONSTANTS ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                             : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &whole,
        };
        vkUpdateDescriptorSets(vulkan.device, 1, &write, 0, NULL);
    }
    return set;
}

// Run some groups, and wait for them.
static void dispatch(const struct kernel *kernel, VkDescriptorSet set, uint32_t width,
                     uint32_t rows)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
    };
    const VkMemoryBarrier seen = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_HOST_READ_BIT };
    const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &vulkan.commands };

    check(vkBeginCommandBuffer(vulkan.commands, &begin), "vkBeginCommandBuffer");
    vkCmdBindPipeline(vulkan.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    vkCmdBindDescriptorSets(vulkan.commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                            kernel->layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(vulkan.commands, width, rows, 1);
    vkCmdPipelineBarrier(vulkan.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0, NULL, 0, NULL);
    check(vkEndCommandBuffer(vulkan.commands), "vkEndCommandBuffer");
    check(vkQueueSubmit(vulkan.queue, 1, &submit, vulkan.fence), "vkQueueSubmit");
    check(vkWaitForFences(vulkan.device, 1, &vulkan.fence, VK_TRUE, UINT64_MAX),
          "vkWaitForFences");
    check(vkResetFences(vulkan.device, 1, &vulkan.fence), "vkResetFences");
}

static void launch(const struct kal_work *work)
{
    const struct kernel *kernel = (const struct kernel *)work->kernel;
    const uint32_t groups = (uint32_t)work->groups, rows = groups / ROW;
    struct constants *c = constants.mapped;
    const VkDescriptorSet set = bind(kernel, work);

    for (int i = 0; i < kernel->slots; i++)
        c->offset[i] = (uint32_t)work->slot[i].offset;
    c->first_group = 0;
    if (rows > 0)
        dispatch(kernel, set, ROW, rows);
    c->first_group = rows * ROW;
    if (groups % ROW > 0)
        dispatch(kernel, set, groups % ROW, 1);
}

static kallima_status enqueue(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync)
{
    (void)device;
    (void)sync;
    for (int i = 0; i < count; i++)
        launch(&work[i]);
    return KALLIMA_OK;
}

static bool find_adapter(void)
{
    const VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                    .apiVersion = VK_API_VERSION_1_1 };
    const VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                        .pApplicationInfo = &app };
    VkInstance instance;
    uint32_t count = 1;
    return vkCreateInstance(&info, NULL, &instance) == VK_SUCCESS &&
           vkEnumeratePhysicalDevices(instance, &count, &vulkan.adapter) >= 0 &&
           count > 0;
}

static void start(void)
{
    const float priority = 1;
    const VkPhysicalDeviceFeatures features = { .shaderFloat64 = VK_TRUE };
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                        .queueCreateInfoCount = 1,
                                        .pQueueCreateInfos = &queue,
                                        .pEnabledFeatures = &features };
    const VkCommandPoolCreateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    const VkDescriptorPoolSize sizes[] = { { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             MOST_SLOTS },
                                           { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1 } };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
    VkCommandBufferAllocateInfo buffers = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandBufferCount = 1,
    };

    check(vkCreateDevice(vulkan.adapter, &device, NULL, &vulkan.device),
          "vkCreateDevice");
    vkGetDeviceQueue(vulkan.device, 0, 0, &vulkan.queue);
    check(vkCreateCommandPool(vulkan.device, &commands, NULL, &buffers.commandPool),
          "vkCreateCommandPool");
    check(vkAllocateCommandBuffers(vulkan.device, &buffers, &vulkan.commands),
          "vkAllocateCommandBuffers");
    check(vkCreateDescriptorPool(vulkan.device, &pool, NULL, &vulkan.pool),
          "vkCreateDescriptorPool");
    check(vkCreateFence(vulkan.device, &fence, NULL, &vulkan.fence), "vkCreateFence");
    memory_init(&constants, sizeof(struct constants), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
}

void hlsl_device_open(kallima_device **out)
{
    static struct kal_device_ops ops;
    const kallima_device_options options = { .kernel_cache = "", .wisdom = "" };

    *out = NULL;
    if (!find_adapter() || kallima_device_open(out, "nulld3d11", &options) != KALLIMA_OK)
        return;
    start();
    ops = kal_null_d3d11_device_ops;
    ops.is_pretended = false;
    ops.buffer_create = buffer_create;
    ops.buffer_destroy = buffer_destroy;
    ops.buffer_write = buffer_write;
    ops.buffer_read = buffer_read;
    ops.buffer_copy = buffer_copy;
    ops.kernel_create = kernel_create;
    ops.kernel_destroy = kernel_destroy;
    ops.enqueue = enqueue;
    (*out)->ops = &ops;
}
