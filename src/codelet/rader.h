// SPDX-License-Identifier: MIT
// Transforms of prime length as cyclic convolutions.
#ifndef KAL_CODELET_RADER_H_
#define KAL_CODELET_RADER_H_

#include "codelet/dft.h"

/**
 * As kal_dag_dft(), for an odd prime n, by convolutions of length (n-1)/2 of real
 * numbers.
 */
void kal_dag_rader(struct kal_dag *g, const struct kal_forms *forms, int n,
                   const struct kal_cx *x, struct kal_cx *y);

#endif
