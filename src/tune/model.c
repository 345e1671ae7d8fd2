// SPDX-License-Identifier: MIT
#include "tune/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "factor/rule.h"
#include "kernel/kernel.h"
#include "pass/pass.h"

const char *const kal_term_names[KAL_TERM_COUNT] = {
    [KAL_TERM_LAUNCH] = "launch",     [KAL_TERM_MEMORY] = "memory",
    [KAL_TERM_CACHE] = "cache",       [KAL_TERM_EXCHANGE] = "exchange",
    [KAL_TERM_COMPUTE] = "compute",   [KAL_TERM_WAIT] = "wait",
    [KAL_TERM_STARVE] = "starvation", [KAL_TERM_SPILL] = "spills",
    [KAL_TERM_LATE] = "latency",      [KAL_TERM_DEPART] = "departures",
};

static void add(struct kal_terms *terms, enum kal_term term, double amount)
{
    terms->amount[term] += amount;
}

// What is counted, and for which device.
struct count {
    struct kal_terms *terms;
    struct kal_arena *arena;
    const struct kal_caps *caps;
    const struct kal_program *program;
    bool is_f64;
};

static double all_lines(const struct kal_pass *pass)
{
    double lines = 1.0;
    for (int i = 0; i < kal_pass_loop_count(pass); i++)
        lines *= (double)pass->loops[i].count;
    return lines;
}

static double side_bytes(const struct count *c, const struct kal_pass *pass,
                         const struct kal_side *side)
{
    const double element = (c->is_f64 ? 16.0 : 8.0) * (side->is_real ? 0.5 : 1.0);
    return all_lines(pass) * (double)kal_min(pass->n, side->count) * element;
}

// --- the CPU -----------------------------------------------------------------------------

static void count_cpu_side(const struct count *c, const struct kal_pass *pass,
                           const struct kal_side *side)
{
    const double bytes = side_bytes(c, pass, side);
    const int64_t unit = side->is_real || side->imag != 1 ? 1 : 2;
    const bool is_near = side->buffer == KAL_BUFFER_CHUNK;

    add(c->terms, is_near ? KAL_TERM_CACHE : KAL_TERM_MEMORY, bytes);
    if (!is_near && llabs(side->stride) != unit)
        add(c->terms, KAL_TERM_LATE, bytes);
}

// How many times as many tiles there are as in the widest registers, if a recipe wants others.
static double narrowness(const struct count *c, const struct kal_pass *pass)
{
    const double widest = fmax(1.0, kal_caps_lanes_of(c->caps, c->is_f64));
    const int lanes = kal_pass_get_parameter(pass, KAL_PARAMETER_LANES, (int)widest);
    return fmax(1.0, ceil(all_lines(pass) / lanes) / ceil(all_lines(pass) / widest));
}

static void count_cpu_pass(const struct count *c, const struct kal_pass *pass)
{
    const double points = all_lines(pass) * (double)pass->n * narrowness(c, pass);
    count_cpu_side(c, pass, &pass->in);
    count_cpu_side(c, pass, &pass->out);
    add(c->terms, KAL_TERM_EXCHANGE,
        2.0 * points * (c->is_f64 ? 16.0 : 8.0) * pass->step_count);
    add(c->terms, KAL_TERM_COMPUTE,
        kal_pass_operations(pass) * (c->is_f64 ? 2.0 : 1.0) * narrowness(c, pass));
    add(c->terms, KAL_TERM_WAIT, all_lines(pass));
}

// --- kernels -----------------------------------------------------------------------------

// Return the bytes of a side, with those of sectors that are taken for a part of them.
static double count_kernel_side(const struct count *c, const struct kal_kernel_set *set,
                                const struct kal_kernel *k, bool is_in)
{
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    const double bytes = side_bytes(c, k->pass, side);

    if (side->buffer == KAL_BUFFER_CHUNK && set->cluster > 1) {
        add(c->terms, KAL_TERM_EXCHANGE, bytes);
        return 0.0;
    }
    const double whole = bytes * kal_kernel_sectors(k, is_in);
    add(c->terms, side->buffer == KAL_BUFFER_CHUNK ? KAL_TERM_CACHE : KAL_TERM_MEMORY,
        whole);
    return whole;
}

// What a set takes of a processor.
struct occupancy {
    int registers; // of a lane that has no more
    int missing;   // that it needs beyond these
    int resident;  // groups that a processor holds
};

static struct occupancy find_occupancy(const struct kal_kernel_set *set,
                                       const struct kal_caps *caps)
{
    enum { REGISTERS = 65536, WARP = 32, STEP = 8, MOST = 255, MOST_GROUPS = 32 };
    const int64_t lanes = kal_round_up(set->lanes, WARP);
    const int64_t most = caps->processor_lanes ? caps->processor_lanes / lanes : MOST;
    const int64_t wanted = kal_max(1, kal_min(set->resident, kal_min(most, MOST_GROUPS)));
    const int allowed = (int)kal_min(MOST, REGISTERS / (wanted * lanes) / STEP * STEP);
    const int registers = (int)kal_max(STEP, kal_min(set->registers, allowed));
    const int resident =
        kal_resident_groups(caps, set->lanes, set->group_bytes, registers);
    return (struct occupancy){
        .registers = registers,
        .missing = (int)kal_max(0, set->registers - allowed),
        .resident = (int)kal_min(MOST_GROUPS, resident),
    };
}

// The part of all lanes that have a unit to work.
static double busy_lanes(const struct kal_kernel *k)
{
    double busy = 0.0;
    for (int i = 0; i < k->round_count; i++)
        busy += (double)k->round[i].units / ((double)k->round[i].lane_units * k->lanes);
    return k->round_count ? busy / k->round_count : 1.0;
}

// How many times as long bytes take where so few groups keep a processor waiting for them, each
// for `group_bytes` at once, or passes follow each other so closely that they wait.
static double lateness(const struct count *c, const struct kal_kernel_set *set,
                       double held, double group_bytes)
{
    static const double NEEDED = 32768.0; // bytes of a processor under way at once
    const double processors = (double)kal_max(1, c->caps->processors);
    const double late = fmax(0.0, NEEDED / (held * group_bytes) - 1.0);
    double per_line = 0.0;

    if (set->lag == 0)
        return late;
    for (int i = 0; i < set->count; i++)
        per_line += (double)set->kernel[i]->groups;
    const double least = ceil(set->resident * processors / per_line);
    return late + fmax(0.0, least / (double)set->lag - 1.0);
}

static void count_kernel(const struct count *c, const struct kal_kernel_set *set,
                         const struct kal_kernel *k)
{
    static const double REGISTER = 4.0; // bytes
    enum { TICKET = 3 };                // rounds
    const struct occupancy occupancy = find_occupancy(set, c->caps);
    const double element = c->is_f64 ? 16.0 : 8.0;
    const double groups = (double)k->groups * (double)kal_max(1, set->lines);
    const double exchanged =
        all_lines(k->pass) * (double)k->n * element * kal_kernel_exchange_turns(k);
    const double processors = (double)kal_max(1, c->caps->processors);
    const double held = fmin(occupancy.resident, groups / processors);
    const double moved =
        count_kernel_side(c, set, k, true) + count_kernel_side(c, set, k, false);

    add(c->terms, KAL_TERM_EXCHANGE, exchanged);
    add(c->terms, KAL_TERM_STARVE, exchanged / occupancy.resident);
    add(c->terms, KAL_TERM_COMPUTE,
        kal_pass_operations(k->pass) * (c->is_f64 ? 2.0 : 1.0) / busy_lanes(k));
    add(c->terms, KAL_TERM_WAIT,
        fmax(1.0, groups / processors / occupancy.resident) *
            (k->round_count + 1 + (set->lag ? TICKET : 0)));
    add(c->terms, KAL_TERM_SPILL,
        2.0 * REGISTER * occupancy.missing * occupancy.missing / occupancy.registers *
            set->lanes * groups * k->round_count);
    if (moved > 0.0)
        add(c->terms, KAL_TERM_LATE,
            moved * lateness(c, set, held, moved / 2.0 / groups));
}

static kallima_status count_launches(const struct count *c, const struct kal_phase *phase)
{
    const struct kal_kernel_wish wish = { 0, 0, false };
    const int passes = kal_phase_launch_passes(c->program, phase);

    for (int i = 0; i < phase->pass_count; i += passes) {
        struct kal_kernel_set set;
        KAL_TRY(kal_kernel_set_design(&set, c->arena, c->program, phase,
                                      phase->first_pass + i, passes, c->caps, c->is_f64,
                                      &wish));
        add(c->terms, KAL_TERM_LAUNCH, 1.0);
        for (int j = 0; j < set.count; j++)
            count_kernel(c, &set, set.kernel[j]);
    }
    return KALLIMA_OK;
}

// --- decisions ---------------------------------------------------------------------------

static bool has_same_radices(const struct kal_recipe *a, const struct kal_recipe *b)
{
    return a->radix_count == b->radix_count &&
           memcmp(a->radix, b->radix, (size_t)a->radix_count * sizeof *a->radix) == 0;
}

// In how many decisions a recipe is not the planner's; NULL: there is none to compare with. A
// parameter counts as `share` of one.
static double count_departures(const struct kal_recipe *recipe,
                               const struct kal_recipe *planned, double share)
{
    const bool is_same = planned && planned->rule == recipe->rule &&
                         planned->n == recipe->n &&
                         planned->child_count == recipe->child_count;
    double count = planned && !(is_same && has_same_radices(recipe, planned));

    for (int i = 0; i < KAL_PARAMETER_COUNT; i++)
        count += recipe->parameters.is_given[i] ? share : 0.0;
    for (int i = 0; i < recipe->child_count; i++)
        count +=
            count_departures(recipe->child[i], is_same ? planned->child[i] : NULL, share);
    return count;
}

static kallima_status count_decisions(const struct count *c,
                                      const struct kal_problem *problem,
                                      const struct kal_recipe *recipe)
{
    // On the CPU little is counted of what they change: they are to be tried.
    static const double CPU_SHARE = 0.1;
    const struct kal_caps caps = kal_caps_limit(c->caps, c->is_f64);
    const struct kal_planner planner = { c->arena, &caps };
    struct kal_recipe *planned;

    KAL_TRY(kal_plan_problem(&planned, &planner, problem));
    add(c->terms, KAL_TERM_DEPART,
        count_departures(recipe, planned, caps.language ? 1.0 : CPU_SHARE) *
            (c->terms->amount[KAL_TERM_MEMORY] + c->terms->amount[KAL_TERM_CACHE]));
    return KALLIMA_OK;
}

// --- all of them -------------------------------------------------------------------------

kallima_status kal_terms_count(struct kal_terms *out, struct kal_arena *arena,
                               const struct kal_problem *problem,
                               const struct kal_recipe *recipe,
                               const struct kal_caps *caps)
{
    struct kal_program program;
    const struct count c = { out, arena, caps, &program,
                             problem->precision == KALLIMA_F64 };

    *out = (struct kal_terms){ 0 };
    KAL_TRY(kal_program_lower(&program, arena, problem, recipe, caps));
    for (int i = 0; i < program.phase_count; i++) {
        const struct kal_phase *phase = &program.phase[i];
        if (caps->language) {
            KAL_TRY(count_launches(&c, phase));
            continue;
        }
        add(out, KAL_TERM_LAUNCH, 1.0);
        for (int j = 0; j < phase->pass_count; j++)
            count_cpu_pass(&c, program.pass[phase->first_pass + j]);
    }
    return count_decisions(&c, problem, recipe);
}

// --- costs -------------------------------------------------------------------------------

// Costs of one processor, and the constants of the device that they are the costs of: those of
// another device are in proportion to its constants.
struct origin {
    struct kal_model model;
    struct kal_constants constants;
    int processors;
};

// An NVIDIA H200: costs are fitted to 2200 plans of 118 problems, constants as calibration
// measured them through CUDA (through OpenCL: exchanges 31e12, operations 29e12).
static const struct origin kernels = {
    { { [KAL_TERM_LAUNCH] = 3.2e-6,
        [KAL_TERM_MEMORY] = 1 / 29e9,
        [KAL_TERM_CACHE] = 1 / 70e9,
        [KAL_TERM_EXCHANGE] = 1 / 10e12,
        [KAL_TERM_COMPUTE] = 1 / 20e12,
        [KAL_TERM_WAIT] = 7e-8,
        [KAL_TERM_STARVE] = 1 / 1e12,
        [KAL_TERM_SPILL] = 1 / 160e9,
        [KAL_TERM_LATE] = 1 / 75e9,
        [KAL_TERM_DEPART] = 1 / 370e9 } },
    { { [KAL_CONSTANT_BYTES] = 4.1e12,
        [KAL_CONSTANT_LAUNCH] = 3.0e-6,
        [KAL_CONSTANT_EXCHANGE] = 28e12,
        [KAL_CONSTANT_OPERATIONS] = 30e12 } },
    132,
};

// One core of a CPU: orders of magnitude, which are what the constants stand for.
static const struct origin cpu = {
    { { [KAL_TERM_LAUNCH] = 1e-6,
        [KAL_TERM_MEMORY] = 1 / 10e9,
        [KAL_TERM_CACHE] = 1 / 30e9,
        [KAL_TERM_EXCHANGE] = 1 / 60e9,
        [KAL_TERM_COMPUTE] = 1 / 25e9,
        [KAL_TERM_WAIT] = 1e-8,
        [KAL_TERM_STARVE] = 1 / 60e9,
        [KAL_TERM_SPILL] = 1 / 220e9,
        [KAL_TERM_LATE] = 1 / 20e9,
        [KAL_TERM_DEPART] = 1 / 100e9 } },
    { { [KAL_CONSTANT_BYTES] = 10e9,
        [KAL_CONSTANT_LAUNCH] = 1e-6,
        [KAL_CONSTANT_EXCHANGE] = 60e9,
        [KAL_CONSTANT_OPERATIONS] = 25e9 } },
    1,
};

// The constant that a cost goes by (COUNT: none), and whether it is of what hides behind bytes.
// Caches, and bytes that are late or spilled, go by memory, as nothing says more of them.
static const struct {
    enum kal_constant constant;
    bool hides;
} goes_by[KAL_TERM_COUNT] = {
    [KAL_TERM_LAUNCH] = { KAL_CONSTANT_LAUNCH, false },
    [KAL_TERM_MEMORY] = { KAL_CONSTANT_BYTES, false },
    [KAL_TERM_CACHE] = { KAL_CONSTANT_BYTES, false },
    [KAL_TERM_EXCHANGE] = { KAL_CONSTANT_EXCHANGE, true },
    [KAL_TERM_COMPUTE] = { KAL_CONSTANT_OPERATIONS, true },
    [KAL_TERM_WAIT] = { KAL_CONSTANT_COUNT, false },
    [KAL_TERM_STARVE] = { KAL_CONSTANT_EXCHANGE, false },
    [KAL_TERM_SPILL] = { KAL_CONSTANT_BYTES, false },
    [KAL_TERM_LATE] = { KAL_CONSTANT_BYTES, false },
    [KAL_TERM_DEPART] = { KAL_CONSTANT_BYTES, false },
};

// Seconds for one unit of what a constant is about; 0: unknown.
static double seconds_of(const struct kal_constants *constants,
                         enum kal_constant constant)
{
    const double value = constant < KAL_CONSTANT_COUNT ? constants->value[constant] : 0.0;
    if (!(value > 0.0))
        return 0.0;
    return constant == KAL_CONSTANT_LAUNCH ? value : 1.0 / value;
}

// What the origin's cost comes to elsewhere, in proportion. What takes as much of the time of
// bytes as it does at the origin, or less, hides behind them as well as it does there; what it
// takes more shows as far as it is hidden there.
static double scale_cost(const struct origin *origin, double cost,
                         const struct kal_constants *constants, enum kal_term term)
{
    const double there = seconds_of(&origin->constants, goes_by[term].constant);
    const double here = seconds_of(constants, goes_by[term].constant);
    const double bytes_there = seconds_of(&origin->constants, KAL_CONSTANT_BYTES);
    const double bytes_here = seconds_of(constants, KAL_CONSTANT_BYTES);
    const double scaled = cost * here / there;

    if (!goes_by[term].hides || bytes_here == 0.0)
        return scaled;
    const double more = fmax(0.0, here - there * bytes_here / bytes_there);
    return scaled + fmax(0.0, 1.0 - cost / there) * more;
}

struct kal_model kal_model_guess(const struct kal_caps *caps,
                                 const struct kal_constants *constants)
{
    static const struct kal_constants unknown;
    const bool has_kernels = caps->language != KAL_LANGUAGE_NONE;
    const struct origin *origin = has_kernels ? &kernels : &cpu;
    const int workers = (int)kal_max(1, has_kernels ? caps->processors : caps->threads);
    struct kal_model model = origin->model;

    if (!constants)
        constants = &unknown;
    for (int i = 0; i < KAL_TERM_COUNT; i++) {
        // Launches follow each other; waits are counted for one processor, lines for all cores.
        const bool is_shared =
            i != KAL_TERM_LAUNCH && !(has_kernels && i == KAL_TERM_WAIT);
        const bool is_known = seconds_of(constants, goes_by[i].constant) > 0.0;
        if (is_shared)
            model.cost[i] /= is_known ? origin->processors : workers;
        if (is_known)
            model.cost[i] = scale_cost(origin, model.cost[i], constants, i);
    }
    return model;
}

double kal_model_predict(const struct kal_model *model, const struct kal_terms *terms)
{
    double seconds = 0.0;
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        seconds += model->cost[i] * terms->amount[i];
    return seconds;
}

// Normal equations of sum(error^2) + sum(trust * change^2), where the errors are relative to
// the first sample's time.
struct equations {
    double matrix[KAL_TERM_COUNT][KAL_TERM_COUNT], right[KAL_TERM_COUNT];
};

// That these amounts, each times its cost, come to `part` of the first sample's time.
static void add_equation(struct equations *e, const double amount[KAL_TERM_COUNT],
                         double part, double weight)
{
    for (int i = 0; i < KAL_TERM_COUNT; i++) {
        e->right[i] += weight * amount[i] * part;
        for (int j = 0; j < KAL_TERM_COUNT; j++)
            e->matrix[i][j] += weight * amount[i] * amount[j];
    }
}

static void add_first(struct equations *e, const struct kal_sample *first)
{
    static const double WEIGHT = 4.0; // lengths are compared by what their plans take
    double amount[KAL_TERM_COUNT];
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        amount[i] = first->terms.amount[i] / first->seconds;
    add_equation(e, amount, 1.0, WEIGHT);
}

// By how much a sample takes longer than the first; how slow the slowest are does not matter.
static void add_difference(struct equations *e, const struct kal_sample *first,
                           const struct kal_sample *sample)
{
    static const double MOST = 8.0;
    const double part = fmin(sample->seconds / first->seconds, MOST);
    double amount[KAL_TERM_COUNT];
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        amount[i] = (sample->terms.amount[i] - first->terms.amount[i]) / first->seconds;
    add_equation(e, amount, part - 1.0, 1.0);
}

static void solve(const struct equations *e, double cost[KAL_TERM_COUNT])
{
    enum { SWEEPS = 500 };
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < KAL_TERM_COUNT; i++) {
            double rest = e->right[i];
            for (int j = 0; j < KAL_TERM_COUNT; j++)
                rest -= j == i ? 0.0 : e->matrix[i][j] * cost[j];
            cost[i] = fmax(0.0, rest / e->matrix[i][i]);
        }
    }
}

void kal_model_fit(struct kal_model *model, double trust[KAL_TERM_COUNT],
                   const struct kal_sample *sample, int count)
{
    struct equations e = { 0 };

    for (int i = 0; i < KAL_TERM_COUNT; i++) {
        e.matrix[i][i] = trust[i];
        e.right[i] = trust[i] * model->cost[i];
    }
    if (count > 0)
        add_first(&e, &sample[0]);
    for (int i = 1; i < count; i++)
        add_difference(&e, &sample[0], &sample[i]);
    solve(&e, model->cost);
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        trust[i] = e.matrix[i][i];
}
