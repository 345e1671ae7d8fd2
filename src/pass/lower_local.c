// SPDX-License-Identifier: MIT
// local and prime-factor: every step on a tile, one pass.
#include "pass/lower.h"

#include "math/number.h"

int kal_local_steps(const struct kal_recipe *local, int64_t inner, int64_t outer,
                    struct kal_step *steps)
{
    int64_t m = local->n, s = inner;
    for (int i = 0; i < local->radix_count; i++) {
        const int radix = local->radix[i];
        m /= radix;
        steps[i] =
            (struct kal_step){ .op = KAL_STEP_DFT,
                               .radix = radix,
                               .m = m,
                               .s = s,
                               .outer = outer,
                               .parameters = kal_parameters_are_given(&local->parameters)
                                                 ? &local->parameters
                                                 : NULL };
        s *= radix;
    }
    return local->radix_count;
}

kallima_status kal_lower_local(struct kal_lowering *lo, const struct kal_recipe *node,
                               const struct kal_lines *lines)
{
    struct kal_step steps[KAL_MAX_STEPS];
    const int count = kal_local_steps(node, 1, 1, steps);
    return kal_pass_add(lo, lines, node->n, steps, count);
}

// Input j = n2 j1 + n1 j2 (mod n) is tile element j1 n2 + j2. Output tile element k1 n2 + k2
// is the k that leaves k1 modulo n1 and k2 modulo n2 (the Chinese remainder theorem).
kallima_status kal_lower_prime_factor(struct kal_lowering *lo,
                                      const struct kal_recipe *node,
                                      const struct kal_lines *lines)
{
    const struct kal_recipe *a = node->child[0], *b = node->child[1];
    const int64_t n = node->n, n1 = a->n, n2 = b->n;
    void *memory;
    KAL_TRY(kal_arena_take(lo->arena, &memory, 2 * (uint64_t)n, sizeof(int64_t)));
    int64_t *in = memory, *out = in + n;

    const int64_t e1 = n2 * kal_inverse_mod(n2 % n1, n1); // 1 modulo n1, 0 modulo n2
    const int64_t e2 = n1 * kal_inverse_mod(n1 % n2, n2);
    for (int64_t i1 = 0; i1 < n1; i1++) {
        for (int64_t i2 = 0; i2 < n2; i2++) {
            in[i1 * n2 + i2] = (n2 * i1 + n1 * i2) % n;
            out[i1 * n2 + i2] = (e1 * i1 + e2 * i2) % n;
        }
    }

    struct kal_lines routed = *lines;
    KAL_TRY(kal_side_compose(lo, &routed.in, in, n));
    KAL_TRY(kal_side_compose(lo, &routed.out, out, n));
    struct kal_step steps[2 * KAL_MAX_STEPS];
    int count = kal_local_steps(a, n2, 1, steps);
    count += kal_local_steps(b, 1, n1, steps + count);
    return kal_pass_add(lo, &routed, n, steps, count);
}
