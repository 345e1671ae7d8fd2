// SPDX-License-Identifier: MIT
// The tables of kernels that this build holds.
#include "device/cpu/kernels.h"

#include <stddef.h>
#include <string.h>

#define DECLARE(level)                                             \
    extern const struct cpu_kernels kal_cpu_kernels_##level##_f32, \
        kal_cpu_kernels_##level##_f64;
#define ENTRY(level) \
    { #level, { &kal_cpu_kernels_##level##_f32, &kal_cpu_kernels_##level##_f64 } },

// clang-format off
DECLARE(scalar)
#if defined KAL_CPU_HAS_SSE2
DECLARE(sse2)
#endif
#if defined KAL_CPU_HAS_AVX2
DECLARE(avx2)
#endif
#if defined KAL_CPU_HAS_AVX512
DECLARE(avx512)
#endif
#if defined KAL_CPU_HAS_NEON
DECLARE(neon)
#endif

static const struct {
    const char *level;
    const struct cpu_kernels *kernels[2];
} levels[] = {
    ENTRY(scalar)
#if defined KAL_CPU_HAS_SSE2
    ENTRY(sse2)
#endif
#if defined KAL_CPU_HAS_AVX2
    ENTRY(avx2)
#endif
#if defined KAL_CPU_HAS_AVX512
    ENTRY(avx512)
#endif
#if defined KAL_CPU_HAS_NEON
    ENTRY(neon)
#endif
};
// clang-format on

const struct cpu_kernels *kal_cpu_kernels_find(const char *level, bool is_f64)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i].level, level) == 0)
            return levels[i].kernels[is_f64];
    }
    return NULL;
}
