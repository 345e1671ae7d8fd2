// SPDX-License-Identifier: MIT
// A lane is a context with its own stack. It runs until it waits or ends; then the loop of
// simulate_run() decides who is next. Memory of a group is poisoned when the group starts,
// so that what nobody wrote is not a number.
#define _GNU_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE
#include "simulate_groups.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../random.h"

enum {
    STACK_BYTES = 256 << 10,
    VARIABLES = 4, // of a group
    VARIABLE_BYTES = 64,
    LANES_AT_ONCE = 4096,
    GROUPS_AT_ONCE = 12,
    LAX_SWEEPS = 8,  // in which some are left out although nothing goes on
    FAIR_SWEEPS = 3, // after which nobody can go on
    POISON = 0xff,   // bytes of a NaN
};
static const uint64_t canary = 0x6b616c6c696d61u; // at the far end of a stack

enum lane_state { LANE_IS_READY, LANE_MEETS_GROUP, LANE_MEETS_CLUSTER, LANE_HAS_ENDED };

struct lane {
    ucontext_t context;
    enum lane_state state;
    unsigned index; // in its group
    struct group *group;
    unsigned char *stack;
};

// A barrier.
struct meeting {
    int members, waiting, ended;
    int line; // where they wait
};

struct group {
    uint64_t number;
    bool is_started;
    struct cluster *cluster;
    struct lane *lane;
    struct meeting meeting;
    unsigned char *memory;
    int variables;
    const void *key[VARIABLES];
    unsigned char variable[VARIABLES][VARIABLE_BYTES];
};

struct cluster {
    struct group *group;
    struct meeting meeting;
    bool is_live;
    bool has_met; // all of its groups have started
};

static struct {
    const struct simulate_launch *launch;
    struct simulate_calls calls;
    struct random random;
    ucontext_t loop;
    struct lane *running;
    bool has_advanced;
    char fault[300];

    // Kept from launch to launch.
    unsigned char *stacks;
    size_t stack_count;

    unsigned char *memory;
    struct lane *lane;
    struct group *group;
    struct cluster *cluster;
    int clusters;     // that are under way at once
    int slow_cluster; // falls behind
    uint64_t next;    // group to be started
} run;

struct simulate_counts simulate_counts;

static uint64_t chance(uint64_t of)
{
    return random_next(&run.random) % of;
}

static void note_fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note_fault(const char *fmt, ...)
{
    if (run.fault[0])
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(run.fault, sizeof run.fault, fmt, args);
    va_end(args);
}

static void leave_lane(void)
{
    struct lane *lane = run.running;
    swapcontext(&lane->context, &run.loop);
}

// Lanes that have ended will not come.
static void check_meeting(const struct meeting *m, const char *of)
{
    if (m->waiting && m->ended && m->waiting + m->ended == m->members)
        note_fault("%d lanes wait at the %s's barrier in line %d for %d that have ended",
                   m->waiting, of, m->line, m->ended);
}

static void wake(struct group *group, enum lane_state state)
{
    for (int i = 0; i < run.launch->lanes; i++) {
        if (group->lane[i].state == state)
            group->lane[i].state = LANE_IS_READY;
    }
}

static void meet(struct meeting *m, enum lane_state state, int line, const char *of)
{
    struct lane *lane = run.running;

    if (m->waiting && m->line != line)
        note_fault("lanes wait at the %s's barriers in lines %d and %d at once", of,
                   m->line, line);
    lane->state = state;
    m->line = line;
    m->waiting++;
    run.has_advanced = true;
    check_meeting(m, of);
    if (m->waiting == m->members) {
        const int groups = state == LANE_MEETS_CLUSTER ? run.launch->cluster : 1;
        for (int i = 0; i < groups; i++)
            wake(groups > 1 ? &lane->group->cluster->group[i] : lane->group, state);
        m->waiting = 0;
        simulate_counts.barriers++;
        lane->group->cluster->has_met |= state == LANE_MEETS_CLUSTER;
    }
    leave_lane();
}

static void barrier(int line)
{
    meet(&run.running->group->meeting, LANE_MEETS_GROUP, line, "group");
}

static void cluster_barrier(int line)
{
    meet(&run.running->group->cluster->meeting, LANE_MEETS_CLUSTER, line, "cluster");
}

static void wait_for_others(void)
{
    simulate_counts.waits++;
    leave_lane();
}

static void note_count(void)
{
    run.has_advanced = true;
}

static void *group_memory(size_t bytes)
{
    if (bytes > run.launch->group_bytes) {
        note_fault("a tile of %zu bytes in %llu bytes of group memory", bytes,
                   (unsigned long long)run.launch->group_bytes);
        leave_lane();
    }
    return run.running->group->memory;
}

static void outside(const char *array, long long i, long long from, long long to)
{
    const struct lane *lane = run.running;
    note_fault("lane %u of group %llu reads or writes %s[%lld]; there is %lld to %lld",
               lane->index, (unsigned long long)lane->group->number, array, i, from,
               to - 1);
    leave_lane();
}

static void *shared(const void *key, size_t bytes)
{
    struct group *group = run.running->group;
    int i = 0;
    while (i < group->variables && group->key[i] != key)
        i++;
    if (i == VARIABLES || bytes > VARIABLE_BYTES) {
        note_fault("a group has more than %d variables, or one of %zu bytes", VARIABLES,
                   bytes);
        leave_lane();
    }
    if (i == group->variables)
        group->key[group->variables++] = key;
    return group->variable[i];
}

// A group that has not started may lose what is stored; of one that has ended the memory
// may be another's.
static void *cluster_memory(unsigned rank, size_t at_bytes, size_t bytes)
{
    struct cluster *cluster = run.running->group->cluster;
    const bool is_inside = rank < (unsigned)run.launch->cluster &&
                           at_bytes % bytes == 0 && at_bytes < run.launch->group_bytes;
    if (!is_inside)
        note_fault(
            "a store to byte %zu of group %u; a cluster has %d groups of %llu bytes",
            at_bytes, rank, run.launch->cluster,
            (unsigned long long)run.launch->group_bytes);
    else if (!cluster->has_met)
        note_fault("a store to a group of the cluster that may not have started");
    else if (cluster->group[rank].meeting.ended == run.launch->lanes)
        note_fault("a store to a group of the cluster that has ended");
    if (run.fault[0])
        leave_lane();
    simulate_counts.cluster_stores++;
    return cluster->group[rank].memory + at_bytes;
}

static void lane_main(void)
{
    run.launch->code->enter(run.launch->slots);

    struct lane *lane = run.running;
    struct group *group = lane->group;
    lane->state = LANE_HAS_ENDED;
    group->meeting.ended++;
    group->cluster->meeting.ended++;
    check_meeting(&group->meeting, "group");
    check_meeting(&group->cluster->meeting, "cluster");
    if (memcmp(lane->stack, &canary, sizeof canary) != 0)
        note_fault("a lane needs more than %d bytes of stack", STACK_BYTES);
    run.has_advanced = true;
    leave_lane();
}

static void init_lane(struct lane *lane)
{
    memcpy(lane->stack, &canary, sizeof canary);
    lane->state = LANE_IS_READY;
    getcontext(&lane->context);
    lane->context.uc_stack.ss_sp = lane->stack;
    lane->context.uc_stack.ss_size = STACK_BYTES;
    lane->context.uc_link = NULL;
    makecontext(&lane->context, lane_main, 0);
}

static void start_cluster(struct cluster *cluster)
{
    const int groups = run.launch->cluster, lanes = run.launch->lanes;

    cluster->is_live = run.next < run.launch->groups;
    if (!cluster->is_live)
        return;
    cluster->has_met = false;
    cluster->meeting = (struct meeting){ .members = groups * lanes };
    for (int i = 0; i < groups; i++) {
        struct group *group = &cluster->group[i];
        group->number = run.next++;
        group->is_started = false;
        group->variables = 0;
        group->meeting = (struct meeting){ .members = lanes };
        for (int j = 0; j < lanes; j++)
            init_lane(&group->lane[j]);
    }
}

static void resume(struct lane *lane)
{
    run.running = lane;
    run.calls.lane.x = lane->index;
    run.calls.group.x = (unsigned)lane->group->number;
    swapcontext(&run.loop, &lane->context);
}

// Each lane that can runs, from a random one on, forwards or backwards. Where it need not be
// fair, some are left out, so that a group is seen in between.
static void take_turn(struct group *group, bool is_fair)
{
    const int lanes = run.launch->lanes;
    const int first = (int)chance((uint64_t)lanes), step = chance(2) ? 1 : lanes - 1;
    const int taken = is_fair || chance(4) ? lanes : (int)chance((uint64_t)lanes);

    if (!group->is_started) {
        memset(group->memory, POISON, run.launch->group_bytes);
        memset(group->variable, POISON, sizeof group->variable);
        group->is_started = true;
    }
    for (int i = 0, at = first; i < taken && !run.fault[0]; i++) {
        if (group->lane[at].state == LANE_IS_READY)
            resume(&group->lane[at]);
        at = (at + step) % lanes;
    }
}

static bool falls_behind(int cluster)
{
    return cluster == run.slow_cluster ? chance(64) != 0 : chance(4) == 0;
}

// Give every group a turn, or most, when nothing went on in `idle` sweeps. Return whether any
// was under way.
static bool sweep(int idle)
{
    const bool is_fair = idle >= LAX_SWEEPS;
    bool any = false;
    for (int i = 0; i < run.clusters && !run.fault[0]; i++) {
        struct cluster *cluster = &run.cluster[i];
        if (!cluster->is_live)
            continue;
        any = true;
        for (int j = 0; j < run.launch->cluster; j++) {
            if (idle > 0 || !falls_behind(i))
                take_turn(&cluster->group[j], is_fair);
        }
        if (cluster->meeting.ended == cluster->meeting.members) {
            simulate_counts.groups += (uint64_t)run.launch->cluster;
            start_cluster(cluster);
        }
    }
    if (chance(30) == 0)
        run.slow_cluster = (int)chance((uint64_t)run.clusters);
    return any;
}

static void run_to_the_end(void)
{
    int idle = 0;
    do {
        run.has_advanced = false;
        if (!sweep(idle))
            return;
        idle = run.has_advanced ? 0 : idle + 1;
    } while (!run.fault[0] && idle < LAX_SWEEPS + FAIR_SWEEPS);
    note_fault(
        "nobody can go on: lanes wait at barriers that others do not reach, or for "
        "counters that nobody raises (group %llu waits in line %d)",
        (unsigned long long)run.group[0].number, run.group[0].meeting.line);
}

static size_t memory_bytes(void)
{
    return (run.launch->group_bytes + 256) / 256 * 256;
}

static void place_groups(void)
{
    const struct simulate_launch *launch = run.launch;
    const int groups = run.clusters * launch->cluster;

    for (int i = 0; i < run.clusters; i++)
        run.cluster[i].group = &run.group[i * launch->cluster];
    for (int i = 0; i < groups; i++) {
        struct group *group = &run.group[i];
        group->cluster = &run.cluster[i / launch->cluster];
        group->lane = &run.lane[i * launch->lanes];
        group->memory = run.memory + (size_t)i * memory_bytes();
    }
    for (int i = 0; i < groups * launch->lanes; i++) {
        run.lane[i].index = (unsigned)(i % launch->lanes);
        run.lane[i].group = &run.group[i / launch->lanes];
        run.lane[i].stack = run.stacks + (size_t)i * STACK_BYTES;
    }
}

// Stacks are taken from the system page by page as they are used.
static kallima_status make_stacks(size_t count)
{
    if (count <= run.stack_count)
        return KALLIMA_OK;
    simulate_clear();
    void *stacks = mmap(NULL, count * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        return kal_fail(NULL, KALLIMA_E_MEMORY, "simulate: no stacks for %zu lanes",
                        count);
    run.stacks = stacks;
    run.stack_count = count;
    return KALLIMA_OK;
}

static kallima_status make_array(void *out, uint64_t count, uint64_t size)
{
    void *made;
    KAL_TRY(kal_alloc(NULL, &made, count, size));
    memcpy(out, &made, sizeof made);
    return KALLIMA_OK;
}

static kallima_status make_groups(void)
{
    const struct simulate_launch *launch = run.launch;
    const int lanes = launch->cluster * launch->lanes; // of a cluster
    int most = GROUPS_AT_ONCE / launch->cluster;

    if (most > LANES_AT_ONCE / lanes)
        most = LANES_AT_ONCE / lanes;
    if (most < 2)
        most = 2;
    run.clusters = (int)launch->groups / launch->cluster;
    if (run.clusters > most)
        run.clusters = most;
    const uint64_t groups = (uint64_t)(run.clusters * launch->cluster);
    const uint64_t all_lanes = groups * (uint64_t)launch->lanes;
    KAL_TRY(make_stacks((size_t)all_lanes));
    KAL_TRY(make_array(&run.cluster, (uint64_t)run.clusters, sizeof *run.cluster));
    KAL_TRY(make_array(&run.group, groups, sizeof *run.group));
    KAL_TRY(make_array(&run.lane, all_lanes, sizeof *run.lane));
    return make_array(&run.memory, groups, memory_bytes());
}

static void free_groups(void)
{
    kal_free(NULL, run.memory);
    kal_free(NULL, run.lane);
    kal_free(NULL, run.group);
    kal_free(NULL, run.cluster);
    run.memory = NULL;
    run.lane = NULL;
    run.group = NULL;
    run.cluster = NULL;
}

kallima_status simulate_run(const struct simulate_launch *launch)
{
    KAL_REQUIRE(NULL, launch->groups > 0 && launch->groups <= INT32_MAX);
    KAL_REQUIRE(NULL, launch->groups % (uint64_t)launch->cluster == 0);
    run.launch = launch;
    run.next = 0;
    run.fault[0] = '\0';
    run.calls = (struct simulate_calls){
        .barrier = barrier,
        .cluster_barrier = cluster_barrier,
        .wait = wait_for_others,
        .note_count = note_count,
        .group_memory = group_memory,
        .shared = shared,
        .cluster_memory = cluster_memory,
        .outside = outside,
    };
    *launch->code->calls = &run.calls;
    kallima_status status = make_groups();
    if (!status) {
        place_groups();
        for (int i = 0; i < run.clusters; i++)
            start_cluster(&run.cluster[i]);
        run_to_the_end();
        if (run.fault[0])
            status = kal_fail(NULL, KALLIMA_E_DEVICE, "simulate: %s", run.fault);
    }
    free_groups();
    return status;
}

void simulate_clear(void)
{
    if (run.stacks)
        munmap(run.stacks, run.stack_count * STACK_BYTES);
    run.stacks = NULL;
    run.stack_count = 0;
}
