// SPDX-License-Identifier: MIT
// One pass over some tiles of a chunk, on one thread.
#ifndef KAL_DEVICE_CPU_TILE_H_
#define KAL_DEVICE_CPU_TILE_H_

#include "device/cpu/worker.h"

/** Run tiles begin .. end-1. */
void kal_cpu_tiles_run(struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end);

/**
 * The same of a worker's part, which ends before `part_end`. What lies behind there is
 * another worker's: of columns in the caches the last ones come from both ends to the
 * middle, since a processor asks for what lies ahead of where it goes, and would take
 * lines of the caches from that one.
 */
void kal_cpu_tiles_share(struct cpu_worker *worker, const struct cpu_pass *pass,
                         const struct cpu_chunk *chunk, int64_t begin, int64_t end,
                         int64_t part_end);

#endif
