// SPDX-License-Identifier: MIT
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// AddressSanitizer takes no library that looks for its own functions first.
#if defined RTLD_DEEPBIND && !defined __SANITIZE_ADDRESS__
enum { OWN_FIRST = RTLD_DEEPBIND };
#else
enum { OWN_FIRST = 0 };
#endif

static void *open_by(const char *directory, const char *file, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", directory ? directory : "",
             directory ? "/lib/" : "", file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

void *library_open(const char *directory, const char *file)
{
    return open_by(directory, file, 0);
}

void *library_open_apart(const char *directory, const char *file)
{
    return open_by(directory, file, OWN_FIRST);
}

void library_find(void *library, const char *symbol, void *out)
{
    // ISO C has no cast from it to a function.
    void *address = library ? dlsym(library, symbol) : NULL;
    memcpy(out, &address, sizeof address);
}

bool library_find_all(void *library, const struct library_symbol *symbols, size_t count)
{
    bool has_all = library != NULL;
    for (size_t i = 0; i < count; i++) {
        void *address;
        library_find(library, symbols[i].name, &address);
        memcpy(symbols[i].function, &address, sizeof address);
        has_all = has_all && address;
    }
    return has_all;
}
