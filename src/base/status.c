// SPDX-License-Identifier: MIT
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE_BYTES = 1024 };

static _Thread_local char last_error[SENTENCE_BYTES];

kallima_status kal_fail(const struct kal_host *host, kallima_status status,
                        const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(last_error, sizeof last_error, fmt, args);
    va_end(args);

    if (host && host->log)
        host->log(host->log_user, status, last_error);
    return status;
}

const char *kallima_last_error(void)
{
    return last_error;
}

const char *kallima_status_name(kallima_status status)
{
    switch (status) {
#define NAME(name, value, text) \
    case KALLIMA_##name: return #name;
        KALLIMA_STATUS_LIST(NAME)
#undef NAME
    }
    return "unknown";
}

const char *kallima_status_text(kallima_status status)
{
    switch (status) {
#define TEXT(name, value, text) \
    case KALLIMA_##name: return text;
        KALLIMA_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}
