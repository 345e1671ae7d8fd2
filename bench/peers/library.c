// SPDX-License-Identifier: MIT
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *library_open(const char *directory, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", directory ? directory : "",
             directory ? "/lib/" : "", file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void library_find(void *library, const char *symbol, void *out)
{
    // ISO C has no cast from it to a function.
    void *address = library ? dlsym(library, symbol) : NULL;
    memcpy(out, &address, sizeof address);
}
