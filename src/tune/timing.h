// SPDX-License-Identifier: MIT
// How long plans take in a trial's memory, and which of two is faster: by the events of the
// device, interleaved, within a budget of seconds. race.h decides; this takes the times.
#ifndef KAL_TUNE_TIMING_H_
#define KAL_TUNE_TIMING_H_

#include "tune/race.h"
#include "tune/trial.h"

struct kal_timing {
    struct kal_trial *trial;
    kallima_timer *timer;
    double (*now)(void); // the host's clock, by which the budget runs
    double end;          // on that clock
    double at_work;      // when the device was, on that clock; -INFINITY: nobody knows
    uint64_t order;      // state of the random numbers that say who is first in a round
};

/** What a race found. */
struct kal_outcome {
    enum kal_ruling
        ruling; // open if the budget or the rounds ran out: keep the incumbent
    bool is_out_of_time;
    int rounds;
    struct kal_times incumbent, challenger; // of the rounds; count = 0: there was no time
    double ratio; // median of challenger over incumbent, round by round; 0: no rounds
};

/**
 * Prepare to time plans in the trial's memory for at most `seconds` from now on; 0: no limit.
 * `now` is for tests; NULL is kal_clock_now().
 *
 * Owner: the caller frees it with kal_timing_clear(); `trial` outlives it.
 * Error: E_UNSUPPORTED  the caller's queue keeps no times
 *        E_MEMORY       exhausted
 *        E_DEVICE       the device failed
 */
kallima_status kal_timing_init(struct kal_timing *timing, struct kal_trial *trial,
                               double seconds, double (*now)(void));

/** Free what the timing holds; all zero is fine. */
void kal_timing_clear(struct kal_timing *timing);

/** Return the seconds that are left; without limit a very large number. */
double kal_timing_left(const struct kal_timing *timing);

/**
 * Run a plan until a device that is slow to wake is awake, if it was idle: what times it
 * does the same, but within the budget.
 *
 * Error: E_DEVICE  the device failed
 */
kallima_status kal_timing_wake(struct kal_timing *timing, const kallima_plan *plan);

/**
 * Time one plan alone, `rounds` samples or what there is time for.
 *
 * Unit:  rounds: 1 to KAL_RACE_MOST_ROUNDS; times->count = 0: there was no time.
 * Error: E_DEVICE  the device failed
 */
kallima_status kal_timing_measure(struct kal_timing *timing, const kallima_plan *plan,
                                  int rounds, struct kal_times *times);

/**
 * Time one launch of a plan alone, on a device that takes kernels.
 *
 * Unit, Error: as kal_timing_measure()
 */
kallima_status kal_timing_measure_launch(struct kal_timing *timing,
                                         const kallima_plan *plan, int launch, int rounds,
                                         struct kal_times *times);

/**
 * Time a challenger against the incumbent until the answer is clear, the rounds are over, or
 * a further sample would not end within the budget. Both should have passed
 * kal_trial_check().
 *
 * A sample is as many executions between two marks of the timer as take some hundred
 * microseconds, far above the resolution of any device's events; warming up is finding out
 * how many. Arrays are the same in all samples, so that caches are as warm as the problem
 * leaves them, and on a processor short samples follow an execution of the same plan, not of the
 * other; where executions overwrite the input it is copied afresh before a sample, outside the
 * time.
 *
 * Thread: one call on a timing, and on its trial, at a time; nothing else should use the
 *         device.
 * Error:  E_DEVICE  the device failed
 */
kallima_status kal_timing_race(struct kal_timing *timing, const kallima_plan *incumbent,
                               const kallima_plan *challenger,
                               struct kal_outcome *outcome);

#endif
