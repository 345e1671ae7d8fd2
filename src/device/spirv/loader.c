// SPDX-License-Identifier: MIT
// The module with the compiler, by dlopen(), on the first compilation and not before: it is
// large, and kernels from the cache do without.
#define _GNU_SOURCE // dladdr(), secure_getenv()
#include <dlfcn.h>
#include <kallima/kallima.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/spirv/spirv.h"

static kal_spirv_compile *compiler;
static char reason_absent[512];

// The folder of the library, or of the program that it is linked into; empty if unknown.
static void own_folder(char *out, size_t capacity)
{
    Dl_info info;
    const char *end = NULL;
    if (dladdr(&compiler, &info) && info.dli_fname)
        end = strrchr(info.dli_fname, '/');
    if (end)
        snprintf(out, capacity, "%.*s/", (int)(end - info.dli_fname), info.dli_fname);
    else
        out[0] = '\0';
}

// Beside the library, then where it was installed, then where the system looks.
static void *open_module(void)
{
    const char *chosen = secure_getenv("KALLIMA_SPIRV");
    char folder[1024], path[1100];

    if (chosen && chosen[0])
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    own_folder(folder, sizeof folder);
    const char *const folders[] = { folder, KAL_LIBRARY_FOLDER "/", "" };
    for (size_t i = 0; i < KAL_COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s%s", folders[i], KAL_SPIRV_MODULE);
        void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (module)
            return module;
    }
    return NULL;
}

// The module stays loaded.
static void load_once(void)
{
    void *module = open_module();
    const char *version = module ? dlsym(module, KAL_SPIRV_VERSION) : NULL;
    void *symbol = module ? dlsym(module, KAL_SPIRV_COMPILE) : NULL;

    if (!module)
        snprintf(reason_absent, sizeof reason_absent,
                 "the module " KAL_SPIRV_MODULE " cannot be loaded (%s)", dlerror());
    else if (!version || !symbol || strcmp(version, KALLIMA_VERSION) != 0)
        snprintf(reason_absent, sizeof reason_absent,
                 "the module " KAL_SPIRV_MODULE " is of version %.20s; must be %s",
                 version ? version : "unknown", KALLIMA_VERSION);
    else
        memcpy(&compiler, &symbol, sizeof symbol);
}

kal_spirv_compile *kal_spirv_compiler(const char **reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    *reason = reason_absent;
    return compiler;
}
