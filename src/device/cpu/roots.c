// SPDX-License-Identifier: MIT
#include "device/cpu/roots.h"

#include "math/number.h"

struct cpu_roots_kept {
    struct cpu_roots_kept *next;
    struct kal_root_table table;
    struct kal_root_sum *chirp; // of half its length; NULL: nobody asked
};

static kallima_status find_kept(struct cpu_program *program, int64_t n,
                                struct cpu_roots_kept **out)
{
    void *memory;

    while (program->parent)
        program = program->parent;
    struct cpu_roots_kept *kept = program->roots_kept;
    while (kept && kept->table.n != n)
        kept = kept->next;
    if (!kept) {
        KAL_TRY(kal_arena_take(&program->arena, &memory, 1, sizeof *kept));
        kept = memory;
        KAL_TRY(kal_root_table_init(&kept->table, &program->base.device->host, n));
        kept->next = program->roots_kept;
        program->roots_kept = kept;
    }
    *out = kept;
    return KALLIMA_OK;
}

kallima_status kal_cpu_roots_find(struct cpu_program *program, int64_t n,
                                  const struct kal_root_table **out)
{
    struct cpu_roots_kept *kept;
    KAL_TRY(find_kept(program, n, &kept));
    *out = &kept->table;
    return KALLIMA_OK;
}

// exp(-pi i j^2 / n) for j = 0 .. n-1: (n - j)^2 is j^2 + n^2 modulo 2 n, and n^2 is 0
// or, of an odd n, n.
static void fill_chirp(struct kal_root_sum *chirp, const struct kal_root_table *roots,
                       int64_t n)
{
    const double sign = n % 2 ? -1.0 : 1.0;
    int64_t square = 0; // j^2 modulo 2 n
    for (int64_t j = 0; j <= n / 2; j++) {
        const struct kal_root_sum s = kal_sum_of_root(kal_root_table_get(roots, square));
        if (j > 0)
            chirp[n - j] = (struct kal_root_sum){ sign * s.re, sign * s.re_rest,
                                                  sign * s.im, sign * s.im_rest };
        chirp[j] = s;
        square = kal_next_square(square, j, 2 * n);
    }
}

kallima_status kal_cpu_chirp_find(struct cpu_program *program, int64_t n,
                                  const struct kal_root_sum **out)
{
    struct cpu_roots_kept *kept;
    void *memory;

    KAL_TRY(find_kept(program, 2 * n, &kept));
    *out = kept->chirp;
    if (kept->chirp)
        return KALLIMA_OK;
    KAL_TRY(kal_alloc(&program->base.device->host, &memory, (uint64_t)n,
                      sizeof *kept->chirp));
    fill_chirp(memory, &kept->table, n);
    *out = kept->chirp = memory;
    return KALLIMA_OK;
}

void kal_cpu_roots_clear(struct cpu_program *program)
{
    for (struct cpu_roots_kept *kept = program->roots_kept; kept; kept = kept->next) {
        kal_root_table_clear(&kept->table);
        kal_free(&program->base.device->host, kept->chirp);
    }
    program->roots_kept = NULL;
}
