// SPDX-License-Identifier: MIT
// Short real lines as in reals.c that are scaled on their way.
#define IS_SCALED
#include "device/cpu/simd/reals.c"
