// SPDX-License-Identifier: MIT
// The caller's own Vulkan objects: device, queue, buffers and command buffers. Include it with
// vulkan/vulkan.h, before or after.
#ifndef KALLIMA_INTEROP_VULKAN_H_
#define KALLIMA_INTEROP_VULKAN_H_

#include <kallima/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// As vulkan/vulkan_core.h has them, so that this header needs no other.
typedef struct VkInstance_T *VkInstance;
typedef struct VkPhysicalDevice_T *VkPhysicalDevice;
typedef struct VkDevice_T *VkDevice;
typedef struct VkQueue_T *VkQueue;
typedef struct VkCommandBuffer_T *VkCommandBuffer;
#if defined(__LP64__) || defined(_WIN64) ||                            \
    (defined(__x86_64__) && !defined(__ILP32__)) || defined(_M_X64) || \
    defined(__ia64) || defined(_M_IA64) || defined(__aarch64__) ||     \
    defined(__powerpc64__)
typedef struct VkBuffer_T *VkBuffer;
#else
typedef uint64_t VkBuffer;
#endif

/** What a device is made of. */
typedef struct kallima_vulkan_handles {
    VkInstance instance; // made for Vulkan 1.1 or above
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family; // of `queue`; its queues must compute
    int32_t has_f64;       // 1: `device` was made with the feature shaderFloat64
    // 1: `device` was made with bufferDeviceAddress, by which most kernels are faster, and
    // every VkBuffer that is wrapped has the usage SHADER_DEVICE_ADDRESS.
    int32_t has_buffer_addresses;
    // 1: and with vulkanMemoryModel and vulkanMemoryModelDeviceScope, by which most long
    // transforms are.
    int32_t has_memory_model;
} kallima_vulkan_handles;

/**
 * Open the caller's device. What kallima_plan_execute() and the functions of buffers and
 * timers do on it are submissions to its queue; kallima_vulkan_record() submits nothing.
 * A device made with VK_KHR_push_descriptor can do that.
 *
 * Owner:  the caller owns *out and frees it with kallima_device_close(). The handles stay the
 *         caller's and must outlive the device, its plans, buffers and timers. `options`
 *         (NULL: the default) is as in kallima_device_open().
 * Thread: any. The library submits to the queue at any call that executes, writes, reads,
 *         copies, waits or times: the caller does not use it from another thread then.
 * Error:  E_ARGUMENT     an argument but `options`, or a handle, is NULL, there is no such
 *                        family or its queues do not compute, or one of the allocator's two
 *                        functions is missing
 *         E_UNSUPPORTED  instance or device is below Vulkan 1.1, or the library was built
 *                        without Vulkan
 *         E_ABSENT       the library cannot load libvulkan.so.1
 *         E_MEMORY       memory is exhausted
 *         E_DEVICE       Vulkan refused an object
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_vulkan_adopt(kallima_device **out,
                                                const kallima_vulkan_handles *handles,
                                                const kallima_device_options *options);

/**
 * Make a buffer of a part of the caller's VkBuffer. Nothing is copied.
 *
 * Shape:  bytes `offset_bytes` to `offset_bytes` + `bytes` of the VkBuffer, which has memory
 *         and the usages STORAGE_BUFFER, TRANSFER_SRC and TRANSFER_DST; `offset_bytes` is a
 *         multiple of 16, `bytes` is at least 1.
 * Owner:  the caller owns *out and frees it with kallima_buffer_destroy(), which leaves the
 *         VkBuffer alone. That must outlive the buffer and the work that uses it.
 * Thread: any.
 * Error:  E_ARGUMENT     a pointer is NULL, `device` is none of Vulkan, `offset_bytes` is
 *                        misaligned, or `bytes` is 0
 *         E_UNSUPPORTED  a kernel would have to reach further than the device lets it,
 *                        because the device does not let an array begin at that offset
 *         E_MEMORY       host memory is exhausted
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_vulkan_wrap(kallima_buffer **out,
                                               kallima_device *device, VkBuffer buffer,
                                               uint64_t offset_bytes, uint64_t bytes);

/**
 * Append one execution to the caller's command buffer, behind a barrier against all that is
 * ahead of it and ahead of one against all that follows on the same queue. It may be submitted
 * more than once.
 *
 * Shape:  as kallima_plan_execute(). `commands` is being recorded, outside of a render pass,
 *         for a family of queues that compute. Pipeline, descriptors and push constants that
 *         were bound for compute there are bound no more.
 * Owner:  plan, buffers and workspace must live until the command buffer is reset or
 *         destroyed. Host writes to the arrays and reads of them are the caller's to order.
 * Thread: as kallima_plan_execute(); one call on a command buffer at a time. Where it runs
 *         more than once at a time, so does what is in the plan's own workspace.
 * Error:  as kallima_plan_execute(); E_ARGUMENT also if the plan's device is none of Vulkan,
 *         E_UNSUPPORTED if it was made without VK_KHR_push_descriptor. On error nothing, or
 *         but barriers, were recorded.
 */
KALLIMA_API kallima_status kallima_vulkan_record(const kallima_plan *plan,
                                                 const kallima_device_arrays *arrays,
                                                 VkCommandBuffer commands);

#ifdef __cplusplus
}
#endif
#endif
