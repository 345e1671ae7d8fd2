// SPDX-License-Identifier: MIT
// The columns of a matrix, its real and imaginary parts in two arrays, into the rows of
// another, with a workspace of the caller's: nothing is copied, nothing is allocated.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60, COLUMNS = 8 };

static float re[ROWS][COLUMNS], im[ROWS][COLUMNS];
static float out[COLUMNS][ROWS][2];

static int fail(void)
{
    fprintf(stderr, "%s\n", kallima_last_error());
    return EXIT_FAILURE;
}

// Column c turns c times: its transform is one peak of height ROWS, at frequency c.
static void fill(void)
{
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            const double angle = 6.283185307179586 * r * c / ROWS;
            re[r][c] = (float)cos(angle);
            im[r][c] = (float)sin(angle);
        }
    }
}

static float largest_error(void)
{
    float largest = 0.0f;
    for (int c = 0; c < COLUMNS; c++) {
        for (int k = 0; k < ROWS; k++) {
            const float want = k == c ? ROWS : 0.0f;
            largest = fmaxf(largest, hypotf(out[c][k][0] - want, out[c][k][1]));
        }
    }
    return largest;
}

int main(void)
{
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    const kallima_desc desc = {
        .rank = 1,
        .n = { ROWS },
        .batch = COLUMNS,
        .in = { .format = KALLIMA_PLANAR, .stride = { COLUMNS }, .batch_stride = 1 },
        .out = { .stride = { 1 }, .batch_stride = ROWS },
    };
    if (kallima_device_open(&device, NULL, NULL) != KALLIMA_OK ||
        kallima_plan_create(&plan, device, &desc, NULL) != KALLIMA_OK)
        return fail();

    const uint64_t bytes = kallima_plan_get_workspace(plan);
    kallima_host_arrays arrays = {
        .in = { re, im },
        .out = { out },
        .workspace = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL,
        .workspace_bytes = bytes,
    };
    fill();
    if (kallima_plan_execute_host(plan, &arrays) != KALLIMA_OK)
        return fail();

    const float error = largest_error();
    printf("%d columns, largest error %.1e\n", COLUMNS, (double)error);
    free(arrays.workspace);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    return error < 1e-4f ? EXIT_SUCCESS : EXIT_FAILURE;
}
