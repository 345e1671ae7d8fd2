// SPDX-License-Identifier: MIT
// A slow, exact-minded transform for making tables: extended precision, rounded by no one.
#ifndef KAL_MATH_DFT_H_
#define KAL_MATH_DFT_H_

#include "base/base.h"
#include "math/root.h"

/**
 * Replace x by its forward discrete Fourier transform, in long double.
 *
 * Shape:  n elements; time grows as n times the sum of n's prime factors.
 * Error:  E_MEMORY  exhausted; x is as it was
 * Source: J. W. Cooley and J. W. Tukey, Math. Comp. 19 (1965) 297-301.
 */
kallima_status kal_dft(const struct kal_host *host, struct kal_root *x, int64_t n);

#endif
