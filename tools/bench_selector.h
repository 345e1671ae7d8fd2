// SPDX-License-Identifier: MIT
// What the name of a device says.
#ifndef KALLIMA_BENCH_SELECTOR_H_
#define KALLIMA_BENCH_SELECTOR_H_

#include <stdbool.h>
#include <stddef.h>

/** Return whether problems for the device `selector` lie in host memory. */
bool bench_is_host(const char *selector);

/** Write the API of a device: its selector up to the number. */
void bench_get_api(const char *selector, char *api, size_t capacity);

#endif
