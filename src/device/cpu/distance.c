// SPDX-License-Identifier: MIT
#include "device/cpu/distance.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/platform.h"
#include "device/cpu/worker.h"

static const double NEAR_NS = 2.5;

enum { ROUNDS = 5, LINES = 128 };

// What one thread writes and another reads, and how often both have: lines of the caches.
struct table_for_two {
    struct {
        _Alignas(CPU_LINE_BYTES) atomic_int value;
    } line[LINES], written, read;
};

// Wait for round `number` of the other one: for the first as long as it takes to wake it.
// One that does not come at once has no processor, or the same one.
static bool wait_for(atomic_int *rounds, int number)
{
    enum { PATIENCE = 1000 };
    static const double MOST_SECONDS = 2e-4;
    const double begin = number == 1 ? kal_clock_now() : 0.0;

    for (int i = 0; atomic_load_explicit(rounds, memory_order_acquire) != number; i++) {
        if (i < PATIENCE)
            kal_cpu_pause();
        else if (number > 1 || kal_clock_now() - begin > MOST_SECONDS)
            return false;
        else
            kal_yield();
    }
    return true;
}

// Returns the time of the fastest round, in ns for each line; NEAR_NS: there is none.
static double write_all(struct table_for_two *t)
{
    double least = INFINITY;

    for (int round = 1; round <= ROUNDS; round++) {
        const double begin = kal_clock_now();
        for (int i = 0; i < LINES; i++)
            atomic_store_explicit(&t->line[i].value, round, memory_order_relaxed);
        atomic_store_explicit(&t->written.value, round, memory_order_release);
        if (!wait_for(&t->read.value, round))
            return NEAR_NS;
        least = fmin(least, (kal_clock_now() - begin) * 1e9 / LINES);
    }
    return least;
}

static void read_all(struct table_for_two *t)
{
    for (int round = 1; round <= ROUNDS; round++) {
        int sum = 0;
        if (!wait_for(&t->written.value, round))
            return;
        for (int i = 0; i < LINES; i++)
            sum += atomic_load_explicit(&t->line[i].value, memory_order_relaxed);
        atomic_store_explicit(&t->read.value, sum / LINES, memory_order_release);
    }
}

double kal_cpu_distance_find(int threads)
{
    struct table_for_two table = { 0 };
    double distance = NEAR_NS;

    if (omp_in_parallel())
        return distance;
#pragma omp parallel num_threads(threads)
    {
        const int part = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        if (last > 0 && part == 0)
            distance = write_all(&table);
        else if (last > 0 && part == last)
            read_all(&table);
    }
    return distance;
}
