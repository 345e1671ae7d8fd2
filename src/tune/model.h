// SPDX-License-Identifier: MIT
// What a plan should take, before anything is compiled: a few terms that are counted on its
// passes and kernels, each times what one unit of it costs on the device.
#ifndef KAL_TUNE_MODEL_H_
#define KAL_TUNE_MODEL_H_

#include "base/arena.h"
#include "base/caps.h"
#include "factor/recipe.h"

enum kal_term {
    KAL_TERM_LAUNCH,   // launches; of the CPU, phases
    KAL_TERM_MEMORY,   // bytes between processors and memory, in whole sectors
    KAL_TERM_CACHE,    // bytes between processors and the cache that they share, likewise
    KAL_TERM_EXCHANGE, // bytes between lanes, through the memory of groups, as often as its
                       // banks make lanes wait for each other
    KAL_TERM_COMPUTE, // real operations, twice in f64, and those that idle lanes could do
    KAL_TERM_WAIT,    // rounds of groups, and their tickets, one after another on a
                      // processor; of the CPU, lines
    KAL_TERM_STARVE, // bytes of exchanges over the groups that a processor holds: what the
                     // loads of others do not hide
    KAL_TERM_SPILL, // bytes of registers that lanes do not get, written and read each round
    KAL_TERM_LATE,   // bytes that come late, because too few are under way or far apart
    KAL_TERM_DEPART, // bytes of memory and cache, times the decisions in which the recipe
                     // is not the planner's, whose rules were measured
    KAL_TERM_COUNT
};

/** What a term is called, in the files that keep its cost. */
extern const char *const kal_term_names[KAL_TERM_COUNT];

/** How much there is of each. */
struct kal_terms {
    double amount[KAL_TERM_COUNT];
};

/** Seconds for one unit of each, never negative. */
struct kal_model {
    double cost[KAL_TERM_COUNT];
};

/**
 * Count the terms of a recipe: lower it, and design its kernels for a device of kernels.
 *
 * Owner: what it needs lives in the arena.
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  the device cannot run the recipe
 */
kallima_status kal_terms_count(struct kal_terms *out, struct kal_arena *arena,
                               const struct kal_problem *problem,
                               const struct kal_recipe *recipe,
                               const struct kal_caps *caps);

/** What is measured of a device (calibrate.h). */
enum kal_constant {
    KAL_CONSTANT_BYTES,      // a second that a copy reads and writes
    KAL_CONSTANT_LAUNCH,     // seconds of one
    KAL_CONSTANT_EXCHANGE,   // bytes a second, as KAL_TERM_EXCHANGE counts them
    KAL_CONSTANT_OPERATIONS, // a second, as KAL_TERM_COMPUTE counts them
    KAL_CONSTANT_COUNT
};

/** All of a device, not of one processor; 0: unknown. */
struct kal_constants {
    double value[KAL_CONSTANT_COUNT];
};

/**
 * Costs that are guessed from the constants of a device and, where these are unknown, from
 * what it says of itself. `constants` = NULL: none is known.
 */
struct kal_model kal_model_guess(const struct kal_caps *caps,
                                 const struct kal_constants *constants);

/** Seconds that the terms should take. */
double kal_model_predict(const struct kal_model *model, const struct kal_terms *terms);

/** One measured plan. */
struct kal_sample {
    struct kal_terms terms;
    double seconds;
};

/**
 * Fit a model to samples of one problem: least squares of relative errors, of costs that are
 * drawn towards what they were as far as the samples say nothing of them. What counts most is
 * by how much each sample differs from the first one, which ranks them. What the samples say
 * of each cost is added to its trust.
 *
 * Unit:   `trust` is what the square of each cost's change weighs, in 1/s^2; above 0.
 * Source: A. E. Hoerl and R. W. Kennard, Technometrics 12 (1970) 55-67,
 *         doi:10.1080/00401706.1970.10488634; never negative: coordinate descent.
 */
void kal_model_fit(struct kal_model *model, double trust[KAL_TERM_COUNT],
                   const struct kal_sample *sample, int count);

#endif
