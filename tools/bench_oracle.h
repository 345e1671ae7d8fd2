// SPDX-License-Identifier: MIT
// What some transforms of a batch should give, computed once and compared with the results
// of every library.
#ifndef KALLIMA_BENCH_ORACLE_H_
#define KALLIMA_BENCH_ORACLE_H_

#include <stdbool.h>
#include <stdint.h>

#include "bench_data.h"

enum { ORACLE_MAX_PICKS = 256 };

struct oracle {
    const struct data *data;
    enum error_method method;
    int64_t step, first; // ERROR_SAMPLED: which indices of the first axis; else 1, 0
    int64_t count;       // outputs expected of a transform
    int picks;
    int64_t batch[ORACLE_MAX_PICKS]; // which transforms
    struct quad_complex *want;       // picks x count
};

/**
 * Choose transforms over the whole batch, the first and the last among them unless they are
 * very long, and compute what they give, or read what another process computed: it is kept in
 * the environment's KALLIMA_COMPARE_REFERENCES, a folder for nothing else, if that is set.
 * `data` must outlive the oracle.
 *
 * Error: returns false if memory is exhausted.
 */
bool oracle_init(struct oracle *oracle, const struct data *data);

void oracle_clear(struct oracle *oracle);

/** Return the bytes from the first to the last output of one transform. */
uint64_t oracle_bytes(const struct oracle *oracle);

/** Return where the outputs of a chosen transform begin, in bytes. */
uint64_t oracle_offset(const struct oracle *oracle, int pick);

/**
 * Return the relative error of one transform's outputs; NaN if memory is exhausted.
 * `outputs` begins at its first one, [1] where real and imaginary parts are apart.
 */
double oracle_error(const struct oracle *oracle, int pick, void *const outputs[2]);

#endif
