// SPDX-License-Identifier: MIT
// Where FFTW's long double library is not there, as for Windows.
#include <stdlib.h>

#include "oracle.h"

const bool oracle_has_fftw = false;

void oracle_dft_by_fftw(const kallima_desc *desc, oracle_complex *x)
{
    (void)desc;
    (void)x;
    abort();
}
