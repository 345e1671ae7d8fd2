// SPDX-License-Identifier: MIT
// What stands in front of a kernel of the dialect cuda when a C++ compiler of the host
// compiles it: the words of CUDA that kernels use, as calls of what simulates the groups,
// and arrays that know where they end. In C, only what the two sides exchange.
#ifndef TESTS_SIMULATE_CUDA_H_
#define TESTS_SIMULATE_CUDA_H_

#include <stddef.h>

struct simulate_index {
    unsigned x;
};

#ifdef __cplusplus
/** An array of a kernel: what is read or written outside of it is a fault. */
template <typename T> struct simulate_array;
#endif

/** The memory of an argument of a kernel. */
struct simulate_slot {
    void *address;
    long long bytes; // up to the end of its buffer
#ifdef __cplusplus
    template <typename T> operator simulate_array<T>() const;
#endif
};

/** What a lane asks of its simulator. Lines are those of the kernel's text. */
struct simulate_calls {
    struct simulate_index lane, group; // of the lane that runs
    void (*barrier)(int line);
    void (*cluster_barrier)(int line);
    void (*wait)(void);       // let others run, for want of what they will write
    void (*note_count)(void); // others may wait for the counter that was raised
    void *(*group_memory)(size_t bytes);
    /** The group's variable that is declared at `key`. */
    void *(*shared)(const void *key, size_t bytes);
    /** A place in the memory of a group of the cluster. */
    void *(*cluster_memory)(unsigned rank, size_t at_bytes, size_t bytes);
    /** Note that entry `i` is none of `from` to `to` - 1. Does not return. */
    void (*outside)(const char *array, long long i, long long from, long long to);
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

template <typename T> struct simulate_array {
    T *first;
    long long count;
    const char *title;

    __attribute__((always_inline)) T &within(long long i, long long from,
                                             long long to) const
    {
        if (i < from || i >= to || i >= count)
            simulate->outside(title, i, from, to < count ? to : count);
        return first[i];
    }
    __attribute__((always_inline)) T &operator[](long long i) const
    {
        return within(i, 0, count);
    }
};

template <typename T> simulate_slot::operator simulate_array<T>() const
{
    return { static_cast<T *>(address), bytes / (long long)sizeof(T), "an array" };
}

// An index of the roots or the map starts with the number of its table's first entry. Where
// the next table of the kernel starts, that one has ended.
constexpr long long simulate_first(const char *index)
{
    long long first = 0;
    for (; *index >= '0' && *index <= '9'; index++)
        first = 10 * first + (*index - '0');
    return first;
}
template <size_t count>
constexpr long long simulate_end(const long long (&tables)[count], const char *index)
{
    long long end = tables[count - 1];
    for (long long table : tables)
        end = table > simulate_first(index) && table < end ? table : end;
    return end;
}
template <long long it> struct simulate_constant {
    static constexpr long long value = it;
};
#define SIMULATE_ENTRY(array, tables, i)                          \
    array.within(i, simulate_constant<simulate_first(#i)>::value, \
                 simulate_constant<simulate_end(tables, #i)>::value)
#endif

#endif
