// SPDX-License-Identifier: MIT
// A real signal of odd length: the n/2+1 coefficients that a real transform gives, a filter
// on them, and the way back.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 225, HALF = N / 2 + 1 };

static double wave(int periods, int j)
{
    return cos(6.283185307179586 * periods * j / N);
}

static int fail(void)
{
    fprintf(stderr, "%s\n", kallima_last_error());
    return EXIT_FAILURE;
}

int main(void)
{
    double signal[N], spectrum[HALF][2];
    kallima_device *device = NULL;
    kallima_plan *forward = NULL, *inverse = NULL;

    const kallima_desc there = {
        .kind = KALLIMA_R2C,
        .precision = KALLIMA_F64,
        .rank = 1,
        .n = { N }, // always the length of the real side
    };
    const kallima_desc back = {
        .kind = KALLIMA_C2R,
        .precision = KALLIMA_F64,
        .rank = 1,
        .n = { N },
        .scale = 1.0 / N,
    };
    if (kallima_device_open(&device, NULL, NULL) != KALLIMA_OK ||
        kallima_plan_create(&forward, device, &there, NULL) != KALLIMA_OK ||
        kallima_plan_create(&inverse, device, &back, NULL) != KALLIMA_OK)
        return fail();

    for (int j = 0; j < N; j++)
        signal[j] = wave(5, j) + 0.5 * wave(60, j);
    if (kallima_plan_run(forward, signal, spectrum) != KALLIMA_OK)
        return fail();

    for (int k = 20; k < HALF; k++) // a low-pass filter
        spectrum[k][0] = spectrum[k][1] = 0.0;
    if (kallima_plan_run(inverse, spectrum, signal) != KALLIMA_OK)
        return fail();

    double largest = 0.0;
    for (int j = 0; j < N; j++)
        largest = fmax(largest, fabs(signal[j] - wave(5, j)));
    printf("the slow wave is left, largest error %.1e\n", largest);
    kallima_plan_destroy(&forward);
    kallima_plan_destroy(&inverse);
    kallima_device_close(&device);
    return largest < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
