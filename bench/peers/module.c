// SPDX-License-Identifier: MIT
#include "module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The folder of the program with a slash at its end; empty if it is unknown.
static void find_folder(char *path, size_t capacity)
{
    const ssize_t length = readlink("/proc/self/exe", path, capacity - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        slash[1] = '\0';
}

enum { PATH_BYTES = 2304 };

static bool find(const char *name, char path[PATH_BYTES])
{
    char folder[2048];
    find_folder(folder, sizeof folder);
    snprintf(path, PATH_BYTES, "%skallima-bench-%s.so", folder, name);
    return access(path, R_OK) == 0;
}

bool module_exists(const char *name)
{
    char path[PATH_BYTES];
    return find(name, path);
}

const void *module_load(const char *name, const char *symbol, char *why, size_t capacity)
{
    char path[PATH_BYTES];

    if (!find(name, path)) {
        snprintf(
            why, capacity,
            "%s: not built, as its header or library was not found when this program "
            "was",
            name);
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const void *object = module ? dlsym(module, symbol) : NULL;
    if (!object)
        snprintf(why, capacity, "%s: cannot be loaded: %s", name, dlerror());
    return object;
}
