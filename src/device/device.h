// SPDX-License-Identifier: MIT
// All that is asked of a compute API, and the wrappers that check arguments once for all.
#ifndef KAL_DEVICE_DEVICE_H_
#define KAL_DEVICE_DEVICE_H_

#include <stdatomic.h>

#include "base/base.h"
#include "base/caps.h"
#include "base/text.h"

struct kal_program;
struct kal_device_program;
struct kal_device_kernel;

/** A place in memory as a device sees it: an address or an API's object, and bytes on. */
struct kal_memory {
    void *object;
    uint64_t offset;
};

/** Memory of one execution; the workspace aligned to 64 bytes. */
struct kal_arguments {
    struct kal_memory in[2], out[2], workspace;
};

/** The address, on a device whose memory the host can address. */
static inline void *kal_memory_address(struct kal_memory memory)
{
    return memory.object ? (char *)memory.object + memory.offset : NULL;
}

enum { KAL_MAX_SLOTS = 10 }; // memory arguments of a kernel

/**
 * A kernel as text in the device's dialect, and what its launch needs. The entry point
 * takes one memory argument for each slot; a dialect without addresses takes the slot's
 * offset in bytes as a 64-bit number behind each. In GLSL slot i is the buffer of binding i,
 * and its offset the uniform, of 32 bits, at location i; at location 15 is the number of a
 * launch's first group. For Vulkan these sixteen numbers are push constants. In HLSL slot i is
 * register t of that number or, if it is written, u; offsets and the number of the first group
 * are in the constant buffer b0. The bytes of group memory beyond what the text declares itself
 * are `group_bytes`.
 */
struct kal_kernel_text {
    const char *name; // of the entry point
    const char *text;
    int lanes;    // work-items of a group
    int cluster;  // groups of a cluster; 1: none
    int resident; // groups that a processor shall hold; 0: no matter
    uint64_t group_bytes;
    int slots;
    uint32_t named,
        written; // slots that the text declares, and those that it writes: bit i
};

/** Bytes that a device made of a kernel's text; freed with kal_free(). */
struct kal_binary {
    void *data;
    uint64_t bytes;
};

/** What a compiled kernel takes of a device; -1: the device does not say. */
struct kal_kernel_facts {
    int registers;   // of a lane
    int spill_bytes; // of a lane
    int64_t group_bytes;
    int groups_per_processor; // that fit at once
};

/** One launch or, where `kernel` is NULL, `fill_bytes` zero bytes to slot 0. */
struct kal_work {
    const struct kal_device_kernel *kernel;
    uint64_t groups;
    struct kal_memory slot[KAL_MAX_SLOTS];
    uint64_t fill_bytes;
};

/** What enqueued work waits for and reports, in the API's own types. */
struct kal_sync {
    uint32_t wait_count;
    const void *wait; // cl_event[]
    void *event;      // cl_event *; NULL: not wanted
    void *commands;   // VkCommandBuffer to append to; NULL: the queue
};

/**
 * One table per device, const and file-static. The wrappers below check every argument
 * before calling in, so a device repeats no check. On failure an entry logs why with
 * kal_fail(), leaves *out NULL and keeps nothing.
 *
 * A device takes passes as they are (program_*) or kernels as text (kernel_* and enqueue);
 * the entries of the other kind are NULL.
 */
struct kal_device_ops {
    const char *name; // stable: it selects the device
    bool is_software;
    bool is_pretended; // takes everything and computes nothing
    // Kernels may be made on several threads at once, and while others run.
    bool compiles_aside;
    /** Describe device number `index` of this API; false where there is none. */
    bool (*find)(int index, kallima_device_info *info);
    /**
     * Whether there is one, no imitation, and all that its plans need is installed; NULL:
     * there may be. Else it must be named.
     */
    bool (*is_complete)(void);
    kallima_status (*open)(kallima_device **out, int index, const struct kal_host *host,
                           const kallima_device_options *options);
    void (*close)(kallima_device *device);
    void (*describe)(const kallima_device *device, kallima_device_info *info);

    kallima_status (*buffer_create)(kallima_buffer **out, kallima_device *device,
                                    uint64_t bytes);
    void (*buffer_destroy)(kallima_buffer *buffer);
    kallima_status (*buffer_write)(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes);
    kallima_status (*buffer_read)(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes);
    // Enqueue a copy within the device; the ranges do not overlap.
    kallima_status (*buffer_copy)(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes);
    kallima_status (*finish)(kallima_device *device);

    // Time of the device between two points of its queue; read() waits for the second.
    kallima_status (*timer_create)(kallima_timer **out, kallima_device *device);
    void (*timer_destroy)(kallima_timer *timer);
    kallima_status (*timer_start)(kallima_timer *timer);
    kallima_status (*timer_stop)(kallima_timer *timer);
    kallima_status (*timer_read)(const kallima_timer *timer, double *seconds);

    /** Make ready to run: `program` outlives the result. `is_f64` is the precision. */
    kallima_status (*program_create)(struct kal_device_program **out,
                                     kallima_device *device,
                                     const struct kal_program *program, bool is_f64);
    void (*program_destroy)(struct kal_device_program *program);
    kallima_status (*program_run)(const struct kal_device_program *program,
                                  const struct kal_arguments *arguments);
    // Append what the device decided about it, a line for each pass; NULL: nothing.
    void (*program_describe)(const struct kal_device_program *program,
                             struct kal_text *text);

    /**
     * Compile `text` or, if `binary` is given, load what an earlier call made of it. A
     * binary that the driver refuses is E_COMPILE, as is a text with errors, whose log
     * goes to kal_fail(). `made` (may be NULL) receives the binary of a compiled text;
     * it stays empty where the device has none to give.
     */
    kallima_status (*kernel_create)(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made);
    void (*kernel_destroy)(struct kal_device_kernel *kernel);
    void (*kernel_describe)(const struct kal_device_kernel *kernel,
                            struct kal_kernel_facts *facts);
    /**
     * Append to a string what a compiled kernel depends on beyond its text: the device's
     * architecture, the driver, the compiler.
     */
    void (*kernel_key)(const kallima_device *device, char *key, size_t capacity);
    /**
     * Enqueue all of it in order and return. One call's work is not mixed with another's,
     * from whatever thread. `sync` may be NULL.
     */
    kallima_status (*enqueue)(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync);
};

/** First member of every device's own struct. */
struct kallima_device {
    const struct kal_device_ops *ops;
    struct kal_host host;
    struct kal_caps caps;
    atomic_int references;
    char *kernel_cache;     // folder of compiled kernels; NULL: they are not kept
    kallima_wisdom *wisdom; // what tuning learnt
};

/** First member of every device's own buffer. */
struct kallima_buffer {
    kallima_device *device;
    uint64_t bytes;
    struct kal_memory memory;
};

/** First member of every device's own timer. */
struct kallima_timer {
    kallima_device *device;
};

/** First member of every device's own kernel. */
struct kal_device_kernel {
    kallima_device *device;
    int lanes; // of a group
};

/** First member of every device's own program. */
struct kal_device_program {
    kallima_device *device;
    uint64_t workspace_bytes;
    // On a device that computes in host memory: runs the program from one array to another, which
    // were checked, without a workspace; where a side is planar, from and to one or two. NULL: only
    // program_run() does.
    void (*run_pair)(const struct kal_device_program *program, const void *in, void *out);
    void (*run_planes)(const struct kal_device_program *program, const void *const in[2],
                       void *const out[2]);
};

/** The devices of this build, best first. */
extern const struct kal_device_ops *const kal_devices[];
extern const int kal_device_count;

/** Count one owner more, or one less and close the device with the last. */
void kal_device_retain(kallima_device *device);
void kal_device_release(kallima_device *device);

/**
 * Lower what a device of kernels said of itself to `limits` and to those of the environment:
 * so that a smaller device can be imitated. What no kernel could do with is E_ARGUMENT.
 */
kallima_status kal_device_lower(kallima_device *device, const kallima_limits *limits);

/**
 * What kernel_create() refuses whatever the text says: clusters, lanes, arrays and group memory
 * beyond the device's caps. E_UNSUPPORTED, with the number and the limit.
 */
kallima_status kal_kernel_check(const kallima_device *device,
                                const struct kal_kernel_text *text);

/**
 * Refuse a part of the caller's memory that is not all within its `size` bytes, or begins where
 * kernels cannot read pairs of numbers at once. `what` is the API's word for the memory.
 */
kallima_status kal_range_check(const kallima_device *device, const char *what,
                               uint64_t size, uint64_t offset_bytes, uint64_t bytes);

/**
 * Refuse a part of the caller's memory whose end kernels do not reach, as the device has arrays
 * begin at multiples of `step` bytes, and the reach is counted from there. E_UNSUPPORTED.
 */
kallima_status kal_reach_check(const kallima_device *device, uint64_t step,
                               uint64_t offset_bytes, uint64_t bytes);

/**
 * To have a driver start takes it longer than to enqueue: work of fewer lanes waits for more of
 * it, or for whoever waits for it.
 */
enum { KAL_ENOUGH_LANES = 1 << 18 };

/** Return the lanes of all launches. */
int64_t kal_work_lanes(const struct kal_work *work, int count);

/** Refuse launches of more groups than `most_groups`, before anything is enqueued. */
kallima_status kal_work_check(const kallima_device *device, const struct kal_work *work,
                              int count, uint64_t most_groups);

/** Refuse events, for devices whose API has none. `sync` may be NULL. */
kallima_status kal_events_refuse(const kallima_device *device,
                                 const struct kal_sync *sync);

/** Neighbouring groups of a launch: `rows` rows of `width` each, from number `first` on. */
struct kal_groups {
    uint32_t first, width, rows;
};

/** Return the most groups of a launch in rows; kernels number them in 32 bits. */
uint64_t kal_most_groups(uint64_t width, uint64_t rows);

/** Share out groups to whole rows and those that are left; return how many parts there are. */
int kal_split_groups(struct kal_groups parts[2], uint64_t groups, int width);

/** The table's kernel_describe() of devices that do not say what a kernel takes. */
void kal_kernel_describe_nothing(const struct kal_device_kernel *kernel,
                                 struct kal_kernel_facts *facts);

/** Whether a device computes in the memory of the host. */
static inline bool kal_device_is_host(const kallima_device *device)
{
    return device->ops->program_run != NULL;
}

/** Buffers in host memory, for devices that compute there. */
kallima_status kal_host_buffer_create(kallima_buffer **out, kallima_device *device,
                                      uint64_t bytes);
void kal_host_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_host_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                     const void *source, uint64_t bytes);
kallima_status kal_host_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                    void *target, uint64_t bytes);
kallima_status kal_host_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                    const kallima_buffer *source, uint64_t source_offset,
                                    uint64_t bytes);

/** Timers of devices that have computed when a call returns. */
kallima_status kal_host_timer_create(kallima_timer **out, kallima_device *device);
void kal_host_timer_destroy(kallima_timer *timer);
kallima_status kal_host_timer_start(kallima_timer *timer);
kallima_status kal_host_timer_stop(kallima_timer *timer);
kallima_status kal_host_timer_read(const kallima_timer *timer, double *seconds);

#endif
