// SPDX-License-Identifier: MIT
// Facts about a device, as data: no device is needed to fill one in.
#ifndef KAL_BASE_CAPS_H_
#define KAL_BASE_CAPS_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

enum kal_language {
    KAL_LANGUAGE_NONE, // the device takes passes as they are
    KAL_LANGUAGE_OPENCL,
    KAL_LANGUAGE_CUDA,
    KAL_LANGUAGE_GLSL,
    KAL_LANGUAGE_HLSL,
    KAL_LANGUAGE_ESSL,           // GLSL of OpenGL ES
    KAL_LANGUAGE_GLSL_ADDRESSES, // of Vulkan: kernels are told where arrays are
    KAL_LANGUAGE_GLSL_POINTERS,  // the same of OpenGL, with NVIDIA's extensions
    KAL_LANGUAGE_COUNT
};

struct kal_caps {
    bool has_f64;
    int threads;           // that one transform may use
    int lanes_f32;         // values of a SIMD register or a warp
    bool halves_wide;      // registers of 64 bytes take the time of two of 32
    bool steps_are_dear;   // on the lanes of a line: large radices pay that save one
    bool waits_for_stores; // past the caches: nothing else is done meanwhile
    unsigned
        lane_counts; // of all SIMD registers that there are in f32, added: powers of 2
    uint64_t near_bytes; // memory near one core (L2) or work-group
    uint64_t far_bytes;  // results from this size on are stored past the caches; 0: none
    uint64_t shared_bytes;   // cache that all cores share; 0: unknown
    uint64_t in_place_bytes; // a real line of fewer may be mirrored where it lies
    uint64_t between_bytes;  // lines of fewer in all need no scratch; 0: all do
    uint64_t memory_bytes;   // memory of the device; 0: unknown

    // Devices that take kernels as text.
    enum kal_language language;
    int processors;        // that run work-groups
    int group_lanes;       // most work-items of a group
    int row_groups;        // most groups in one dimension of a launch; 0: no matter
    int kernel_slots;      // most arrays of a kernel; 0: no matter
    uint64_t group_bytes;  // most memory that a group shares
    uint64_t buffer_bytes; // most memory that a kernel reaches in one array; 0: no limit
    int processor_lanes;   // work-items that a processor keeps at once; 0: unknown
    uint64_t processor_bytes; // group memory of a processor; 0: unknown
    int transaction_lines;    // neighbouring numbers of one whole memory transaction
    int64_t local_points;  // most points of a line that a group works, in one precision
    int64_t split_points;  // the same where its parts are exchanged one after the other
    int64_t halved_points; // the same where halves of these are, of plain lines
    int lane_registers;    // 32-bit registers that a lane can have; 0: unknown
    int cluster_groups;    // most groups of a cluster; 0 or 1: no clusters
    bool has_forward_progress; // a running group goes on while others wait for it
    bool has_nvidia_ptx;       // PTX can stand in the text
    bool is_slow_to_wake;      // its clock falls while it is idle, and rises slowly
};

/** Return whether kernels are GLSL of the desktop, however they reach their arrays. */
static inline bool kal_caps_takes_glsl(const struct kal_caps *caps)
{
    return caps->language == KAL_LANGUAGE_GLSL ||
           caps->language == KAL_LANGUAGE_GLSL_ADDRESSES ||
           caps->language == KAL_LANGUAGE_GLSL_POINTERS;
}

/**
 * Return whether exchanging halves of parts is chosen for speed, not only where nothing
 * else fits: in GLSL, if the memory of a processor is known.
 */
static inline bool kal_caps_gain_by_halves(const struct kal_caps *caps)
{
    return kal_caps_takes_glsl(caps) && caps->processor_bytes > 0;
}

/**
 * Return whether memory near a processor is what keeps most of its lanes idle. OpenGL's
 * kernels have 64 KiB of an NVIDIA H200's, where others have 128 and 228.
 */
static inline bool kal_caps_is_short_of_memory(const struct kal_caps *caps)
{
    enum { LITTLE_BYTES = 64 << 10 };
    return caps->processor_bytes && caps->processor_bytes <= LITTLE_BYTES;
}

/** Return how many values of a precision a register of a CPU holds. */
static inline int kal_caps_lanes_of(const struct kal_caps *caps, bool is_f64)
{
    return is_f64 ? caps->lanes_f32 / 2 : caps->lanes_f32;
}

enum { KAL_LANES_OF_32_BYTES = 8 }; // of floats, in such registers

/**
 * Return whether a CPU's registers are too few and too short for parts of numbers apart:
 * 16 of 32 bytes hold the numbers of lines that are neighbours as they are.
 */
static inline bool kal_caps_holds_numbers(const struct kal_caps *caps)
{
    return !caps->language && caps->lanes_f32 == KAL_LANES_OF_32_BYTES;
}

/** Return whether a CPU has such registers, wider ones besides or not. */
static inline bool kal_caps_has_32_bytes(const struct kal_caps *caps)
{
    return !caps->language && caps->lanes_f32 >= KAL_LANES_OF_32_BYTES;
}

/** Return whether a CPU has registers of twice that, which are used. */
static inline bool kal_caps_has_64_bytes(const struct kal_caps *caps)
{
    return !caps->language && caps->lanes_f32 > KAL_LANES_OF_32_BYTES;
}

/**
 * Return whether lines that fill half a register gain most in twos: on a Zen 5, whose
 * steps are not dear, nor stores waited for.
 */
static inline bool kal_caps_has_fast_twins(const struct kal_caps *caps)
{
    return !caps->steps_are_dear && !caps->waits_for_stores;
}

/** Return whether registers of the CPU hold so many numbers; f64 fills one with half as many. */
static inline bool kal_caps_has_lanes(const struct kal_caps *caps, int lanes, bool is_f64)
{
    return lanes == 1 || (caps->lane_counts & (unsigned)(is_f64 ? 2 * lanes : lanes));
}

/**
 * Groups of a processor of NVIDIA's whose lanes find their registers: it has four parts with
 * registers of their own, which warps take in steps of eight a lane.
 */
static inline int64_t kal_groups_of_registers(int lanes, int lane_registers)
{
    enum { PARTS = 4, PART_REGISTERS = 16384, WARP = 32, STEP = 8 };
    const int64_t warps = (lanes - 1) / WARP + 1;
    const int64_t taken = WARP * kal_round_up(kal_max(1, lane_registers), STEP);
    return PART_REGISTERS / taken * PARTS / warps;
}

#endif
