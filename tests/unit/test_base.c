// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "../counting.h"
#include "../rows.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/text.h"

static struct counting counting;

static struct kal_host fresh_host(void)
{
    memset(&counting, 0, sizeof counting);
    return (struct kal_host){ .allocator = counting_allocator(&counting) };
}

static bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % 64 == 0;
}

static void allocations_are_aligned_and_counted(void **state)
{
    const struct kal_host host = fresh_host();
    const struct kal_host plain = { 0 };
    void *memory = NULL;

    (void)state;
    for (uint64_t bytes = 1; bytes < 300; bytes += 7) {
        ROW_CHECK(kal_alloc(&host, &memory, bytes, 3) == KALLIMA_OK);
        ROW_CHECK(memory && is_aligned(memory) && counting.live == 1);
        memset(memory, 1, (size_t)bytes * 3);
        kal_free(&host, memory);
        ROW_CHECK(kal_alloc(&plain, &memory, bytes, 3) == KALLIMA_OK);
        ROW_CHECK(memory && is_aligned(memory));
        memset(memory, 1, (size_t)bytes * 3);
        kal_free(&plain, memory);
        ROW_CHECK(kal_alloc(NULL, &memory, bytes, 1) == KALLIMA_OK && memory);
        kal_free(NULL, memory);
    }
    kal_free(&host, NULL);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

static void products_that_overflow_are_refused(void **state)
{
    static const uint64_t factors[][2] = {
        { UINT64_MAX, 2 },          { (uint64_t)1 << 32, (uint64_t)1 << 32 },
        { UINT64_MAX, UINT64_MAX }, { ((uint64_t)1 << 63) + 1, 2 },
        { UINT64_MAX, 1 },          { UINT64_MAX - 30, 1 },
    };
    const struct kal_host host = fresh_host();

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(factors); i++) {
        void *memory = &counting;
        struct kal_arena arena;
        ROW_CHECK(kal_alloc(&host, &memory, factors[i][0], factors[i][1]) ==
                  KALLIMA_E_MEMORY);
        ROW_CHECK(memory == NULL && counting.live == 0);
        kal_arena_init(&arena, &host);
        memory = &counting;
        ROW_CHECK(kal_arena_take(&arena, &memory, factors[i][0], factors[i][1]) ==
                  KALLIMA_E_MEMORY);
        ROW_CHECK(memory == NULL);
        kal_arena_clear(&arena);
        ROW_CHECK(counting.live == 0);
    }
    ROWS_FINISH();
}

static void arenas_hand_out_zeroed_disjoint_memory(void **state)
{
    enum { TAKEN = 60 };
    const struct kal_host host = fresh_host();
    unsigned char *taken[TAKEN];
    struct kal_arena arena;

    (void)state;
    kal_arena_init(&arena, &host);
    for (int i = 0; i < TAKEN; i++) {
        const uint64_t bytes = (uint64_t)(i * i * i % 9000) + 1;
        void *memory = NULL;
        ROW_CHECK(kal_arena_take(&arena, &memory, bytes, 1) == KALLIMA_OK);
        ROW_CHECK(memory && is_aligned(memory));
        taken[i] = (unsigned char *)memory;
        for (uint64_t k = 0; k < bytes; k++) {
            if (taken[i][k] != 0)
                row_fail("byte %llu of piece %d is not zero", (unsigned long long)k, i);
        }
        memset(taken[i], i + 1, (size_t)bytes);
    }
    for (int i = 0; i < TAKEN; i++) {
        for (int k = 0; k < i * i * i % 9000 + 1; k++) {
            if (taken[i][k] != i + 1)
                row_fail("piece %d was overwritten", i);
        }
    }
    ROW_CHECK(counting.live > 0 && counting.live <= TAKEN);
    kal_arena_clear(&arena);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

static void texts_grow(void **state)
{
    const struct kal_host host = fresh_host();
    struct kal_text text;
    char expected[20000] = "";
    size_t length = 0;

    (void)state;
    kal_text_init(&text, &host);
    for (int i = 0; i < 2000; i++) {
        kal_text_add(&text, "%d;", i * 31);
        length += (size_t)sprintf(expected + length, "%d;", i * 31);
    }
    ROW_CHECK(text.status == KALLIMA_OK && text.length == length);
    ROW_CHECK(text.data && strcmp(text.data, expected) == 0);
    kal_text_clear(&text);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

static void texts_keep_their_first_failure(void **state)
{
    const struct kal_host host = fresh_host();
    struct kal_text text;
    char out[10];

    (void)state;
    counting.fail_at = 1;
    kal_text_init(&text, &host);
    kal_text_add(&text, "lost");
    kal_text_add(&text, "also lost");
    ROW_CHECK(text.status == KALLIMA_E_MEMORY && counting.calls == 1);
    ROW_CHECK(kal_text_export(&text, out, sizeof out, NULL) == KALLIMA_E_MEMORY);
    kal_text_clear(&text);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void texts_are_exported_cut(void **state)
{
    const struct kal_host host = fresh_host();
    struct kal_text text;
    char out[8] = "#######";
    size_t length = 0;

    (void)state;
    kal_text_init(&text, &host);
    ROW_CHECK(kal_text_export(&text, out, 4, &length) == KALLIMA_OK);
    ROW_CHECK(out[0] == '\0' && length == 0);
    kal_text_add(&text, "abcdef");
    ROW_CHECK(kal_text_export(&text, out, 4, &length) == KALLIMA_OK && length == 6);
    ROW_CHECK(strcmp(out, "abc") == 0 && out[4] == '#');
    ROW_CHECK(kal_text_export(&text, NULL, 0, &length) == KALLIMA_OK && length == 6);
    ROW_CHECK(kal_text_export(&text, NULL, 1, NULL) == KALLIMA_E_ARGUMENT);
    kal_text_clear(&text);
    ROWS_FINISH();
}

struct heard {
    int count;
    kallima_status status;
    char sentence[100];
};

static void hear(void *user, kallima_status status, const char *sentence)
{
    struct heard *heard = (struct heard *)user;
    heard->count++;
    heard->status = status;
    strncpy(heard->sentence, sentence, sizeof heard->sentence - 1);
}

static void failures_are_logged_once(void **state)
{
    struct heard heard = { 0 };
    const struct kal_host host = { .log = hear, .log_user = &heard };

    (void)state;
    ROW_CHECK(kal_fail(&host, KALLIMA_E_DEVICE, "wheel %d fell off", 3) ==
              KALLIMA_E_DEVICE);
    ROW_CHECK(heard.count == 1 && heard.status == KALLIMA_E_DEVICE);
    ROW_CHECK(strcmp(heard.sentence, "wheel 3 fell off") == 0);
    ROW_CHECK(strcmp(kallima_last_error(), "wheel 3 fell off") == 0);
    ROW_CHECK(kal_fail(NULL, KALLIMA_E_MEMORY, "silent") == KALLIMA_E_MEMORY);
    ROW_CHECK(strcmp(kallima_last_error(), "silent") == 0 && heard.count == 1);
    ROWS_FINISH();
}

static void statuses_have_names(void **state)
{
    (void)state;
    ROW_CHECK(strcmp(kallima_status_name(KALLIMA_OK), "OK") == 0);
    ROW_CHECK(strcmp(kallima_status_name(KALLIMA_E_RECIPE), "E_RECIPE") == 0);
    ROW_CHECK(strcmp(kallima_status_name((kallima_status)99), "unknown") == 0);
    ROW_CHECK(strcmp(kallima_status_text((kallima_status)-1), "unknown status") == 0);
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_counted),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(arenas_hand_out_zeroed_disjoint_memory),
        cmocka_unit_test(texts_grow),
        cmocka_unit_test(texts_keep_their_first_failure),
        cmocka_unit_test(texts_are_exported_cut),
        cmocka_unit_test(failures_are_logged_once),
        cmocka_unit_test(statuses_have_names),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
