// SPDX-License-Identifier: MIT
// The codelet compiler: every length against the definition, and what it costs.
#include <math.h>
#include <quadmath.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <kallima/codelet.h>

#include "base/text.h"
#include "codelet/codelet.h"
#include "codelet/lengths.h"
#include "emit/emit.h"

enum { SLOTS = 4 * KAL_CODELET_MAX, TRIALS = 2 };

// All lengths that users can have, then those that kernels have.
static int next_length(int n)
{
    do {
        n++;
    } while (n > KALLIMA_MAX_CODELET && n <= KAL_CODELET_MAX &&
             !kal_length_cost(n, KAL_FMA, false));
    return n;
}

typedef __float128 quad;

static uint64_t seed = 1;

// Uniform in -1 .. 1, 53 bits
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed & ~UINT64_C(0x7ff)) / 9223372036854775808.0;
}

static void fill(double *slot, int n)
{
    for (int i = 0; i < 2 * n; i++)
        slot[i] = uniform() + uniform() + uniform();
    for (int k = 1; k < n; k++) {
        const double angle = 3.0 * uniform();
        slot[2 * n + 2 * (k - 1)] = cos(angle);
        slot[2 * n + 2 * (k - 1) + 1] = sin(angle);
    }
}

static quad quad_value(const struct kal_dag_entry *e, const quad *v, const double *slot)
{
    switch (e->op) {
    case KAL_OP_CONST: return e->value;
    case KAL_OP_INPUT: return slot[e->a];
    case KAL_OP_NEG: return -v[e->a];
    case KAL_OP_ADD: return v[e->a] + v[e->b];
    case KAL_OP_SUB: return v[e->a] - v[e->b];
    case KAL_OP_MUL: return v[e->a] * v[e->b];
    case KAL_OP_FMA: return v[e->a] * v[e->b] + v[e->c];
    case KAL_OP_FMS: return v[e->a] * v[e->b] - v[e->c];
    default: return v[e->c] - v[e->a] * v[e->b];
    }
}

static double double_value(const struct kal_dag_entry *e, const double *v,
                           const double *slot)
{
    switch (e->op) {
    case KAL_OP_CONST: return (double)e->value;
    case KAL_OP_INPUT: return slot[e->a];
    case KAL_OP_NEG: return -v[e->a];
    case KAL_OP_ADD: return v[e->a] + v[e->b];
    case KAL_OP_SUB: return v[e->a] - v[e->b];
    case KAL_OP_MUL: return v[e->a] * v[e->b];
    case KAL_OP_FMA: return fma(v[e->a], v[e->b], v[e->c]);
    case KAL_OP_FMS: return fma(v[e->a], v[e->b], -v[e->c]);
    default: return fma(-v[e->a], v[e->b], v[e->c]);
    }
}

static double single_value(const struct kal_dag_entry *e, const double *v,
                           const double *slot)
{
    const float a = (float)v[e->a], b = (float)v[e->b], c = (float)v[e->c];
    switch (e->op) {
    case KAL_OP_CONST: return (float)e->value;
    case KAL_OP_INPUT: return (float)slot[e->a];
    case KAL_OP_NEG: return -a;
    case KAL_OP_ADD: return a + b;
    case KAL_OP_SUB: return a - b;
    case KAL_OP_MUL: return a * b;
    case KAL_OP_FMA: return fmaf(a, b, c);
    case KAL_OP_FMS: return fmaf(a, b, -c);
    default: return fmaf(-a, b, c);
    }
}

typedef double rounded_value(const struct kal_dag_entry *e, const double *v,
                             const double *slot);

struct arithmetic {
    rounded_value *value;
    double roundoff;
    bool is_single;
};

static bool is_pair(const struct kal_event *s)
{
    return s->kind == KAL_STEP_LOAD || s->kind == KAL_STEP_STORE;
}

// Evaluate in the order of the schedule, so that a value that is not there yet is a NaN.
static void evaluate_quad(const struct kal_codelet *c, const double *slot, quad *y)
{
    const struct kal_dag *g = &c->net.dag;
    quad *v = malloc((size_t)g->count * sizeof *v);
    assert_non_null(v);
    for (int32_t id = 0; id < g->count; id++)
        v[id] = g->entry[id].op == KAL_OP_CONST ? (quad)g->entry[id].value : (quad)NAN;
    for (int32_t i = 0; i < c->schedule.count; i++) {
        const struct kal_event *s = &c->schedule.step[i];
        for (int part = 0; part < (is_pair(s) ? 2 : 1); part++) {
            if (s->kind == KAL_STEP_STORE)
                y[2 * s->index + part] = v[s->node[part]];
            else
                v[s->node[part]] = quad_value(&g->entry[s->node[part]], v, slot);
        }
    }
    free(v);
}

static void evaluate_rounded(const struct kal_codelet *c, rounded_value *value,
                             const double *slot, double *y)
{
    const struct kal_dag *g = &c->net.dag;
    double *v = calloc((size_t)g->count, sizeof *v);
    assert_non_null(v);
    for (int32_t id = 0; id < g->count; id++)
        v[id] = value(&g->entry[id], v, slot);
    for (int o = 0; o < c->net.outputs; o++)
        y[o] = v[c->net.output[o].id];
    free(v);
}

// The definition of real transforms, in pairs: what no coefficient has is 0.
static void real_oracle(const struct kal_codelet_spec *spec, const double *slot, quad *y)
{
    const int n = spec->n, outputs = kal_codelet_outputs(spec->kind, n);
    const bool is_forward = spec->kind == KAL_CODELET_R2C;

    for (int o = 0; o < outputs; o++) {
        y[o] = 0;
        for (int i = 0; i < (is_forward ? n : 2 * (n / 2 + 1)); i++) {
            const int j = is_forward ? i : o, k = is_forward ? o / 2 : i / 2;
            const bool is_imaginary = (is_forward ? o : i) % 2;
            const bool is_alone = k == 0 || 2 * k == n;
            quad sine, cosine;
            sincosq(2 * M_PIq * (j * k % n) / n, &sine, &cosine);
            if (j < n && !(is_imaginary && is_alone))
                y[o] += slot[i] * (is_imaginary ? -sine : cosine) *
                        (is_forward || is_alone ? 1 : 2);
        }
    }
}

// The definition.
static void oracle(const struct kal_codelet_spec *spec, const double *slot, quad *y)
{
    const int n = spec->n;
    quad cosine[KAL_CODELET_MAX], sine[KAL_CODELET_MAX];
    if (spec->kind != KAL_CODELET_C2C) {
        real_oracle(spec, slot, y);
        return;
    }
    for (int j = 0; j < n; j++) {
        const quad angle = (spec->inverse ? 2 : -2) * M_PIq * j / n;
        sincosq(angle, &sine[j], &cosine[j]);
    }
    for (int k = 0; k < n; k++) {
        quad re = 0, im = 0;
        for (int j = 0; j < n; j++) {
            const quad c = cosine[j * k % n], s = sine[j * k % n];
            re += slot[2 * j] * c - slot[2 * j + 1] * s;
            im += slot[2 * j] * s + slot[2 * j + 1] * c;
        }
        const bool turned = spec->twiddled && k > 0;
        const quad wr = turned ? slot[2 * n + 2 * (k - 1)] : 1.0;
        const quad wi = turned ? slot[2 * n + 2 * (k - 1) + 1] : 0.0;
        y[2 * k] = re * wr - im * wi;
        y[2 * k + 1] = re * wi + im * wr;
    }
}

struct error {
    double exact, rounded; // relative, in the 2-norm: in quad arithmetic, in double
};

static struct error measure(const struct kal_codelet *c)
{
    double slot[SLOTS], rounded[SLOTS];
    quad exact[SLOTS], want[SLOTS], power = 0, exact_error = 0, rounded_error = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        fill(slot, c->spec.n);
        for (int o = 0; o < SLOTS; o++)
            exact[o] = (quad)NAN;
        oracle(&c->spec, slot, want);
        evaluate_quad(c, slot, exact);
        evaluate_rounded(c, double_value, slot, rounded);
        for (int o = 0; o < c->net.outputs; o++) {
            power += want[o] * want[o];
            exact_error += (exact[o] - want[o]) * (exact[o] - want[o]);
            rounded_error += (rounded[o] - want[o]) * (rounded[o] - want[o]);
        }
    }
    return (struct error){ (double)sqrtq(exact_error / power),
                           (double)sqrtq(rounded_error / power) };
}

// Code 0 .. 7: flavour, direction, twiddle factors.
static struct kal_codelet_spec variant(int n, int code)
{
    return (struct kal_codelet_spec){ .n = n,
                                      .flavour = code & 1 ? KAL_FMA : KAL_PLAIN,
                                      .inverse = (code & 2) != 0,
                                      .twiddled = (code & 4) != 0 };
}

// Exact arithmetic leaves only the rounding of the constants to 64 bits. In double,
// errors grow as if independent: Schatzman, SIAM J. Sci. Comput. 17 (1996) 1150-1166.
static void codelet_matches_definition(void **state)
{
    (void)state;
    for (int n = 2; n <= KAL_CODELET_MAX; n = next_length(n)) {
        for (int code = 0; code < 8; code += n <= 32 ? 1 : 3) {
            const struct kal_codelet_spec spec = variant(n, code);
            struct kal_codelet c;
            assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_OK);
            const struct error e = measure(&c);
            kal_codelet_clear(&c);
            const double bound = 0.6 * 2.220446049250313e-16 * sqrt(log2(n));
            if (!(e.exact < 2e-18) || !(e.rounded < (spec.twiddled ? 1.2 : 1.0) * bound))
                fail_msg("n=%d fma=%d inverse=%d twiddled=%d: exact %g, double %g of %g",
                         n, code & 1, code >> 1 & 1, code >> 2, e.exact, e.rounded,
                         bound);
        }
    }
}

// Code 0 .. 3: flavour, kind.
static struct kal_codelet_spec real_variant(int n, int code)
{
    return (struct kal_codelet_spec){ .n = n,
                                      .flavour = code & 1 ? KAL_FMA : KAL_PLAIN,
                                      .kind =
                                          code & 2 ? KAL_CODELET_C2R : KAL_CODELET_R2C };
}

static void real_codelet_matches_definition(void **state)
{
    (void)state;
    for (int n = 2; n <= KALLIMA_MAX_CODELET; n++) {
        for (int code = 0; code < 4; code++) {
            const struct kal_codelet_spec spec = real_variant(n, code);
            struct kal_codelet c;
            assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_OK);
            const struct error e = measure(&c);
            kal_codelet_clear(&c);
            const double bound = 0.6 * 2.220446049250313e-16 * sqrt(log2(n));
            if (!(e.exact < 2e-18) || !(e.rounded < bound))
                fail_msg("n=%d fma=%d c2r=%d: exact %g, double %g of %g", n, code & 1,
                         code >> 1, e.exact, e.rounded, bound);
        }
    }
}

static void real_codelet_has_one_direction(void **state)
{
    struct kal_codelet_spec spec = real_variant(8, 0);
    struct kal_codelet c;

    (void)state;
    spec.inverse = true;
    assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_E_ARGUMENT);
    kal_codelet_clear(&c);
    spec.inverse = false;
    spec.twiddled = true;
    assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_E_ARGUMENT);
    kal_codelet_clear(&c);
}

// n, operations of R2C and of C2R: those of Sorensen et al., IEEE Trans. ASSP 35 (1987)
// 849-863, for powers of two, and with factors of two on the way back.
static void real_codelet_counts_do_not_grow(void **state)
{
    static const int32_t most[][3] = {
        { 4, 6, 8 },    { 8, 22, 26 },  { 16, 70, 76 },   { 32, 198, 206 },
        { 3, 6, 6 },    { 5, 18, 19 },  { 7, 42, 43 },    { 9, 50, 50 },
        { 12, 46, 48 }, { 15, 89, 90 }, { 20, 110, 116 }, { 25, 244, 250 },
    };

    (void)state;
    for (size_t i = 0; i < 2 * KAL_COUNT(most); i++) {
        const struct kal_codelet_spec spec = real_variant(most[i / 2][0], 2 * (i % 2));
        struct kal_codelet c;
        assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_OK);
        if (kal_ops_total(&c.ops) > most[i / 2][1 + i % 2])
            fail_msg("n=%d c2r=%d: %d of %d", spec.n, (int)(i % 2),
                     (int)kal_ops_total(&c.ops), (int)most[i / 2][1 + i % 2]);
        kal_codelet_clear(&c);
    }
}

// n, additions + multiplications, and with fused operations: FFTW 3.3.10's codelets or
// fewer.
static void codelet_counts_do_not_grow(void **state)
{
    // clang-format off
    static const int32_t most[][3] = {
        {  2,    4,   4 }, {  3,   16,  12 }, {  4,   16,  16 }, {  5,   44,  32 },
        {  6,   44,  36 }, {  7,   96,  60 }, {  8,   56,  52 }, {  9,  120,  80 },
        { 10,  108,  84 }, { 11,  240, 140 }, { 12,  112,  96 }, { 13,  244, 176 },
        { 14,  220, 148 }, { 15,  212, 156 }, { 16,  168, 144 }, { 17,  372, 264 },
        { 18,  276, 196 }, { 19,  568, 364 }, { 20,  256, 208 }, { 21,  400, 264 },
        { 22,  524, 324 }, { 23, 1056, 572 }, { 24,  296, 252 }, { 25,  536, 352 },
        { 26,  540, 404 }, { 27,  600, 380 }, { 28,  496, 352 }, { 29, 1052, 656 },
        { 30,  484, 372 }, { 31, 1000, 692 }, { 32,  456, 372 }, { 36,  624, 464 },
        { 40,  632, 516 }, { 45,  996, 688 }, { 48,  760, 624 }, { 49, 1560, 912 },
        { 50, 1172, 804 }, { 63, 1704, 1100 }, { 64, 1160, 912 },
    };
    // clang-format on
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(most); i++) {
        kallima_codelet_ops ops;
        assert_int_equal(kallima_codelet_count(most[i][0], &ops), KALLIMA_OK);
        const int32_t plain = ops.additions + ops.multiplications;
        const int32_t fma = ops.fma_additions + ops.fma_multiplications + ops.fma_fused;
        if (plain > most[i][1] || fma > most[i][2])
            fail_msg("n=%d: %d of %d, fused %d of %d", (int)most[i][0], (int)plain,
                     (int)most[i][1], (int)fma, (int)most[i][2]);
        assert_true(ops.live > 0 && ops.fma_live > 0 && ops.reserved == 0);
    }
}

static void lengths_cost_what_the_table_says(void **state)
{
    int count;
    const struct kal_length *length = kal_lengths_get_printed(&count);

    (void)state;
    for (int i = 0; i < 4 * count; i++) {
        const int n = length[i / 4].n;
        const struct kal_codelet_spec spec =
            kal_length_spec(n, (enum kal_flavour)(i & 1), (i & 2) != 0);
        struct kal_codelet c;
        if (spec.twiddled && n > KAL_TWIDDLED_MAX)
            continue;
        assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_OK);
        assert_int_equal(kal_ops_total(&c.ops),
                         kal_length_cost(n, spec.flavour, spec.twiddled));
        kal_codelet_clear(&c);
    }
    assert_false(kal_length_is_compiled(64, true));
    assert_false(kal_length_is_compiled(37, false));
    assert_false(kal_length_is_compiled(18, false));
    assert_int_equal(kal_length_cost(18, KAL_PLAIN, false), 0);
}

// Root mean square of the relative error in the 2-norm over some vectors, in units of
// u * sqrt(log2 n). Exact arithmetic stands for the definition.
static double find_unit_error(const struct kal_codelet *c, const struct arithmetic *kind)
{
    double slot[SLOTS], y[SLOTS];
    quad want[SLOTS], power = 0, error = 0;

    for (int trial = 0; trial < 20000 / c->spec.n; trial++) {
        fill(slot, c->spec.n);
        for (int i = 0; kind->is_single && i < 2 * c->spec.n; i++)
            slot[i] = (float)slot[i];
        evaluate_quad(c, slot, want);
        evaluate_rounded(c, kind->value, slot, y);
        for (int o = 0; o < c->net.outputs; o++) {
            power += want[o] * want[o];
            error += (y[o] - want[o]) * (y[o] - want[o]);
        }
    }
    return (double)sqrtq(error / power) / (kind->roundoff * sqrt(log2(c->spec.n)));
}

static bool has_small_primes(int n)
{
    static const int primes[] = { 2, 3, 5, 7, 11, 13 };
    for (size_t i = 0; i < KAL_COUNT(primes); i++) {
        while (n % primes[i] == 0)
            n /= primes[i];
    }
    return n == 1;
}

// Steps of a long transform add up to more than their mean: twiddle factors are rounded,
// and the errors of constants are the same in all steps.
static void check_rounding(const struct kal_codelet_spec *spec, bool is_double)
{
    static const struct arithmetic kinds[] = { { single_value, 0x1p-24, true },
                                               { double_value, 0x1p-53, false } };
    static const double bound[KAL_FLAVOUR_COUNT] = {
        [KAL_PLAIN] = 0.66, [KAL_FMA] = 0.6
    };
    struct kal_codelet c;

    assert_int_equal(kal_codelet_build(&c, NULL, spec), KALLIMA_OK);
    const double e = find_unit_error(&c, &kinds[is_double]);
    if (!(e < bound[spec->flavour]) || !(measure(&c).exact < 2e-18))
        fail_msg("n=%d kind=%d fma=%d double=%d: %.3f of %.3f", spec->n, spec->kind,
                 spec->flavour == KAL_FMA, is_double, e, bound[spec->flavour]);
    kal_codelet_clear(&c);
}

static void compiled_codelets_round_little(void **state)
{
    int count;
    const struct kal_length *length = kal_lengths_get(&count);

    (void)state;
    for (int i = 0; i < 4 * count; i++) {
        const int n = length[i / 4].n;
        const struct kal_codelet_spec spec =
            kal_length_spec(n, (enum kal_flavour)(i & 1), false);
        if (has_small_primes(n))
            check_rounding(&spec, i & 2);
    }
    for (int i = 0; i < 8 * (KAL_REAL_ROW_MAX + 1); i++) {
        const int n = i / 8;
        const struct kal_codelet_spec spec = kal_real_length_spec(
            n, (enum kal_flavour)(i & 1), i & 4 ? KAL_CODELET_C2R : KAL_CODELET_R2C);
        if (kal_real_row_is_compiled(n) && has_small_primes(n))
            check_rounding(&spec, i & 2);
    }
    for (int i = 0; i < 2 * (KAL_NUMBERS_MAX + 1); i++) {
        const struct kal_codelet_spec spec =
            kal_real_length_spec(i / 2, KAL_FMA, KAL_CODELET_R2C);
        if (kal_length_is_of_numbers(i / 2))
            check_rounding(&spec, i & 1);
    }
}

// Every value is there before it is used, and at most `live` are alive at once.
static void schedule_is_topological(void **state)
{
    (void)state;
    for (int n = 2; n <= KAL_CODELET_MAX; n = next_length(n)) {
        for (int code = 0; code < 8; code += n < 16 ? 1 : 5) {
            const struct kal_codelet_spec spec = variant(n, code);
            struct kal_codelet c;
            assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_OK);
            const struct kal_dag *g = &c.net.dag;
            bool *there = calloc((size_t)g->count, sizeof *there);
            assert_non_null(there);
            int stores = 0;
            for (int32_t i = 0; i < c.schedule.count; i++) {
                const struct kal_event *s = &c.schedule.step[i];
                const struct kal_dag_entry *e = &g->entry[s->node[0]];
                const int32_t operand[3] = { e->a, e->b, e->c };
                for (int k = 0; s->kind == KAL_STEP_COMPUTE && k < kal_op_arity(e->op);
                     k++)
                    assert_true(there[operand[k]] ||
                                g->entry[operand[k]].op == KAL_OP_CONST);
                assert_false(stores && s->kind == KAL_STEP_LOAD);
                for (int part = 0; part < (is_pair(s) ? 2 : 1); part++) {
                    assert_true(there[s->node[part]] == (s->kind == KAL_STEP_STORE));
                    there[s->node[part]] = true;
                }
                stores += s->kind == KAL_STEP_STORE;
            }
            assert_int_equal(stores, n);
            free(there);
            kal_codelet_clear(&c);
        }
    }
}

static void text_has_no_load_after_a_store(void **state)
{
    (void)state;
    for (int n = 2; n <= KAL_CODELET_MAX; n = next_length(n)) {
        const struct kal_codelet_spec spec = variant(n, n % 8);
        struct kal_codelet c;
        struct kal_text text;
        assert_int_equal(kal_codelet_build(&c, NULL, &spec), KALLIMA_OK);
        kal_text_init(&text, NULL);
        kal_emit_codelet(&text, kal_dialect_find("c"), &c, false, "f");
        assert_int_equal(text.status, KALLIMA_OK);
        const char *store = strstr(text.data, "STORE_PAIR(");
        assert_non_null(store);
        assert_null(strstr(store, "LOAD"));
        assert_null(strchr(text.data, '$'));
        if (spec.flavour == KAL_PLAIN)
            assert_null(strstr(text.data, "FM"));
        kal_text_clear(&text);
        kal_codelet_clear(&c);
    }
}

static void source_refuses_bad_arguments(void **state)
{
    char text[64];
    size_t length = 0, cut = 0;
    kallima_codelet_ops ops;

    (void)state;
    assert_int_equal(kallima_codelet_count(1, &ops), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_count(65, &ops), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_count(8, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_source(8, "no", text, 64, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_source(8, NULL, text, 64, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_source(8, "c", NULL, 64, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_source(0, "c", text, 64, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_codelet_source(8, "c", NULL, 0, &length), KALLIMA_OK);
    assert_int_equal(kallima_codelet_source(8, "c", text, 64, &cut), KALLIMA_OK);
    assert_true(length > 64 && cut == length && strlen(text) == 63);
}

// Memory that ends after some allocations, and counts what is taken.
struct scarce {
    int left, taken;
};

static void *scarce_allocate(void *user, size_t bytes)
{
    struct scarce *s = user;
    if (s->left-- <= 0)
        return NULL;
    s->taken++;
    return malloc(bytes);
}

static void scarce_release(void *user, void *memory)
{
    ((struct scarce *)user)->taken--;
    free(memory);
}

// Compile and print with room for `left` allocations.
static kallima_status compile_scarce(int n, int left)
{
    struct scarce scarce = { left, 0 };
    const struct kal_host host = { NULL,
                                   NULL,
                                   { scarce_allocate, scarce_release, &scarce } };
    const struct kal_codelet_spec spec = { .n = n, .flavour = KAL_FMA, .twiddled = true };
    struct kal_codelet c;
    struct kal_text text;

    kal_text_init(&text, &host);
    kallima_status status = kal_codelet_build(&c, &host, &spec);
    if (status == KALLIMA_OK) {
        kal_emit_codelet(&text, kal_dialect_find("c"), &c, false, "f");
        status = text.status;
    }
    kal_text_clear(&text);
    kal_codelet_clear(&c);
    assert_int_equal(scarce.taken, 0);
    return status;
}

static void exhausted_memory_is_reported_and_nothing_leaks(void **state)
{
    static const int lengths[] = { 2, 5, 12 };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(lengths); i++) {
        kallima_status status;
        int left = 0;
        do {
            status = compile_scarce(lengths[i], left++);
            assert_true(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
        } while (status != KALLIMA_OK && left < 100000);
        assert_int_equal(status, KALLIMA_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codelet_matches_definition),
        cmocka_unit_test(real_codelet_matches_definition),
        cmocka_unit_test(real_codelet_has_one_direction),
        cmocka_unit_test(real_codelet_counts_do_not_grow),
        cmocka_unit_test(codelet_counts_do_not_grow),
        cmocka_unit_test(lengths_cost_what_the_table_says),
        cmocka_unit_test(compiled_codelets_round_little),
        cmocka_unit_test(schedule_is_topological),
        cmocka_unit_test(text_has_no_load_after_a_store),
        cmocka_unit_test(source_refuses_bad_arguments),
        cmocka_unit_test(exhausted_memory_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
