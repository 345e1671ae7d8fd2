// SPDX-License-Identifier: MIT
// How kernels use memory, for predictions.
#include <stdlib.h>

#include "kernel/kernel.h"

// Where register 0 of unit b is in memory, in reals.
static int64_t unit_address(const struct kal_kernel *k, const struct kal_round *round,
                            bool is_in, int64_t b)
{
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    const struct kal_action *action = &round->action[is_in ? 0 : round->action_count - 1];
    int64_t address = 0;

    for (int i = 0; i < round->digit_count; i++) {
        const struct kal_digit *digit = &round->digit[i];
        const struct kal_group_loop *loop = &k->loop[digit->role == KAL_DIGIT_LINE_SLOW];
        const int64_t d = b % digit->radix;
        b /= digit->radix;
        address += digit->role >= KAL_DIGIT_LINE
                       ? d * (is_in ? loop->in : loop->out)
                       : d * (is_in ? action->before[i] : action->after[i]) *
                             side->stride * side->map_step;
    }
    return address;
}

static int compare(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

double kal_kernel_sectors(const struct kal_kernel *k, bool is_in)
{
    enum { WARP = 32, SECTOR = 32 };
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    const struct kal_round *round = &k->round[is_in ? 0 : k->round_count - 1];
    const int64_t reals = side->is_real || side->imag != 1 ? 1 : 2;
    const int64_t real_bytes = k->is_f64 ? 8 : 4;
    const int lanes = (int)kal_min(WARP, kal_min(round->units, k->lanes));
    int64_t sector[WARP];
    int count = 0;

    if (round->is_flat || side->index || lanes < 1)
        return 1.0;
    for (int i = 0; i < lanes; i++)
        sector[i] = unit_address(k, round, is_in, i) * real_bytes / SECTOR;
    qsort(sector, (size_t)lanes, sizeof *sector, compare);
    for (int i = 0; i < lanes; i++)
        count += i == 0 || sector[i] != sector[i - 1];
    const double least = (double)(lanes * reals * real_bytes) / SECTOR;
    return least < 1.0 ? 1.0 : count / least;
}
