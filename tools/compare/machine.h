// SPDX-License-Identifier: MIT
#ifndef KALLIMA_COMPARE_MACHINE_H_
#define KALLIMA_COMPARE_MACHINE_H_

#include "record.h"

/** Describe this machine, this program and the present time. */
void machine_describe(struct machine *machine);

/** Return whether results of both may stand in one file. */
bool machine_is_same(const struct machine *a, const struct machine *b);

#endif
