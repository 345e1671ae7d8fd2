// SPDX-License-Identifier: MIT
// All that is asked of a compute API, and the wrappers that check arguments once for all.
#ifndef KAL_DEVICE_DEVICE_H_
#define KAL_DEVICE_DEVICE_H_

#include <stdatomic.h>

#include "base/base.h"
#include "base/caps.h"

struct kal_program;
struct kal_device_program;

/** Addresses of one execution, as the device sees them; workspace aligned to 64. */
struct kal_arguments {
    void *in[2], *out[2], *workspace;
};

/**
 * One table per device, const and file-static. The wrappers below check every argument
 * before calling in, so a device repeats no check. On failure an entry logs why with
 * kal_fail(), leaves *out NULL and keeps nothing.
 */
struct kal_device_ops {
    const char *name; // stable: it selects the device
    bool is_software;
    bool (*find)(kallima_device_info *info); // describe the device if it is present
    kallima_status (*open)(kallima_device **out, const struct kal_host *host,
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
    kallima_status (*finish)(kallima_device *device);

    /** Make ready to run: `program` outlives the result. `is_f64` is the precision. */
    kallima_status (*program_create)(struct kal_device_program **out,
                                     kallima_device *device,
                                     const struct kal_program *program, bool is_f64);
    void (*program_destroy)(struct kal_device_program *program);
    kallima_status (*program_run)(const struct kal_device_program *program,
                                  const struct kal_arguments *arguments);
};

/** First member of every device's own struct. */
struct kallima_device {
    const struct kal_device_ops *ops;
    struct kal_host host;
    struct kal_caps caps;
    atomic_int references;
};

/** First member of every device's own buffer. */
struct kallima_buffer {
    kallima_device *device;
    uint64_t bytes;
    void *address; // as the device sees it
};

/** First member of every device's own program. */
struct kal_device_program {
    kallima_device *device;
    uint64_t workspace_bytes;
};

/** The devices of this build, best first. */
extern const struct kal_device_ops *const kal_devices[];
extern const int kal_device_count;

/** Count one owner more, or one less and close the device with the last. */
void kal_device_retain(kallima_device *device);
void kal_device_release(kallima_device *device);

/** Buffers in host memory, for devices that compute there. */
kallima_status kal_host_buffer_create(kallima_buffer **out, kallima_device *device,
                                      uint64_t bytes);
void kal_host_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_host_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                     const void *source, uint64_t bytes);
kallima_status kal_host_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                    void *target, uint64_t bytes);

#endif
