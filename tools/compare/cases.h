// SPDX-License-Identifier: MIT
// The cases of a comparison, in groups: of a preset, or from a file.
//
// A file is one of `kallima bench` (bench_problem.h), in which a line "[name] Title" begins a
// group, and a case may end with "recipe=TEXT": Kallima's devices that take kernels follow it.
#ifndef KALLIMA_COMPARE_CASES_H_
#define KALLIMA_COMPARE_CASES_H_

#include "bench_problem.h"
#include "record.h"

struct compare_case {
    int group; // its index in the list
    kallima_desc desc;
    char recipe[256]; // "": the planner's
    char variant[32]; // what the recipe is called
    int level;        // those of a low level are measured first
};

/** All zero is empty; free with cases_clear(). */
struct cases {
    struct compare_case *one;
    struct group *group;
    int count, groups;
};

extern const char *const preset_names[];
enum { PRESET_QUICK, PRESET_STANDARD, PRESET_PAPER, PRESET_COUNT };

/** Append the cases of a preset. Returns false if memory is exhausted. */
bool cases_add_preset(struct cases *cases, int preset);

/**
 * Append the cases of a file.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool cases_read(struct cases *cases, const char *path, char *why, size_t capacity);

/**
 * Put the cases into the order of their importance: of each group the ends first, then the
 * middle, then what lies between, so that an early end leaves a coarse picture of all.
 */
void cases_sort(struct cases *cases);

void cases_clear(struct cases *cases);

#endif
