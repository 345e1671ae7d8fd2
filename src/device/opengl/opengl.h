// SPDX-License-Identifier: MIT
// OpenGL 4.3 or OpenGL ES 3.1 and up without a window, loaded at run time: what the rest
// of the library sees.
#ifndef KAL_DEVICE_OPENGL_OPENGL_H_
#define KAL_DEVICE_OPENGL_OPENGL_H_

#include "device/device.h"

extern const struct kal_device_ops kal_opengl_device_ops;

/** As kallima_opengl_adopt(), with the caller's services already checked. */
kallima_status kal_opengl_adopt(kallima_device **out, const struct kal_host *host);

/** As kallima_opengl_wrap(), on a device of this folder; the caller retains the device. */
kallima_status kal_opengl_wrap(kallima_buffer **out, kallima_device *device,
                               unsigned name, uint64_t offset_bytes, uint64_t bytes);

#endif
