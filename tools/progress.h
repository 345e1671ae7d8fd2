// SPDX-License-Identifier: MIT
// A progress bar on stderr: only on a terminal, only for work longer than a second.
#ifndef KALLIMA_TOOLS_PROGRESS_H_
#define KALLIMA_TOOLS_PROGRESS_H_

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *label;
    int64_t total, done;
    int64_t start_ns, shown_ns; // shown_ns: when the bar was last drawn; 0: never
    bool terminal;
};

/** Begin work of `total` steps. `label` must outlive the work. */
void progress_begin(struct progress *progress, int64_t total, const char *label);

/** Count `steps` more steps as done; draw the bar if it is time to. */
void progress_step(struct progress *progress, int64_t steps);

/** Wipe the bar off the terminal. */
void progress_end(struct progress *progress);

#endif
