// SPDX-License-Identifier: MIT
#include "codelet/lengths.h"

// clang-format off
static const struct kal_length lengths[] = { // the unit tests compare with the compiler
    {  2, {    4,   4 } }, {  3, {   16,  12 } }, {  4, {   16,  16 } },
    {  5, {   44,  32 } }, {  6, {   44,  36 } }, {  7, {   96,  60 } },
    {  8, {   56,  52 } }, {  9, {  120,  80 } }, { 10, {  108,  84 } },
    { 11, {  240, 140 } }, { 12, {  112,  96 } }, { 13, {  244, 176 } },
    { 14, {  220, 148 } }, { 15, {  212, 156 } }, { 16, {  168, 144 } },
    { 17, {  372, 264 } }, { 19, {  568, 364 } }, { 20, {  256, 208 } },
    { 23, { 1056, 572 } }, { 24, {  296, 252 } }, { 25, {  536, 352 } },
    { 27, {  600, 380 } }, { 29, { 1052, 656 } }, { 31, { 1000, 692 } },
    { 32, {  456, 372 } }, { 64, { 1160, 912 } },
};
// clang-format on

const struct kal_length *kal_lengths_get(int *count)
{
    *count = (int)KAL_COUNT(lengths);
    return lengths;
}

static const struct kal_length *find(int64_t n)
{
    for (size_t i = 0; i < KAL_COUNT(lengths); i++) {
        if (lengths[i].n == n)
            return &lengths[i];
    }
    return NULL;
}

bool kal_length_is_compiled(int64_t n, bool twiddled)
{
    return find(n) && !(twiddled && n > KAL_TWIDDLED_MAX);
}

int32_t kal_length_cost(int64_t n, enum kal_flavour flavour, bool twiddled)
{
    const struct kal_length *length = find(n);
    if (!length)
        return 0;
    const int32_t more = (flavour == KAL_FMA ? 4 : 6) * (length->n - 1);
    return length->total[flavour] + (twiddled ? more : 0);
}
