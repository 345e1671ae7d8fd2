// SPDX-License-Identifier: MIT
// Sides of which half the elements are the conjugates of others: where a codelet takes the
// elements of a line at equal distances, its lower half is there and its upper one is not.
#include "emit/printer.h"

#include <stdio.h>

static int64_t register_step(const struct kal_round *round, bool is_in)
{
    return is_in ? round->action[0].register_before
                 : kal_round_last_action(round)->register_after;
}

bool kal_mirror_is_halved(const struct kal_kernel *k, const struct kal_round *round,
                          bool is_in)
{
    const struct kal_side *side = kal_side_of(k, is_in);
    return side->mirror_n == k->n * side->map_step && round->registers % 2 == 0 &&
           round->registers * register_step(round, is_in) == k->n;
}

// Addresses of register 0 as if all were there, `at`, and as if none was, `mirrored_at`.
static void print_places(struct kal_printer *p, bool is_in)
{
    const struct kal_side *side = kal_side_of(p->k, is_in);
    const char *name = is_in ? "in" : "out";
    const long long stride = side->stride / kal_access_unit(p->k, is_in);

    kal_line(p, "const int e = element_index;");
    kal_print_entry(p, is_in);
    kal_line(p, "const INDEX at = %s_line + CAST(INDEX, entry) * %lld;", name, stride);
    kal_line(p, "const INDEX mirrored_at = %s_line + CAST(INDEX, %lld - entry) * %lld;",
             name, (long long)side->mirror_n, stride);
}

// The two loops over registers; a register's address is `place`.
static void open_half(struct kal_printer *p, const struct kal_round *round, bool is_in,
                      bool is_mirrored)
{
    const struct kal_side *side = kal_side_of(p->k, is_in);
    const int half = round->registers / 2;
    char head[96];

    snprintf(head, sizeof head, "UNROLL for (int j = %d; j < %d; j++) ",
             is_mirrored ? half : 0, is_mirrored ? round->registers : half);
    kal_open(p, head);
    kal_line(p, "const INDEX place = %s CAST(INDEX, j) * %lld;",
             is_mirrored ? "mirrored_at -" : "at +",
             (long long)(register_step(round, is_in) * side->map_step * side->stride /
                         kal_access_unit(p->k, is_in)));
}

void kal_print_halved_load(struct kal_printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const char *u = kal_unit_name(round);
    char text[256];

    print_places(p, true);
    for (int is_mirrored = 0; is_mirrored < 2; is_mirrored++) {
        open_half(p, round, true, is_mirrored);
        kal_line(p, "v%d[%s][j] = %s;", number, u,
                 kal_load_text(k, text, sizeof text, "place"));
        if (is_mirrored)
            kal_line(p, "v%d[%s][j].y = -v%d[%s][j].y;", number, u, number, u);
        kal_close(p);
    }
    // The first and the middle one are real, whatever is there.
    kal_line(p, "if (entry == 0) v%d[%s][0].y = v%d[%s][%d].y = ZERO;", number, u, number,
             u, round->registers / 2);
    if (k->pass->in.is_swapped)
        kal_line(p,
                 "UNROLL for (int j = 0; j < %d; j++) v%d[%s][j] = exchange(v%d[%s][j]);",
                 round->registers, number, u, number, u);
}

void kal_print_halved_store(struct kal_printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    char head[96];

    print_places(p, false);
    kal_line(p, "const bool is_twice = 2 * entry %% %lld == 0;",
             (long long)k->pass->out.mirror_period);
    for (int is_mirrored = 0; is_mirrored < 2; is_mirrored++) {
        open_half(p, round, false, is_mirrored);
        if (is_mirrored) { // the middle one is there once
            snprintf(head, sizeof head, "if (!is_twice || (j == %d && entry == 0)) ",
                     round->registers / 2);
            kal_open(p, head);
        }
        kal_line(p, "C x = v%d[%s][j];", number, kal_unit_name(round));
        if (is_mirrored)
            kal_line(p, "x.y = -x.y;");
        kal_print_scale(p);
        if (k->pass->out.is_swapped)
            kal_line(p, "x = exchange(x);");
        kal_print_store(p, "place", "x");
        if (is_mirrored)
            kal_close(p);
        kal_close(p);
    }
}
