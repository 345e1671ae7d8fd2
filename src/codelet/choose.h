// SPDX-License-Identifier: MIT
// The search for the form of each length that needs the fewest operations, among all or
// among the accurate ones.
#ifndef KAL_CODELET_CHOOSE_H_
#define KAL_CODELET_CHOOSE_H_

#include "codelet/count.h"
#include "codelet/dft.h"

enum kal_flavour {
    KAL_PLAIN = 0, // additions and multiplications
    KAL_FMA,       // fused operations too
    KAL_FLAVOUR_COUNT
};

enum kal_codelet_kind {
    KAL_CODELET_C2C = 0,
    KAL_CODELET_R2C, // n reals to the coefficients 0 .. n/2, forward
    KAL_CODELET_C2R, // coefficients 0 .. n/2 of reals to these, inverse
};

/** What a transform is to be made of, and whether it is to round little. */
struct kal_aim {
    enum kal_flavour flavour;
    bool is_accurate; // no Rader convolutions; if plain, no badly rounded constants
    enum kal_codelet_kind kind;
};

/** Real and imaginary parts in what a transform reads, or writes, each twice an integer. */
int kal_codelet_inputs(enum kal_codelet_kind kind, int n);
int kal_codelet_outputs(enum kal_codelet_kind kind, int n);

/**
 * Choose the forms of length n and of all lengths that it comes upon.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_forms_choose(const struct kal_host *host, struct kal_aim aim, int n,
                                struct kal_forms *forms);

/**
 * Build the network of a transform of length n, forward or inverse: inputs and outputs
 * are 2k for the real and 2k+1 for the imaginary part of number k; of a side that is real, k for
 * number k, with one of no meaning behind an odd number of them. C2R does not use imaginary parts
 * of coefficients that are real. A real transform has the one direction that its kind says.
 *
 * Owner: the caller clears `out` in any case; its content before is not read.
 * Error: E_MEMORY  exhausted; in the graph of `out`, too
 */
kallima_status kal_dft_network(struct kal_network *out, const struct kal_host *host,
                               struct kal_aim aim, const struct kal_forms *forms, int n,
                               bool inverse);

#endif
