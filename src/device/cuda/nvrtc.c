// SPDX-License-Identifier: MIT
// NVRTC by dlopen(), on the first compilation and not before: it is large.
#include "device/cuda/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static struct cuda_nvrtc nvrtc;
static bool is_loaded;

static const struct {
    const char *name;
    size_t place; // of the pointer in struct cuda_nvrtc
} symbols[] = {
#define SYMBOL(name) { "nvrtc" #name, offsetof(struct cuda_nvrtc, name) },
    KAL_NVRTC_SYMBOLS(SYMBOL)
#undef SYMBOL
};

// Newest first. The plain name is last: what it points to may be any version.
static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12",
                                     "libnvrtc.so.11.2", "libnvrtc.so" };

static void *open_in(const char *folder, const char *separator)
{
    for (size_t i = 0; i < KAL_COUNT(names); i++) {
        char path[4096];
        const int length =
            snprintf(path, sizeof path, "%s%s%s", folder, separator, names[i]);
        void *library =
            length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (library)
            return library;
    }
    return NULL;
}

static void *open_library(void)
{
    static const char *const variables[] = { "CUDA_PATH", "CUDA_HOME" };
    void *library = open_in("", "");
    for (size_t i = 0; i < KAL_COUNT(variables) && !library; i++) {
        const char *folder = getenv(variables[i]);
        if (folder && folder[0])
            library = open_in(folder, "/lib64/");
    }
    return library ? library : open_in("/usr/local/cuda", "/lib64/");
}

static void load(void)
{
    void *library = open_library();
    if (!library)
        return;
    for (size_t i = 0; i < KAL_COUNT(symbols); i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol) {
            dlclose(library);
            return;
        }
        memcpy((char *)&nvrtc + symbols[i].place, &symbol, sizeof symbol);
    }
    is_loaded = nvrtc.Version(&nvrtc.major, &nvrtc.minor) == NVRTC_SUCCESS;
}

const struct cuda_nvrtc *kal_cuda_nvrtc_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &nvrtc : NULL;
}
