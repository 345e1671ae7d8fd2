// SPDX-License-Identifier: MIT
#include "bench_open.h"

#include <stdio.h>

#if defined _OPENMP
#include <omp.h>
#endif

#include "bench_selector.h"

static bool open_host(struct bench *bench, const char *selector,
                      const kallima_device_options *options, char *why, size_t capacity)
{
    if (kallima_device_open(&bench->device, selector, options) == KALLIMA_OK)
        return true;
    snprintf(why, capacity, "%s", kallima_last_error());
    return false;
}

bool bench_open(struct bench *bench, struct bench_memory *memory,
                const struct gpu_module *module, const char *selector,
                const kallima_device_options *options, char *why, size_t capacity)
{
    const bool is_host = bench_is_host(selector);
    if (is_host ? !open_host(bench, selector, options, why, capacity)
                : !bench_memory_open(memory, module, selector, options, &bench->device,
                                     why, capacity))
        return false;
    bench->memory = is_host ? NULL : memory;
    kallima_device_get_info(bench->device, &bench->info);
#if defined _OPENMP
    // Arrays are touched first by as many threads as will transform them.
    if (bench->info.threads > 0)
        omp_set_num_threads(bench->info.threads);
#endif
    return true;
}

bool bench_open_peer(struct bench *bench, const char *name,
                     const struct peer_options *options, bool *is_known, char *why,
                     size_t capacity)
{
    struct peer_options peer_options = *options;
    struct bench_peer *peer = &bench->peer[bench->peers];
    char api[32] = "cpu";

    if (bench->memory) {
        bench_get_api(bench->info.selector, api, sizeof api);
        peer_options.native = bench->memory->module->get_native(bench->memory->gpu);
    }
    peer_options.threads = bench->info.threads > 0 ? bench->info.threads : 1;
    peer->peer = peer_find(name, api, is_known, why, capacity);
    peer->session = peer->peer ? peer->peer->open(&peer_options, why, capacity) : NULL;
    bench->peers += peer->session != NULL;
    return peer->session != NULL;
}

void bench_close(struct bench *bench)
{
    for (int i = 0; i < bench->peers; i++)
        bench->peer[i].peer->close(bench->peer[i].session);
    if (bench->memory)
        bench_memory_close(bench->memory, &bench->device);
    kallima_device_close(&bench->device);
}
