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

/** Lines of a side that begin `bytes` behind its first ones. */
static inline struct cpu_lines kal_cpu_apart_lines(const struct cpu_vectors *v,
                                                   const struct cpu_apart_side *side,
                                                   int64_t bytes)
{
    return (struct cpu_lines){
        .re = (char *)v->re + bytes,
        .im = side->is_real ? NULL : (char *)v->im + bytes,
        .stride = side->stride,
        .line = side->line,
        .is_far = side->is_far,
    };
}

/** Run so many groups of a part, or lines. */
static inline void kal_cpu_apart_part_run(const struct cpu_apart_part *p,
                                          const struct cpu_lines *x,
                                          const struct cpu_lines *y, int64_t groups,
                                          int64_t lines)
{
    if (p->strided) {
        p->strided(x, y, lines);
    } else if (p->beside) {
        const struct cpu_vectors from = { x->re, x->im, x->stride, 0 },
                                 to = { y->re, y->im, y->stride, 0 };
        p->beside(&from, &to, 1, 1, lines, NULL);
    } else {
        p->run(x, y, groups, &p->codelet);
    }
}

/** Run all lines: as short as they are, what is looked up takes as long. */
static inline void kal_cpu_apart_run(const struct cpu_program *program,
                                     const struct cpu_vectors *x,
                                     const struct cpu_vectors *y)
{
    const struct cpu_apart *apart = &program->apart;

    for (int i = 0; i < apart->part_count; i++) {
        const struct cpu_apart_part *p = &apart->part[i];
        const struct cpu_lines from = kal_cpu_apart_lines(x, &apart->in, p->in),
                               to = kal_cpu_apart_lines(y, &apart->out, p->out);
        kal_cpu_apart_part_run(p, &from, &to, p->groups, p->lines);
    }
}

#endif
