// SPDX-License-Identifier: MIT
// A progress bar on stderr, with the time left: only on a terminal, only for work longer than
// a second.
#ifndef KALLIMA_TOOLS_PROGRESS_H_
#define KALLIMA_TOOLS_PROGRESS_H_

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *label;
    int64_t total, done;
    int64_t start_ns, shown_ns; // shown_ns: when the bar was last drawn; 0: never
    int64_t step_ns;            // when the step under way began
    double step_seconds;        // that it is expected to take; 0: unknown
    bool terminal;
};

/** Begin work of `total` steps. `label` must outlive the work. */
void progress_begin(struct progress *progress, int64_t total, const char *label);

/** Expect each step to take so many seconds: the bar moves with the clock in between. */
void progress_expect(struct progress *progress, double seconds);

/** Count `steps` more steps as done, which may be none; draw the bar if it is time to. */
void progress_step(struct progress *progress, int64_t steps);

/** Show some words in place of the bar, until it is next drawn or wiped off. */
void progress_say(struct progress *progress, const char *words);

/** Wipe the bar off the terminal. */
void progress_end(struct progress *progress);

#endif
