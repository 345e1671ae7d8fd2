// SPDX-License-Identifier: MIT
#include "rows.h"

#include <stdatomic.h>
#include <stdio.h>

enum { PRINTED_ROWS = 20 };

static atomic_int failed, ran, left;

void row_fail(const char *fmt, ...)
{
    if (++failed > PRINTED_ROWS)
        return;
    va_list args;
    va_start(args, fmt);
    fputs("  row: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

void row_ran(void)
{
    ran++;
}

void row_left(void)
{
    left++;
}

void rows_finish(const char *test)
{
    const int failures = failed, rows = ran, others = left;
    failed = 0;
    ran = 0;
    left = 0;
    fprintf(stderr, "  %s: %d rows, %d failed\n", test, rows, failures);
    if (rows + others == 0)
        fail_msg("%s: no row ran", test);
    if (failures > 0)
        fail_msg("%s: %d of %d rows failed", test, failures, rows);
}
