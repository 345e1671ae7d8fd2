// SPDX-License-Identifier: MIT
#include "random.h"

uint64_t random_next(struct random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(r) % (uint64_t)(high - low + 1));
}

double random_real(struct random *r)
{
    return (double)(int64_t)random_next(r) * 0x1p-63;
}
