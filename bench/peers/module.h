// SPDX-License-Identifier: MIT
// Modules: shared objects beside the program that may link what the program must not, such
// as CUDA or OpenCL.
#ifndef KALLIMA_BENCH_MODULE_H_
#define KALLIMA_BENCH_MODULE_H_

#include <stdbool.h>
#include <stddef.h>

/** Return whether the module `name` is beside the program. It is not loaded for that. */
bool module_exists(const char *name);

/**
 * Return the object `symbol` of the module `name`. Modules stay loaded, since drivers keep
 * threads of their own.
 *
 * Error: returns NULL and writes one sentence to `why`.
 */
const void *module_load(const char *name, const char *symbol, char *why, size_t capacity);

#endif
