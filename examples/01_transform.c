// SPDX-License-Identifier: MIT
// A complex transform of 1000 points: a real wave goes in, two peaks come out.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>

enum { N = 1000 };

static float in[N][2], out[N][2]; // real and imaginary parts

int main(void)
{
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    const kallima_desc desc = { .rank = 1, .n = { N } };
    int peaks = 0;

    for (int j = 0; j < N; j++)
        in[j][0] = (float)cos(6.283185307179586 * 50 * j / N); // 50 periods

    if (kallima_device_open(&device, NULL, NULL) != KALLIMA_OK ||
        kallima_plan_create(&plan, device, &desc, NULL) != KALLIMA_OK ||
        kallima_plan_run(plan, in, out) != KALLIMA_OK)
        fprintf(stderr, "%s\n", kallima_last_error());

    for (int k = 0; k < N; k++) {
        if (hypotf(out[k][0], out[k][1]) > 1.0f && ++peaks)
            printf("frequency %3d: %.1f %+.1fi\n", k, out[k][0], out[k][1]);
    }
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    return peaks == 2 ? 0 : 1; // at 50 and at N - 50
}
