// SPDX-License-Identifier: MIT
// The last step of a line that fills the lanes by itself: lane b of element k is number b of
// transform k, so the lanes are transposed on the way to the codelet.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"

#if LANES > 1
#include "device/cpu/simd/transpose.h"

enum { PAIR = 2 * LANES }; // reals of one element of a tile

// clang-format off
#if LANES == 16
#define RADICES(X, way) X(16, way) X(32, way)
#elif LANES == 8
#define RADICES(X, way) X(8, way) X(16, way) X(32, way)
#elif LANES == 4
#define RADICES(X, way) X(4, way) X(8, way) X(16, way) X(32, way)
#else
#define RADICES(X, way) X(2, way) X(4, way) X(8, way) X(16, way) X(32, way)
#endif
// clang-format on

// Elements 0 .. LANES-1 of a tile, times a tile of roots if there is one, transposed.
static inline void turn(R *to, const R *t, const R *w)
{
    V v[LANES];
    for (int i = 0; i < LANES; i++) {
        const int64_t re = i * PAIR, im = re + LANES;
        v[i] = w ? FNMA(LOAD(t + im), LOAD(w + im), MUL(LOAD(t + re), LOAD(w + re)))
                 : LOAD(t + re);
    }
    transpose(v);
    for (int i = 0; i < LANES; i++)
        STORE(to + i * PAIR, v[i]);

    for (int i = 0; i < LANES; i++) {
        const int64_t re = i * PAIR, im = re + LANES;
        v[i] = w ? FMA(LOAD(t + im), LOAD(w + re), MUL(LOAD(t + re), LOAD(w + im)))
                 : LOAD(t + im);
    }
    transpose(v);
    for (int i = 0; i < LANES; i++)
        STORE(to + i * PAIR + LANES, v[i]);
}

// Tiles of m elements each to m transforms of r; the last ones overlap those before.
#define LINE(r, way)                                                              \
    static void line_##r##_##way(const void *tile, const struct cpu_vectors *y,   \
                                 int64_t m, const void *roots)                    \
    {                                                                             \
        const R *t = tile, *w = roots;                                            \
        R *yr = y->re, *yi = y->im;                                               \
        const int64_t unit = y->stride / m;                                       \
        _Alignas(REGISTER_BYTES) R turned[(r)*PAIR];                              \
        for (int64_t k = 0;; k = k + 2 * LANES <= m ? k + LANES : m - LANES) {    \
            for (int g = 0; g < (r) / LANES; g++) {                               \
                const int64_t at = (g * m + k) * PAIR;                            \
                turn(turned + g * LANES * PAIR, t + at, w ? w + at : NULL);       \
            }                                                                     \
            way##_##r(turned, turned + LANES, PAIR, yr + k * unit, yi + k * unit, \
                      y->stride);                                                 \
            if (k + LANES == m)                                                   \
                break;                                                            \
        }                                                                         \
    }

#define ROOT_RE(w, k)      BROADCAST((w)[2 * (k)-2])
#define ROOT_IM(w, k)      BROADCAST((w)[2 * (k)-1])
#define CODELET_TWIDDLE(n) twiddle_unused_##n
#define LOAD_PAIR          LOAD_VECTORS

#define STORE_PAIR STORE_VECTORS
#define CODELET(n) planar_##n
#include CODELETS
RADICES(LINE, planar)

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STORE_INTERLEAVED
#define CODELET(n)         interleaved_##n
#define CODELET_TWIDDLE(n) twiddle_unused_too_##n
#include CODELETS
RADICES(LINE, interleaved)

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_INTERLEAVED
#define CODELET(n)         streamed_##n
#define CODELET_TWIDDLE(n) twiddle_unused_as_well_##n
#include CODELETS
RADICES(LINE, streamed)

#define ENTRY(r, way) [r] = line_##r##_##way,

extern const struct cpu_line_kernels JOIN(kal_cpu_line_, KAL_SIMD_SUFFIX);

const struct cpu_line_kernels JOIN(kal_cpu_line_, KAL_SIMD_SUFFIX) = {
    .end[CPU_PLANAR] = { RADICES(ENTRY, planar) },
    .end[CPU_INTERLEAVED] = { RADICES(ENTRY, interleaved) },
    .end[CPU_STREAMED] = { RADICES(ENTRY, streamed) },
};

#endif
