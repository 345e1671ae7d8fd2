// SPDX-License-Identifier: MIT
#include "peer.h"

#include <string.h>

extern const struct peer peer_fftw;

const struct peer *const peers[] = {
    &peer_fftw,
    NULL,
};

const struct peer *peer_find(const char *name)
{
    for (int i = 0; peers[i]; i++) {
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    }
    return NULL;
}
