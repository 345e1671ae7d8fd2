// SPDX-License-Identifier: MIT
// Tests walk over tables of rows. A failing row is printed and counted, the others still
// run, and the test fails at its end.
#ifndef TESTS_ROWS_H_
#define TESTS_ROWS_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined __GNUC__
#define ROWS_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define ROWS_PRINTF
#endif

/** Count and print a failing row. Only the first few of a test are printed. */
void row_fail(const char *fmt, ...) ROWS_PRINTF;

/** Count a row that ran; a test without rows is itself a failure. */
void row_ran(void);

/** Count a row that is left to another run of the same test. */
void row_left(void);

/** End a test: fail if a row failed or there was none; print how many did. */
void rows_finish(const char *test);

#define ROWS_FINISH() rows_finish(__func__)

/** Fail the row with the expression as its sentence. */
#define ROW_CHECK(cond)                                                 \
    do {                                                                \
        row_ran();                                                      \
        if (!(cond))                                                    \
            row_fail("%s:%d: required: %s", __FILE__, __LINE__, #cond); \
    } while (0)

#endif
