// SPDX-License-Identifier: MIT
// Wisdom: what tuning learnt, as text that can be kept, read, merged and forgotten.
#ifndef KALLIMA_WISDOM_H_
#define KALLIMA_WISDOM_H_

#include <kallima/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What an entry is about. */
typedef enum kallima_wisdom_kind {
    KALLIMA_WISDOM_ANY = 0, // in a filter: every kind
    KALLIMA_WISDOM_PLAN,    // a problem, the recipe that was fast, and its time
    KALLIMA_WISDOM_PASS,    // a pass, by a word that stands for it, and its time
    KALLIMA_WISDOM_BAD,     // a problem, a recipe that computed wrongly, and how
    KALLIMA_WISDOM_FACT,    // a constant of the device, and its numbers
    KALLIMA_WISDOM_TRIAL,   // a problem, a recipe that was measured, and its times
    KALLIMA_WISDOM_KIND_COUNT
} kallima_wisdom_kind;

/** Whose times they are. Strings hold printable ASCII alone. */
typedef struct kallima_wisdom_owner {
    char device[256]; // API and name: "cuda NVIDIA H200"
    char driver[256]; // what runs it; of the cpu also how many threads
    char version[32]; // of the library
} kallima_wisdom_owner;

/**
 * One thing that was learnt. What a kind does not have is empty or 0.
 *
 * Unit: numbers are rounded when they are taken: times to 0.001 ns, spreads to 0.0001.
 */
typedef struct kallima_wisdom_entry {
    int32_t kind;                          // kallima_wisdom_kind
    int32_t effort;                        // plan: kallima_effort
    const char *device, *driver, *version; // as kallima_wisdom_owner
    const char *key;   // plan, trial, bad: the problem; pass: a word; fact: a name
    const char *value; // plan, trial, bad: the recipe; fact: numbers, with spaces between
    const char *reason;  // bad: what was wrong
    double time_ns;      // plan, pass, trial: median of the times measured
    double spread;       // of all but bad: relative spread of what was measured
    double predicted_ns; // trial: by the cost model before it was measured; 0: nothing
} kallima_wisdom_entry;

/**
 * Which entries are meant: those that match every field. All zero means all. In a string
 * each * stands for any characters, or none.
 */
typedef struct kallima_wisdom_filter {
    int32_t kind;                                // kallima_wisdom_kind
    int32_t reserved;                            // zero
    const char *device, *driver, *version, *key; // NULL: any
} kallima_wisdom_filter;

/**
 * Receives one sentence about each line that is refused: `place` is the file or "text",
 * `line` counts from 1; 0: the whole file.
 */
typedef void (*kallima_wisdom_report)(void *user, const char *place, int64_t line,
                                      const char *reason);

/**
 * Create a wisdom without entries. Of `options` (NULL: the default) it takes the log, the
 * allocator, and `wisdom` and `wisdom_read_only`, which say where it is kept, as for a
 * device; nothing is read.
 *
 * Owner:  the caller owns *out and frees it with kallima_wisdom_destroy().
 * Thread: any. Several threads may use one wisdom at once.
 * Error:  E_ARGUMENT  `out` is NULL, or the options are not sound
 *         E_MEMORY    host memory is exhausted
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_wisdom_create(kallima_wisdom **out,
                                                 const kallima_device_options *options);

/**
 * Destroy *wisdom and set it to NULL. *wisdom may be NULL, and may not be a device's. What
 * was not saved is lost.
 */
KALLIMA_API void kallima_wisdom_destroy(kallima_wisdom **wisdom);

/**
 * Return the wisdom of a device: what its plans follow. NULL for NULL.
 *
 * Owner:  borrowed: it lives as long as the device.
 * Thread: any.
 */
KALLIMA_API kallima_wisdom *kallima_device_get_wisdom(kallima_device *device);

/**
 * Say whose entries the plans of a device follow.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  an argument is NULL
 */
KALLIMA_API kallima_status kallima_device_get_owner(const kallima_device *device,
                                                    kallima_wisdom_owner *owner);

/**
 * Merge entries from text (docs/wisdom-format.md) into the wisdom. Of two entries about the
 * same thing the better one stays, whatever the order.
 *
 * Shape:  `text` ends with NUL. `report` (may be NULL) is called with `user` for each line
 *         that is refused.
 * Thread: any.
 * Error:  E_ARGUMENT  `wisdom` or `text` is NULL
 *         E_WISDOM    a line is refused, or all of it: another format or another version of
 *                     it; the lines that are sound are taken
 *         E_MEMORY    host memory is exhausted; some lines may have been taken
 */
KALLIMA_API kallima_status kallima_wisdom_import(kallima_wisdom *wisdom, const char *text,
                                                 kallima_wisdom_report report,
                                                 void *user);

/**
 * Write all entries as text: equal wisdoms give equal texts.
 *
 * Shape:  as kallima_plan_get_recipe(); several lines, each ended by a newline.
 * Thread: any.
 * Error:  E_ARGUMENT  `wisdom` is NULL, or `text` is NULL while `capacity` is positive
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_wisdom_export(const kallima_wisdom *wisdom, char *text,
                                                 size_t capacity, size_t *length);

/**
 * Merge the entries of a file into the wisdom. `file` = NULL reads what a device reads when
 * it is opened: the files of the search path that are there, which may be none.
 *
 * Shape:  `report` as for kallima_wisdom_import().
 * Thread: any; any number of processes.
 * Error:  as kallima_wisdom_import(); E_WISDOM also if the file cannot be read
 */
KALLIMA_API kallima_status kallima_wisdom_load(kallima_wisdom *wisdom, const char *file,
                                               kallima_wisdom_report report, void *user);

/**
 * Merge the wisdom into a file: under a lock the file is read again, what was forgotten is
 * taken out, what is known is merged in, and the result replaces the file at once. `file` =
 * NULL is where the wisdom is kept (kallima_wisdom_get_place()); entries from the system's
 * file do not go there.
 *
 * Entries of other devices, drivers and versions stay in the file. Damaged lines do not:
 * the file as it was is left beside it, under its name and ".damaged". A file that is no
 * wisdom of this format is not touched.
 *
 * Thread: any; any number of processes, none of which loses anything.
 * Error:  E_ARGUMENT  `wisdom` is NULL
 *         E_WISDOM    `file` is NULL and the wisdom is kept nowhere or read-only, the file
 *                     is not of this format, or it cannot be locked, read or written; it is
 *                     as it was
 *         E_MEMORY    host memory is exhausted; the file is as it was
 */
KALLIMA_API kallima_status kallima_wisdom_save(kallima_wisdom *wisdom, const char *file);

/**
 * Write where kallima_wisdom_save() puts the wisdom; empty if it is kept nowhere or is
 * read-only.
 *
 * Shape:  as kallima_plan_get_recipe().
 * Thread: any.
 * Error:  E_ARGUMENT  `wisdom` is NULL, or `text` is NULL while `capacity` is positive
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_wisdom_get_place(const kallima_wisdom *wisdom,
                                                    char *text, size_t capacity,
                                                    size_t *length);

/**
 * Forget the entries that match `filter`, here now and in the file that is saved to next:
 * what is learnt afterwards stays. *count (may be NULL) is how many were here.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  `wisdom` or `filter` is NULL, or its kind is out of range
 *         E_MEMORY    host memory is exhausted; nothing is forgotten
 */
KALLIMA_API kallima_status kallima_wisdom_forget(kallima_wisdom *wisdom,
                                                 const kallima_wisdom_filter *filter,
                                                 int64_t *count);

/**
 * Return the number of entries. 0 for NULL.
 *
 * Thread: any.
 */
KALLIMA_API int64_t kallima_wisdom_get_count(const kallima_wisdom *wisdom);

/**
 * Give entry number `index`, in the order of the text: by kind, device, driver, version,
 * key, value.
 *
 * Owner:  the strings are the wisdom's, valid until it changes or is destroyed.
 * Thread: any, as long as none changes the wisdom.
 * Error:  E_ARGUMENT  a pointer is NULL, or `index` is not below
 *                     kallima_wisdom_get_count()
 */
KALLIMA_API kallima_status kallima_wisdom_get_entry(const kallima_wisdom *wisdom,
                                                    int64_t index,
                                                    kallima_wisdom_entry *entry);

/**
 * Write why plans of `owner` do not follow entry number `index`; empty if they do.
 *
 * Shape:  as kallima_plan_get_recipe(); one sentence.
 * Thread: as kallima_wisdom_get_entry().
 * Error:  E_ARGUMENT  as kallima_wisdom_get_entry(), or `text` is NULL while `capacity` is
 *                     positive
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_wisdom_explain(const kallima_wisdom *wisdom,
                                                  int64_t index,
                                                  const kallima_wisdom_owner *owner,
                                                  char *text, size_t capacity,
                                                  size_t *length);

/**
 * Return the first entry number from `start` on that matches `filter` (NULL: any); -1 if
 * there is none.
 *
 * Thread: as kallima_wisdom_get_entry().
 */
KALLIMA_API int64_t kallima_wisdom_find(const kallima_wisdom *wisdom,
                                        const kallima_wisdom_filter *filter,
                                        int64_t start);

#ifdef __cplusplus
}
#endif
#endif
