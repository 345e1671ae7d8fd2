// SPDX-License-Identifier: MIT
#include <kallima/kallima.h>

#include <math.h>

#include "api/knowledge.h"
#include "math/number.h"

enum { MOST_LENGTHS = 64, LARGEST_PRIME = 13, SHARE = 4 };

// A length, and what its transforms take.
struct option {
    int64_t n;
    double predicted, measured; // seconds; 0: it was not measured
};

// What all lengths are looked at with.
struct view {
    kallima_device *device;
    struct kal_host quiet;
    kallima_wisdom_owner owner;
    struct kal_knowledge knowledge;
};

// Infinite where the device cannot.
static kallima_status predict(const struct view *view, const struct kal_problem *problem,
                              double *seconds)
{
    const struct kal_caps *caps = &view->device->caps;
    const struct kal_caps limits =
        kal_caps_limit(caps, problem->precision == KALLIMA_F64);
    struct kal_recipe *recipe;
    struct kal_terms terms;
    struct kal_arena arena;

    kal_arena_init(&arena, &view->quiet);
    const struct kal_planner planner = { &arena, &limits };
    kallima_status status = kal_plan_problem(&recipe, &planner, problem);
    if (!status)
        status = kal_terms_count(&terms, &arena, problem, recipe, caps);
    kal_arena_clear(&arena);
    *seconds = status ? INFINITY : kal_model_predict(&view->knowledge.model, &terms);
    return status == KALLIMA_E_UNSUPPORTED ? KALLIMA_OK : status;
}

static kallima_status look_at(const struct view *view, const kallima_desc *desc,
                              struct option *option)
{
    struct kal_problem problem;
    kallima_wisdom_entry entry;

    if (kal_problem_init(&problem, &view->quiet, desc) != KALLIMA_OK) { // too large
        option->predicted = INFINITY;
        return KALLIMA_OK;
    }
    KAL_TRY(
        kal_wisdom_find_plan(view->device->wisdom, &view->owner, &problem, NULL, &entry));
    option->measured = entry.time_ns * 1e-9;
    return predict(view, &problem, &option->predicted);
}

// By what factor measured times differ from predicted ones.
static double find_scale(const struct option *option, int count)
{
    double sum = 0.0;
    int measured = 0;
    for (int i = 0; i < count; i++) {
        if (!(option[i].measured > 0.0) || !isfinite(option[i].predicted))
            continue;
        sum += log(option[i].measured / option[i].predicted);
        measured++;
    }
    return measured ? exp(sum / measured) : 1.0;
}

static int64_t choose(const struct option *option, int count)
{
    const double scale = find_scale(option, count);
    double best_seconds = INFINITY;
    int64_t best = option[0].n;

    for (int i = 0; i < count; i++) {
        const struct option *o = &option[i];
        const double seconds = o->measured > 0.0 ? o->measured : scale * o->predicted;
        if (seconds < best_seconds) {
            best_seconds = seconds;
            best = o->n;
        }
    }
    return best;
}

// The length itself, then smooth ones.
static int list_lengths(int64_t n, struct option option[MOST_LENGTHS])
{
    int count = 0;
    option[count++] = (struct option){ .n = n };
    for (int64_t m = n; count < MOST_LENGTHS;) {
        m = kal_smooth_length(m + 1, LARGEST_PRIME);
        if (m == 0 || m > n + n / SHARE)
            break;
        option[count++] = (struct option){ .n = m };
    }
    return count;
}

kallima_status kallima_good_length(kallima_device *device, const kallima_desc *desc,
                                   int32_t axis, int64_t *length)
{
    struct option option[MOST_LENGTHS];
    struct view view = { .device = device };
    struct kal_problem problem;

    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, desc);
    KAL_REQUIRE(&device->host, length);
    KAL_TRY(kal_problem_init(&problem, &device->host, desc));
    KAL_REQUIRE(&device->host, axis >= 0 && axis < desc->rank);
    view.quiet = device->host;
    view.quiet.log = NULL;
    KAL_TRY(kallima_device_get_owner(device, &view.owner));
    KAL_TRY(kal_knowledge_find(device, &view.owner, &view.knowledge));
    const int count = list_lengths(desc->n[axis], option);
    for (int i = 0; i < count; i++) {
        kallima_desc other = *desc;
        other.in = other.out = (kallima_layout){ .format = KALLIMA_INTERLEAVED };
        other.n[axis] = option[i].n;
        KAL_TRY(look_at(&view, &other, &option[i]));
    }
    *length = choose(option, count);
    return KALLIMA_OK;
}
