// SPDX-License-Identifier: MIT
// Codelets of reals and their coefficients, real_r2c_N and real_c2r_N, whose elements are
// vectors of parts: reals in pairs, coefficients by their parts, each with a stride.
#ifndef KAL_DEVICE_CPU_SIMD_REAL_CODELETS_H_
#define KAL_DEVICE_CPU_SIMD_REAL_CODELETS_H_

#include "device/cpu/simd/simd.h"

// Imaginary parts of numbers that are real are there to be read, and are not used.
#define LOAD_PAIR(re, im, xr, xi, at) \
    do {                              \
        re = LOAD((xr) + (at));       \
        im = LOAD((xi) + (at));       \
        (void)(im);                   \
    } while (0)
#define STORE_COEFFICIENT(yr, yi, ys, k, n, re, im) \
    do {                                            \
        STORE((yr) + (k) * (ys), re);               \
        STORE((yi) + (k) * (ys), im);               \
    } while (0)
#define STORE_REAL(yr, yi, ys, k, re) \
    STORE_COEFFICIENT(yr, yi, ys, k, 0, re, CONSTANT(0.0))
#define CODELET_R2C(n) real_r2c_##n
#define CODELET_C2R(n) real_c2r_##n
#include R2C_CODELETS
#include C2R_CODELETS

#endif
