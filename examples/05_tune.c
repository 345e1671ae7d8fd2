// SPDX-License-Identifier: MIT
// A problem is tuned for half a second; its plans then follow what was fastest. Another
// program would, too, if the wisdom were kept: kallima_wisdom_save(). Here it is not.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 5040, PERIODS = 50 };

static float in[N][2], out[N][2];

static int fail(void)
{
    fprintf(stderr, "%s\n", kallima_last_error());
    return EXIT_FAILURE;
}

// A wave of PERIODS periods is one peak of height N, at that frequency.
static float largest_error(void)
{
    float largest = 0.0f;
    for (int k = 0; k < N; k++) {
        const float want = k == PERIODS ? N : 0.0f;
        largest = fmaxf(largest, hypotf(out[k][0] - want, out[k][1]));
    }
    return largest;
}

int main(void)
{
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    kallima_tune_result result;
    char recipe[256];
    const kallima_device_options nowhere = { .wisdom = "" }; // none is read or written
    const kallima_tune_options half_a_second = { .seconds = 0.5 };
    const kallima_desc desc = { .rank = 1, .n = { N } };

    if (kallima_device_open(&device, NULL, &nowhere) != KALLIMA_OK ||
        kallima_tune(device, &desc, &half_a_second, &result) != KALLIMA_OK ||
        kallima_plan_create(&plan, device, &desc, NULL) != KALLIMA_OK ||
        kallima_plan_get_recipe(plan, recipe, sizeof recipe, NULL) != KALLIMA_OK)
        return fail();
    printf("default: %.3f us\n", result.default_ns / 1e3);
    printf("tuned:   %.3f us, %s\n", result.tuned_ns / 1e3, recipe);

    for (int j = 0; j < N; j++) {
        const double angle = 6.283185307179586 * PERIODS * j / N;
        in[j][0] = (float)cos(angle);
        in[j][1] = (float)sin(angle);
    }
    if (kallima_plan_run(plan, in, out) != KALLIMA_OK)
        return fail();

    const float error = largest_error();
    printf("%d plans were tried, largest error %.1e\n", (int)result.tried, (double)error);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    return error < 1e-2f ? EXIT_SUCCESS : EXIT_FAILURE;
}
