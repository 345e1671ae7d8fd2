// SPDX-License-Identifier: MIT
// Modules: shared objects beside the program that may link what the program must not, such
// as CUDA or OpenCL.
#ifndef KALLIMA_BENCH_MODULE_H_
#define KALLIMA_BENCH_MODULE_H_

#include <stddef.h>

/**
 * Return the object `symbol` of the module `name`. Modules stay loaded, since drivers keep
 * threads of their own.
 *
 * Error: returns NULL and writes one sentence to `why`.
 */
const void *module_load(const char *name, const char *symbol, char *why, size_t capacity);

#endif
