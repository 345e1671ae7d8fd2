// SPDX-License-Identifier: MIT
// Short lines that lie anywhere, in one codelet with nothing to look up: elements apart, planes,
// columns, reals of which each lies by itself.
#ifndef KAL_DEVICE_CPU_APART_H_
#define KAL_DEVICE_CPU_APART_H_

#include "device/cpu/cpu.h"

/**
 * Find how a program of one pass is worked in that way: program->apart.part_count is 0 if
 * it is not. The widest registers take the first lines, narrower ones the rest.
 */
void kal_cpu_apart_find(struct cpu_program *program);

/**
 * Run those of all lines, which begin at x and y, that are parts `first` to `last` - 1 of
 * `parts`.
 */
void kal_cpu_apart_share(const struct cpu_program *program, const struct cpu_vectors *x,
                         const struct cpu_vectors *y, int64_t first, int64_t last,
                         int64_t parts);

/** Run `count` lines or groups of a part, whose first one's parts begin there. */
static inline void kal_cpu_apart_part_run(const struct cpu_apart_part *p, char *xr,
                                          char *xi, char *yr, char *yi, int64_t count)
{
    if (p->beside) {
        const struct cpu_vectors from = { xr, xi, p->how.x.stride, 0 },
                                 to = { yr, yi, p->how.y.stride, 0 };
        p->beside(&from, &to, 1, 1, count, NULL);
    } else {
        p->run(xr, xi, yr, yi, count, &p->how);
    }
}

/** Run all lines: as short as they are, what is looked up takes as long. */
static inline void kal_cpu_apart_run(const struct cpu_program *program,
                                     const struct cpu_vectors *x,
                                     const struct cpu_vectors *y)
{
    const struct cpu_apart *apart = &program->apart;
    char *xr = x->re, *xi = x->im, *yr = y->re, *yi = y->im;

    for (int i = 0; i < apart->part_count; i++) {
        const struct cpu_apart_part *p = &apart->part[i];
        kal_cpu_apart_part_run(p, xr + p->in, xi + p->in, yr + p->out, yi + p->out,
                               p->count);
    }
}

#endif
