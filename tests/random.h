// SPDX-License-Identifier: MIT
// The tests' random numbers: seeded, so that a failing row can be run again.
#ifndef TESTS_RANDOM_H_
#define TESTS_RANDOM_H_

#include <stdint.h>

struct random {
    uint64_t state;
};

/**
 * Return the next 64 bits.
 *
 * Source: splitmix64, S. Vigna, public domain
 */
uint64_t random_next(struct random *r);

/** Return a whole number from `low` to `high`, both included. */
int64_t random_between(struct random *r, int64_t low, int64_t high);

/**
 * Return a number in [-1, 1] whose whole mantissa is random: numbers on a common grid would
 * add without rounding, and hide errors.
 */
double random_real(struct random *r);

#endif
