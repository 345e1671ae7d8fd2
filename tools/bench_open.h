// SPDX-License-Identifier: MIT
// Open what is measured: a device with its memory, and peers on it.
#ifndef KALLIMA_BENCH_OPEN_H_
#define KALLIMA_BENCH_OPEN_H_

#include "../bench/peers/gpu.h"
#include "bench_memory.h"
#include "bench_run.h"

/**
 * Open the device `selector`, of a GPU with memory from `module`, which is `memory` then.
 *
 * Owner: bench_close() closes it; `memory` must live until then.
 * Error: returns false and writes one sentence to `why`.
 */
bool bench_open(struct bench *bench, struct bench_memory *memory,
                const struct gpu_module *module, const char *selector,
                const kallima_device_options *options, char *why, size_t capacity);

/**
 * Open one more peer on the bench's device, of which there are fewer than BENCH_MAX_PEERS yet.
 *
 * Error: returns false and writes one sentence to `why`; *is_known as of peer_find().
 */
bool bench_open_peer(struct bench *bench, const char *name,
                     const struct peer_options *options, bool *is_known, char *why,
                     size_t capacity);

/** Close the peers and the device, as far as they are open. */
void bench_close(struct bench *bench);

#endif
