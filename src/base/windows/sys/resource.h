// SPDX-License-Identifier: MIT
// Files may be of any size.
#ifndef KAL_BASE_WINDOWS_SYS_RESOURCE_H_
#define KAL_BASE_WINDOWS_SYS_RESOURCE_H_

#include <stdint.h>

#define RLIM_INFINITY UINT64_MAX
#define RLIMIT_FSIZE  0

struct rlimit {
    uint64_t rlim_cur, rlim_max;
};

static inline int getrlimit(int resource, struct rlimit *limit)
{
    (void)resource;
    (void)limit;
    return 0;
}

#endif
