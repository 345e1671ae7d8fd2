// SPDX-License-Identifier: MIT
// The functions of Vulkan by name, and the instance that all devices of the process share.
#include "device/vulkan/driver.h"

#include <dlfcn.h>
#include <string.h>

struct function {
    const char *name;
    size_t place; // of the pointer in its struct
};

#define INSTANCE_ROW(name) { "vk" #name, offsetof(struct vk_instance, name) },
#define DEVICE_ROW(name)   { "vk" #name, offsetof(struct vk_api, name) },
static const struct function instance_functions[] = { VK_INSTANCE_FUNCTIONS(
    INSTANCE_ROW) };
static const struct function device_functions[] = { VK_DEVICE_FUNCTIONS(DEVICE_ROW) };
#undef INSTANCE_ROW
#undef DEVICE_ROW

static PFN_vkGetInstanceProcAddr find_function;

// The library stays loaded: drivers do not survive being unloaded.
static void load_once(void)
{
    void *library = dlopen("libvulkan.so.1", RTLD_LAZY | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    memcpy(&find_function, &symbol, sizeof symbol);
}

static PFN_vkVoidFunction find(VkInstance instance, const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return find_function ? find_function(instance, name) : NULL;
}

bool kal_vk_is_loaded(void)
{
    return find(NULL, "vkCreateInstance") != NULL;
}

static bool keep(void *table, const struct function *function, PFN_vkVoidFunction symbol)
{
    memcpy((char *)table + function->place, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool kal_vk_instance_load(struct vk_instance *instance, VkInstance handle)
{
    bool is_whole = true;
    instance->handle = handle;
    for (size_t i = 0; i < KAL_COUNT(instance_functions); i++)
        is_whole &= keep(instance, &instance_functions[i],
                         find(handle, instance_functions[i].name));
    return is_whole;
}

bool kal_vk_api_load(struct vk_api *api, const struct vk_instance *instance,
                     VkDevice device)
{
    bool is_whole = true;
    for (size_t i = 0; i < KAL_COUNT(device_functions); i++)
        is_whole &= keep(api, &device_functions[i],
                         instance->GetDeviceProcAddr(device, device_functions[i].name));
    api->CmdPushDescriptorSetKHR =
        (PFN_vkCmdPushDescriptorSetKHR)instance->GetDeviceProcAddr(
            device, "vkCmdPushDescriptorSetKHR");
    // As of Vulkan 1.2, or of the extension that was before it.
    api->GetBufferDeviceAddress =
        (PFN_vkGetBufferDeviceAddress)instance->GetDeviceProcAddr(
            device, "vkGetBufferDeviceAddressKHR");
    if (!api->GetBufferDeviceAddress)
        api->GetBufferDeviceAddress =
            (PFN_vkGetBufferDeviceAddress)instance->GetDeviceProcAddr(
                device, "vkGetBufferDeviceAddress");
    return is_whole;
}

static struct vk_instance own;
static bool has_own;

static void make_instance(void)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "kallima",
        .apiVersion = VK_API_VERSION_1_1,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    const PFN_vkEnumerateInstanceVersion ask =
        (PFN_vkEnumerateInstanceVersion)find(NULL, "vkEnumerateInstanceVersion");
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)find(NULL, "vkCreateInstance");
    VkInstance instance;
    uint32_t version = 0;

    if (ask && create && ask(&version) == VK_SUCCESS && version >= VK_API_VERSION_1_1 &&
        create(&info, NULL, &instance) == VK_SUCCESS)
        has_own = kal_vk_instance_load(&own, instance);
}

const struct vk_instance *kal_vk_instance(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_instance);
    return has_own ? &own : NULL;
}

#define NAME(code)  \
    {               \
        code, #code \
    }
static const struct {
    VkResult code;
    const char *name;
} errors[] = {
    NAME(VK_TIMEOUT),
    NAME(VK_NOT_READY),
    NAME(VK_ERROR_OUT_OF_HOST_MEMORY),
    NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY),
    NAME(VK_ERROR_INITIALIZATION_FAILED),
    NAME(VK_ERROR_DEVICE_LOST),
    NAME(VK_ERROR_MEMORY_MAP_FAILED),
    NAME(VK_ERROR_LAYER_NOT_PRESENT),
    NAME(VK_ERROR_EXTENSION_NOT_PRESENT),
    NAME(VK_ERROR_FEATURE_NOT_PRESENT),
    NAME(VK_ERROR_INCOMPATIBLE_DRIVER),
    NAME(VK_ERROR_TOO_MANY_OBJECTS),
    NAME(VK_ERROR_FRAGMENTED_POOL),
    NAME(VK_ERROR_OUT_OF_POOL_MEMORY),
    NAME(VK_ERROR_INVALID_SHADER_NV),
    NAME(VK_ERROR_UNKNOWN),
};
#undef NAME

const char *kal_vk_error_name(VkResult code)
{
    for (size_t i = 0; i < KAL_COUNT(errors); i++) {
        if (errors[i].code == code)
            return errors[i].name;
    }
    return "unknown error";
}

kallima_status kal_vk_check(const struct vk_device *device, VkResult code,
                            const char *call)
{
    if (code == VK_SUCCESS)
        return KALLIMA_OK;
    const bool is_memory = code == VK_ERROR_OUT_OF_HOST_MEMORY ||
                           code == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                           code == VK_ERROR_TOO_MANY_OBJECTS;
    return kal_fail(&device->base.host, is_memory ? KALLIMA_E_MEMORY : KALLIMA_E_DEVICE,
                    "vulkan: %s: %s (%d)", call, kal_vk_error_name(code), code);
}
