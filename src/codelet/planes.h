// SPDX-License-Identifier: MIT
// Planes that the CPU engine has whole functions for, both axes at once. Measured on a
// Xeon in November 2026, against the axes one after the other: alone they take 0.53 to
// 0.92 of the time, 0.57 to 0.97 with AVX2, batches that fit the nearer caches 0.56 to
// 1.06; 24x24, 25x25, 32x16 and 32x32, which are not here, alone 0.9 to 1.2, in batches
// 0.96 to 1.44. Real ones take 0.39 to 0.98 alone, 0.68 as a mean, and 0.47 to 1.12 in
// batches, 0.78; 7x7, 9x8, 9x9 and 10x10, which are not here, up to 1.28 and 1.21, and 4x12,
// 4x16, 5x8 and 6x8 up to 1.29 in batches. On AMD's processors it was not measured.
#ifndef KAL_CODELET_PLANES_H_
#define KAL_CODELET_PLANES_H_

// clang-format off
/** Those whose rows and columns fill registers of 8 numbers. */
#define KAL_PLANES_OF_8(X) X(8, 8) X(8, 16) X(16, 8) X(16, 16)

/** The same where registers are of 64 bytes. */
#define KAL_LONG_PLANES(X) X(8, 32) X(32, 8) X(16, 32)

/** Those that fill registers of 4. */
#define KAL_PLANES_OF_4(X) X(4, 4) X(4, 8) X(8, 4) X(4, 16) X(16, 4) X(12, 12)

/** Those that registers of 4 do not divide: overlapping ones, of up to 32 bytes. */
#define KAL_PLANES_FROM_4(X) \
    X(5, 5) X(6, 6) X(7, 7) X(9, 9) X(10, 10) X(4, 5) X(5, 4) X(4, 6) X(6, 4) X(6, 8) X(8, 6)

/** Those too small for these, by registers of 2. */
#define KAL_PLANES_FROM_2(X) \
    X(2, 2) X(2, 3) X(3, 2) X(2, 4) X(4, 2) X(2, 8) X(8, 2) X(3, 3) X(3, 4) X(4, 3)

/** Planes of reals whose rows and columns fill registers of 4. */
#define KAL_REAL_PLANES_FROM_4(X) \
    X(4, 4) X(4, 5) X(4, 6) X(4, 8) X(5, 4) X(5, 5) X(6, 4) X(6, 6) X(8, 4) X(8, 5) \
    X(8, 6) X(12, 4) X(16, 4)

/** Those that fill registers of 8, and of 16. */
#define KAL_REAL_PLANES_FROM_8(X) \
    X(8, 8) X(8, 9) X(8, 10) X(8, 12) X(8, 16) X(8, 32) X(10, 8) X(12, 8) X(12, 12) \
    X(15, 15) X(16, 8) X(32, 8)
#define KAL_REAL_PLANES_FROM_16(X) \
    X(16, 16) X(16, 32) X(20, 20) X(24, 24) X(32, 16) X(32, 32)
// clang-format on

#endif
