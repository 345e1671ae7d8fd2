// SPDX-License-Identifier: MIT
// A program of kernels: shared by the files that build it and that run it.
#ifndef KAL_EXEC_KERNEL_PROGRAM_H_
#define KAL_EXEC_KERNEL_PROGRAM_H_

#include "emit/kernel.h"
#include "exec/program.h"
#include "kernel/kernel.h"

// One launch made ready.
struct built_kernel {
    struct kal_kernel_set set;
    struct kal_device_kernel *object;
    bool is_shared;                // an earlier one with the same text owns the object
    uint64_t hash;                 // of the text
    int64_t first_root, first_map; // where its tables begin among those of all launches
    bool has_own_tables;           // they are not those of an earlier one
};

struct kernel_program {
    struct kal_device_program base;
    const struct kal_program *program;
    bool is_f64;
    int count;
    struct built_kernel *kernel; // in the arena of the plan
    int64_t root_count, map_count;
    kallima_buffer *roots, *map;
    uint64_t ring_offset, ticket_offset; // bytes of the workspace
};

/** The language of a device that takes kernels. */
const struct kal_dialect *kal_device_dialect(const kallima_device *device);

/**
 * Design and compile what each phase launches, and give all tables their places: each launch
 * has its own, so that its text says nothing of the others and is compiled once for all plans
 * that have it. A kernel
 * whose compiler keeps registers in memory is designed again, with more registers a lane.
 *
 * Owner: what was created stays in the program, also after a failure
 */
kallima_status kal_kernel_program_build(struct kernel_program *p,
                                        struct kal_arena *arena);

/** Whether `table` is the first of its content in a launch: the one that is filled. */
bool kal_kernel_table_is_first(const struct kal_kernel_set *set,
                               const struct kal_table *table);

/** Append the text of launch `i`. */
void kal_kernel_program_print_launch(const struct kernel_program *p, int i,
                                     struct kal_text *text);

/** How many arguments launch `i` takes. */
int kal_kernel_program_count_slots(const struct kernel_program *p, int i);

#endif
