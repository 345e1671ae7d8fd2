// SPDX-License-Identifier: MIT
// The codelet compiler: a length and a flavour in, a network in a good order out.
#ifndef KAL_CODELET_CODELET_H_
#define KAL_CODELET_CODELET_H_

#include "codelet/choose.h"
#include "codelet/schedule.h"

/** What to compile. All zero but `n` is a plain forward transform. */
struct kal_codelet_spec {
    int n; // 2 .. KAL_CODELET_MAX
    enum kal_flavour flavour;
    bool inverse;               // exp(+2*pi*i*j*k/n)
    bool twiddled;              // y[k] is multiplied by w[k], k = 1 .. n-1
    bool is_accurate;           // fewer rounding errors rather than fewest operations
    enum kal_codelet_kind kind; // real ones are neither `inverse` nor twiddled
};

/**
 * A compiled codelet. Input 2j is the real part of x[j], 2j+1 its imaginary part; if
 * twiddled, 2n + 2(k-1) and the next are w[k]. Output 2k is the real part of y[k], 2k+1
 * its imaginary part. A real side is read or written in pairs, as if it were complex:
 * kal_dft_network() says how.
 */
struct kal_codelet {
    struct kal_codelet_spec spec;
    struct kal_network net;
    struct kal_schedule schedule;
    struct kal_ops ops;
};

/**
 * Compile y[k] = w[k] * sum over j of x[j] * exp(-+2*pi*i * j * k / n).
 *
 * No input of x is loaded after a store, so y may be where x is.
 *
 * Owner:  the caller frees what `out` holds with kal_codelet_clear(), on failure too.
 * Thread: any.
 * Error:  E_ARGUMENT  the length is outside 2 .. KAL_CODELET_MAX
 *         E_MEMORY    exhausted
 */
kallima_status kal_codelet_build(struct kal_codelet *out, const struct kal_host *host,
                                 const struct kal_codelet_spec *spec);

/** Free what the codelet holds. */
void kal_codelet_clear(struct kal_codelet *codelet);

#endif
