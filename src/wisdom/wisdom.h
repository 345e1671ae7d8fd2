// SPDX-License-Identifier: MIT
// What tuning learnt: a set of entries that many threads may ask and add to at once, its
// text form, and the files that it is kept in. The format is in docs/wisdom-format.md.
//
// Two entries are about the same thing if kind, owner and key agree and, of plans, trials
// and bad recipes, the recipe. Of those one stays, the first in a total order: more
// effort, less time, less spread, a lesser prediction, the lesser text. So merging may be
// done in any order and repeated.
#ifndef KAL_WISDOM_WISDOM_H_
#define KAL_WISDOM_WISDOM_H_

#include <kallima/wisdom.h>
#include <pthread.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/text.h"
#include "problem/problem.h"

enum {
    KAL_WISDOM_FORMAT = 1,
    KAL_WISDOM_MAX_STRING = 4096,    // characters
    KAL_WISDOM_MAX_LINE = 65536,     // bytes; any entry fits
    KAL_WISDOM_MAX_ENTRIES = 65536,  // of one wisdom
    KAL_WISDOM_MAX_BYTES = 64 << 20, // of a text
};

#define KAL_WISDOM_MAX_TIME_NS 1e12
#define KAL_WISDOM_MAX_SPREAD  1e6

/** An entry that is kept: immutable, its strings behind it. */
struct kal_wisdom_record {
    kallima_wisdom_entry entry;
    bool is_system; // known from the system's file alone
};

/** A filter that is remembered, its strings behind it. */
struct kal_wisdom_forgotten {
    kallima_wisdom_filter filter;
};

struct kallima_wisdom {
    struct kal_host host;
    pthread_mutex_t lock;              // of all below but the places, which do not change
    struct kal_wisdom_record **record; // sorted: kal_wisdom_compare()
    int64_t count, capacity;
    struct kal_wisdom_forgotten **forgotten; // since the last saving
    int64_t forgotten_count, forgotten_capacity;
    int64_t forgotten_start;    // number of the first: how many were dropped before
    char *system_place, *place; // files that are read; NULL: none
    bool is_read_only;          // nothing is written to `place`
};

// --- store.c: the set --------------------------------------------------------------------

/**
 * Create an empty wisdom that is kept nowhere.
 *
 * Owner: the caller frees *out with kallima_wisdom_destroy().
 * Error: E_MEMORY  exhausted; *out is NULL
 */
kallima_status kal_wisdom_create(kallima_wisdom **out, const struct kal_host *host);

/**
 * Merge one entry in; it is copied, and its numbers are rounded as the text rounds them.
 * What the reason holds beside printable ASCII becomes '?', and what is too long is cut.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  the entry cannot be written as a line: kal_wisdom_find_fault()
 *         E_WISDOM    there is no room for more entries
 *         E_MEMORY    exhausted
 */
kallima_status kal_wisdom_add(kallima_wisdom *wisdom, const kallima_wisdom_entry *entry);

/**
 * Find what is known of `key`: of plans the best whose recipe is not bad. out->kind is
 * KALLIMA_WISDOM_ANY if nothing is; of bad recipes it is any one.
 *
 * Owner:  the strings live in `arena`; where that is NULL they are NULL.
 * Thread: any.
 * Error:  E_MEMORY  exhausted
 */
kallima_status kal_wisdom_find(const kallima_wisdom *wisdom, kallima_wisdom_kind kind,
                               const kallima_wisdom_owner *owner, const char *key,
                               struct kal_arena *arena, kallima_wisdom_entry *out);

/**
 * Takes an entry, whose strings are good for the call. It may not use the wisdom. Any status
 * but OK ends the visits and is passed on.
 */
typedef kallima_status kal_wisdom_visit(void *context, const kallima_wisdom_entry *entry);

/**
 * Visit all that is known of `key`, sorted by value.
 *
 * Thread: any; the wisdom is locked meanwhile.
 * Error:  what `visit` returned
 */
kallima_status kal_wisdom_visit_key(const kallima_wisdom *wisdom,
                                    kallima_wisdom_kind kind,
                                    const kallima_wisdom_owner *owner, const char *key,
                                    kal_wisdom_visit *visit, void *context);

/** Whether a recipe is known to compute the problem `key` wrongly. Any thread. */
bool kal_wisdom_is_bad(const kallima_wisdom *wisdom, const kallima_wisdom_owner *owner,
                       const char *key, const char *recipe);

/** Whether there is an entry about the same thing, with the lock held. */
bool kal_wisdom_knows(const kallima_wisdom *wisdom, const kallima_wisdom_entry *entry);

/** As kal_wisdom_find(), with the lock held: the record, or NULL. */
const struct kal_wisdom_record *kal_wisdom_best(const kallima_wisdom *wisdom,
                                                kallima_wisdom_kind kind,
                                                const kallima_wisdom_owner *owner,
                                                const char *key);

/** As kallima_wisdom_forget(), for arguments that are sound. */
kallima_status kal_wisdom_forget(kallima_wisdom *wisdom,
                                 const kallima_wisdom_filter *filter, int64_t *count);

/** Take the entries that match out, and remember nothing. Returns how many. */
int64_t kal_wisdom_remove(kallima_wisdom *wisdom, const kallima_wisdom_filter *filter);

/** Drop the remembered filters whose number is below `end`, if nobody else has. */
void kal_wisdom_drop_forgotten(kallima_wisdom *wisdom, int64_t end);

/**
 * As kal_wisdom_add() for an entry that is sound, with the lock held. E_WISDOM, that there is
 * no room, is not logged: kal_wisdom_fail_full() does.
 */
kallima_status kal_wisdom_insert(kallima_wisdom *wisdom,
                                 const kallima_wisdom_entry *entry, bool is_system);

kallima_status kal_wisdom_fail_full(const kallima_wisdom *wisdom);

/** Whether an entry matches a filter, whose strings may hold *. */
bool kal_wisdom_matches(const kallima_wisdom_entry *entry,
                        const kallima_wisdom_filter *filter);

/** Take and give back the lock. */
void kal_wisdom_lock(const kallima_wisdom *wisdom);
void kal_wisdom_unlock(const kallima_wisdom *wisdom);

// --- key.c: whose, and about what --------------------------------------------------------

/** The owner of what is learnt on a device. Characters that are not printable become %xx. */
void kal_wisdom_owner_init(kallima_wisdom_owner *owner, const kallima_device_info *info);

/**
 * Find the plan of a problem: as kal_wisdom_find(), its text being the key.
 *
 * Owner, Thread, Error: as kal_wisdom_find()
 */
kallima_status kal_wisdom_find_plan(const kallima_wisdom *wisdom,
                                    const kallima_wisdom_owner *owner,
                                    const struct kal_problem *problem,
                                    struct kal_arena *arena, kallima_wisdom_entry *out);

/** Append why plans of `owner` do not follow a record; nothing if they do. */
void kal_wisdom_explain(const kallima_wisdom *wisdom,
                        const struct kal_wisdom_record *record,
                        const kallima_wisdom_owner *owner, struct kal_text *text);

// --- format.c: the text ------------------------------------------------------------------

/** Whether entries of this kind with different values are about different things. */
bool kal_wisdom_value_is_key(int32_t kind);

/** Return the words for a kind and for an effort; of a kind out of range NULL. */
const char *kal_wisdom_kind_name(int32_t kind);
const char *kal_wisdom_effort_name(int32_t effort);

/** Return what makes an entry impossible to write, or NULL if it is sound. */
const char *kal_wisdom_find_fault(const kallima_wisdom_entry *entry);

/**
 * Make of an entry what its line keeps: rounded numbers, and nothing that its kind does not
 * have.
 */
kallima_wisdom_entry kal_wisdom_normalise(const kallima_wisdom_entry *entry);

/** Append the first line of a text, or the line of an entry. */
void kal_wisdom_print_head(struct kal_text *text);
void kal_wisdom_print_entry(struct kal_text *text, const kallima_wisdom_entry *entry);

/** Append all of a wisdom, with the lock held. */
void kal_wisdom_print(struct kal_text *text, const kallima_wisdom *wisdom);

/** A text to be read. */
struct kal_wisdom_source {
    const char *place; // for reports
    const char *text;
    size_t length;
    bool is_system;
    kallima_wisdom_report report; // NULL: none
    void *user;
};

/** What was refused of a text. */
struct kal_wisdom_faults {
    int64_t count; // of lines
    bool is_whole; // the text is no wisdom of this format: nothing is taken
    int64_t line;  // the first
    char reason[256];
};

/**
 * Merge the lines of a text in. What is refused is counted and reported, not logged.
 *
 * Thread: any.
 * Error:  E_MEMORY  exhausted; some lines may have been taken
 */
kallima_status kal_wisdom_read(kallima_wisdom *wisdom,
                               const struct kal_wisdom_source *source,
                               struct kal_wisdom_faults *faults);

/** Log what was refused, if anything was, and return E_WISDOM then. */
kallima_status kal_wisdom_log_faults(const kallima_wisdom *wisdom, const char *place,
                                     const struct kal_wisdom_faults *faults);

/**
 * Append a number of a fact, behind a space if it is not the first: nine digits, the same
 * in every locale.
 */
void kal_wisdom_print_number(struct kal_text *text, double number);

/** Read the numbers of a fact, at most `capacity`. Returns how many there are, or -1. */
int kal_wisdom_parse_numbers(const char *text, double *numbers, int capacity);

// --- file.c: where it is kept ------------------------------------------------------------

/** Whether `option` or, if that is NULL, KALLIMA_WISDOM says where it is kept, if anywhere. */
bool kal_wisdom_is_named(const char *option);

/**
 * Set where the wisdom is read and kept: the file `option` if it is not NULL, else that of
 * KALLIMA_WISDOM ("" and "off": nowhere), else `system` (NULL: that of the installation),
 * read only, and the user's, as kal_place_find() finds it. With `is_read_only`, or
 * KALLIMA_WISDOM_READ_ONLY, nothing is written.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_wisdom_set_places(kallima_wisdom *wisdom, const char *option,
                                     bool is_read_only, const char *system);

/** Whether kal_wisdom_save() with NULL has a file to write to. */
bool kal_wisdom_is_kept(const kallima_wisdom *wisdom);

/** As kallima_wisdom_load() and kallima_wisdom_save(), for arguments that are sound. */
kallima_status kal_wisdom_load(kallima_wisdom *wisdom, const char *file,
                               kallima_wisdom_report report, void *user);
kallima_status kal_wisdom_save(kallima_wisdom *wisdom, const char *file);

#endif
