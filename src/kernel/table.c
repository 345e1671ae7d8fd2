// SPDX-License-Identifier: MIT
// What tables hold: computed in extended precision, rounded once.
#include "kernel/kernel.h"

#include "math/dft.h"
#include "math/number.h"
#include "math/root_table.h"

// A complex array in the kernel's precision.
struct target {
    void *data;
    bool is_f64;
};

static void put(const struct target *t, int64_t i, struct kal_root root)
{
    if (t->is_f64) {
        ((double *)t->data)[2 * i] = (double)root.re;
        ((double *)t->data)[2 * i + 1] = (double)root.im;
    } else {
        ((float *)t->data)[2 * i] = (float)root.re;
        ((float *)t->data)[2 * i + 1] = (float)root.im;
    }
}

// Powers stand in pairs, each pair for all turns: neighbouring lanes read neighbours.
static int64_t power_place(int64_t turns, int64_t turn, int i)
{
    return i / 2 * 2 * turns + 2 * turn + i % 2;
}

static void fill_step(const struct kal_table *table, const struct kal_root_table *roots,
                      const struct target *t)
{
    const int64_t m = table->n / table->radix;
    for (int64_t p = 0; p < m; p++) {
        for (int i = 0; i < table->powers; i++)
            put(t, power_place(m, p, i),
                kal_root_table_get(roots, p * kal_table_power(i) % table->n));
        for (int k = 1; k < table->radix && !table->powers; k++)
            put(t, (k - 1) * m + p, kal_root_table_get(roots, p * k));
    }
}

static void fill_powers(const struct kal_table *table, const struct kal_root_table *roots,
                        const struct target *t)
{
    const int64_t turns = table->count / kal_round_up(table->powers, 2);
    for (int64_t turn = 0; turn < turns; turn++) {
        for (int i = 0; i < table->powers; i++)
            put(t, power_place(turns, turn, i),
                kal_root_table_get(roots, table->size * turn % table->n *
                                              kal_table_power(i) % table->n));
    }
}

static void fill_fine(const struct kal_table *table, const struct kal_root_table *roots,
                      const struct target *t)
{
    for (int64_t i = 0; i < table->count; i++)
        put(t, i, kal_root_table_get(roots, i % table->n));
}

static void fill_coarse(const struct kal_table *table, const struct kal_root_table *roots,
                        const struct target *t)
{
    for (int64_t i = 0; i < table->count; i++)
        put(t, i, kal_root_table_get(roots, i << table->shift));
}

// `roots` are those of 2 n.
static void fill_chirp(const struct kal_table *table, const struct kal_root_table *roots,
                       const struct target *t)
{
    int64_t square = 0; // j^2 modulo 2 n
    for (int64_t j = 0; j < table->count; j++) {
        put(t, j, kal_root_table_get(roots, square));
        square = kal_next_square(square, j, 2 * table->n);
    }
}

// The roots exp(-2 pi i g^-q / p) for q = 0 .. p-2
static void roots_of_rader(const struct kal_table *table,
                           const struct kal_root_table *roots, struct kal_root *x)
{
    const int64_t p = table->n, h = kal_inverse_mod(kal_primitive_root(p), p);
    int64_t power = 1;
    for (int64_t q = 0; q < p - 1; q++) {
        x[q] = kal_root_table_get(roots, power);
        power = kal_mul_mod(power, h, p);
    }
}

// The chirp exp(+pi i j^2 / n) for |j| < n, cyclic
static void chirp_of_bluestein(const struct kal_table *table,
                               const struct kal_root_table *roots, struct kal_root *x)
{
    const int64_t n = table->n, m = table->size;
    int64_t square = 0;
    for (int64_t j = 0; j < m; j++)
        x[j] = (struct kal_root){ 0.0L, 0.0L };
    for (int64_t j = 0; j < n; j++) {
        struct kal_root root = kal_root_table_get(roots, square);
        root.im = -root.im;
        x[j] = x[(m - j) % m] = root;
        square = kal_next_square(square, j, 2 * n);
    }
}

static kallima_status fill_spectrum(const struct kal_table *table,
                                    const struct kal_root_table *roots,
                                    const struct kal_host *host, const struct target *t)
{
    const long double scale = 1.0L / (long double)table->size;
    void *memory;

    KAL_TRY(kal_alloc(host, &memory, (uint64_t)table->size, sizeof(struct kal_root)));
    struct kal_root *x = memory;
    (table->kind == KAL_TABLE_RADER ? roots_of_rader : chirp_of_bluestein)(table, roots,
                                                                           x);
    const kallima_status status = kal_dft(host, x, table->size);
    const int64_t rows = kal_max(1, table->rows);
    for (int64_t i = 0; i < table->size && !status; i++)
        put(t, i % rows * (table->size / rows) + i / rows,
            (struct kal_root){ x[i].re * scale, x[i].im * scale });
    kal_free(host, memory);
    return status;
}

kallima_status kal_table_fill(const struct kal_table *table, const struct kal_host *host,
                              bool is_f64, void *out)
{
    typedef void fill_function(const struct kal_table *, const struct kal_root_table *,
                               const struct target *);
    static fill_function *const fill[] = {
        [KAL_TABLE_POWERS] = fill_powers, [KAL_TABLE_STEP] = fill_step,
        [KAL_TABLE_FINE] = fill_fine,     [KAL_TABLE_COARSE] = fill_coarse,
        [KAL_TABLE_CHIRP] = fill_chirp,   [KAL_TABLE_MIRROR] = fill_fine,
        [KAL_TABLE_INDEX] = NULL,         [KAL_TABLE_PLACE] = NULL,
    };
    const bool is_chirp =
        table->kind == KAL_TABLE_CHIRP || table->kind == KAL_TABLE_PRODUCT;
    const struct target t = { out, is_f64 };
    struct kal_root_table roots;
    kallima_status status = KALLIMA_OK;

    KAL_TRY(kal_root_table_init(&roots, host, (is_chirp ? 2 : 1) * table->n));
    if (fill[table->kind])
        fill[table->kind](table, &roots, &t);
    else
        status = fill_spectrum(table, &roots, host, &t);
    kal_root_table_clear(&roots);
    return status;
}

// Where the tile keeps element e of a line.
static int64_t tile_place(const struct kal_table *table, int64_t e, int64_t line)
{
    const struct kal_layout *layout = &table->layout;
    if (table->extra >= 0 && e == table->n - 1)
        return table->extra + line;
    return kal_layout_index(layout, e) * layout->element + line * layout->line;
}

void kal_table_fill_index(const struct kal_table *table, int32_t *out)
{
    for (int64_t i = 0; i < table->n; i++) {
        if (table->kind == KAL_TABLE_PLACE) {
            for (int64_t line = 0; line < table->lines; line++)
                out[line * table->n + table->index[i]] =
                    (int32_t)tile_place(table, i, line);
        } else if (table->is_inverse) {
            out[table->index[i]] = (int32_t)i;
        } else {
            out[i] = (int32_t)table->index[i];
        }
    }
}
