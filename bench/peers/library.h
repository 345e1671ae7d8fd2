// SPDX-License-Identifier: MIT
// Libraries of peers, loaded at run time: the program neither needs nor contains them.
#ifndef KALLIMA_BENCH_LIBRARY_H_
#define KALLIMA_BENCH_LIBRARY_H_

#include <stdbool.h>
#include <stddef.h>

/**
 * Load `file` from the lib folder of an installation, or, without one, from where the loader
 * looks. It stays loaded: threads of its own may still be running its code.
 *
 * Error: returns NULL; dlerror() says why.
 */
void *library_open(const char *directory, const char *file);

/**
 * The same of a library that calls its own functions, though the program has others of
 * their names.
 */
void *library_open_apart(const char *directory, const char *file);

/** Store the address of a function of `library` to *out; NULL: it has none, or is NULL. */
void library_find(void *library, const char *symbol, void *out);

/** A function to look for. */
struct library_symbol {
    const char *name;
    void *function; // where a pointer to it is kept
};

/** Look for all of them; return whether there is a library that has them all. */
bool library_find_all(void *library, const struct library_symbol *symbols, size_t count);

#endif
