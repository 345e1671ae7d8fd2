// SPDX-License-Identifier: MIT
// The process that measures one technology, asked by the one that compares: a line on standard
// input is a question, a line of JSON on descriptor 3 the answer.
//
//   (at the start)        the technology
//   case CASE             prepares a case of a case file: planned twice, checked, ready
//   sample STEP TIMES     does a step so many times; {"ns": of one}
//   end                   gives the case back; no answer
//
// An answer with "failed" says why there is nothing; with "unsupported", that there is no plan for
// such a problem; with "lost", the process ends after it.
#ifndef KALLIMA_COMPARE_SERVE_H_
#define KALLIMA_COMPARE_SERVE_H_

#include "../bench/peers/peer.h"
#include "cli.h"

enum { SERVE_ANSWERS = 3, SERVE_LINE = 4096 };

/** The roles of such a process that are no peer's name. */
#define SERVE_LIST    "list" // one answer a device of --device, or of all, then the end
#define SERVE_KALLIMA "kallima"

/** What a peer used whose planner was told to end before it had. */
#define SERVE_CUT "planning cut"

/** Answer until there are no more questions. Returns the exit status. */
int serve(const struct cli *cli, const char *role, const struct peer_options *options);

#endif
