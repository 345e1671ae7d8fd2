// SPDX-License-Identifier: MIT
// The initialiser: writes a transform of any length up to KAL_CODELET_MAX as a graph.
#ifndef KAL_CODELET_DFT_H_
#define KAL_CODELET_DFT_H_

#include "codelet/dag.h"

/**
 * How to divide one transform into smaller ones. In order of preference at equal cost.
 */
enum kal_form_kind {
    KAL_FORM_TINY = 0,     // lengths 1 and 2
    KAL_FORM_DIRECT,       // odd: sums over x[j] + x[n-j] and x[j] - x[n-j]
    KAL_FORM_SPLIT_RADIX,  // 4 | n: one half and two quarters, w and conj(w)
    KAL_FORM_PRIME_FACTOR, // coprime: radix times n/radix without twiddle factors
    KAL_FORM_COOLEY_TUKEY, // radix transforms of length n/radix, then n/radix of radix
    KAL_FORM_RADER,        // odd prime: real cyclic convolutions of length (n-1)/2
    KAL_FORM_COUNT
};

struct kal_form {
    enum kal_form_kind kind;
    int radix; // of the prime factor and Cooley-Tukey forms; else 0
};

/** The form of each length that a transform comes upon. */
struct kal_forms {
    struct kal_form at[KAL_CODELET_MAX + 1];
};

/** Return whether `form` can be the form of length n. */
bool kal_form_applies(struct kal_form form, int n);

/**
 * Write the lengths that a transform of length n in `form` is made of; return how many.
 */
int kal_form_children(struct kal_form form, int n, int child[2]);

/**
 * Write y[k] = sum over j of x[j] * exp(-2*pi*i * j * k / n), 0 <= k < n.
 *
 * Shape:  x and y hold n numbers each and do not overlap; 1 <= n <= KAL_CODELET_MAX.
 * Error:  sticky, in the graph
 * Source: split radix with conjugate pairs: Kamar & Elcherif, Electron. Lett. 25 (1989)
 *         324-325; prime factors: Good, J. R. Stat. Soc. B 20 (1958) 361-372; primes:
 *         Rader, Proc. IEEE 56 (1968) 1107-1108.
 */
void kal_dag_dft(struct kal_dag *g, const struct kal_forms *forms, int n,
                 const struct kal_cx *x, struct kal_cx *y);

#endif
