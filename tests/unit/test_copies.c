// SPDX-License-Identifier: MIT
// Elements that lie apart, to where they are neighbours and back, by every level that the
// processor has.
#include <kallima/kallima.h>
#include <stdlib.h>
#include <string.h>

#include "../rows.h"
#include "device/cpu/kernels.h"

enum { LONGEST = 70, GUARD = 0x5a, REGISTER_BYTES = 64 };

static bool is_there(const char *level)
{
    const kallima_device_options options = { .simd = level, .wisdom = "" };
    kallima_device *device = NULL;
    const bool is_open = kallima_device_open(&device, "cpu", &options) == KALLIMA_OK;
    kallima_device_close(&device);
    return is_open;
}

// Bytes of elements that lie so far apart, behind the last of which there is nothing.
static size_t bytes_of(int64_t n, size_t element, int apart)
{
    return (size_t)((n - 1) * apart + 1) * element;
}

// Memory that ends where the elements do, for sanitizers to see what goes on behind them.
static unsigned char *make(size_t bytes)
{
    unsigned char *memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

static void check(cpu_copy_line *copy, int64_t n, size_t element, int from_apart,
                  int to_apart)
{
    const size_t from_bytes = bytes_of(n, element, from_apart),
                 to_bytes = bytes_of(n, element, to_apart);
    const size_t room = to_apart == 1 ? REGISTER_BYTES : 0; // of a copy
    unsigned char *from = make(from_bytes), *to = make(to_bytes + room),
                  *wanted = make(to_bytes);

    for (size_t i = 0; i < from_bytes; i++)
        from[i] = (unsigned char)rand();
    memset(to, GUARD, to_bytes);
    memset(wanted, GUARD, to_bytes);
    for (int64_t i = 0; i < n; i++)
        memcpy(wanted + (size_t)(i * to_apart) * element,
               from + (size_t)(i * from_apart) * element, element);
    copy(to, from, n);
    row_ran();
    if (memcmp(to, wanted, to_bytes) != 0)
        row_fail("%d elements of %d bytes, from %d apart to %d", (int)n, (int)element,
                 from_apart, to_apart);
    free(from);
    free(to);
    free(wanted);
}

static void check_kernels(const struct cpu_copy_kernels *kernels, size_t real_bytes)
{
    for (int reals = 1; reals <= CPU_MOST_COPIED_REALS; reals++) {
        for (int apart = 2; apart <= CPU_MOST_APART; apart++) {
            cpu_copy_line *collect = kernels->collect[reals][apart],
                          *spread = kernels->spread[reals][apart];
            for (int64_t n = 1; collect && n <= LONGEST; n++)
                check(collect, n, (size_t)reals * real_bytes, apart, 1);
            for (int64_t n = 1; spread && n <= LONGEST; n++)
                check(spread, n, (size_t)reals * real_bytes, 1, apart);
        }
    }
}

static void elements_are_copied_and_nothing_else(void **state)
{
    static const char *const levels[] = { "scalar", "sse2", "avx2", "avx512", "neon" };
    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        for (int is_f64 = 0; is_f64 < 2; is_f64++) {
            const struct cpu_kernels *kernels = kal_cpu_kernels_find(levels[i], is_f64);
            if (!kernels || !is_there(levels[i]))
                row_left();
            else if (kernels->lanes > 1) // scalar code needs none
                check_kernels(kernels->copies, is_f64 ? sizeof(double) : sizeof(float));
        }
    }
    ROWS_FINISH();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        elements_are_copied_and_nothing_else) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
