// SPDX-License-Identifier: MIT
// Short lines as in short.c that are scaled on their way.
#define IS_SCALED
#include "device/cpu/simd/short.c"
