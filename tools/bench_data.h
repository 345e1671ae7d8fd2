// SPDX-License-Identifier: MIT
// Random input that can be computed again from its index, and the error of an output
// against the exact transform of that input.
#ifndef KALLIMA_BENCH_DATA_H_
#define KALLIMA_BENCH_DATA_H_

#include <stdint.h>

#include <kallima/kallima.h>

#include "bench_side.h"
#include "reference.h"

// Share the loop that follows among threads if it has many steps; a few are not worth the
// waiting.
#define BENCH_PRAGMA(text) _Pragma(#text)
#if defined _OPENMP
#define PARALLEL_FOR(steps) \
    BENCH_PRAGMA(omp parallel for schedule(static) if ((steps) >= 1 << 16))
#else
#define PARALLEL_FOR(steps)
#endif

/** A problem with its random input, Hermitian where a real output needs it. */
struct data {
    const kallima_desc *desc;
    struct side in, out;
    uint64_t seed;
};

/** How an error was found. */
enum error_method {
    ERROR_REFERENCE, // against the transform in quad precision
    ERROR_EXTENDED,  // the same in extended precision: much faster
    ERROR_SAMPLED,   // a part of the outputs, spread evenly, in extended precision
};

extern const char *const error_method_names[];

/** Prepare the data of `desc`, which must outlive it. */
void data_init(struct data *data, const kallima_desc *desc, uint64_t seed);

/** Return the input element `index` of transform `batch`, exact in the precision. */
struct quad_complex data_input(const struct data *data, int64_t batch, int64_t index);

/** Write the whole input, in parallel. */
void data_fill(const struct data *data, void *const array[2]);

/**
 * Compute every output of transform `batch`, unscaled, row major; not by ERROR_SAMPLED.
 *
 * Error: returns 0, or -1 if memory is exhausted.
 */
int data_expect(const struct data *data, int64_t batch, enum error_method method,
                struct quad_complex *want);

/**
 * Return the relative error in the 2-norm of transform `batch` in the output arrays; not
 * finite if an output is not, NaN if memory is exhausted.
 */
double data_error(const struct data *data, int64_t batch, void *const array[2],
                  enum error_method method);

#endif
