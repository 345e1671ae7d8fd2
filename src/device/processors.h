// SPDX-License-Identifier: MIT
// What OpenGL and Vulkan do not tell of processors, from what they do tell.
#ifndef KAL_DEVICE_PROCESSORS_H_
#define KAL_DEVICE_PROCESSORS_H_

#include "base/caps.h"

/**
 * Fill in the processors of a GPU of NVIDIA's, their group memory and the cache that they
 * share, given how many it has and how many warps each keeps. `draws`: its queue is for
 * graphics too, where a processor gives less memory to groups.
 */
void kal_describe_nvidia(struct kal_caps *caps, int processors, int warps, bool draws);

#endif
