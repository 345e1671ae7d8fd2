// SPDX-License-Identifier: MIT
// OpenGL 4.3 and up without a window, loaded at run time: what the rest of the library sees.
#ifndef KAL_DEVICE_OPENGL_OPENGL_H_
#define KAL_DEVICE_OPENGL_OPENGL_H_

#include "device/device.h"

extern const struct kal_device_ops kal_opengl_device_ops;

#endif
