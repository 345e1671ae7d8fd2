// SPDX-License-Identifier: MIT
// What stands in front of a kernel of the dialect cuda when a C++ compiler of the host
// compiles it: the words of CUDA that kernels use, as calls of what simulates the groups.
// In C, only the table of these calls.
#ifndef TESTS_SIMULATE_CUDA_H_
#define TESTS_SIMULATE_CUDA_H_

#include <stddef.h>

struct simulate_index {
    unsigned x;
};

/** What a lane asks of its simulator. Lines are those of the kernel's text. */
struct simulate_calls {
    struct simulate_index lane, group; // of the lane that runs
    void (*barrier)(int line);
    void (*cluster_barrier)(int line);
    void (*wait)(void);       // let others run, for want of what they will write
    void (*note_count)(void); // others may wait for the counter that was raised
    void *(*group_memory)(void);
    /** The group's variable that is declared at `key`. */
    void *(*shared)(const void *key, size_t bytes);
    /** A place in the memory of a group of the cluster. */
    void *(*cluster_memory)(unsigned rank, size_t at_bytes, size_t bytes);
};

#ifdef __cplusplus
extern "C" struct simulate_calls *simulate;
struct simulate_calls *simulate;

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
static inline float2 make_float2(float x, float y)
{
    return { x, y };
}
static inline double2 make_double2(double x, double y)
{
    return { x, y };
}

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(lanes, resident)
#define threadIdx         (simulate->lane)
#define blockIdx          (simulate->group)
#define fmaf(a, b, c)     __builtin_fmaf(a, b, c)
#define fma(a, b, c)      __builtin_fma(a, b, c)
#define __syncthreads()   simulate->barrier(__LINE__)
#define __threadfence()   ((void)0)
#define __ldcg(place)     (*(place))
#define __ldcs(place)     (*(place))
#define __stcg(place, it) (*(place) = (it))
#define __stcs(place, it) (*(place) = (it))

static inline unsigned atomicAdd(unsigned *counter, unsigned more)
{
    const unsigned before = *counter;
    *counter = before + more;
    simulate->note_count();
    return before;
}
static inline unsigned simulate_peek(const volatile unsigned *counter)
{
    simulate->wait();
    return *counter;
}

// An argument of the kernel, whatever its type.
struct simulate_slot {
    void *address;
    template <typename T> operator T *() const
    {
        return static_cast<T *>(address);
    }
};
#endif

#endif
