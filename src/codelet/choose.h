// SPDX-License-Identifier: MIT
// The search for the form of each length that needs the fewest operations.
#ifndef KAL_CODELET_CHOOSE_H_
#define KAL_CODELET_CHOOSE_H_

#include "codelet/count.h"
#include "codelet/dft.h"

enum kal_flavour {
    KAL_PLAIN = 0, // additions and multiplications
    KAL_FMA,       // fused operations too
    KAL_FLAVOUR_COUNT
};

/**
 * Choose the forms of length n and of all lengths that it comes upon.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_forms_choose(const struct kal_host *host, enum kal_flavour flavour,
                                int n, struct kal_forms *forms);

/**
 * Build the network of a transform of length n, forward or inverse: inputs and outputs
 * are 2k for the real and 2k+1 for the imaginary part of number k.
 *
 * Owner: the caller clears `out` in any case; its content before is not read.
 * Error: E_MEMORY  exhausted; in the graph of `out`, too
 */
kallima_status kal_dft_network(struct kal_network *out, const struct kal_host *host,
                               enum kal_flavour flavour, const struct kal_forms *forms,
                               int n, bool inverse);

#endif
