// SPDX-License-Identifier: MIT
#include "codelet/lengths.h"

#include "codelet/planes.h"

// clang-format off
enum { PLAIN = 1 << KAL_PLAIN, FMA = 1 << KAL_FMA };

static const struct kal_length lengths[] = { // the unit tests compare with the compiler
    {  2, {    4,   4 }, 0 },              {  3, {   18,  12 }, PLAIN },
    {  4, {   16,  16 }, 0 },              {  5, {   52,  32 }, PLAIN },
    {  6, {   44,  36 }, 0 },              {  7, {   96,  60 }, 0 },
    {  8, {   56,  52 }, 0 },              {  9, {  132,  80 }, PLAIN },
    { 10, {  108,  84 }, 0 },              { 11, {  240, 140 }, 0 },
    { 12, {  112,  96 }, 0 },              { 13, {  372, 192 }, PLAIN | FMA },
    { 14, {  220, 148 }, 0 },              { 15, {  212, 156 }, 0 },
    { 16, {  168, 144 }, 0 },              { 17, {  372, 264 }, 0 },
    { 19, {  568, 364 }, 0 },              { 20, {  256, 208 }, 0 },
    { 23, { 1056, 572 }, 0 },              { 24, {  296, 252 }, 0 },
    { 25, {  632, 352 }, PLAIN },          { 27, {  658, 380 }, PLAIN },
    { 29, { 1052, 656 }, 0 },              { 31, { 1000, 692 }, 0 },
    { 32, {  456, 372 }, 0 },              { 64, { 1160, 912 }, 0 },
    // Printed into kernels only, from here on: for processors with registers enough.
    { 37, { 1428,  928 }, 0 },             { 41, { 1324,  960 }, 0 },
    { 43, { 1808, 1148 }, 0 },             { 47, { 4416, 2300 }, 0 },
    { 53, { 2476, 1728 }, 0 },             { 59, { 4560, 2748 }, 0 },
    { 61, { 2268, 1616 }, 0 },             { 67, { 3904, 2348 }, 0 },
    { 71, { 3576, 2244 }, 0 },             { 73, { 3484, 2288 }, 0 },
    { 79, { 4168, 2900 }, 0 },             { 83, { 5776, 4012 }, 0 },
    { 89, { 5252, 3216 }, 0 },             { 97, { 3908, 2816 }, 0 },
    { 101, { 6060, 3776 }, 0 },            { 103, { 6056, 4196 }, 0 },
    { 109, { 6996, 4336 }, 0 },            { 113, { 5628, 3720 }, 0 },
};
enum { COMPILED = 26 };
// clang-format on

const struct kal_length *kal_lengths_get(int *count)
{
    *count = COMPILED;
    return lengths;
}

const struct kal_length *kal_lengths_get_printed(int *count)
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

struct kal_codelet_spec kal_length_spec(int n, enum kal_flavour flavour, bool twiddled)
{
    const struct kal_length *length = find(n);
    return (struct kal_codelet_spec){
        .n = n,
        .flavour = flavour,
        .twiddled = twiddled,
        .is_accurate = length && (length->accurate >> flavour & 1),
    };
}

bool kal_length_is_compiled(int64_t n, bool twiddled)
{
    const struct kal_length *length = find(n);
    return length && length < lengths + COMPILED && !(twiddled && n > KAL_TWIDDLED_MAX);
}

int32_t kal_length_cost(int64_t n, enum kal_flavour flavour, bool twiddled)
{
    const struct kal_length *length = find(n);
    if (!length)
        return 0;
    const int32_t more = (flavour == KAL_FMA ? 4 : 6) * (length->n - 1);
    return length->total[flavour] + (twiddled ? more : 0);
}

// An even one stands for a codelet of half the length and a mirrored step, an odd one for half of
// a codelet's output.
bool kal_real_length_is_compiled(int64_t n)
{
    return n > 1 && n <= KAL_REAL_MAX && (n % 2 == 0 || kal_length_is_compiled(n, false));
}

bool kal_real_row_is_compiled(int64_t n)
{
    static const int8_t longer[] = { 36, 40, 48, 50, 60, KAL_REAL_ROW_MAX };
    for (size_t i = 0; i < KAL_COUNT(longer); i++) {
        if (longer[i] == n)
            return true;
    }
    return kal_real_length_is_compiled(n);
}

bool kal_length_is_of_numbers(int64_t n)
{
    static const int8_t numbers[] = { 18, 21, 22, 26, 28, 30, 33, 35, 36, 39, 40, 42,
                                      44, 45, 48, 49, 50, 52, 54, 55, 56, 60, 63, 64 };
    for (size_t i = 0; i < KAL_COUNT(numbers); i++) {
        if (numbers[i] == n)
            return true;
    }
    return false;
}

#define SIDES(a, b) { a, b },
static const int8_t complex_planes[][2] = { KAL_PLANES_FROM_2(SIDES) KAL_PLANES_FROM_4(
    SIDES) KAL_PLANES_OF_4(SIDES) KAL_PLANES_OF_8(SIDES) };
static const int8_t real_planes[][2] = { KAL_REAL_PLANES_FROM_4(
    SIDES) KAL_REAL_PLANES_FROM_8(SIDES) KAL_REAL_PLANES_FROM_16(SIDES) };
#undef SIDES

bool kal_plane_is_compiled(int64_t rows, int64_t columns, bool is_real)
{
    const int8_t(*planes)[2] = is_real ? real_planes : complex_planes;
    const size_t count = is_real ? KAL_COUNT(real_planes) : KAL_COUNT(complex_planes);

    for (size_t i = 0; i < count; i++) {
        if (planes[i][0] == rows && planes[i][1] == columns)
            return true;
    }
    return false;
}

struct kal_codelet_spec kal_real_length_spec(int n, enum kal_flavour flavour,
                                             enum kal_codelet_kind kind)
{
    return (struct kal_codelet_spec){
        .n = n,
        .flavour = flavour,
        .is_accurate = n % 13 == 0, // by Rader's convolution it would round too much
        .kind = kind,
    };
}
