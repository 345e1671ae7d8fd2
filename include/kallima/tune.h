// SPDX-License-Identifier: MIT
// Tuning: try plans on the device, check them, keep the fastest in the device's wisdom.
#ifndef KALLIMA_TUNE_H_
#define KALLIMA_TUNE_H_

#include <kallima/plan.h>
#include <kallima/wisdom.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A plan that was considered. Strings are good for the call that shows it. */
typedef struct kallima_tune_candidate {
    const char *recipe;
    const char *decision; // in which it differs from the best of its time: "algorithm",
                          // "split", "padding", "radices" or "parameter"
    const char *fate;     // "faster", "slower", "same" as one before, "wrong", "refused";
                          // "known": its passes were timed before, and take longer;
                          // "untried": there was no time left
    double predicted_ns;  // by the cost model
    double measured_ns;   // 0: it was not
} kallima_tune_candidate;

/** Shows each candidate when its fate is known; 0 goes on, anything else ends the search. */
typedef int32_t (*kallima_tune_report)(void *user,
                                       const kallima_tune_candidate *candidate);

/** How to tune. All zero is the default. */
typedef struct kallima_tune_options {
    int32_t effort;   // kallima_effort; 0: KALLIMA_EFFORT_MEASURE
    int32_t reserved; // zero
    double seconds; // at most; 0: 1 for MEASURE, 10 for PATIENT, no limit for EXHAUSTIVE
    uint64_t bytes; // of the device's memory and the host's together; 0: half of what the
        // device says that it has. Fewer transforms of a batch are timed then.
    kallima_tune_report report; // NULL: nobody
    void *user;                 // handed to `report`
} kallima_tune_options;

/** What came of it. */
typedef struct kallima_tune_result {
    double default_ns; // median
    double tuned_ns;   // that, times the median ratio of the two plans' times taken in
                       // turn; equal if nothing was faster
    double default_spread, tuned_spread; // relative
    int64_t batch;                       // transforms that were timed at once
    int32_t considered;                  // recipes that came up
    int32_t tried;                       // plans that ran
    int32_t wrong;                       // of these, those that computed wrongly
    int32_t reserved;                    // zero
    double
        rank_correlation; // of predicted and measured times; 0: fewer than three plans ran
    double
        first_choice; // how many times slower than the fastest plan the one was that was
                      // predicted to be; 0: none was measured
    double parameter_gain; // by what factor parameters made it faster; the rest of
                           // default_ns / tuned_ns is a better recipe
} kallima_tune_result;

/**
 * Look for the fastest plan of `desc` on `device`. Every candidate is compared with a
 * reference on random data before its time counts. The fastest goes into the device's wisdom,
 * as do candidates that are wrong, so that they are never tried again, and the times of up to
 * 16 that are right; kallima_wisdom_save() keeps it all for other programs. Nothing else
 * should use the device meanwhile.
 *
 * A device that was never tuned is measured first: a few constants that predictions begin
 * with, which its wisdom keeps.
 *
 * Unit:   takes options->seconds at most, and the time of the reference, of building the first
 *         plan, and of building what is under way when they are over; the first time on a
 *         device some tenths of a second more, and its compiler's time.
 * Owner:  all memory is given back. `desc`, `options` (NULL: the default) and `result` (may
 *         be NULL) need only live for the call.
 * Thread: one call on a device at a time.
 * Error:  E_ARGUMENT     a field of `desc` or `options` is out of range
 *         E_UNSUPPORTED  the device lacks the precision, or keeps no times
 *         E_MEMORY       memory is exhausted, or not even one transform fits
 *         E_DEVICE       the device failed, or no candidate is right
 *         What was learnt before the failure stays in the wisdom.
 */
KALLIMA_API kallima_status kallima_tune(kallima_device *device, const kallima_desc *desc,
                                        const kallima_tune_options *options,
                                        kallima_tune_result *result);

/** Where a plan comes from. All but the first two are what the planner's rules choose. */
typedef enum kallima_plan_origin {
    KALLIMA_ORIGIN_RECIPE = 0, // the options gave its recipe
    KALLIMA_ORIGIN_WISDOM,
    KALLIMA_ORIGIN_FIXED,   // the options said that wisdom is not asked
    KALLIMA_ORIGIN_OFF,     // wisdom is kept nowhere, and knows nothing
    KALLIMA_ORIGIN_UNKNOWN, // wisdom has no plan of the problem
    KALLIMA_ORIGIN_BAD,     // what it has computed wrongly
    KALLIMA_ORIGIN_REFUSED, // what it has does not fit, or the device refuses it
    KALLIMA_ORIGIN_COUNT
} kallima_plan_origin;

/** A plan that a problem may have. Strings are good for the call that shows it. */
typedef struct kallima_plan_candidate {
    const char *recipe;
    const char
        *difference;     // from the default: "algorithm", "split", "padding", "radices",
                         // "parameter", those that apply, ", " between; "": it is that
    const char *fault;   // how it computed wrongly; "": nobody says that it does
    double predicted_ns; // by the cost model as it is now; 0: the device cannot run it
    double foreseen_ns;  // by the cost model before it was measured; 0: nothing
    double measured_ns;  // as wisdom has it, of the whole batch; 0: it was not
    double spread;       // of that, relative
    int32_t is_chosen;   // 1: it is the plan's own
    int32_t reserved;    // zero
} kallima_plan_candidate;

/** Shows a candidate; 0 goes on, anything else ends the call that shows them. */
typedef int32_t (*kallima_plan_report)(void *user,
                                       const kallima_plan_candidate *candidate);

/** What is said of a plan. */
typedef struct kallima_plan_explanation {
    int32_t origin;         // kallima_plan_origin
    int32_t effort;         // kallima_effort of the wisdom that it follows, or 0
    double time_ns, spread; // that wisdom says, or 0
    int32_t samples;    // measured plans that the cost model rests on; 0: it is a guess
    int32_t candidates; // how many there are
} kallima_plan_explanation;

/**
 * Say where a plan comes from, and show what else there was to choose from: the default, which
 * is what the planner's rules choose; what differs from that in one decision; and what wisdom
 * knows of the problem. Tuning tries more than that, as it goes on from what it finds.
 *
 * Shape:  `report` (NULL: nobody) is called with `user` for each candidate: those that were
 *         measured, from the fastest on; those that were not, from the one on that is
 *         predicted to be the fastest; those that computed wrongly.
 * Unit:   takes milliseconds, of long transforms up to some seconds; nothing is timed or
 *         compiled.
 * Owner:  all memory is given back.
 * Thread: any.
 * Error:  E_ARGUMENT  `plan` or `explanation` is NULL
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_plan_explain(const kallima_plan *plan,
                                                kallima_plan_report report, void *user,
                                                kallima_plan_explanation *explanation);

/**
 * Find a length for axis `axis` of `desc`, from its own to a quarter more, that is transformed
 * in the least time on `device`: as wisdom has it measured, else as the cost model predicts.
 * Arrays are taken as packed, whatever the layouts of `desc`.
 *
 * Unit:   takes some milliseconds up to 2^20 points, on a CPU 0.2 s at 2^24 and a second at 2^32;
 *         nothing is timed or compiled.
 * Thread: any.
 * Error:  E_ARGUMENT  an argument is NULL, `axis` is no axis, a field of `desc` is out of range
 *         E_MEMORY    memory is exhausted
 */
KALLIMA_API kallima_status kallima_good_length(kallima_device *device,
                                               const kallima_desc *desc, int32_t axis,
                                               int64_t *length);

#ifdef __cplusplus
}
#endif
#endif
