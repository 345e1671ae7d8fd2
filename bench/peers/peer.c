// SPDX-License-Identifier: MIT
#include "peer.h"

#include <stdio.h>
#include <string.h>

#include "module.h"

extern const struct peer peer_fftw;

static const struct {
    const char *name, *api;
    const struct peer *peer; // NULL: in a module
} known[] = {
    { "fftw", "cpu", &peer_fftw }, { "cufft", "cuda", NULL },   { "vkfft", "cuda", NULL },
    { "clfft", "opencl", NULL },   { "vkfft", "opencl", NULL },
};

enum { KNOWN = sizeof known / sizeof known[0] };

static const struct peer *load(const char *name, const char *api, char *why,
                               size_t capacity)
{
    char module[64];
    snprintf(module, sizeof module, "%s-%s", api, name);
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
    for (int i = 0; i < KNOWN; i++) {
        *is_known = strcmp(known[i].name, name) == 0 && strcmp(known[i].api, api) == 0;
        if (*is_known)
            return known[i].peer ? known[i].peer : load(name, api, why, capacity);
    }
    refuse(name, api, why, capacity);
    return NULL;
}
