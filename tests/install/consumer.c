// SPDX-License-Identifier: MIT
// Uses the installed library as a stranger would: nothing but <kallima/kallima.h>. Compares
// short and long transforms with the definition, on every SIMD level that is named.
// Usage: consumer [SIMD LEVEL]...
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kallima/kallima.h>

static const double two_pi = 6.283185307179586476925286766559;

// Relative error, in the 2-norm, of `y` against the definition for input `x`; all complex.
// `root` is room for n complex numbers.
static double error_of(int n, const double *x, const double *y, double *root)
{
    double error = 0.0, power = 0.0;

    for (int j = 0; j < n; j++) {
        root[2 * j] = cos(two_pi * j / n);
        root[2 * j + 1] = -sin(two_pi * j / n);
    }
    for (int k = 0; k < n; k++) {
        double re = 0.0, im = 0.0;
        for (int j = 0; j < n; j++) {
            const double *w = root + 2 * ((long long)j * k % n);
            re += x[2 * j] * w[0] - x[2 * j + 1] * w[1];
            im += x[2 * j] * w[1] + x[2 * j + 1] * w[0];
        }
        re -= y[2 * k];
        im -= y[2 * k + 1];
        error += re * re + im * im;
        power += y[2 * k] * y[2 * k] + y[2 * k + 1] * y[2 * k + 1];
    }
    return sqrt(error / power);
}

// Transform `n` points in the given precision; print and count it if the error is too large.
static int check_length(kallima_device *device, int n, kallima_precision precision)
{
    const kallima_desc desc = { .precision = precision, .rank = 1, .n = { n } };
    const double bound = precision == KALLIMA_F64 ? 4e-14 : 5e-7;
    const size_t reals = 2 * (size_t)n;
    double *x = calloc(3 * reals, sizeof *x), *y = x + reals, *root = y + reals;
    float *xf = calloc(2 * reals, sizeof *xf), *yf = xf + reals;
    kallima_plan *plan = NULL;
    kallima_status status = KALLIMA_E_MEMORY;
    double error = 1.0;

    if (x && xf) {
        for (int i = 0; i < 2 * n; i++) {
            xf[i] = (float)(rand() % 2000 - 1000) / 1024.0f;
            x[i] = xf[i];
        }
        status = kallima_plan_create(&plan, device, &desc, NULL);
        if (status == KALLIMA_OK && precision == KALLIMA_F64)
            status = kallima_plan_run(plan, x, y);
        else if (status == KALLIMA_OK)
            status = kallima_plan_run(plan, xf, yf);
        for (int i = 0; i < 2 * n && precision == KALLIMA_F32; i++)
            y[i] = yf[i];
        if (status == KALLIMA_OK)
            error = error_of(n, x, y, root);
    }
    kallima_plan_destroy(&plan);
    free(x);
    free(xf);

    if (status == KALLIMA_OK && error < bound) // false for a NaN
        return 0;
    printf("n=%d f%d: %s %s, error %.3g, bound %.3g\n", n,
           precision == KALLIMA_F64 ? 64 : 32, kallima_status_name(status),
           kallima_last_error(), error, bound);
    return 1;
}

// Check one SIMD level (NULL: the best); return how many lengths failed.
static int check_level(const char *simd)
{
    static const int long_lengths[] = { 512, 1009, 1024, 1155, 2003, 2048, 3000, 4096 };
    const kallima_device_options options = { .simd = simd };
    kallima_device *device = NULL;
    int bad = 0;

    if (kallima_device_open(&device, "cpu", &options) != KALLIMA_OK) {
        printf("%s: %s\n", simd ? simd : "cpu", kallima_last_error());
        return 1;
    }
    for (int n = 1; n <= 144 && bad < 8; n++)
        bad +=
            check_length(device, n, KALLIMA_F32) + check_length(device, n, KALLIMA_F64);
    for (size_t i = 0; i < sizeof long_lengths / sizeof *long_lengths; i++) {
        bad += check_length(device, long_lengths[i], KALLIMA_F32);
        bad += check_length(device, long_lengths[i], KALLIMA_F64);
    }
    kallima_device_close(&device);
    printf("%s: %s\n", simd ? simd : "best level", bad ? "wrong" : "right");
    return bad;
}

int main(int argc, char **argv)
{
    int bad = strcmp(kallima_version(), KALLIMA_VERSION) != 0;

    if (argc < 2)
        bad += check_level(NULL);
    for (int i = 1; i < argc; i++)
        bad += check_level(argv[i]);
    return bad != 0;
}
