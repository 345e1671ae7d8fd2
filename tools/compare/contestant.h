// SPDX-License-Identifier: MIT
// Those that are compared: Kallima on a device, or a peer there, each in a process of its own
// that is started when it is needed, and again when it is gone.
#ifndef KALLIMA_COMPARE_CONTESTANT_H_
#define KALLIMA_COMPARE_CONTESTANT_H_

#include "../bench/peers/peer.h"
#include "child.h"
#include "cli.h"
#include "results.h"

enum { MAX_CONTESTANTS = 20 };

struct contestant {
    struct technology about; // all of it once it has answered
    bool has_answered;
    bool is_out; // it cannot be opened: it takes no part
    struct child child;
};

/** Those that take part, and how their processes are started. */
struct contest {
    const struct cli *cli;
    const char *program; // the name that this one was started by
    const char *log;     // where processes print to
    struct peer_options peer_options;
    double limit_s; // for an answer
    struct contestant one[MAX_CONTESTANTS];
    int count;
};

/**
 * Fill in who takes part. `devices` and `peers` are lists with commas; "all" is every device
 * present that is not imitated in software, and every peer that this build knows; "none" is
 * no peer.
 *
 * Error: returns CLI_USAGE or CLI_FAILED, and has told why.
 */
int contest_fill(struct contest *contest, const char *devices, const char *peers);

/** Return whether it is Kallima, not a peer. */
bool contestant_is_kallima(const struct contestant *one);

/**
 * Start its process if it does not run.
 *
 * Error: returns false and writes one sentence to `why`; where it could not be opened it is
 *        out from then on.
 */
bool contestant_start(struct contest *contest, struct contestant *one, char *why,
                      size_t capacity);

/**
 * Ask it, as child_ask(), and read the answer.
 *
 * Owner: texts in *json lie in the child.
 * Error: returns false and writes one sentence to `why`, also if the answer is a failure, which is
 *        in *json then; without an answer that is empty.
 */
bool contestant_ask(const struct contest *contest, struct contestant *one,
                    const char *question, struct json *json, char *why, size_t capacity);

/** End all processes. */
void contest_end(struct contest *contest);

#endif
