// SPDX-License-Identifier: MIT
#include <fftw3.h>

#include "oracle.h"
#include "view.h"

const bool oracle_has_fftw = true;

void oracle_dft_by_fftw(const kallima_desc *desc, oracle_complex *x)
{
    const bool is_inverse =
        desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
    const int whole = (int)desc_points(desc);
    int n[KALLIMA_MAX_RANK];
    for (int i = 0; i < desc->rank; i++)
        n[i] = (int)desc->n[i];
    fftwl_complex *data = (fftwl_complex *)x;
    fftwl_plan plan = fftwl_plan_many_dft(
        desc->rank, n, (int)desc_batch(desc), data, NULL, 1, whole, data, NULL, 1, whole,
        is_inverse ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    fftwl_execute(plan);
    fftwl_destroy_plan(plan);
}
