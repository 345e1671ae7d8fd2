// SPDX-License-Identifier: MIT
// What results say, in sentences that are computed from them.
#ifndef KALLIMA_COMPARE_SUMMARY_H_
#define KALLIMA_COMPARE_SUMMARY_H_

#include "results.h"

/** Takes one sentence, and the heading that it is under. */
typedef void summary_say(void *user, const char *heading, const char *sentence);

/** Say everything, in the order of its importance: what is wrong and where Kallima loses first. */
void summary_tell(const struct results *results, summary_say *say, void *user);

#endif
