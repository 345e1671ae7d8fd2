// SPDX-License-Identifier: MIT
// What the files of this folder share: the functions of Vulkan, found at run time, and the
// device's own objects.
#ifndef KAL_DEVICE_VULKAN_DRIVER_H_
#define KAL_DEVICE_VULKAN_DRIVER_H_

#define VK_NO_PROTOTYPES
#include <pthread.h>
#include <vulkan/vulkan_core.h>

#include "device/vulkan/vulkan.h"

enum {
    VK_MAX_DEVICES = 16,
    VK_MAX_FAMILIES = 32,
    VK_SLOTS = 32,              // submissions that may be under way at once
    VK_GATHERED = 16,           // executions that one of them may hold
    VK_STAGING_BYTES = 8 << 20, // of each of two halves
    VK_PLACES = 15, // of arrays, ahead of the number of a kernel's first group
};

// clang-format off
#define VK_INSTANCE_FUNCTIONS(X)           \
    X(EnumeratePhysicalDevices)            \
    X(EnumerateDeviceExtensionProperties)  \
    X(GetPhysicalDeviceProperties2)        \
    X(GetPhysicalDeviceFeatures2)          \
    X(GetPhysicalDeviceMemoryProperties)   \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(CreateDevice)                        \
    X(GetDeviceProcAddr)

#define VK_DEVICE_FUNCTIONS(X)             \
    X(DestroyDevice)                       \
    X(GetDeviceQueue)                      \
    X(QueueSubmit)                         \
    X(CreateFence)                         \
    X(DestroyFence)                        \
    X(ResetFences)                         \
    X(WaitForFences)                       \
    X(GetFenceStatus)                      \
    X(CreateCommandPool)                   \
    X(DestroyCommandPool)                  \
    X(AllocateCommandBuffers)              \
    X(BeginCommandBuffer)                  \
    X(EndCommandBuffer)                    \
    X(CreateBuffer)                        \
    X(DestroyBuffer)                       \
    X(GetBufferMemoryRequirements)         \
    X(AllocateMemory)                      \
    X(FreeMemory)                          \
    X(BindBufferMemory)                    \
    X(MapMemory)                           \
    X(CreateShaderModule)                  \
    X(DestroyShaderModule)                 \
    X(CreateDescriptorSetLayout)           \
    X(DestroyDescriptorSetLayout)          \
    X(CreatePipelineLayout)                \
    X(DestroyPipelineLayout)               \
    X(CreatePipelineCache)                 \
    X(GetPipelineCacheData)                \
    X(DestroyPipelineCache)                \
    X(CreateComputePipelines)              \
    X(DestroyPipeline)                     \
    X(CreateDescriptorPool)                \
    X(DestroyDescriptorPool)               \
    X(ResetDescriptorPool)                 \
    X(AllocateDescriptorSets)              \
    X(UpdateDescriptorSets)                \
    X(CreateQueryPool)                     \
    X(DestroyQueryPool)                    \
    X(GetQueryPoolResults)                 \
    X(CmdBindPipeline)                     \
    X(CmdBindDescriptorSets)               \
    X(CmdPushConstants)                    \
    X(CmdDispatch)                         \
    X(CmdPipelineBarrier)                  \
    X(CmdCopyBuffer)                       \
    X(CmdFillBuffer)                       \
    X(CmdResetQueryPool)                   \
    X(CmdWriteTimestamp)
// clang-format on

#define VK_MEMBER(name) PFN_vk##name name;

/** An instance and its functions. */
struct vk_instance {
    VkInstance handle;
    VK_INSTANCE_FUNCTIONS(VK_MEMBER)
};

/** The functions of one device; of the last two those that it lacks are NULL. */
struct vk_api {
    VK_DEVICE_FUNCTIONS(VK_MEMBER)
    VK_MEMBER(CmdPushDescriptorSetKHR)
    VK_MEMBER(GetBufferDeviceAddress)
};
#undef VK_MEMBER

/** What is read of a device, once. */
struct vk_facts {
    VkPhysicalDevice handle;
    kallima_device_info info;
    struct kal_caps caps;
    VkPhysicalDeviceMemoryProperties memory;
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t cache_uuid[VK_UUID_SIZE]; // of driver and device, for compiled kernels
    uint32_t driver_version;
    uint32_t family;           // of queues that compute
    uint32_t processors;       // of NVIDIA's, else 0
    uint32_t warps;            // that each of them keeps at once
    uint32_t timestamp_bits;   // 0: its queues keep no times
    double tick_seconds;       // of a timestamp
    uint32_t most_rows;        // of groups in a launch
    uint64_t allocation_bytes; // most of one buffer
    uint64_t offset_bytes;     // where a kernel's array may begin: multiples of this
    bool has_push_descriptors;
    bool has_addresses;    // of buffers, for kernels
    bool has_memory_model; // that of Vulkan, between all groups of a launch
    bool exports;          // memory, as files
};

/** One submission: commands, and a fence that says when they are done. */
struct vk_slot {
    VkCommandBuffer commands;
    VkFence fence;
    VkDescriptorPool sets; // where descriptors are neither pushed nor done without
    int waiters;           // threads that look at the fence
};

/** Memory as the driver knows it. */
struct vk_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;   // NULL: the caller's
    void *address;           // NULL: the host does not reach it
    uint64_t device_address; // where kernels find it, if they are told
    uint64_t bytes;          // of the caller's: as far as is known
    uint64_t last;           // submission that uses it
    int references;          // buffers that lie in it
    struct vk_memory *next;  // of the caller's, on the same device
};

struct vk_device {
    struct kallima_device base;
    struct vk_facts facts;
    struct vk_api vk;
    VkDevice device;
    VkQueue queue;
    bool is_adopted;
    VkCommandPool pool;
    pthread_mutex_t lock; // of all below but the staging memory
    pthread_cond_t no_waiter;
    struct vk_slot slot[VK_SLOTS];
    uint64_t submitted, completed; // submissions are numbered from 1 on
    int gathered;          // executions in the next one, which is begun; 0: it is not
    int64_t waiting_lanes; // of these
    bool has_lost;         // some could not be submitted, and nobody was told
    struct vk_memory *wrapped;
    pthread_mutex_t staging_lock;
    struct vk_memory staging;   // two halves
    uint64_t staging_number[2]; // the last submission that uses each
};

struct vk_kernel {
    struct kal_device_kernel base;
    VkDescriptorSetLayout slots_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    uint32_t slots;
    uint64_t last; // submission that uses it
};

/** Do kernels find arrays by their addresses, not through descriptors? */
static inline bool kal_vk_takes_addresses(const struct vk_device *device)
{
    return device->base.caps.language == KAL_LANGUAGE_GLSL_ADDRESSES;
}

/** Are commands all that a launch needs, so that any number goes into one command buffer? */
static inline bool kal_vk_needs_no_sets(const struct vk_device *device)
{
    return kal_vk_takes_addresses(device) || device->vk.CmdPushDescriptorSetKHR;
}

/** Bytes that a kernel is told: a place for each array, and the number of its first group. */
static inline uint32_t kal_vk_launch_bytes(const struct vk_device *device)
{
    const uint32_t words = kal_vk_takes_addresses(device) ? 2 : 1;
    return (words * VK_PLACES + 1) * (uint32_t)sizeof(uint32_t);
}

/** Is Vulkan installed? Thread: any. */
bool kal_vk_is_loaded(void);

/** Return the process's own instance; NULL where there is none. Thread: any. */
const struct vk_instance *kal_vk_instance(void);

/** Fill in the functions of the caller's instance; false if some are missing. */
bool kal_vk_instance_load(struct vk_instance *instance, VkInstance handle);

/** Fill in the functions of a device; false if some are missing. */
bool kal_vk_api_load(struct vk_api *api, const struct vk_instance *instance,
                     VkDevice device);

/** Return VK_SUCCESS as OK; log the failed `call` and translate any other code. */
kallima_status kal_vk_check(const struct vk_device *device, VkResult code,
                            const char *call);

/** Return the name of an error code, such as "VK_ERROR_DEVICE_LOST". */
const char *kal_vk_error_name(VkResult code);

/** Return from the caller if a call of Vulkan fails. Only where nothing needs undoing. */
#define VK_TRY(owner, function, ...) \
    KAL_TRY(kal_vk_check((owner), (owner)->vk.function(__VA_ARGS__), "vk" #function))

/** Read what a device can do; false if it is none for this folder. */
bool kal_vk_read_facts(const struct vk_instance *instance, VkPhysicalDevice handle,
                       const struct kal_host *host, struct vk_facts *facts);

/**
 * Take the first family of `first` to `last` whose queues compute, one of queues that do not
 * draw too if there is any; false: there is none.
 */
bool kal_vk_read_family(const struct vk_instance *instance, struct vk_facts *facts,
                        uint32_t first, uint32_t last);

/** What is known of device `index`; NULL where there is none. Imitations are last. */
const struct vk_facts *kal_vk_find(int index);

/** Give adopted facts the selector of the device that they are of, if it is listed. */
void kal_vk_name(struct vk_facts *facts);

/** Append what identifies the device and its driver to a string. */
void kal_vk_key(const kallima_device *device, char *key, size_t capacity);

/** Make a device that has nothing of Vulkan's yet; closed by the table's close(). */
kallima_status kal_vk_device_create(struct vk_device **out, const struct kal_host *host,
                                    const struct vk_facts *facts);

/**
 * Let kernels take addresses, if they are offered and the driver has them; and then let groups wait
 * for each other, if the device has Vulkan's memory model and they go on while others wait.
 */
void kal_vk_offer_addresses(struct vk_device *device, bool are_offered, bool has_model);

/** Make what work needs of a device that has `vk`, `device` and `queue`. */
kallima_status kal_vk_device_start(struct vk_device *device);

/**
 * Begin a submission, or go on with one that is gathered: hold the lock, and have an open command
 * buffer in the result.
 */
kallima_status kal_vk_begin(struct vk_device *device, struct vk_slot **slot);

/**
 * Submit what was recorded if `status` is OK, and give the lock back. On success its number
 * goes to *number. Where that is NULL, what was recorded may wait for more of its kind, if it is
 * little or the queue is at work: at the latest until somebody waits for it or asks for a number.
 * `lanes` says how much it is.
 */
kallima_status kal_vk_end(struct vk_device *device, kallima_status status, int64_t lanes,
                          uint64_t *number);

/** Return the number of the submission that is being recorded. The lock is held. */
static inline uint64_t kal_vk_current(const struct vk_device *device)
{
    return device->submitted + 1;
}

/** Wait for a submission and all before it; nothing is logged. */
VkResult kal_vk_wait(struct vk_device *device, uint64_t number);

/** Wait for all that is in the queue; the host then sees what was written. */
kallima_status kal_vk_settle(struct vk_device *device);

/** What comes waits for what was recorded before, and sees what it wrote. */
void kal_vk_barrier(const struct vk_device *device, VkCommandBuffer commands);

/** The same against all that the queue does, the caller's own work among it. */
void kal_vk_barrier_all(const struct vk_device *device, VkCommandBuffer commands);

/** Let the host see what was written, once the submission is done. */
void kal_vk_barrier_host(const struct vk_device *device, VkCommandBuffer commands);

/** Where one slot of a launch, or a copy, lies. */
static inline struct vk_memory *kal_vk_memory(struct kal_memory memory)
{
    return memory.object;
}

/** Return where kernels find a buffer; 0 where they are not told. */
uint64_t kal_vk_address_of(const struct vk_device *device, VkBuffer buffer);

/** Return the first type of memory among `types` that has all that a wish says; -1: none. */
int kal_vk_find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t types,
                     VkMemoryPropertyFlags wish);

/** Make memory: `is_staging` for what the host writes and reads. The result may be cleared. */
kallima_status kal_vk_memory_init(struct vk_memory *memory, struct vk_device *device,
                                  uint64_t bytes, bool is_staging);
void kal_vk_memory_clear(struct vk_memory *memory, struct vk_device *device);

kallima_status kal_vk_buffer_create(kallima_buffer **out, kallima_device *device,
                                    uint64_t bytes);
void kal_vk_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_vk_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes);
kallima_status kal_vk_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes);
kallima_status kal_vk_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes);

kallima_status kal_vk_timer_create(kallima_timer **out, kallima_device *device);
void kal_vk_timer_destroy(kallima_timer *timer);
kallima_status kal_vk_timer_start(kallima_timer *timer);
kallima_status kal_vk_timer_stop(kallima_timer *timer);
kallima_status kal_vk_timer_read(const kallima_timer *timer, double *seconds);

kallima_status kal_vk_kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made);
void kal_vk_kernel_destroy(struct kal_device_kernel *kernel);

kallima_status kal_vk_enqueue(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync);

#endif
