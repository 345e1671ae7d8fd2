// SPDX-License-Identifier: MIT
// Measuring in a process of its own: a library that fails on a GPU may take the context
// that all share with it, and only the end of the process gives the device back. The next
// process goes on with the same case, without that library.
#ifndef KALLIMA_BENCH_WORKER_H_
#define KALLIMA_BENCH_WORKER_H_

#include "bench_run.h"

enum { BENCH_LIBRARIES = 1 + BENCH_MAX_PEERS }; // Kallima, then the peers

/** What outlives a process that measures. */
struct bench_record {
    bool begun;  // the headings are printed
    bool lost;   // the device does not answer any more: this process must end
    int done;    // cases in `result`
    int at_work; // the library that is at work on case `done`; -1: none
    char broke[BENCH_LIBRARIES][256]; // why a library takes no part in case `done`
    struct result result[];
};

/** Return an empty record that processes share; NULL: no memory left. */
struct bench_record *worker_record_create(int cases);

void worker_record_destroy(struct bench_record *record, int cases);

/** Note that library number `library` made the device unusable. */
void worker_lose(struct bench_record *record, int library, const char *sentence);

/** Keep the result of the case at hand; the next one is at hand then. */
void worker_keep(struct bench_record *record, const struct result *result);

/** End this process as one that lost its device: nothing is closed, as nothing answers. */
_Noreturn void worker_give_up(void);

/**
 * Start a process that measures, and another one as long as one loses its device or is
 * ended by a library. Each goes on from here, with *is_worker = true; in the caller's own
 * process, return the exit status of the last one, with *is_worker = false.
 */
int worker_start(struct bench_record *record, bool *is_worker);

#endif
