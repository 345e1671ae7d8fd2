// SPDX-License-Identifier: MIT
// Results of measurements for programs: one JSON object a line on standard output.
#ifndef KALLIMA_BENCH_JSON_H_
#define KALLIMA_BENCH_JSON_H_

#include "bench_run.h"

/** Print the objects of one result, one for each library, at once. */
void json_print(const struct bench *bench, const struct result *result);

#endif
