// SPDX-License-Identifier: MIT
#include <kallima/plan.h>
#include <math.h>

#include "../../tools/reference.h"
#include "../random.h"
#include "../rows.h"
#include "base/base.h"
#include "math/dft.h"
#include "math/number.h"
#include "math/root.h"
#include "math/root_table.h"

// Distance to the root in quad precision, in units of the last place of long double at 1.
static double root_error(int64_t n, int64_t k, struct kal_root got)
{
    const struct quad_complex want = reference_root(n, -k);
    const long double re = (long double)((quad)got.re - want.re);
    const long double im = (long double)((quad)got.im - want.im);
    return (double)(hypotl(re, im) / 0x1p-63L);
}

static void roots_of_unity_match_quad_precision(void **state)
{
    static const int64_t lengths[] = { 1000003, 65536, 1 << 30, ((int64_t)1 << 40) + 15 };
    struct random r = { 1 };

    (void)state;
    for (int64_t n = 1; n <= 200; n++) {
        for (int64_t k = -n - 1; k <= 2 * n; k++)
            ROW_CHECK(root_error(n, k, kal_root(n, k)) < 1.5);
    }
    for (size_t i = 0; i < KAL_COUNT(lengths); i++) {
        for (int sample = 0; sample < 1000; sample++) {
            const int64_t k = random_between(&r, 0, lengths[i] - 1);
            ROW_CHECK(root_error(lengths[i], k, kal_root(lengths[i], k)) < 1.5);
        }
    }
    ROWS_FINISH();
}

static void simple_roots_are_exact(void **state)
{
    (void)state;
    for (int64_t n = 4; n <= 4096; n *= 2) {
        ROW_CHECK(kal_root(n, 0).re == 1.0L && kal_root(n, 0).im == 0.0L);
        ROW_CHECK(kal_root(n, n / 4).re == 0.0L && kal_root(n, n / 4).im == -1.0L);
        ROW_CHECK(kal_root(n, n / 2).re == -1.0L && kal_root(n, n / 2).im == 0.0L);
        ROW_CHECK(kal_root(n, -n / 4).re == 0.0L && kal_root(n, -n / 4).im == 1.0L);
    }
    ROW_CHECK(kal_root(6, 1).re == 0.5L && kal_root(12, 1).im == -0.5L);
    ROWS_FINISH();
}

static void root_tables_match_quad_precision(void **state)
{
    static const int64_t lengths[] = { 1, 2, 3, 7, 64, 100, 1009, 65536, 1000003 };
    struct random r = { 2 };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(lengths); i++) {
        struct kal_root_table table;
        const int64_t n = lengths[i];
        assert_int_equal(kal_root_table_init(&table, NULL, n), KALLIMA_OK);
        for (int64_t k = 0; k < (n < 2000 ? n : 2000); k++) {
            const int64_t at = n < 2000 ? k : random_between(&r, 0, n - 1);
            ROW_CHECK(root_error(n, at, kal_root_table_get(&table, at)) < 3.0);
        }
        kal_root_table_clear(&table);
    }
    ROWS_FINISH();
}

// Distance of a transform to the definition, relative, in units of the last place.
static double dft_error(const struct kal_root *x, const struct kal_root *y, int64_t n)
{
    quad error = 0, power = 0;
    for (int64_t k = 0; k < n; k++) {
        quad re = 0, im = 0;
        for (int64_t j = 0; j < n; j++) {
            const struct quad_complex w = reference_root(n, -(j * k % n));
            re += w.re * (quad)x[j].re - w.im * (quad)x[j].im;
            im += w.re * (quad)x[j].im + w.im * (quad)x[j].re;
        }
        const quad a = (quad)y[k].re - re, b = (quad)y[k].im - im;
        error += a * a + b * b;
        power += re * re + im * im;
    }
    return (double)(sqrtl((long double)(error / power)) / 0x1p-63L);
}

static void long_transforms_match_the_definition(void **state)
{
    enum { MOST = 343 };
    static const int64_t lengths[] = { 60,  64,  100, 101, 121, 127,
                                       128, 131, 192, 240, 256, MOST };
    struct kal_root x[MOST], y[MOST];
    struct random r = { 3 };

    (void)state;
    for (int64_t i = 1; i < 32 + (int64_t)KAL_COUNT(lengths); i++) {
        const int64_t n = i < 32 ? i : lengths[i - 32];
        for (int64_t j = 0; j < n; j++)
            x[j] = y[j] = (struct kal_root){ random_real(&r), random_real(&r) };
        ROW_CHECK(kal_dft(NULL, y, n) == KALLIMA_OK);
        ROW_CHECK(dft_error(x, y, n) < 8.0);
    }
    ROWS_FINISH();
}

static void primes_are_those_of_the_sieve(void **state)
{
    enum { LIMIT = 20000 };
    static int least[LIMIT], greatest[LIMIT];

    (void)state;
    for (int p = 2; p < LIMIT; p++) {
        const bool prime = least[p] == 0;
        for (int m = p; prime && m < LIMIT; m += p) {
            least[m] = least[m] ? least[m] : p;
            greatest[m] = p;
        }
    }
    for (int n = 2; n < LIMIT; n++) {
        ROW_CHECK(kal_least_prime(n) == least[n]);
        ROW_CHECK(kal_greatest_prime(n) == greatest[n]);
        ROW_CHECK(kal_is_prime(n) == (least[n] == n));
    }
    ROW_CHECK(kal_greatest_prime(1) == 1 && !kal_is_prime(1) && !kal_is_prime(0));
    ROW_CHECK(kal_is_prime(1000003) && kal_is_prime(2147483647));
    ROW_CHECK(!kal_is_prime((int64_t)1000003 * 1000003));
    ROWS_FINISH();
}

static void modular_arithmetic_agrees_with_wide_integers(void **state)
{
    struct random r = { 3 };

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int64_t n = random_between(&r, 2, i % 2 ? INT64_MAX : 100000);
        const int64_t a = random_between(&r, 0, n - 1), b = random_between(&r, 0, n - 1);
        const int64_t want = (int64_t)((__int128)a * b % n);
        ROW_CHECK(kal_mul_mod(a, b, n) == want);
        ROW_CHECK(kal_pow_mod(a, 2, n) == (int64_t)((__int128)a * a % n));
        const int64_t g = kal_gcd(a, n);
        ROW_CHECK(g >= 1 && a % g == 0 && n % g == 0);
        if (g == 1)
            ROW_CHECK((__int128)a * kal_inverse_mod(a, n) % n == 1);
        ROW_CHECK(kal_gcd(a / g, n / g) == 1);
    }
    ROW_CHECK(kal_pow_mod(7, 0, 13) == 1 && kal_pow_mod(3, 100003 - 1, 100003) == 1);
    ROW_CHECK(kal_gcd(0, 5) == 5 && kal_gcd(5, 0) == 5);
    ROWS_FINISH();
}

static void primitive_roots_generate_the_group(void **state)
{
    (void)state;
    for (int64_t p = 3; p < 700; p++) {
        if (!kal_is_prime(p))
            continue;
        const int64_t g = kal_primitive_root(p);
        int64_t order = 1;
        for (int64_t x = g; x != 1 && order <= p; x = x * g % p)
            order++;
        ROW_CHECK(order == p - 1);
    }
    static const int64_t factors[] = { 2, 3, 166667 }; // of 1000002
    for (size_t i = 0; i < KAL_COUNT(factors); i++)
        ROW_CHECK(
            kal_pow_mod(kal_primitive_root(1000003), 1000002 / factors[i], 1000003) != 1);
    ROWS_FINISH();
}

static bool is_smooth(int64_t n, int64_t greatest)
{
    for (int64_t p = 2; p <= greatest; p++) {
        while (n % p == 0)
            n /= p;
    }
    return n == 1;
}

static void smooth_lengths_are_the_next_ones(void **state)
{
    static const int64_t limits[] = { 2, 3, 5, 7, 11, 13 };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(limits); i++) {
        for (int64_t n = 1; n < 2000; n++) {
            int64_t want = n;
            while (!is_smooth(want, limits[i]))
                want++;
            ROW_CHECK(kal_smooth_length(n, limits[i]) == want);
            ROW_CHECK(limits[i] != 7 || kallima_fast_length(n) == want);
        }
    }
    ROW_CHECK(kallima_fast_length(0) == 0 && kallima_fast_length(-5) == 0);
    ROW_CHECK(kallima_fast_length((int64_t)1 << 62) == (int64_t)1 << 62);
    ROW_CHECK(kallima_fast_length(((int64_t)1 << 62) + 1) == 0);
    ROW_CHECK(kallima_fast_length(INT64_MAX) == 0);
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_unity_match_quad_precision),
        cmocka_unit_test(simple_roots_are_exact),
        cmocka_unit_test(root_tables_match_quad_precision),
        cmocka_unit_test(long_transforms_match_the_definition),
        cmocka_unit_test(primes_are_those_of_the_sieve),
        cmocka_unit_test(modular_arithmetic_agrees_with_wide_integers),
        cmocka_unit_test(primitive_roots_generate_the_group),
        cmocka_unit_test(smooth_lengths_are_the_next_ones),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
