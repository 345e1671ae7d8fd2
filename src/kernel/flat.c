// SPDX-License-Identifier: MIT
// Rounds of single elements between memory and the tile, where a group's lines lie in memory
// one behind the other: the number of a unit is its address, and the places of permuted
// elements in the tile are a table, so that nothing is divided.
#include "kernel/design.h"

// A side of which the tile keeps all elements as they are.
static bool keeps_elements(const struct kal_kernel *k, bool is_in)
{
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    const struct kal_access *access = is_in ? &k->in : &k->out;
    return (!side->index || access->is_permuted) && side->count >= k->n &&
           !side->chirp_n && !side->twiddle_n && !side->gap && !access->is_part &&
           !(is_in ? k->from_cluster : k->to_cluster);
}

static bool is_flat(const struct kal_kernel *k, const struct kal_round *round, bool is_in)
{
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    const struct kal_group_loop *loop = &k->loop[0];

    if (round->registers != 1 || round->mirror || round->units != k->lines * k->n ||
        k->tile_loops > 1 || !keeps_elements(k, is_in))
        return false;
    for (int i = 1; i < k->loop_count; i++) {
        if (k->loop[i].number < 0)
            return false;
    }
    return k->lines == 1 || (round->digit[0].role == KAL_DIGIT_ELEMENT &&
                             (is_in ? loop->in : loop->out) == k->n * side->stride);
}

void kal_round_flatten(struct kal_kernel *k, bool is_in)
{
    struct kal_round *round = &k->round[is_in ? 0 : k->round_count - 1];
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;

    round->is_flat = is_flat(k, round, is_in);
    if (!round->is_flat || !(is_in ? k->in : k->out).is_permuted)
        return;
    round->place = k->table_count;
    k->table[k->table_count++] = (struct kal_table){
        .kind = KAL_TABLE_PLACE,
        .n = k->n,
        .index = side->index,
        .layout = k->round[is_in ? 0 : k->round_count - 2].layout,
        .lines = k->lines,
        .extra = k->extra,
        .count = k->lines * k->n,
    };
}
