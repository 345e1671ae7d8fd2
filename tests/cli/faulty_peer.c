// SPDX-License-Identifier: MIT
// A peer for the cpu device as a module: by its definition, right for most problems, and at
// some lengths what a peer may do wrong.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

enum {
    REFUSES = 3,   // has no plan
    WRONG = 5,     // its result is not the transform
    CRASHES = 7,   // in the execution
    HANGS = 11,    // in the execution, for ever
    EXITS = 13,    // ends the process in planning
    CHATTERS = 17, // prints, and computes
    LOADS = 19,    // its first plan takes its time
    PLODS = 29     // each of its plans does, and each execution
};

struct peer_session {
    int unused;
};

struct peer_plan {
    int n;
    const float *in;
    float *out;
};

static struct peer_session *faulty_open(const struct peer_options *options, char *why,
                                        size_t capacity)
{
    (void)options, (void)why, (void)capacity;
    return malloc(sizeof(struct peer_session));
}

static void faulty_close(struct peer_session *session)
{
    free(session);
}

static struct peer_info faulty_get_info(const struct peer_session *session, int precision)
{
    (void)session;
    return (struct peer_info){ precision == KALLIMA_F32 ? "1 <b>&" : "1", "\"slow\"" };
}

static struct peer_plan *faulty_plan(struct peer_session *session,
                                     const kallima_desc *desc,
                                     const struct peer_arrays *arrays, char *why,
                                     size_t capacity)
{
    (void)session;
    struct peer_plan *plan = malloc(sizeof *plan);
    static bool has_loaded;
    if (desc->n[0] == EXITS)
        _exit(9);
    if (desc->n[0] == LOADS && !has_loaded)
        usleep(300000);
    if (desc->n[0] == PLODS)
        usleep(1600000);
    has_loaded = has_loaded || desc->n[0] == LOADS;
    if (!plan || desc->n[0] == REFUSES || desc->rank != 1 || desc->batch > 1) {
        snprintf(why, capacity, "faulty: no <i>plan</i>, \"really\"");
        free(plan);
        return NULL;
    }
    *plan = (struct peer_plan){ (int)desc->n[0], arrays->in[0], arrays->out[0] };
    return plan;
}

static bool faulty_execute(const struct peer_plan *plan)
{
    if (plan->n == CRASHES)
        abort();
    while (plan->n == HANGS)
        pause();
    if (plan->n == PLODS)
        usleep(20000);
    if (plan->n == CHATTERS)
        printf("{\"ns\": 1}\n");
    float *out =
        plan->in == plan->out ? malloc(2 * sizeof *out * (size_t)plan->n) : plan->out;
    for (int k = 0; out && k < plan->n; k++) {
        double re = 0, im = 0;
        for (int j = 0; j < plan->n; j++) {
            const double angle =
                -2 * 3.14159265358979323846 * (k * j % plan->n) / plan->n;
            re += plan->in[2 * j] * cos(angle) - plan->in[2 * j + 1] * sin(angle);
            im += plan->in[2 * j] * sin(angle) + plan->in[2 * j + 1] * cos(angle);
        }
        out[2 * k] = (float)re;
        out[2 * k + 1] = (float)(plan->n == WRONG ? -im : im);
    }
    if (out && out != plan->out) {
        memcpy(plan->out, out, 2 * sizeof *out * (size_t)plan->n);
        free(out);
    }
    return out != NULL;
}

static void faulty_plan_destroy(struct peer_plan *plan)
{
    free(plan);
}

extern const struct peer kallima_bench_peer;
__attribute__((visibility("default"))) const struct peer kallima_bench_peer = {
    .name = "faulty",
    .summary = "by definition, with faults",
    .either_placement = true,
    .open = faulty_open,
    .close = faulty_close,
    .get_info = faulty_get_info,
    .plan = faulty_plan,
    .execute = faulty_execute,
    .plan_destroy = faulty_plan_destroy,
};
