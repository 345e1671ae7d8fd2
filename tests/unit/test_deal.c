// SPDX-License-Identifier: MIT
// Threads of a CPU take of each other's work: each thing is done once, by whoever comes to it.
#include <pthread.h>
#include <stdatomic.h>

#include "../rows.h"
#include "device/cpu/deal.h"
#include "device/cpu/threads.h"

// What is dealt: how many things, together, in pieces of each of so many parts.
static const struct {
    int count, together, pieces, parts;
} deals[] = {
    { 1, 1, 1, 2 },     { 1, 1, 8, 4 },     { 7, 1, 8, 3 },   { 64, 2, 4, 2 },
    { 65, 2, 32, 4 },   { 1000, 3, 32, 4 }, { 999, 8, 8, 4 }, { 5, 4, 4, 4 },
    { 4096, 1, 32, 2 }, { 12345, 7, 5, 3 },
};

enum { MOST_THINGS = 12345, MOST_PARTS = 4, ROUNDS = 20 };

// How often each thing was taken.
static atomic_int taken[MOST_THINGS];

// All that a worker comes to, of which each piece lies in one part, and has whole groups,
// or the last ones of the part.
static int take_all(struct cpu_worker *worker, struct cpu_deal *deal)
{
    struct cpu_taken some;
    int wrong = 0;

    while (kal_cpu_take(worker, deal, &some)) {
        const int64_t size = some.end - some.begin;
        wrong +=
            size < 1 || some.end > some.part_end ||
            (deal->pieces > 1 && size % deal->together != 0 && some.end != some.part_end);
        for (int64_t i = some.begin; i < some.end; i++)
            atomic_fetch_add(&taken[i], 1);
    }
    return wrong;
}

static struct cpu_worker worker_of(struct cpu_meeting *meeting, int part, int parts)
{
    return (struct cpu_worker){ .part = part, .parts = parts, .meeting = meeting };
}

// What those have who have not come is taken by who has, but where each does its own;
// then nothing is left for them.
static void who_comes_first_takes_what_others_have_left(void **state)
{
    (void)state;
    for (size_t d = 0; d < KAL_COUNT(deals); d++) {
        const int count = deals[d].count, parts = deals[d].parts;
        struct cpu_meeting meeting;
        int first = 0, wrong = 0;

        kal_cpu_meeting_init(&meeting, parts);
        for (int i = 0; i < count; i++)
            atomic_store(&taken[i], 0);
        for (int part = 0; part < parts; part++) {
            struct cpu_worker worker = worker_of(&meeting, part, parts);
            struct cpu_deal deal =
                kal_cpu_deal(&worker, count, deals[d].together, deals[d].pieces);
            wrong += take_all(&worker, &deal);
            for (int i = 0; i < count && part == 0 && deal.pieces > 1; i++)
                first += atomic_load(&taken[i]) == 1;
            row_ran();
            if (part == 0 && deal.pieces > 1 && first != count)
                row_fail("deal %d: the first one took %d of %d", (int)d, first, count);
        }
        for (int i = 0; i < count; i++)
            wrong += atomic_load(&taken[i]) != 1;
        if (wrong)
            row_fail("deal %d: %d are wrong", (int)d, wrong);
    }
    ROWS_FINISH();
}

// More pieces than a word has room for.
static void any_number_of_things_is_dealt(void **state)
{
    enum { PARTS = 3 };
    static const int64_t counts[] = { 1, 1 << 24, (int64_t)1 << 40 };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(counts); i++) {
        struct cpu_meeting meeting;
        struct cpu_taken some;
        int64_t sum = 0;

        kal_cpu_meeting_init(&meeting, PARTS);
        for (int part = 0; part < PARTS; part++) {
            struct cpu_worker worker = worker_of(&meeting, part, PARTS);
            struct cpu_deal deal = kal_cpu_deal(&worker, counts[i], 1, counts[i]);
            while (kal_cpu_take(&worker, &deal, &some))
                sum += some.end - some.begin;
        }
        ROW_CHECK(sum == counts[i]);
    }
    ROWS_FINISH();
}

struct dealer {
    pthread_t thread;
    struct cpu_worker worker;
    size_t deal;
    int wrong;
};

// Deals one after the other, between which all meet, as passes do.
static void *deal_rounds(void *argument)
{
    struct dealer *d = (struct dealer *)argument;

    for (int i = 0; i < ROUNDS; i++) {
        kal_cpu_begin(&d->worker);
        struct cpu_deal deal =
            kal_cpu_deal(&d->worker, deals[d->deal].count, deals[d->deal].together,
                         deals[d->deal].pieces);
        d->wrong += take_all(&d->worker, &deal);
    }
    return NULL;
}

static void each_thing_is_taken_once(void **state)
{
    (void)state;
    for (size_t d = 0; d < KAL_COUNT(deals); d++) {
        struct dealer dealers[MOST_PARTS];
        struct cpu_meeting meeting;
        int wrong = 0;

        row_ran();
        kal_cpu_meeting_init(&meeting, deals[d].parts);
        for (int i = 0; i < deals[d].count; i++)
            atomic_store(&taken[i], 0);
        for (int i = 0; i < deals[d].parts; i++) {
            dealers[i] =
                (struct dealer){ .worker = worker_of(&meeting, i, deals[d].parts),
                                 .deal = d };
            assert_int_equal(
                pthread_create(&dealers[i].thread, NULL, deal_rounds, &dealers[i]), 0);
        }
        for (int i = 0; i < deals[d].parts; i++) {
            pthread_join(dealers[i].thread, NULL);
            wrong += dealers[i].wrong;
        }
        for (int i = 0; i < deals[d].count; i++)
            wrong += atomic_load(&taken[i]) != ROUNDS;
        if (wrong)
            row_fail("deal %d: %d are wrong", (int)d, wrong);
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_comes_first_takes_what_others_have_left),
        cmocka_unit_test(any_number_of_things_is_dealt),
        cmocka_unit_test(each_thing_is_taken_once),
    };
    return cmocka_run_group_tests_name("deal", tests, NULL, NULL);
}
