// SPDX-License-Identifier: MIT
// Another build of Kallima, loaded at run time: what a change gives is measured in one run with
// the library before it.
#include <stdio.h>
#include <stdlib.h>

#include "library.h"
#include "peer.h"

struct peer_session {
    kallima_device *device;
    kallima_device_info info;
    kallima_status (*device_open)(kallima_device **, const char *,
                                  const kallima_device_options *);
    void (*device_close)(kallima_device **);
    kallima_status (*device_get_info)(const kallima_device *, kallima_device_info *);
    kallima_status (*plan_create)(kallima_plan **, kallima_device *, const kallima_desc *,
                                  const kallima_plan_options *);
    void (*plan_destroy)(kallima_plan **);
    kallima_status (*plan_run)(const kallima_plan *, const void *, void *);
    kallima_status (*plan_execute_host)(const kallima_plan *,
                                        const kallima_host_arrays *);
    const char *(*last_error)(void);
    const char *(*version)(void);
};

struct peer_plan {
    const struct peer_session *session;
    kallima_plan *plan;
    kallima_host_arrays arrays;
    bool is_planar; // on a side
};

static bool load(struct peer_session *session, const char *directory)
{
    const struct library_symbol symbols[] = {
        { "kallima_device_open", &session->device_open },
        { "kallima_device_close", &session->device_close },
        { "kallima_device_get_info", &session->device_get_info },
        { "kallima_plan_create", &session->plan_create },
        { "kallima_plan_destroy", &session->plan_destroy },
        { "kallima_plan_run", &session->plan_run },
        { "kallima_plan_execute_host", &session->plan_execute_host },
        { "kallima_last_error", &session->last_error },
        { "kallima_version", &session->version },
    };
    return library_find_all(library_open_apart(directory, "libkallima.so.0"), symbols,
                            sizeof symbols / sizeof symbols[0]);
}

static bool open_device(struct peer_session *session, const struct peer_options *options,
                        char *why, size_t capacity)
{
    const kallima_device_options wanted = { .threads = options->threads,
                                            .simd = options->simd };
    if (session->device_open(&session->device, "cpu", &wanted) == KALLIMA_OK &&
        session->device_get_info(session->device, &session->info) == KALLIMA_OK)
        return true;
    snprintf(why, capacity, "baseline: %s", session->last_error());
    session->device_close(&session->device);
    return false;
}

static struct peer_session *baseline_open(const struct peer_options *options, char *why,
                                          size_t capacity)
{
    const char *directory = options->baseline_directory;
    struct peer_session *session = directory ? calloc(1, sizeof *session) : NULL;

    if (!directory)
        snprintf(why, capacity, "baseline: --baseline-dir says where it is");
    else if (!session)
        snprintf(why, capacity, "baseline: no memory left");
    else if (!load(session, directory))
        snprintf(why, capacity,
                 "baseline: cannot load libkallima.so.0 from the lib directory of %s",
                 directory);
    else if (open_device(session, options, why, capacity))
        return session;
    free(session);
    return NULL;
}

static void baseline_close(struct peer_session *session)
{
    session->device_close(&session->device);
    free(session);
}

static struct peer_info baseline_get_info(const struct peer_session *session,
                                          int precision)
{
    (void)precision;
    return (struct peer_info){ .version = session->version(),
                               .flags = session->info.driver };
}

static struct peer_plan *baseline_plan(struct peer_session *session,
                                       const kallima_desc *desc,
                                       const struct peer_arrays *arrays, char *why,
                                       size_t capacity)
{
    struct peer_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        snprintf(why, capacity, "baseline: no memory left");
        return NULL;
    }
    *plan = (struct peer_plan){
        .session = session,
        .arrays = { .in = { arrays->in[0], arrays->in[1] },
                    .out = { arrays->out[0], arrays->out[1] } },
        .is_planar = arrays->in[1] || arrays->out[1],
    };
    if (session->plan_create(&plan->plan, session->device, desc, NULL) == KALLIMA_OK)
        return plan;
    snprintf(why, capacity, "baseline: %.200s", session->last_error());
    free(plan);
    return NULL;
}

static bool baseline_execute(const struct peer_plan *plan)
{
    const struct peer_session *session = plan->session;
    const kallima_host_arrays *arrays = &plan->arrays;
    const kallima_status status =
        plan->is_planar ? session->plan_execute_host(plan->plan, arrays)
                        : session->plan_run(plan->plan, arrays->in[0], arrays->out[0]);
    return status == KALLIMA_OK;
}

static void baseline_plan_destroy(struct peer_plan *plan)
{
    plan->session->plan_destroy(&plan->plan);
    free(plan);
}

extern const struct peer peer_baseline;
const struct peer peer_baseline = {
    .name = "baseline",
    .summary = "another build of Kallima (libkallima)",
    .any_layout = true,
    .only_if_named = true,
    .open = baseline_open,
    .close = baseline_close,
    .get_info = baseline_get_info,
    .plan = baseline_plan,
    .execute = baseline_execute,
    .plan_destroy = baseline_plan_destroy,
};
