// SPDX-License-Identifier: MIT
// Twiddles, chirps and spectra: computed in extended precision, but for long spectra, and
// rounded once; chirps of floats by way of doubles.
#include "device/cpu/facing.h"
#include "device/cpu/line.h"
#include "device/cpu/roots.h"
#include "device/cpu/spectrum.h"

#include "math/number.h"

// A complex table in the program's precision.
struct table {
    void *data;
    bool is_f64;
};

static kallima_status take_table(struct cpu_program *program, struct table *table,
                                 int64_t count)
{
    table->is_f64 = program->is_f64;
    return kal_arena_take(&program->arena, &table->data, (uint64_t)count,
                          2 * program->real_bytes);
}

static void put(const struct table *table, int64_t at, long double value)
{
    if (table->is_f64)
        ((double *)table->data)[at] = (double)value;
    else
        ((float *)table->data)[at] = (float)value;
}

static void put_root(const struct table *table, int64_t i, struct kal_root root)
{
    put(table, 2 * i, root.re);
    put(table, 2 * i + 1, root.im);
}

// The first part of a sum is what doubles are rounded to; floats are rounded from that.
static void put_sum(const struct table *table, int64_t i, struct kal_root_sum sum,
                    bool conjugate, double scale)
{
    const double re = sum.re * scale, im = (conjugate ? -sum.im : sum.im) * scale;
    if (table->is_f64) {
        ((double *)table->data)[2 * i] = re;
        ((double *)table->data)[2 * i + 1] = im;
    } else {
        ((float *)table->data)[2 * i] = (float)re;
        ((float *)table->data)[2 * i + 1] = (float)im;
    }
}

// exp(-2 pi i p k / (radix m)) for p = 1 .. m-1, k = 1 .. radix-1
static kallima_status dft_table(struct cpu_program *program, const struct kal_step *step,
                                const void **out)
{
    const int64_t n = step->radix * step->m;
    const struct kal_root_table *roots;
    struct table table;

    KAL_TRY(take_table(program, &table, (step->m - 1) * (step->radix - 1)));
    KAL_TRY(kal_cpu_roots_find(program, n, &roots));
    int64_t i = 0;
    for (int64_t p = 1; p < step->m; p++) {
        for (int64_t k = 1; k < step->radix; k++)
            put_root(&table, i++, kal_root_table_get(roots, p * k));
    }
    *out = table.data;
    return KALLIMA_OK;
}

// The same for groups of p, p = 0 .. m-1, each number's parts twice.
static kallima_status group_table(struct cpu_program *program, const struct cpu_step *of,
                                  const void **out)
{
    const struct kal_step *step = of->step;
    const int64_t numbers = of->group_numbers, groups = (step->m - 1) / numbers + 1;
    const struct kal_root_table *roots;
    struct table table;

    KAL_TRY(take_table(program, &table, groups * (step->radix - 1) * 2 * numbers));
    KAL_TRY(kal_cpu_roots_find(program, step->radix * step->m, &roots));
    int64_t at = 0;
    for (int64_t i = 0; i < groups; i++) {
        const int64_t first = kal_min(i * numbers, step->m - numbers);
        for (int64_t k = 1; k < step->radix; k++, at += 4 * numbers) {
            for (int64_t v = 0; v < 2 * numbers; v++) {
                const struct kal_root r = kal_root_table_get(roots, (first + v / 2) * k);
                put(&table, at + v, r.re);
                put(&table, at + 2 * numbers + v, r.im);
            }
        }
    }
    *out = table.data;
    return KALLIMA_OK;
}

// exp(-pi i j^2 / n) for j = 0 .. n-1, times a scale; conjugate if asked for
static kallima_status chirp_table(struct cpu_program *program, int64_t n, bool conjugate,
                                  double scale, const void **out)
{
    struct table table;
    const struct kal_root_sum *chirp;

    KAL_TRY(take_table(program, &table, n));
    KAL_TRY(kal_cpu_chirp_find(program, n, &chirp));
    for (int64_t j = 0; j < n; j++)
        put_sum(&table, j, chirp[j], conjugate, scale);
    *out = table.data;
    return KALLIMA_OK;
}

// A spectrum, times a scale.
static kallima_status scaled_product_table(struct cpu_program *program,
                                           const struct kal_step *step, double scale,
                                           const void **out)
{
    const struct kal_host *host = &program->base.device->host;
    const int64_t length = kal_cpu_spectrum_length(step);
    struct table table;
    void *memory;

    KAL_TRY(take_table(program, &table, length));
    *out = table.data;
    if (table.is_f64 && scale == 1.0)
        return kal_cpu_spectrum_make(program, step, table.data);
    KAL_TRY(kal_alloc(host, &memory, (uint64_t)length, 2 * sizeof(double)));
    const double *spectrum = memory;
    const kallima_status status = kal_cpu_spectrum_make(program, step, memory);
    for (int64_t i = 0; i < 2 * length && !status; i++)
        put(&table, i, spectrum[i] * scale);
    kal_free(host, memory);
    return status;
}

static kallima_status product_table(struct cpu_program *program,
                                    const struct kal_step *step, const void **out)
{
    return scaled_product_table(program, step, 1.0, out);
}

// exp(-2 pi i k / n) for k = 0 .. n/4, of a real transform of n points; to n/2 where rows
// meet each other
static kallima_status mirror_table(struct cpu_program *program,
                                   const struct kal_step *step, const void **out)
{
    const int64_t count = step->outer > 1 ? step->n / 2 + 1 : step->n / 4 + 1;
    const struct kal_root_table *roots;
    struct table table;

    KAL_TRY(take_table(program, &table, count));
    KAL_TRY(kal_cpu_roots_find(program, step->n, &roots));
    for (int64_t k = 0; k < count; k++)
        put_root(&table, k, kal_root_table_get(roots, k));
    *out = table.data;
    return KALLIMA_OK;
}

// Registers of u for groups of k from 0 to m/2 - 1 where registers are mirrored as wholes, else
// from 1 to m/2: -i/2 exp(-2 pi i k / 2m), or 2 conj of that.
static kallima_status group_mirror_table(struct cpu_program *program,
                                         const struct cpu_step *of, const void **out)
{
    const struct kal_step *step = of->step;
    const int64_t m = step->n / 2, numbers = of->group_numbers;
    const int64_t groups = (m / 2 + numbers - 1) / numbers;
    const bool is_split = step->op == KAL_STEP_SPLIT;
    const struct kal_root_table *roots;
    struct table table;

    KAL_TRY(take_table(program, &table, groups * 2 * numbers));
    KAL_TRY(kal_cpu_roots_find(program, 2 * m, &roots));
    for (int64_t i = 0; i < groups; i++) {
        const int64_t first = kal_cpu_mirrors_registers(m, (int)numbers)
                                  ? i * numbers
                                  : kal_min(1 + i * numbers, m - numbers),
                      at = 4 * numbers * i;
        for (int64_t v = 0; v < numbers; v++) {
            const struct kal_root r = kal_root_table_get(roots, first + v);
            const long double re = is_split ? r.im / 2 : r.im,
                              im = is_split ? -r.re / 2 : r.re;
            for (int part = 0; part < 2; part++) {
                put(&table, at + 2 * v + part, re);
                put(&table, at + 2 * numbers + 2 * v + part, part ? im : -im);
            }
        }
    }
    *out = table.data;
    return KALLIMA_OK;
}

static bool same_table(const struct kal_step *a, const struct kal_step *b)
{
    return a->op == b->op && a->radix == b->radix && a->m == b->m && a->n == b->n &&
           a->size == b->size &&
           (a->op == KAL_STEP_DFT || (a->outer > 1) == (b->outer > 1));
}

// The table of an equal step that was made before, or NULL.
static const void *find_table(const struct cpu_program *program,
                              const struct kal_step *step)
{
    for (int i = 0; i < program->program->pass_count; i++) {
        const struct cpu_pass *pass = &program->pass[i];
        for (int j = 0; pass->pass && j < pass->pass->step_count; j++) {
            const struct cpu_step *other = &pass->step[j];
            if (other->table && same_table(other->step, step))
                return other->table;
        }
    }
    return NULL;
}

static kallima_status step_table(struct cpu_program *program, struct cpu_step *step)
{
    typedef kallima_status build_function(struct cpu_program *, const struct kal_step *,
                                          const void **);
    static build_function *const build[] = {
        [KAL_STEP_DFT] = dft_table,         [KAL_STEP_RADER] = product_table,
        [KAL_STEP_PRODUCT] = product_table, [KAL_STEP_SPLIT] = mirror_table,
        [KAL_STEP_MERGE] = mirror_table,
    };
    step->table = find_table(program, step->step);
    if (!step->table)
        KAL_TRY(build[step->step->op](program, step->step, &step->table));
    step->group_table = step->table;
    if (step->mirror)
        return group_mirror_table(program, step, &step->group_table);
    if (step->groups && step->step->s == 1 && step->step->m > 1)
        return group_table(program, step, &step->group_table);
    return KALLIMA_OK;
}

static int64_t output_index(const struct kal_side *side, int64_t e)
{
    return side->index ? side->index[e] : e;
}

// exp(-2 pi i e / n), conjugate where the tile's parts are exchanged
static struct kal_root twiddle(const struct kal_side *side,
                               const struct kal_root_table *roots, int64_t e)
{
    struct kal_root r = kal_root_table_get(roots, e);
    if (side->twiddle_is_conjugate)
        r.im = -r.im;
    return r;
}

// Roots of elements 0, step, ..., (n-1) step, or `last` where these are beyond it, times
// a scale, for lanes on indices first, first + 1, ..., as a tile; behind index `round` -
// 1 comes 0 again, and lanes from `count` - first on hold no line.
struct root_tile {
    const struct kal_side *side;
    const struct kal_root_table *roots;
    int64_t n, step, last, lanes, first, round, count;
    long double scale;
};

static void put_tile(const struct table *table, int64_t at, const struct root_tile *tile)
{
    const int64_t used = kal_min(tile->lanes, tile->count - tile->first);
    for (int64_t e = 0; e < tile->n; e++) {
        const int64_t element = kal_min(e * tile->step, tile->last);
        const int64_t n = tile->roots->n, k = output_index(tile->side, element) % n;
        int64_t i = tile->first % tile->round, exponent = k * i % n;
        for (int64_t v = 0; v < used; v++) {
            const struct kal_root r = twiddle(tile->side, tile->roots, exponent);
            put(table, 2 * (at + e) * tile->lanes + v, r.re * tile->scale);
            put(table, (2 * (at + e) + 1) * tile->lanes + v, r.im * tile->scale);
            exponent = exponent + k < n ? exponent + k : exponent + k - n;
            if (++i == tile->round)
                i = exponent = 0;
        }
    }
}

static struct root_tile pass_tile(const struct cpu_pass *pass,
                                  const struct kal_root_table *roots)
{
    return (struct root_tile){
        .side = &pass->pass->out,
        .roots = roots,
        .n = pass->pass->n,
        .step = 1,
        .last = pass->pass->n - 1,
        .lanes = pass->kernels->lanes,
        .round = INT64_MAX,
        .count = pass->pass->loops[pass->pass->out.twiddle_loop].count,
        .scale = 1.0L,
    };
}

// Few twiddles are kept as they are used: a tile of them for each tile of lines.
static kallima_status tile_tables(struct cpu_program *program, struct cpu_pass *pass,
                                  const struct kal_root_table *roots, int64_t rows)
{
    const int64_t n = pass->pass->n, lanes = pass->kernels->lanes;
    struct root_tile tile = pass_tile(pass, roots);
    struct table table;

    tile.scale = pass->scale;
    KAL_TRY(take_table(program, &table, n * lanes * rows));
    for (int64_t i = 0; i < rows; i++) {
        tile.first = i * lanes;
        put_tile(&table, i * n, &tile);
    }
    pass->twiddle_tiles = table.data;
    pass->scale = 1.0;
    return KALLIMA_OK;
}

// Many are products: of a vector for each k, the roots of k v for lane v, and a scalar for
// each k and tile, the root of k i0.
static kallima_status product_tables(struct cpu_program *program, struct cpu_pass *pass,
                                     const struct kal_root_table *roots, int64_t rows)
{
    const struct kal_side *side = &pass->pass->out;
    const int64_t n = pass->pass->n, lanes = pass->kernels->lanes;
    struct table by_lane, by_row;

    KAL_TRY(take_table(program, &by_lane, n * lanes));
    KAL_TRY(take_table(program, &by_row, n * rows));
    const struct root_tile tile = pass_tile(pass, roots);
    put_tile(&by_lane, 0, &tile);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t e = 0; e < n; e++)
            put_root(&by_row, i * n + e,
                     twiddle(side, roots, output_index(side, e) * i * lanes % roots->n));
    }
    pass->twiddle_lanes = by_lane.data;
    pass->twiddle_rows = by_row.data;
    return KALLIMA_OK;
}

enum { MOST_WHOLE_TWIDDLES = 16384 }; // 128 KiB in f32: they stay near the core

static kallima_status lane_tables(struct cpu_program *program, struct cpu_pass *pass,
                                  const struct kal_root_table *roots)
{
    const int64_t lanes = pass->kernels->lanes;
    const int64_t count = pass->pass->loops[pass->pass->out.twiddle_loop].count;
    const int64_t rows = (count + lanes - 1) / lanes;

    return roots->n <= MOST_WHOLE_TWIDDLES ? tile_tables(program, pass, roots, rows)
                                           : product_tables(program, pass, roots, rows);
}

static kallima_status any_roots(struct cpu_program *program, struct cpu_pass *pass,
                                const struct kal_root_table *roots)
{
    const int64_t fine_count = (int64_t)1 << roots->shift;
    const int64_t coarse_count = (roots->n - 1) / fine_count + 1;
    struct table table = { .is_f64 = true };

    KAL_TRY(kal_arena_take(&program->arena, &table.data,
                           (uint64_t)(fine_count + coarse_count), 16));
    for (int64_t i = 0; i < fine_count; i++)
        put_root(&table, i, kal_root_of_sum(roots->fine[i]));
    for (int64_t i = 0; i < coarse_count; i++)
        put_root(&table, fine_count + i, kal_root_of_sum(roots->coarse[i]));
    pass->roots.shift = roots->shift;
    pass->roots.fine = table.data;
    pass->roots.coarse = pass->roots.fine + 2 * fine_count;
    return KALLIMA_OK;
}

// Do tiles hold consecutive indices of the twiddle's loop, from multiples of the lanes on?
static bool lanes_are_consecutive(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    const int loop = p->out.twiddle_loop;
    return pass->rows_restart && pass->fast_loop == loop;
}

static kallima_status twiddle_tables(struct cpu_program *program, struct cpu_pass *pass)
{
    const struct kal_root_table *roots;

    KAL_TRY(kal_cpu_roots_find(program, pass->pass->out.twiddle_n, &roots));
    return lanes_are_consecutive(pass) ? lane_tables(program, pass, roots)
                                       : any_roots(program, pass, roots);
}

static bool has_same_roots(const struct cpu_line *a, const struct cpu_line *b)
{
    const struct kal_side *x = &a->columns->pass->out, *y = &b->columns->pass->out;
    return a->roots && a->kernels->lanes == b->kernels->lanes && a->m == b->m &&
           a->radix == b->radix && a->tiles == b->tiles && a->scale == b->scale &&
           x->index == y->index && x->twiddle_is_conjugate == y->twiddle_is_conjugate;
}

// An equal line that was made before, as a convolution has two of each, and its spectrum
// a third; or NULL.
static const struct cpu_line *find_equal_line(const struct cpu_program *program,
                                              const struct cpu_line *line, bool is_f64)
{
    if (!program)
        return NULL;
    const bool has_lines = program->pass && program->is_f64 == is_f64;
    for (int i = 0; has_lines && i < program->program->pass_count; i++) {
        const struct cpu_line *other = program->pass[i].line;
        if (other && has_same_roots(other, line))
            return other;
        if (other && has_same_roots(other->alone, line))
            return other->alone;
    }
    return find_equal_line(program->parent, line, is_f64);
}

// Roots of as many bytes as the line take a good part of the cache that holds it, its
// tiles and its output: from there on they are products. What twins work is never of
// them, as it would be rounded otherwise than the line that is left. 32768 doubles take
// 0.9 of the time on a Xeon of 2 MiB, 8192 of them 1.0.
static bool has_products(const struct cpu_line *line, int64_t real_bytes)
{
    enum { LEAST_BYTES = 256 << 10 };
    return line->width == 1 && line->radix >= CPU_PRODUCTS_FROM && !line->has_roots &&
           !line->columns->pass->out.index &&
           2 * line->m * line->radix * real_bytes >= LEAST_BYTES;
}

// The roots of n elements of each tile, `step` from one to the next, and m - step the last.
static kallima_status line_roots(struct cpu_program *program, const struct cpu_line *line,
                                 int64_t n, int64_t step, long double scale,
                                 const void **out)
{
    const int64_t lanes = line->kernels->lanes;
    const struct kal_root_table *roots;
    struct table table;

    KAL_TRY(take_table(program, &table, line->tiles * n * lanes));
    KAL_TRY(kal_cpu_roots_find(program, line->m * line->radix, &roots));
    for (int64_t i = 0; i < line->tiles; i++) {
        const struct root_tile tile = {
            .side = &line->columns->pass->out,
            .roots = roots,
            .n = n,
            .step = step,
            .last = line->m - step,
            .lanes = lanes,
            .first = i * lanes,
            .round = line->radix,
            .count = INT64_MAX,
            .scale = scale,
        };
        put_tile(&table, i * n, &tile);
    }
    *out = table.data;
    return KALLIMA_OK;
}

kallima_status kal_cpu_line_tables_build(struct cpu_program *program,
                                         struct cpu_line *line)
{
    struct cpu_pass *columns = line->columns;
    for (int i = 0; i < columns->pass->step_count; i++)
        KAL_TRY(step_table(program, &columns->step[i]));
    const struct cpu_line *equal = find_equal_line(program, line, program->is_f64);
    if (equal) {
        line->roots = equal->roots;
        line->fine = equal->fine;
        return KALLIMA_OK;
    }
    if (!has_products(line, program->real_bytes))
        return line_roots(program, line, line->m, 1, line->scale, &line->roots);
    const int64_t lanes = line->kernels->lanes;
    KAL_TRY(line_roots(program, line, lanes, 1, 1.0L, &line->fine));
    const int64_t registers = kal_round_up(line->m, lanes) / lanes;
    return line_roots(program, line, registers, lanes, line->scale, &line->roots);
}

kallima_status kal_cpu_packed_roots_build(struct cpu_program *program,
                                          const struct cpu_line *line, const void **out)
{
    const int64_t lanes = line->kernels->lanes, registers = line->m / lanes / 2 + 1;
    const int64_t n = line->m * line->radix;
    const struct kal_root_table *roots;
    struct table table;

    KAL_TRY(take_table(program, &table, registers * line->radix * lanes));
    KAL_TRY(kal_cpu_roots_find(program, 2 * n, &roots));
    int64_t at = 0;
    for (int64_t first = 0; first < registers * lanes; first += lanes) {
        for (int64_t b = 0; b < line->radix; b++, at += 2 * lanes) {
            for (int64_t a = 0; a < lanes; a++) {
                const int64_t k = first + a + b * line->m;
                // Those of k and of n - k are equal but for a sign.
                const struct kal_root r = kal_root_table_get(roots, kal_min(k, n - k));
                put(&table, at + a, 2 * k > n ? -r.re : r.re);
                put(&table, at + lanes + a, r.im);
            }
        }
    }
    *out = table.data;
    return KALLIMA_OK;
}

// The line in a lane of a tile whose lanes face each other.
static int64_t facing_line(const struct cpu_facing *f, int64_t tile, int lane)
{
    const int lanes = f->lines->kernels->lanes, half = lanes / 2;
    return lane < half ? 1 + tile * half + lane
                       : f->count - 1 - tile * half - (lanes - 1 - lane);
}

// exp(-2 pi i k / 2m) for the lines k of each tile, as one element of it.
static kallima_status facing_lanes(struct cpu_program *program, struct cpu_facing *facing,
                                   const struct kal_root_table *roots)
{
    const int lanes = facing->lines->kernels->lanes;
    struct table table;

    KAL_TRY(take_table(program, &table, facing->tiles * lanes));
    for (int64_t t = 0; t < facing->tiles; t++) {
        for (int i = 0; i < lanes; i++) {
            const struct kal_root r =
                kal_root_table_get(roots, facing_line(facing, t, i));
            put(&table, 2 * t * lanes + i, r.re);
            put(&table, (2 * t + 1) * lanes + i, r.im);
        }
    }
    facing->lane_roots = table.data;
    return KALLIMA_OK;
}

// The same for k = count e, of elements e.
static kallima_status facing_elements(struct cpu_program *program,
                                      struct cpu_facing *facing,
                                      const struct kal_root_table *roots)
{
    struct table table;

    KAL_TRY(take_table(program, &table, facing->n));
    for (int64_t e = 0; e < facing->n; e++)
        put_root(&table, e, kal_root_table_get(roots, e * facing->count));
    facing->element_roots = table.data;
    return KALLIMA_OK;
}

// exp(-2 pi i e k / m) = exp(-4 pi i e k / 2m) of elements e and the lines k of tile 0;
// and, of each other tile, what those of its lower half are times that, and those of its
// upper half times its conjugate.
static kallima_status facing_twiddles(struct cpu_program *program,
                                      struct cpu_facing *facing,
                                      const struct kal_root_table *roots)
{
    const int lanes = facing->lines->kernels->lanes;
    const int64_t n = roots->n;
    struct table by_lane, by_tile;

    KAL_TRY(take_table(program, &by_lane, facing->n * lanes));
    KAL_TRY(take_table(program, &by_tile, facing->n * facing->tiles));
    for (int64_t e = 0; e < facing->n; e++) {
        for (int i = 0; i < lanes; i++) {
            const struct kal_root r =
                kal_root_table_get(roots, 2 * e * facing_line(facing, 0, i) % n);
            put(&by_lane, 2 * e * lanes + i, r.re);
            put(&by_lane, (2 * e + 1) * lanes + i, r.im);
        }
        for (int64_t t = 0; t < facing->tiles; t++)
            put_root(&by_tile, t * facing->n + e,
                     kal_root_table_get(roots, 2 * e * t * (lanes / 2) % n));
    }
    facing->twiddle_lanes = by_lane.data;
    facing->twiddle_tiles = by_tile.data;
    return KALLIMA_OK;
}

kallima_status kal_cpu_facing_tables_build(struct cpu_program *program,
                                           struct cpu_facing *facing)
{
    const struct kal_root_table *roots;

    for (int i = 0; i < facing->lines->pass->step_count; i++)
        KAL_TRY(step_table(program, &facing->lines->step[i]));
    KAL_TRY(kal_cpu_roots_find(program, 2 * facing->count * facing->n, &roots));
    KAL_TRY(facing_lanes(program, facing, roots));
    KAL_TRY(facing_elements(program, facing, roots));
    return facing->is_split ? KALLIMA_OK : facing_twiddles(program, facing, roots);
}

// Number i of Rader's is input g^i; its convolution's is output g^-i, and that is number -i
// of a transform that stands for one back.
static kallima_status rader_indices(struct cpu_program *program, struct cpu_convolved *c)
{
    const int64_t p = c->n, g = kal_primitive_root(p);
    const bool is_back =
        c->kind == CPU_CONVOLVED_NUMBERS && program->program->problem->is_inverse;
    void *memory;

    KAL_TRY(
        kal_arena_take(&program->arena, &memory, 2 * (uint64_t)(p - 1), sizeof(int64_t)));
    int64_t *in = memory, *out = in + p - 1, power = 1;
    for (int64_t i = 0; i < p - 1; i++) {
        in[i] = power;
        out[(is_back ? p - power : power) - 1] = i;
        power = kal_mul_mod(power, g, p);
    }
    c->in = in;
    c->out = out;
    return KALLIMA_OK;
}

static kallima_status chirp_tables(struct cpu_program *program, struct cpu_convolved *c)
{
    KAL_TRY(chirp_table(program, c->n, false, 1.0, &c->chirp));
    c->chirp_out = c->chirp;
    return c->scale == 1.0 ? KALLIMA_OK
                           : chirp_table(program, c->n, false, c->scale, &c->chirp_out);
}

static kallima_status spectrum_table(struct cpu_program *program,
                                     const struct kal_recipe *convolution)
{
    struct cpu_convolved *c = &program->convolved;
    const bool is_rader = c->in != NULL;
    const struct kal_step product = {
        .op = is_rader ? KAL_STEP_RADER : KAL_STEP_PRODUCT,
        .n = c->n,
        .size = c->points,
        .transform = convolution->child[0],
    };
    return scaled_product_table(program, &product, is_rader ? c->scale : 1.0,
                                &c->spectrum);
}

kallima_status kal_cpu_convolved_tables_build(struct cpu_program *program,
                                              const struct kal_recipe *convolution)
{
    struct cpu_convolved *c = &program->convolved;
    const struct kal_step mirrored = { .op = KAL_STEP_SPLIT, .outer = 1, .n = 2 * c->n };

    if (convolution->rule == KAL_RULE_RADER)
        KAL_TRY(rader_indices(program, c));
    else
        KAL_TRY(chirp_tables(program, c));
    if (c->kind == CPU_CONVOLVED_SPLIT || c->kind == CPU_CONVOLVED_MERGED)
        KAL_TRY(mirror_table(program, &mirrored, &c->roots));
    return spectrum_table(program, convolution);
}

kallima_status kal_cpu_tables_build(struct cpu_program *program, struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;

    for (int i = 0; i < p->step_count; i++)
        KAL_TRY(step_table(program, &pass->step[i]));
    if (p->in.chirp_n)
        KAL_TRY(chirp_table(program, p->in.chirp_n, false, 1.0, &pass->chirp_in));
    if (p->out.chirp_n)
        KAL_TRY(chirp_table(program, p->out.chirp_n, true, 1.0, &pass->chirp_out));
    if (p->out.twiddle_n)
        KAL_TRY(twiddle_tables(program, pass));
    return KALLIMA_OK;
}
