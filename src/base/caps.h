// SPDX-License-Identifier: MIT
// Facts about a device, as data: no device is needed to fill one in.
#ifndef KAL_BASE_CAPS_H_
#define KAL_BASE_CAPS_H_

#include <stdbool.h>
#include <stdint.h>

struct kal_caps {
    bool has_f64;
    int threads;           // that one transform may use
    int lanes_f32;         // values of a SIMD register or a warp
    uint64_t near_bytes;   // memory near one core (L2) or work-group
    uint64_t shared_bytes; // cache that all cores share; 0: unknown
    uint64_t memory_bytes; // memory of the device; 0: unknown
};

#endif
