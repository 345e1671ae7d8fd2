// SPDX-License-Identifier: MIT
#include "tune/standing.h"

#include <math.h>

// How many times as long as the first plan another takes: 0, it was in no race.
static double ratio_to_first(const struct kal_tuning *t, int i)
{
    double ratio = 1.0;
    for (; i != t->first_number; i = t->search.candidate[i].rival) {
        if (!(t->search.candidate[i].gain > 0.0))
            return 0.0;
        ratio /= t->search.candidate[i].gain;
    }
    return ratio;
}

// Put a plan behind those that are faster, but not before number `fixed`.
static int insert(struct kal_standing *standing, int fixed, int count,
                  const struct kal_standing *added)
{
    int at = count < KAL_MOST_STANDINGS ? count++ : KAL_MOST_STANDINGS;
    for (; at > fixed && added->seconds < standing[at - 1].seconds; at--) {
        if (at < KAL_MOST_STANDINGS)
            standing[at] = standing[at - 1];
    }
    if (at < KAL_MOST_STANDINGS)
        standing[at] = *added;
    return count;
}

int kal_tuning_rank(const struct kal_tuning *t,
                    struct kal_standing standing[KAL_MOST_STANDINGS])
{
    const struct kal_search *s = &t->search;
    const double scale = t->best.median / ratio_to_first(t, s->best);
    int count = 0;

    standing[count++] = (struct kal_standing){ &s->candidate[t->first_number],
                                               t->first.median, t->first.spread };
    if (s->best != t->first_number)
        standing[count++] = (struct kal_standing){ &s->candidate[s->best], t->best.median,
                                                   t->best.spread };
    const int fixed = count;
    for (int i = 0; i < s->count; i++) {
        const struct kal_candidate *c = &s->candidate[i];
        const bool counts = c->measured > 0.0 && c->fate != KAL_FATE_WRONG;
        const double ratio = counts ? ratio_to_first(t, i) : 0.0;
        const struct kal_standing other = { c, scale * ratio, c->spread };
        if (i != t->first_number && i != s->best && ratio > 0.0 &&
            isfinite(other.seconds))
            count = insert(standing, fixed, count, &other);
    }
    return count;
}
