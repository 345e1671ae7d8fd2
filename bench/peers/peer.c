// SPDX-License-Identifier: MIT
#include "peer.h"

#include <stdio.h>
#include <string.h>

#include "module.h"

extern const struct peer peer_baseline, peer_fftw, peer_mkl;

static const struct {
    const char *name, *api;
    const struct peer *peer; // NULL: in a module
} known[] = {
    { "fftw", "cpu", &peer_fftw },
    { "mkl", "cpu", &peer_mkl },
    { "baseline", "cpu", &peer_baseline },
    { "cufft", "cuda", NULL },
    { "vkfft", "cuda", NULL },
    { "clfft", "opencl", NULL },
    { "vkfft", "opencl", NULL },
};

enum { KNOWN = sizeof known / sizeof known[0] };

const char *peer_list(const char *api, int index)
{
    for (int i = 0; i < KNOWN; i++) {
        const bool only_if_named = known[i].peer && known[i].peer->only_if_named;
        if (strcmp(known[i].api, api) == 0 && !only_if_named && index-- == 0)
            return known[i].name;
    }
    return NULL;
}

// Of the module that has a peer; false: it cannot be one's name.
static bool name_module(const char *name, const char *api, char module[64])
{
    return !strchr(name, '/') && snprintf(module, 64, "%s-%s", api, name) < 64;
}

bool peer_is_known(const char *name, const char *api)
{
    char module[64];
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(known[i].name, name) == 0 && strcmp(known[i].api, api) == 0)
            return true;
    }
    return name_module(name, api, module) && module_exists(module);
}

static const struct peer *load(const char *name, const char *api, char *why,
                               size_t capacity)
{
    char module[64];
    name_module(name, api, module);
    return module_load(module, "kallima_bench_peer", why, capacity);
}

// The sentence that lists what there is for the API.
static void refuse(const char *name, const char *api, char *why, size_t capacity)
{
    size_t used =
        (size_t)snprintf(why, capacity, "%s: no such peer of %s devices", name, api);
    const char *separator = "; there is ";
    for (int i = 0; i < KNOWN && used < capacity; i++) {
        if (strcmp(known[i].api, api) != 0)
            continue;
        used += (size_t)snprintf(why + used, capacity - used, "%s%s", separator,
                                 known[i].name);
        separator = ", ";
    }
}

const struct peer *peer_find(const char *name, const char *api, bool *is_known, char *why,
                             size_t capacity)
{
    *is_known = peer_is_known(name, api);
    if (!*is_known) {
        refuse(name, api, why, capacity);
        return NULL;
    }
    for (int i = 0; i < KNOWN; i++) {
        if (known[i].peer && strcmp(known[i].name, name) == 0 &&
            strcmp(known[i].api, api) == 0)
            return known[i].peer;
    }
    return load(name, api, why, capacity);
}
