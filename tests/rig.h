// SPDX-License-Identifier: MIT
// The arrays of one problem, with guards around and between their elements, and the answer
// that a plan must write into them.
#ifndef TESTS_RIG_H_
#define TESTS_RIG_H_

#include <kallima/plan.h>
#include <stdbool.h>
#include <stdint.h>

#include "oracle.h"
#include "view.h"

/** How a plan is executed. */
enum way {
    WAY_RUN = 0, // kallima_plan_run(); falls back to WAY_OWNED for planar data
    WAY_OWNED,   // kallima_plan_execute_host() with the plan's own workspace
    WAY_GIVEN,   // with a workspace of exactly the size asked for, guarded
    WAY_BUFFERS, // kallima_plan_execute() on buffers; odd seeds give a workspace
    WAY_COUNT
};

/** Real numbers in one or two arrays, guards in front and behind. */
struct store {
    int real_bytes;        // 4 or 8
    int arrays;            // 2 if planar
    int64_t count;         // reals between the guards of each array
    unsigned char *memory; // arrays one behind the other
    unsigned char *kept;   // a copy of `memory` from before the execution
    bool *used;            // reals that belong to an element
    int64_t shift;         // reals by which the arrays miss an alignment of 64 bytes
};

/** What the problem says of its input or output, and where that puts each element. */
struct side {
    struct view view;
    int32_t *index; // of view_index(), for the elements row by row
};

struct rig {
    kallima_desc desc;
    uint64_t seed;
    struct side in, out;
    struct store stores[2]; // in place, only the first
    struct store *from, *to;
    oracle_complex *x, *want; // dense
    bool is_answered;         // `want` holds the answer to `x`
};

/**
 * Prepare the arrays of a valid problem: poison everywhere, then random input from `seed`,
 * which also decides alignment.
 */
void rig_init(struct rig *rig, const kallima_desc *desc, uint64_t seed);

/** Free what the rig holds. */
void rig_clear(struct rig *rig);

/** Fill the arrays again, from another seed. */
void rig_refill(struct rig *rig, uint64_t seed);

/** Put the arrays back to what they were before the first execution. */
void rig_restore(struct rig *rig);

/** Buffers that hold the rig's arrays, guards behind them, and a workspace. */
struct rig_buffers {
    kallima_device_arrays arrays;
    uint64_t guard_bytes; // behind each; 0 for one seed of three: the size is exact
    uint64_t workspace_bytes;
};

/**
 * Make buffers for one execution of `plan` and write the rig's arrays to them. On failure
 * they may still be freed.
 */
kallima_status rig_make_buffers(const struct rig *rig, const kallima_plan *plan,
                                kallima_device *device, struct rig_buffers *buffers);

/**
 * Read the arrays and their guards back, and check the workspace's guard: KALLIMA_E_DEVICE
 * if it was written.
 */
kallima_status rig_read_buffers(struct rig *rig, const struct rig_buffers *buffers);

void rig_free_buffers(const struct rig *rig, struct rig_buffers *buffers);

/** Execute `plan`, which must be for the rig's problem on `device`. */
kallima_status rig_execute(struct rig *rig, const kallima_plan *plan,
                           kallima_device *device, enum way way);

/** Return the arrays for kallima_plan_execute_host(), without workspace. */
kallima_host_arrays rig_arrays(const struct rig *rig);

/**
 * Return whether nothing but the output was written, and the input is as it was (unless in
 * place or given up for destruction). If not, *why says what.
 */
bool rig_is_intact(const struct rig *rig, const char **why);

/**
 * Add ||got - want||^2 and ||want||^2 of the last execution, in long double. For one thread
 * at a time: the answer is worked out here, and FFTW plans.
 */
void rig_add_error(struct rig *rig, long double *error, long double *power);

/** Return a hash of the bits of all output elements. */
uint64_t rig_output_hash(const struct rig *rig);

/** Read one element of the output, counted row by row. */
oracle_complex rig_output(const struct rig *rig, int64_t element);

#endif
