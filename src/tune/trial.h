// SPDX-License-Identifier: MIT
// One problem on one device with its memory, in which candidates are run: first on random
// data to be compared with a reference, then to be timed (timing.h). A candidate is a plan
// for the trial's problem.
#ifndef KAL_TUNE_TRIAL_H_
#define KAL_TUNE_TRIAL_H_

#include "exec/plan.h"
#include "tune/image.h"
#include "tune/reference.h"

/** What tuning may take. */
struct kal_budget {
    double
        seconds; // see kal_timing_init(): a trial itself counts bytes only; 0: no limit
    uint64_t bytes; // of the device's memory and the host's together; 0: half of what the
                    // device says that it has
};

/** The buffer of one array, and what lies between its guards, as executions are given it. */
struct kal_trial_array {
    kallima_buffer *whole;
    kallima_buffer inside;
};

struct kal_trial {
    kallima_device *device;
    struct kal_problem problem; // what candidates are built for
    int64_t left_out;           // transforms of the batch that the budget has no room for
    uint64_t bytes; // what the trial takes at most, without the candidates' own memory
    struct kal_trial_array in[2], out[2]; // in place, `out` has no buffers of its own
    kallima_buffer *workspace;            // of who needs most; NULL: nobody needed one
    kallima_buffer *kept[2]; // the input, where executions overwrite it; else NULL
    bool is_overwritten;     // the input on the device, by an execution
    struct kal_image input;  // as it is written to the device
    struct kal_image seen;   // what comes back
    struct kal_reference reference;
};

/** What a check found. */
struct kal_verdict {
    bool is_right;
    bool is_whole;       // all elements were looked at
    double error, bound; // relative, in the 2-norm; an error that is no number is a NaN's
    char reason[160];    // why not; empty if it is right
};

/**
 * Prepare to try candidates for `problem` on `device`: memory on the device, random input,
 * and the reference. If the budget has no room for all transforms of the batch, the trial
 * takes as many as it has room for: trial->problem is that smaller problem, and
 * trial->left_out says how many transforms it lacks.
 *
 * Owner:  the caller frees *out with kal_trial_destroy(). The trial keeps its own reference
 *         to `device`; `problem` and `budget` need only live for the call.
 * Thread: one call on a trial at a time.
 * Error:  E_MEMORY  exhausted, or not even one transform fits budget->bytes
 *         E_DEVICE  the device failed, or the reference was found wrong
 *         On error *out is NULL.
 */
kallima_status kal_trial_create(struct kal_trial **out, kallima_device *device,
                                const struct kal_problem *problem,
                                const struct kal_budget *budget);

/** Destroy *trial and set it to NULL. *trial may be NULL. No work may be under way. */
void kal_trial_destroy(struct kal_trial **trial);

/**
 * Exchange the arrays for new ones with the same input, whose pages lie elsewhere.
 *
 * Error: E_MEMORY, E_DEVICE: the trial can only be destroyed then
 */
kallima_status kal_trial_renew_memory(struct kal_trial *trial);

/**
 * Run a candidate on random input and poisoned output and compare. It is right if
 *
 * - the error of the output is under its bound: that of docs/numerics.md for the problem,
 *   with the reference's own added, as both err, and four standard deviations of an estimate
 *   from so many numbers;
 * - nothing around or between the elements of the output was written, nor, unless the problem
 *   allows it, the input, nor in any case what is around and between its elements.
 *
 * All elements of all transforms are looked at. What is not found is that transforms have
 * changed places that are a multiple of the reference's period apart (reference.h).
 *
 * A wrong candidate is named in the device's log with what is wrong; that is an answer, not
 * an error.
 *
 * Thread: one call on a trial at a time.
 * Error:  E_ARGUMENT  the plan is for another problem or device
 *         E_MEMORY    exhausted
 *         E_DEVICE    the device failed
 */
kallima_status kal_trial_check(struct kal_trial *trial, const kallima_plan *candidate,
                               struct kal_verdict *verdict);

/**
 * Run a candidate likewise and compare a sample of the output, some megabytes: enough for its
 * time to count, not for it to be kept. What is wrong in the sample, or small, or not dense,
 * is checked whole; verdict->is_whole says so.
 *
 * Error: as kal_trial_check()
 */
kallima_status kal_trial_glance(struct kal_trial *trial, const kallima_plan *candidate,
                                struct kal_verdict *verdict);

/**
 * Have memory for what a candidate needs while it runs, unless it has its own.
 *
 * Error: E_MEMORY  the device has none
 */
kallima_status kal_trial_reserve(struct kal_trial *trial, const kallima_plan *candidate);

/**
 * Enqueue one execution in the trial's memory. Of a candidate that was found right, as the
 * next check takes for granted that input that must be kept was kept.
 *
 * Error: as kallima_plan_execute(); E_MEMORY: as kal_trial_reserve()
 */
kallima_status kal_trial_run(struct kal_trial *trial, const kallima_plan *candidate);

/** The same with one launch of it alone, on a device that takes kernels. */
kallima_status kal_trial_run_launch(struct kal_trial *trial,
                                    const kallima_plan *candidate, int launch);

/**
 * Enqueue what makes the input whole again where executions overwrite it; nothing elsewhere.
 *
 * Error: E_DEVICE  the device failed
 */
kallima_status kal_trial_restore(struct kal_trial *trial);

/** Return whether executions may overwrite the input. */
bool kal_trial_overwrites(const struct kal_trial *trial);

/**
 * Return how many executions may follow each other on what the one before made of its input
 * until numbers grow or shrink out of their range, where some processors are slower; without
 * limit, a very large number, if the input is kept.
 */
int64_t kal_trial_most_runs(const struct kal_trial *trial);

#endif
