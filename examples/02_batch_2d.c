// SPDX-License-Identifier: MIT
// Ten images of 48 x 64 in one call, in place, there and back: the result is what went in.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 10, HEIGHT = 48, WIDTH = 64, COUNT = BATCH * HEIGHT * WIDTH };

static double value(int i)
{
    return sin(0.1 * i) + 0.001 * (i % 7);
}

static int fail(void)
{
    fprintf(stderr, "%s\n", kallima_last_error());
    return EXIT_FAILURE;
}

// The largest distance from what went in.
static double largest_error(double (*data)[2])
{
    double largest = 0.0;
    for (int i = 0; i < COUNT; i++)
        largest = fmax(largest, hypot(data[i][0] - value(i), data[i][1]));
    return largest;
}

int main(void)
{
    static double data[COUNT][2];
    kallima_device *device = NULL;
    kallima_plan *forward = NULL, *inverse = NULL;

    kallima_desc desc = {
        .precision = KALLIMA_F64,
        .placement = KALLIMA_IN_PLACE,
        .rank = 2,
        .n = { HEIGHT, WIDTH }, // the last axis is the fastest
        .batch = BATCH,
    };
    if (kallima_device_open(&device, NULL, NULL) != KALLIMA_OK ||
        kallima_plan_create(&forward, device, &desc, NULL) != KALLIMA_OK)
        return fail();

    desc.direction = KALLIMA_INVERSE;
    desc.scale = 1.0 / (HEIGHT * WIDTH); // a transform by itself is not normalised
    if (kallima_plan_create(&inverse, device, &desc, NULL) != KALLIMA_OK)
        return fail();

    for (int i = 0; i < COUNT; i++)
        data[i][0] = value(i);
    if (kallima_plan_run(forward, data, data) != KALLIMA_OK ||
        kallima_plan_run(inverse, data, data) != KALLIMA_OK)
        return fail();

    const double error = largest_error(data);
    printf("%d images there and back, largest error %.1e\n", BATCH, error);
    kallima_plan_destroy(&forward);
    kallima_plan_destroy(&inverse);
    kallima_device_close(&device);
    return error < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
