// SPDX-License-Identifier: MIT
// Source: that a thread takes a part of what is left, less each time, follows
// Polychronopoulos & Kuck, IEEE Trans. Comput. C-36
//         (1987) 1425-1439; that its own comes first, as it may be in its caches,
//         Markatos & LeBlanc, IEEE Trans. Parallel Distrib. Syst. 5 (1994) 379-400.
#include "device/cpu/deal.h"

// What a worker has left: pieces begin .. end - 1 of those of all, of which each part has
// deal->pieces, in one word with the number of the deal, so that it changes as one.
struct hand {
    uint64_t begin, end;
};

enum { BITS = 24, NUMBER_SHIFT = 2 * BITS };
static const uint64_t MASK = ((uint64_t)1 << BITS) - 1;

static uint64_t pack(const struct cpu_deal *deal, struct hand hand)
{
    return deal->number << NUMBER_SHIFT | hand.begin << BITS | hand.end;
}

// Of a worker that has not come yet: all of its part.
static struct hand unpack(const struct cpu_deal *deal, int part, uint64_t word)
{
    const uint64_t first = (uint64_t)part * (uint64_t)deal->pieces;
    if (word >> NUMBER_SHIFT != deal->number)
        return (struct hand){ first, first + (uint64_t)deal->pieces };
    return (struct hand){ word >> BITS & MASK, word & MASK };
}

struct cpu_deal kal_cpu_deal(struct cpu_worker *worker, int64_t count, int64_t together,
                             int64_t pieces)
{
    enum { NUMBERS = 1 << 16 };
    const int parts = worker->parts;
    const bool is_shared = parts > 1 && parts <= CPU_HANDS;
    const int64_t most = kal_min(count / parts / together, (int64_t)MASK / parts);

    pieces = is_shared ? kal_max(1, kal_min(pieces, most)) : 1;
    if (pieces > 1) // each of these leaves its number with all, so that it may come again
        worker->deals = (worker->deals + 1) % NUMBERS;
    return (struct cpu_deal){
        .count = count,
        .together = together,
        .pieces = pieces,
        .number = worker->deals,
    };
}

// Pieces of one part, as neighbours.
static void find_things(const struct cpu_worker *worker, const struct cpu_deal *deal,
                        struct hand hand, struct cpu_taken *taken)
{
    const int64_t part = (int64_t)hand.begin / deal->pieces, piece = part * deal->pieces;
    const int64_t together = deal->together;
    int64_t first;

    kal_cpu_share(deal->count, (int)part, worker->parts, &first, &taken->part_end);
    const int64_t groups = (taken->part_end - first + together - 1) / together;
    kal_cpu_share_some(groups, (int64_t)hand.begin - piece, (int64_t)hand.end - piece,
                       deal->pieces, &taken->begin, &taken->end);
    taken->begin = first + taken->begin * together;
    taken->end = kal_min(first + taken->end * together, taken->part_end);
}

// Take from the front of one's own, a part of what is left.
static bool take_own(const struct cpu_worker *worker, const struct cpu_deal *deal,
                     struct hand *taken)
{
    enum { SHARE = 4 };
    atomic_uint_least64_t *left = &worker->meeting->hand[worker->part].left;
    uint64_t word = atomic_load_explicit(left, memory_order_relaxed);

    for (;;) {
        struct hand hand = unpack(deal, worker->part, word);
        if (hand.begin >= hand.end)
            return false;
        const uint64_t count = (hand.end - hand.begin + SHARE - 1) / SHARE;
        *taken = (struct hand){ hand.begin, hand.begin + count };
        hand.begin += count;
        if (atomic_compare_exchange_weak_explicit(left, &word, pack(deal, hand),
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    }
}

// Half of what another one has left, from its end, becomes one's own, of which others may
// take in turn.
static bool take_from(const struct cpu_worker *worker, const struct cpu_deal *deal,
                      int other)
{
    struct cpu_hand *hands = worker->meeting->hand;
    atomic_uint_least64_t *left = &hands[other].left;
    uint64_t word = atomic_load_explicit(left, memory_order_relaxed);

    for (;;) {
        struct hand hand = unpack(deal, other, word);
        if (hand.begin >= hand.end)
            return false;
        const uint64_t count = (hand.end - hand.begin + 1) / 2;
        const struct hand taken = { hand.end - count, hand.end };
        hand.end -= count;
        if (atomic_compare_exchange_weak_explicit(left, &word, pack(deal, hand),
                                                  memory_order_relaxed,
                                                  memory_order_relaxed)) {
            atomic_store_explicit(&hands[worker->part].left, pack(deal, taken),
                                  memory_order_relaxed);
            return true;
        }
    }
}

static bool take_from_any(const struct cpu_worker *worker, const struct cpu_deal *deal)
{
    for (int i = 1; i < worker->parts; i++) {
        if (take_from(worker, deal, (worker->part + i) % worker->parts))
            return true;
    }
    return false;
}

// All of one's own, once.
static bool take_part(const struct cpu_worker *worker, struct cpu_deal *deal,
                      struct cpu_taken *taken)
{
    const bool was_done = deal->is_done;

    deal->is_done = true;
    kal_cpu_share(deal->count, worker->part, worker->parts, &taken->begin, &taken->end);
    taken->part_end = taken->end;
    return !was_done && taken->begin < taken->end;
}

bool kal_cpu_take(const struct cpu_worker *worker, struct cpu_deal *deal,
                  struct cpu_taken *taken)
{
    struct hand hand;

    if (deal->pieces == 1)
        return take_part(worker, deal, taken);
    while (!take_own(worker, deal, &hand)) {
        if (!take_from_any(worker, deal))
            return false;
    }
    find_things(worker, deal, hand, taken);
    return true;
}
