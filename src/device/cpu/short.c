// SPDX-License-Identifier: MIT
#include "device/cpu/short.h"

#include "device/cpu/caches.h"

#include <math.h>

#include "codelet/lengths.h"
#include "device/cpu/line.h"
#include "math/number.h"

// Rows of fewer reals than a register are loaded one by one.
static bool is_short_row(const struct kal_side *side, int64_t n, int lanes)
{
    if (side->index || (side->stride != 1 && side->stride != 2))
        return false;
    return side->stride * kal_min(n, side->count) < lanes;
}

// What one tile of these kernels costs, relative to others: a wide one a little more than a narrow
// one, for its transposition and the clocks, and a vector without fused operations, too. Rows
// that do not fill a register are moved one number at a time. Measured on a Zen 4 processor.
static double tile_cost(const struct kal_pass *p, const struct cpu_kernels *k)
{
    enum { MOVES = 120 }; // of single numbers that take as long as a small tile
    const int slow_sides =
        is_short_row(&p->in, p->n, k->lanes) + is_short_row(&p->out, p->n, k->lanes);
    return 1.0 + 0.02 * k->lanes + (k->lanes > 1 && !k->has_fma ? 0.1 : 0.0) +
           (double)(slow_sides * k->lanes * p->n) / MOVES;
}

// The share of tiles that hold lines of two rounds of the fast loop, where these are not
// worked round by round: of interleaved numbers, which are moved one by one then.
// Registers without fused operations do not gain by it: where threads decide what is
// interleaved, bits would depend on them.
static double share_of_joints(const struct cpu_pass *pass, const struct cpu_kernels *k)
{
    const struct kal_pass *p = pass->pass;
    const bool is_interleaved =
        p->in.imag == 1 && p->out.imag == 1 && kal_cpu_steps_are_plain(p);

    if (pass->fast_loop < 0 || pass->rows_restart || !is_interleaved)
        return 0.0;
    if (k->has_fma != pass->widest->has_fma)
        return 1.0;
    const int64_t round = p->loops[pass->fast_loop].count;
    return fmin(1.0, (double)(k->lanes - kal_gcd(k->lanes, round)) / (double)round);
}

// Elements one behind the other, interleaved, as they are: n of them at least.
static bool is_contiguous(const struct kal_side *side, int64_t n)
{
    return side->imag == 1 && side->stride == 2 && kal_cpu_side_is_plain(side, n);
}

// Contiguous on both sides, where the same part leads: kernels exchange them on both or on none.
static bool are_rows(const struct kal_pass *p)
{
    return is_contiguous(&p->in, p->n) && is_contiguous(&p->out, p->n) &&
           p->in.is_swapped == p->out.is_swapped;
}

_Static_assert((int)CPU_LONGEST == (int)KAL_NUMBERS_MAX,
               "the planner's longest codelet is the engine's");

int64_t kal_cpu_codelet_find(const struct kal_pass *p)
{
    return kal_cpu_steps_are_plain(p) && !p->out.twiddle_n &&
                   (p->step_count == 1 || kal_length_is_of_numbers(p->n))
               ? p->n
               : 0;
}

cpu_short *kal_cpu_several_find(const struct kal_pass *p, const struct cpu_kernels *k)
{
    return k->several && kal_cpu_codelet_find(p) && are_rows(p) ? k->several[p->n] : NULL;
}

static cpu_short *find_complex(const struct kal_pass *p, const struct cpu_kernels *k)
{
    if (!k->shorts || !kal_cpu_codelet_find(p) || !are_rows(p))
        return NULL;
    return (p->scale != 1.0 ? k->scaled_shorts : k->shorts)[p->n];
}

// Reals one behind the other, n of them.
static bool is_real_row(const struct kal_side *side, int64_t n)
{
    return side->is_real && !side->is_swapped && side->stride == 1 && !side->index &&
           side->chirp_n == 0 && side->count >= n;
}

// The same seen as half as many complex numbers.
static bool is_packed_row(const struct kal_side *side, int64_t n, bool is_swapped)
{
    return side->is_swapped == is_swapped && side->count == n / 2 &&
           is_contiguous(side, n / 2);
}

// Does the index map give n elements from the coefficients 0 .. n/2 of reals?
static bool is_extended(const int64_t *index, int64_t n)
{
    for (int64_t k = 0; index && k < n; k++) {
        if (index[k] != (k <= n / 2 ? KAL_INDEX_CONJUGATE - k : n - k))
            return false;
    }
    return index != NULL;
}

// Coefficients 0 .. n/2, by an index map if they are read as n numbers.
static bool is_coefficient_row(const struct kal_side *side, int64_t n, bool is_extension)
{
    struct kal_side plain = *side;
    plain.index = NULL;
    return !side->is_swapped && is_contiguous(&plain, n / 2 + 1) &&
           (is_extension ? is_extended(side->index, n) : !side->index);
}

static bool is_codelet(const struct kal_pass *p, int step, int64_t n)
{
    const struct kal_step *s = &p->step[step];
    return s->op == KAL_STEP_DFT && s->outer == 1 && s->radix == n;
}

// The mirrored step of a pass, behind its codelets or before them; NULL: it has none.
static const struct kal_step *find_mirrored(const struct kal_pass *p, bool *is_forward)
{
    if (p->step_count < 1)
        return NULL;
    const struct kal_step *first = &p->step[0], *last = &p->step[p->step_count - 1];
    *is_forward = last->op == KAL_STEP_SPLIT;
    return *is_forward ? last : first->op == KAL_STEP_MERGE ? first : NULL;
}

// The length of a pass with a mirrored step, if both sides are contiguous; 0: they are not.
static int64_t find_even_length(const struct kal_pass *p, bool *is_forward)
{
    const struct kal_step *mirrored = find_mirrored(p, is_forward);
    if (!mirrored)
        return 0;
    const int64_t n = mirrored->n;
    const struct kal_side *packed = *is_forward ? &p->in : &p->out,
                          *full = *is_forward ? &p->out : &p->in;
    return is_packed_row(packed, n, !*is_forward) && is_coefficient_row(full, n, false)
               ? n
               : 0;
}

static int64_t find_odd_length(const struct kal_pass *p, bool *is_forward)
{
    const int64_t n = p->n;
    *is_forward = p->in.is_real;
    if (p->step_count != 1 || !is_codelet(p, 0, n) || n % 2 == 0)
        return 0;
    const bool is_real =
        *is_forward ? is_real_row(&p->in, n) && p->out.count == n / 2 + 1 &&
                          is_coefficient_row(&p->out, n, false)
                    : is_real_row(&p->out, n) && is_coefficient_row(&p->in, n, true);
    return is_real ? n : 0;
}

int64_t kal_cpu_real_length(const struct kal_pass *p, bool *is_forward)
{
    const int64_t n = find_even_length(p, is_forward);
    if (!n)
        return find_odd_length(p, is_forward);
    const bool is_one = p->step_count == 1
                            ? n == 2
                            : p->step_count == 2 && is_codelet(p, !*is_forward, n / 2);
    const bool is_long = n > CPU_MAX_REAL && kal_real_row_is_compiled(n) &&
                         kal_cpu_is_mirrored_line(p, is_forward);
    return is_one || is_long ? n : 0;
}

bool kal_cpu_is_mirrored_line(const struct kal_pass *p, bool *is_forward)
{
    if (!find_even_length(p, is_forward) || p->step_count < 2 || p->out.twiddle_n)
        return false;
    for (int i = !*is_forward; i < p->step_count - *is_forward; i++) {
        if (p->step[i].op != KAL_STEP_DFT || p->step[i].outer != 1)
            return false;
    }
    return true;
}

void kal_cpu_short_find_any(struct cpu_short_lines *out, const struct kal_pass *p,
                            const struct cpu_kernels *k)
{
    bool is_forward;

    *out = (struct cpu_short_lines){ 0 };
    if (p->out.twiddle_n)
        return;
    cpu_short *complex = find_complex(p, k);
    if (complex) {
        *out = (struct cpu_short_lines){
            .run = complex, .n = p->n, .reals = 2 * p->n, .count = 1
        };
        return;
    }
    const int64_t n = kal_cpu_real_length(p, &is_forward);
    if (n < 2 || n > CPU_MAX_REAL_ROW)
        return;
    const struct cpu_real_kernels *reals = p->scale != 1.0 ? k->scaled_reals : k->reals;
    out->n = n;
    out->run = (is_forward ? reals->r2c : reals->c2r)[n];
    out->rest = (is_forward ? reals->rest_r2c : reals->rest_c2r)[n];
    out->reals = is_forward ? 2 * (n / 2 + 1) : n;
    out->count = 1;
    out->is_real = true;
}

// A long line of reals alone takes 1.2 to 1.9 times as long by a codelet as step by step.
void kal_cpu_short_find(struct cpu_short_lines *out, const struct kal_pass *p,
                        const struct cpu_kernels *k)
{
    kal_cpu_short_find_any(out, p, k);
    if (kal_cpu_is_long_real(out) && k->lanes == 1)
        *out = (struct cpu_short_lines){ 0 };
}

// Lines that registers of 64 bytes turn in less time than those of 32 bytes take a number
// of each of several: floats, and doubles that are neither short nor long, if lines are
// whole registers or many. Measured in November 2026, doubles of 20 to 36 points take
// 0.83 to 1.08 of the time on a Xeon, 11 MB of 11 to 39 points 0.69 to 0.98, less of
// those that are no whole registers 0.7 to 1.3; on AMD's processors that was not
// measured.
bool kal_cpu_turns(const struct cpu_program *program, const struct kal_pass *p)
{
    enum { FEWEST = 11, MOST = 39, QUAD = 4, MANY_BYTES = 4 << 20 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const bool is_wide = kal_caps_has_64_bytes(&device->base.caps);
    if (!is_wide || !program->is_f64)
        return is_wide;
    return !device->is_zen && p->n >= FEWEST && p->n <= MOST &&
           (p->n % QUAD == 0 || kal_cpu_pass_bytes(program, p, 0) >= MANY_BYTES);
}

// Registers of 32 bytes that hold a number of each of several lines take these as they
// are; those that lines are turned in have half as many values at once. 256 lines and
// more, measured in November 2026: on a Zen 3 processor f64 takes 0.5 to 1.0 of the time
// so, past the caches 0.64 to 0.87, but 16 points 1.15; f32 of up to five points and from
// 20 on 0.69 to 1.0, of 6 to 16 points 0.95 to 1.27. On a Zen 4 processor f64 of five
// points and more takes 0.68 to 0.98 of the time of registers of 64 bytes, past the
// caches 0.54 to 0.98, but those of 8, 12 and 16 points, whose output goes there straight
// from these, 1.1 to 1.3. Where lines go by the caches may not be asked here, nor whether
// a pass works in place, as threads decide it, and bits shall not depend on them.
bool kal_cpu_prefers_several(const struct cpu_program *program,
                             const struct cpu_pass *pass, const struct cpu_kernels *k)
{
    enum { SHORT = 5, LONG = 20, REGISTER_BYTES = 32, MANY_BYTES = 4 << 20 };
    enum { QUAD = 4, LONGEST_STRAIGHT = 16 };
    const struct kal_pass *p = pass->pass;
    const bool is_f64 = program->is_f64;

    if (k->lanes * (is_f64 ? 8 : 4) != REGISTER_BYTES || !kal_cpu_several_find(p, k))
        return false;
    if (find_complex(p, pass->widest) && kal_cpu_turns(program, p))
        return false;
    if (p->step_count > 1 && p->n != CPU_LONGEST)
        return true;
    if (p->scale != 1.0)
        return false;
    if (k == pass->widest)
        return is_f64 || p->n <= SHORT || p->n >= LONG;
    return is_f64 && p->n >= SHORT &&
           (pass->bytes < MANY_BYTES || p->n % QUAD != 0 || p->n > LONGEST_STRAIGHT);
}

struct cpu_short_lines kal_cpu_several_lines(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    return (struct cpu_short_lines){ .run = kal_cpu_several_find(p, pass->kernels),
                                     .n = p->n,
                                     .reals = 2 * p->n,
                                     .count = pass->kernels->lanes };
}

// Output that is stored past the caches by one thread. How many there are may not be
// asked, nor whether a pass works in place: narrow registers have no fused operations,
// and bits shall not depend on threads.
static bool are_many_bytes(const struct cpu_pass *pass)
{
    enum { MANY_BYTES = 4000000 };
    return pass->bytes >= MANY_BYTES;
}

// Lines that are turned in registers, as many as a tile has: its cost without what a tile
// takes besides its codelet, which is most of it for the shortest. The shortest of f64
// are dearer in wider registers, on their way past the caches more so: with narrow ones a
// processor overlaps more of its way to memory. Measured on a Zen 4 processor and on a
// Xeon.
static double short_cost(const struct cpu_pass *pass, const struct cpu_kernels *k,
                         bool is_f64)
{
    enum { FEW_POINTS = 6, SEVERAL_POINTS = 10, IS_DEARER = 3 };
    const struct kal_pass *p = pass->pass;
    const int halvings =
        !is_f64 ? 0
                : (p->n <= FEW_POINTS) + (are_many_bytes(pass) && p->n <= SEVERAL_POINTS);
    const int best = 64 >> halvings;
    double cost = tile_cost(p, k) * (double)p->n / (16.0 + 1.5 * (double)p->n);

    for (int bytes = k->lanes * (is_f64 ? 8 : 4); bytes > best; bytes /= 2)
        cost *= IS_DEARER;
    return cost;
}

// The same of reals, from one line on. Registers of 32 bytes are the fastest, those of 64
// of long lines of doubles, and those of 16 slow past the caches. In f64 these hold two
// lines, which is slower than one after the other. Measured on a Zen 4 processor.
static double real_cost(const struct cpu_pass *pass, const struct cpu_kernels *k,
                        bool is_f64)
{
    static const double LINE = 0.08, PAST_CACHES = 3.0;
    const double points = (double)pass->pass->n;
    const int bytes = k->lanes * (is_f64 ? 8 : 4);
    const bool is_long = pass->pass->n > CPU_MAX_REAL / 2 + 1; // coefficients
    const double relative = k->lanes == 1   ? (is_f64 ? 1.5 : 2.2)
                            : k->lanes == 2 ? 2.5
                            : bytes == 16
                                ? 1.6 * (are_many_bytes(pass) ? PAST_CACHES : 1.0)
                            : bytes == 32 ? (is_f64 && is_long ? 2.0 : 1.0)
                                          : 1.2;
    return relative * k->lanes * LINE * points / (16.0 + 1.5 * points);
}

// A tile of two rounds takes several times as long as others: on a Zen 4 processor
// narrower registers, which divide a round, take 0.58 of the time of 8x8x8 floats and
// 0.83 of 20x20x24.
double kal_cpu_lines_cost(const struct cpu_program *program, const struct cpu_pass *pass,
                          const struct cpu_kernels *k, int64_t lines)
{
    static const double CALL = 0.2;    // what the lines that fill registers cost besides
    static const double SEVERAL = 0.4; // those that need no turning, relative to others
    static const double JOINT = 2.5;   // what a tile of two rounds costs besides
    const struct kal_pass *p = pass->pass;
    const bool is_f64 = program->is_f64;
    struct cpu_short_lines turned;

    kal_cpu_short_find(&turned, p, k);
    if (!turned.run && lines >= k->lanes / 2 && kal_cpu_prefers_several(program, pass, k))
        return 0.0; // others have steps and tiles for them
    if (!turned.run)
        return ceil((double)lines / k->lanes) * tile_cost(p, k) *
               (1.0 + JOINT * share_of_joints(pass, k));
    double cost =
        turned.is_real ? real_cost(pass, k, is_f64) : short_cost(pass, k, is_f64);
    if (kal_cpu_prefers_several(program, pass, k))
        cost *= SEVERAL;
    return (double)(lines / k->lanes) * cost + (lines >= k->lanes ? CALL : 0.0) +
           (lines % k->lanes ? tile_cost(p, k) : 0.0);
}
