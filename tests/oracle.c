// SPDX-License-Identifier: MIT
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tools/reference.h"
#include "view.h"

// What is transformed by definition: points of one transform, and products of all.
enum { DEFINITION_POINTS = 64, DEFINITION_PRODUCTS = 1 << 18 };

static double scale_of(const kallima_desc *desc)
{
    return desc->scale == 0.0 ? 1.0 : desc->scale;
}

static bool is_inverse(const kallima_desc *desc)
{
    return desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
}

// Elements of one transform: of the half spectrum if `half`, else of the whole array.
static int64_t points(const kallima_desc *desc, bool half)
{
    const int64_t last = desc->n[desc->rank - 1];
    return desc_points(desc) / last * (half ? last / 2 + 1 : last);
}

// The element of one dense transform that holds the conjugate of the point `i` of the whole
// array, in the half spectrum of `line` elements a row.
static int64_t mirrored(const kallima_desc *desc, int64_t i, int64_t line)
{
    const int last = desc->rank - 1;
    int64_t result = (desc->n[last] - i % desc->n[last]) % desc->n[last];
    int64_t weight = line;
    i /= desc->n[last];
    for (int axis = last - 1; axis >= 0; axis--) {
        const int64_t n = desc->n[axis];
        result += (n - i % n) % n * weight;
        weight *= n;
        i /= n;
    }
    return result;
}

// One half spectrum to the whole one.
static void expand(const kallima_desc *desc, const oracle_complex *half,
                   oracle_complex *whole)
{
    const int64_t n = desc->n[desc->rank - 1], line = n / 2 + 1;
    for (int64_t i = 0; i < points(desc, false); i++) {
        const bool stored = i % n < line;
        whole[i] =
            stored ? half[i / n * line + i % n] : conjl(half[mirrored(desc, i, line)]);
    }
}

static void take_half(const kallima_desc *desc, const oracle_complex *whole,
                      oracle_complex *half)
{
    const int64_t n = desc->n[desc->rank - 1], line = n / 2 + 1;
    for (int64_t i = 0; i < points(desc, true); i++)
        half[i] = whole[i / line * n + i % line];
}

void oracle_make_hermitian(const kallima_desc *desc, oracle_complex *half)
{
    const int64_t n = desc->n[desc->rank - 1], line = n / 2 + 1;
    const int64_t whole = points(desc, false), stored = points(desc, true);
    for (int64_t b = 0; b < desc_batch(desc); b++) {
        oracle_complex *x = half + b * stored;
        for (int64_t i = 0; i < whole; i++) {
            const int64_t k = i % n;
            if (k != 0 && 2 * k != n)
                continue;
            const int64_t self = i / n * line + k, other = mirrored(desc, i, line);
            x[other] = other == self ? creall(x[self]) : conjl(x[self]);
        }
    }
}

static void dft_by_definition(const kallima_desc *desc, oracle_complex *x)
{
    const int64_t total = desc_batch(desc) * points(desc, false);
    struct quad_complex *q = (struct quad_complex *)malloc((size_t)total * sizeof *q);
    for (int64_t i = 0; i < total; i++)
        q[i] = (struct quad_complex){ creall(x[i]), cimagl(x[i]) };
    if (reference_dft_many(desc_batch(desc), desc->rank, desc->n,
                           is_inverse(desc) ? 1 : -1, q) != 0)
        abort();
    for (int64_t i = 0; i < total; i++)
        x[i] = (long double)q[i].re + (long double)q[i].im * I;
    free(q);
}

static void transform(const kallima_desc *desc, const oracle_complex *in,
                      oracle_complex *out,
                      void (*dft)(const kallima_desc *desc, oracle_complex *x))
{
    const int64_t batch = desc_batch(desc), whole = points(desc, false);
    const int64_t half = points(desc, true), total = batch * whole;
    oracle_complex *x = (oracle_complex *)malloc((size_t)total * sizeof *x);

    if (desc->kind != KALLIMA_C2R)
        memcpy(x, in, (size_t)total * sizeof *x);
    for (int64_t b = 0; b < batch && desc->kind == KALLIMA_C2R; b++)
        expand(desc, in + b * half, x + b * whole);
    dft(desc, x);
    if (desc->kind != KALLIMA_R2C)
        memcpy(out, x, (size_t)total * sizeof *x);
    for (int64_t b = 0; b < batch && desc->kind == KALLIMA_R2C; b++)
        take_half(desc, x + b * whole, out + b * half);

    const int64_t results = desc->kind == KALLIMA_R2C ? batch * half : total;
    for (int64_t i = 0; i < results; i++)
        out[i] *= (long double)scale_of(desc);
    free(x);
}

void oracle_by_definition(const kallima_desc *desc, const oracle_complex *in,
                          oracle_complex *out)
{
    transform(desc, in, out, dft_by_definition);
}

void oracle_by_fftw(const kallima_desc *desc, const oracle_complex *in,
                    oracle_complex *out)
{
    transform(desc, in, out, oracle_dft_by_fftw);
}

void oracle_transform(const kallima_desc *desc, const oracle_complex *in,
                      oracle_complex *out)
{
    const int64_t n = desc_points(desc);
    if (!oracle_has_fftw ||
        (n <= DEFINITION_POINTS && desc_batch(desc) <= DEFINITION_PRODUCTS / (n * n)))
        oracle_by_definition(desc, in, out);
    else
        oracle_by_fftw(desc, in, out);
}

static double widening[KALLIMA_PRECISION_COUNT] = { 1.0, 1.0 };

bool oracle_set_device(kallima_device *device)
{
    kallima_device_info info;
    bool is_told = kallima_device_get_info(device, &info) == KALLIMA_OK;
    for (int i = 0; i < (info.has_f64 ? 2 : 1) && is_told; i++) {
        int32_t roundings = 0;
        is_told = kallima_device_find_rounding(device, i, &roundings) == KALLIMA_OK;
        widening[i] = reference_widening(roundings);
    }
    return is_told;
}

double oracle_bound(const kallima_desc *desc)
{
    const double epsilon = desc->precision == KALLIMA_F32 ? 0x1p-24 : 0x1p-53;
    const double bound =
        widening[desc->precision] * reference_bound(desc->rank, desc->n, epsilon);
    return reference_scaled_bound(bound, desc->scale, epsilon);
}
