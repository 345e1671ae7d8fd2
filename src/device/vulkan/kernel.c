// SPDX-License-Identifier: MIT
// Kernels: text or a binary into a pipeline. What is kept on disk is the SPIR-V and what the
// driver made of it.
#include "device/spirv/spirv.h"
#include "device/vulkan/driver.h"

#include <string.h>

enum { BINARY_MAGIC = 0x4b565331, SPIRV_MAGIC = 0x07230203, SPIRV_HEADER_BYTES = 20 };

// A binary: this, the SPIR-V, and the data of a pipeline cache.
struct head {
    uint32_t magic, spirv_bytes;
};

// A part of memory.
struct piece {
    const void *data;
    size_t bytes;
};

static const struct vk_device *device_of(const struct vk_kernel *kernel)
{
    return (const struct vk_device *)kernel->base.device;
}

// Find both pieces of a binary in its memory; false if it is none of this file.
static bool split(const struct kal_binary *binary, struct piece *spirv,
                  struct piece *cache)
{
    struct head head;
    uint32_t magic;
    const char *data = binary->data;
    if (binary->bytes < sizeof head + SPIRV_HEADER_BYTES)
        return false;
    memcpy(&head, data, sizeof head);
    memcpy(&magic, data + sizeof head, sizeof magic);
    if (head.magic != BINARY_MAGIC || magic != SPIRV_MAGIC || head.spirv_bytes % 4 != 0 ||
        head.spirv_bytes > binary->bytes - sizeof head)
        return false;
    *spirv = (struct piece){ data + sizeof head, head.spirv_bytes };
    *cache = (struct piece){ data + sizeof head + head.spirv_bytes,
                             (size_t)binary->bytes - sizeof head - head.spirv_bytes };
    return true;
}

// A driver may have nothing to give: then the SPIR-V is all that is kept.
static kallima_status join(const struct vk_device *device, const struct piece *spirv,
                           VkPipelineCache cache, struct kal_binary *made)
{
    const struct head head = { BINARY_MAGIC, (uint32_t)spirv->bytes };
    size_t bytes = 0;
    void *memory;

    if (device->vk.GetPipelineCacheData(device->device, cache, &bytes, NULL) !=
        VK_SUCCESS)
        bytes = 0;
    KAL_TRY(
        kal_alloc(&device->base.host, &memory, sizeof head + spirv->bytes + bytes, 1));
    char *data = memory;
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, spirv->data, spirv->bytes);
    if (bytes &&
        device->vk.GetPipelineCacheData(device->device, cache, &bytes,
                                        data + sizeof head + spirv->bytes) != VK_SUCCESS)
        bytes = 0;
    *made = (struct kal_binary){ memory, sizeof head + spirv->bytes + bytes };
    return KALLIMA_OK;
}

static kallima_status make_slots_layout(struct vk_kernel *kernel)
{
    const struct vk_device *device = device_of(kernel);
    VkDescriptorSetLayoutBinding binding[KAL_MAX_SLOTS];
    for (uint32_t i = 0; i < kernel->slots; i++)
        binding[i] =
            (VkDescriptorSetLayoutBinding){ i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                            VK_SHADER_STAGE_COMPUTE_BIT, NULL };
    const VkDescriptorSetLayoutCreateInfo slots = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = device->vk.CmdPushDescriptorSetKHR
                     ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
                     : 0,
        .bindingCount = kernel->slots,
        .pBindings = binding,
    };
    VK_TRY(device, CreateDescriptorSetLayout, device->device, &slots, NULL,
           &kernel->slots_layout);
    return KALLIMA_OK;
}

static kallima_status make_layouts(struct vk_kernel *kernel)
{
    const struct vk_device *device = device_of(kernel);
    const bool has_slots = !kal_vk_takes_addresses(device);
    const VkPushConstantRange numbers = { VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                          kal_vk_launch_bytes(device) };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = has_slots,
        .pSetLayouts = &kernel->slots_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &numbers,
    };
    if (has_slots)
        KAL_TRY(make_slots_layout(kernel));
    VK_TRY(device, CreatePipelineLayout, device->device, &layout, NULL, &kernel->layout);
    return KALLIMA_OK;
}

// What is no lack of memory, and no loss of the device, is the text's fault.
static kallima_status check_pipeline(const struct vk_device *device, const char *name,
                                     VkResult code)
{
    const char *call = "vkCreateComputePipelines";
    if (code == VK_SUCCESS || code == VK_ERROR_OUT_OF_HOST_MEMORY ||
        code == VK_ERROR_OUT_OF_DEVICE_MEMORY || code == VK_ERROR_DEVICE_LOST)
        return kal_vk_check(device, code, call);
    return kal_fail(&device->base.host, KALLIMA_E_COMPILE,
                    "vulkan: kernel %s: %s: %s (%d)", name, call, kal_vk_error_name(code),
                    code);
}

static kallima_status make_pipeline(struct vk_kernel *kernel, const char *name,
                                    const struct piece *spirv, VkPipelineCache cache)
{
    const struct vk_device *device = device_of(kernel);
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = spirv->bytes,
        .pCode = spirv->data,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                   .pName = "main" },
        .layout = kernel->layout,
    };
    VK_TRY(device, CreateShaderModule, device->device, &code, NULL, &info.stage.module);
    const VkResult result = device->vk.CreateComputePipelines(
        device->device, cache, 1, &info, NULL, &kernel->pipeline);
    device->vk.DestroyShaderModule(device->device, info.stage.module, NULL);
    return check_pipeline(device, name, result);
}

// From SPIR-V and what an earlier driver's cache held of it, if anything.
static kallima_status build(struct vk_kernel *kernel, const char *name,
                            const struct piece *spirv, const struct piece *kept,
                            struct kal_binary *made)
{
    const struct vk_device *device = device_of(kernel);
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = kept->bytes,
        .pInitialData = kept->bytes ? kept->data : NULL,
    };
    VkPipelineCache cache;

    KAL_TRY(make_layouts(kernel));
    VK_TRY(device, CreatePipelineCache, device->device, &info, NULL, &cache);
    kallima_status status = make_pipeline(kernel, name, spirv, cache);
    if (!status && made)
        status = join(device, spirv, cache, made);
    device->vk.DestroyPipelineCache(device->device, cache, NULL);
    return status;
}

static kallima_status load(struct vk_kernel *kernel, const char *name,
                           const struct kal_binary *binary)
{
    struct piece spirv, cache;
    if (!split(binary, &spirv, &cache))
        return kal_fail(&kernel->base.device->host, KALLIMA_E_COMPILE,
                        "vulkan: kernel %s: the binary is none of this device", name);
    return build(kernel, name, &spirv, &cache, NULL);
}

static kallima_status make(struct vk_kernel *kernel, const struct kal_kernel_text *text,
                           const struct kal_binary *binary, struct kal_binary *made)
{
    static const struct piece nothing;
    const struct kal_host *host = &kernel->base.device->host;
    struct kal_binary words;
    if (binary)
        return load(kernel, text->name, binary);
    KAL_TRY(kal_spirv_make(&words, host, text));
    const struct piece spirv = { words.data, (size_t)words.bytes };
    const kallima_status status = build(kernel, text->name, &spirv, &nothing, made);
    kal_free(host, words.data);
    return status;
}

kallima_status kal_vk_kernel_create(struct kal_device_kernel **out, kallima_device *base,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    void *object;

    KAL_TRY(kal_kernel_check(base, text));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct vk_kernel)));
    struct vk_kernel *kernel = object;
    kernel->base = (struct kal_device_kernel){ base, text->lanes };
    kernel->slots = (uint32_t)text->slots;
    const kallima_status status = make(kernel, text, binary, made);
    if (status) {
        kal_vk_kernel_destroy(&kernel->base);
        return status;
    }
    *out = &kernel->base;
    return KALLIMA_OK;
}

void kal_vk_kernel_destroy(struct kal_device_kernel *base)
{
    struct vk_kernel *kernel = (struct vk_kernel *)base;
    struct vk_device *device = (struct vk_device *)base->device;
    kal_vk_wait(device, kernel->last);
    device->vk.DestroyPipeline(device->device, kernel->pipeline, NULL);
    device->vk.DestroyPipelineLayout(device->device, kernel->layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->device, kernel->slots_layout, NULL);
    kal_free(&device->base.host, kernel);
}
