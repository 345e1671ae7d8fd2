// SPDX-License-Identifier: MIT
// The set of entries: an array sorted by what they are about.
#include "wisdom/wisdom.h"

#include <string.h>

// The strings of an entry, in the order in which entries are sorted.
enum { STRINGS = 6, STRINGS_OF_KEY = 4, VALUE = 4 };

static void list_strings(const kallima_wisdom_entry *entry, const char *string[STRINGS])
{
    string[0] = entry->device;
    string[1] = entry->driver;
    string[2] = entry->version;
    string[3] = entry->key;
    string[VALUE] = entry->value;
    string[5] = entry->reason;
}

// --- the order ---------------------------------------------------------------------------

// Zero if both are about the same thing.
static int compare(const kallima_wisdom_entry *a, const kallima_wisdom_entry *b)
{
    const char *x[STRINGS], *y[STRINGS];
    const int count = STRINGS_OF_KEY + kal_wisdom_value_is_key(a->kind);
    int order = a->kind - b->kind;

    list_strings(a, x);
    list_strings(b, y);
    for (int i = 0; i < count && order == 0; i++)
        order = strcmp(x[i], y[i]);
    return order;
}

// Is `a` to be kept rather than `b`? A total order, so that it does not matter who was first.
static bool is_better(const kallima_wisdom_entry *a, const kallima_wisdom_entry *b)
{
    if (a->effort != b->effort)
        return a->effort > b->effort;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->spread != b->spread)
        return a->spread < b->spread;
    if (a->predicted_ns != b->predicted_ns)
        return a->predicted_ns < b->predicted_ns;
    const int order = strcmp(a->value, b->value);
    return (order ? order : strcmp(a->reason, b->reason)) < 0;
}

// The first record that is not before `entry`.
static int64_t find_place(const kallima_wisdom *wisdom, const kallima_wisdom_entry *entry)
{
    int64_t low = 0, high = wisdom->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (compare(&wisdom->record[middle]->entry, entry) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct kal_wisdom_record *find_same(const kallima_wisdom *wisdom,
                                           const kallima_wisdom_entry *entry,
                                           int64_t *place)
{
    *place = find_place(wisdom, entry);
    struct kal_wisdom_record *found =
        *place < wisdom->count ? wisdom->record[*place] : NULL;
    return found && compare(&found->entry, entry) == 0 ? found : NULL;
}

// --- one wisdom --------------------------------------------------------------------------

kallima_status kal_wisdom_create(kallima_wisdom **out, const struct kal_host *host)
{
    void *object;

    *out = NULL;
    KAL_TRY(kal_alloc_object(host, &object, sizeof **out));
    *out = object;
    (*out)->host = *host;
    pthread_mutex_init(&(*out)->lock, NULL);
    return KALLIMA_OK;
}

void kallima_wisdom_destroy(kallima_wisdom **out)
{
    kallima_wisdom *wisdom = *out;

    *out = NULL;
    if (!wisdom)
        return;
    const struct kal_host host = wisdom->host;
    for (int64_t i = 0; i < wisdom->count; i++)
        kal_free(&host, wisdom->record[i]);
    kal_wisdom_drop_forgotten(wisdom, INT64_MAX);
    kal_free(&host, wisdom->record);
    kal_free(&host, wisdom->forgotten);
    kal_free(&host, wisdom->system_place);
    kal_free(&host, wisdom->place);
    pthread_mutex_destroy(&wisdom->lock);
    kal_free(&host, wisdom);
}

void kal_wisdom_lock(const kallima_wisdom *wisdom)
{
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&wisdom->lock);
}

void kal_wisdom_unlock(const kallima_wisdom *wisdom)
{
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&wisdom->lock);
}

// Room for one pointer more in an array of pointers.
static kallima_status reserve(const struct kal_host *host, void **array, int64_t count,
                              int64_t *capacity)
{
    void *grown;

    if (count < *capacity)
        return KALLIMA_OK;
    const int64_t larger = *capacity ? 2 * *capacity : 32;
    KAL_TRY(kal_alloc(host, &grown, (uint64_t)larger, sizeof(void *)));
    if (count > 0)
        memcpy(grown, *array, (size_t)count * sizeof(void *));
    kal_free(host, *array);
    *array = grown;
    *capacity = larger;
    return KALLIMA_OK;
}

// Copy strings, of which some may be NULL, behind each other to `text`.
static void copy_strings(const char **string, int count, char *text)
{
    for (int i = 0; i < count; i++) {
        if (!string[i])
            continue;
        const size_t bytes = strlen(string[i]) + 1;
        memcpy(text, string[i], bytes);
        string[i] = text;
        text += bytes;
    }
}

static uint64_t count_bytes(const char *const *string, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += string[i] ? strlen(string[i]) + 1 : 0;
    return bytes;
}

static void set_strings(kallima_wisdom_entry *entry, const char *const string[STRINGS])
{
    entry->device = string[0];
    entry->driver = string[1];
    entry->version = string[2];
    entry->key = string[3];
    entry->value = string[VALUE];
    entry->reason = string[5];
}

// --- adding ------------------------------------------------------------------------------

static kallima_status make_record(struct kal_wisdom_record **out,
                                  const struct kal_host *host,
                                  const kallima_wisdom_entry *entry, bool is_system)
{
    const char *string[STRINGS];
    void *memory;

    list_strings(entry, string);
    KAL_TRY(kal_alloc(host, &memory, 1, sizeof **out + count_bytes(string, STRINGS)));
    *out = memory;
    **out = (struct kal_wisdom_record){ *entry, is_system };
    copy_strings(string, STRINGS, (char *)(*out + 1));
    set_strings(&(*out)->entry, string);
    return KALLIMA_OK;
}

kallima_status kal_wisdom_insert(kallima_wisdom *wisdom,
                                 const kallima_wisdom_entry *entry, bool is_system)
{
    const struct kal_host *host = &wisdom->host;
    struct kal_wisdom_record *made;
    int64_t place;

    struct kal_wisdom_record *same = find_same(wisdom, entry, &place);
    if (same && !is_better(entry, &same->entry)) {
        if (!is_better(&same->entry, entry)) // it is known from both files
            same->is_system = same->is_system && is_system;
        return KALLIMA_OK;
    }
    if (!same && wisdom->count >= KAL_WISDOM_MAX_ENTRIES)
        return KALLIMA_E_WISDOM;
    KAL_TRY(reserve(host, (void **)&wisdom->record, wisdom->count, &wisdom->capacity));
    KAL_TRY(make_record(&made, host, entry, is_system));
    if (same) {
        kal_free(host, same);
    } else {
        memmove(wisdom->record + place + 1, wisdom->record + place,
                (size_t)(wisdom->count - place) * sizeof *wisdom->record);
        wisdom->count++;
    }
    wisdom->record[place] = made;
    return KALLIMA_OK;
}

// A reason may come from a driver or a compiler.
static void print_reason(const char *reason, char text[KAL_WISDOM_MAX_STRING + 1])
{
    size_t i = 0;
    for (; reason && reason[i] && i < KAL_WISDOM_MAX_STRING; i++)
        text[i] = reason[i] >= ' ' && reason[i] <= '~' ? reason[i] : '?';
    text[i] = '\0';
}

kallima_status kal_wisdom_add(kallima_wisdom *wisdom, const kallima_wisdom_entry *entry)
{
    char reason[KAL_WISDOM_MAX_STRING + 1];
    kallima_wisdom_entry sound = *entry;

    print_reason(entry->reason, reason);
    sound.reason = reason;
    const char *fault = kal_wisdom_find_fault(&sound);
    if (fault)
        return kal_fail(&wisdom->host, KALLIMA_E_ARGUMENT, "wisdom: %s", fault);
    sound = kal_wisdom_normalise(&sound);
    kal_wisdom_lock(wisdom);
    const kallima_status status = kal_wisdom_insert(wisdom, &sound, false);
    kal_wisdom_unlock(wisdom);
    return status == KALLIMA_E_WISDOM ? kal_wisdom_fail_full(wisdom) : status;
}

kallima_status kal_wisdom_fail_full(const kallima_wisdom *wisdom)
{
    return kal_fail(&wisdom->host, KALLIMA_E_WISDOM,
                    "wisdom: no room for more than %d entries; forget some",
                    KAL_WISDOM_MAX_ENTRIES);
}

// --- finding -----------------------------------------------------------------------------

static kallima_wisdom_entry ask(int32_t kind, const kallima_wisdom_owner *owner,
                                const char *key, const char *value)
{
    return (kallima_wisdom_entry){
        .kind = kind,
        .device = owner->device,
        .driver = owner->driver,
        .version = owner->version,
        .key = key,
        .value = value,
        .reason = "",
    };
}

bool kal_wisdom_knows(const kallima_wisdom *wisdom, const kallima_wisdom_entry *entry)
{
    int64_t place;
    return find_same(wisdom, entry, &place) != NULL;
}

bool kal_wisdom_is_bad(const kallima_wisdom *wisdom, const kallima_wisdom_owner *owner,
                       const char *key, const char *recipe)
{
    const kallima_wisdom_entry bad = ask(KALLIMA_WISDOM_BAD, owner, key, recipe);
    kal_wisdom_lock(wisdom);
    const bool is_known = kal_wisdom_knows(wisdom, &bad);
    kal_wisdom_unlock(wisdom);
    return is_known;
}

// Is it about the same key, whatever the value?
static bool is_about(const kallima_wisdom_entry *entry, const kallima_wisdom_entry *asked)
{
    kallima_wisdom_entry same = *asked;
    same.value = entry->value;
    return compare(entry, &same) == 0;
}

const struct kal_wisdom_record *kal_wisdom_best(const kallima_wisdom *wisdom,
                                                kallima_wisdom_kind kind,
                                                const kallima_wisdom_owner *owner,
                                                const char *key)
{
    const kallima_wisdom_entry asked = ask(kind, owner, key, "");
    const struct kal_wisdom_record *best = NULL;

    for (int64_t i = find_place(wisdom, &asked); i < wisdom->count; i++) {
        const struct kal_wisdom_record *record = wisdom->record[i];
        if (!is_about(&record->entry, &asked))
            break;
        if (best && !is_better(&record->entry, &best->entry))
            continue;
        const kallima_wisdom_entry bad =
            ask(KALLIMA_WISDOM_BAD, owner, key, record->entry.value);
        if (kind != KALLIMA_WISDOM_PLAN || !kal_wisdom_knows(wisdom, &bad))
            best = record;
    }
    return best;
}

kallima_status kal_wisdom_visit_key(const kallima_wisdom *wisdom,
                                    kallima_wisdom_kind kind,
                                    const kallima_wisdom_owner *owner, const char *key,
                                    kal_wisdom_visit *visit, void *context)
{
    const kallima_wisdom_entry asked = ask(kind, owner, key, "");
    kallima_status status = KALLIMA_OK;

    kal_wisdom_lock(wisdom);
    for (int64_t i = find_place(wisdom, &asked); i < wisdom->count && !status; i++) {
        const kallima_wisdom_entry *entry = &wisdom->record[i]->entry;
        if (!is_about(entry, &asked))
            break;
        status = visit(context, entry);
    }
    kal_wisdom_unlock(wisdom);
    return status;
}

static kallima_status copy_entry(kallima_wisdom_entry *out, struct kal_arena *arena,
                                 const kallima_wisdom_entry *entry)
{
    const char *string[STRINGS] = { NULL };
    void *text;

    *out = (kallima_wisdom_entry){ .kind = KALLIMA_WISDOM_ANY };
    if (arena) {
        list_strings(entry, string);
        KAL_TRY(kal_arena_take(arena, &text, count_bytes(string, STRINGS), 1));
        copy_strings(string, STRINGS, text);
    }
    *out = *entry;
    set_strings(out, string);
    return KALLIMA_OK;
}

kallima_status kal_wisdom_find(const kallima_wisdom *wisdom, kallima_wisdom_kind kind,
                               const kallima_wisdom_owner *owner, const char *key,
                               struct kal_arena *arena, kallima_wisdom_entry *out)
{
    kallima_status status = KALLIMA_OK;

    *out = (kallima_wisdom_entry){ .kind = KALLIMA_WISDOM_ANY };
    kal_wisdom_lock(wisdom);
    const struct kal_wisdom_record *best = kal_wisdom_best(wisdom, kind, owner, key);
    if (best)
        status = copy_entry(out, arena, &best->entry);
    kal_wisdom_unlock(wisdom);
    return status;
}

// --- forgetting --------------------------------------------------------------------------

// Each * stands for any characters: only the last one that was met need be tried again.
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;

    if (!pattern)
        return true;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

bool kal_wisdom_matches(const kallima_wisdom_entry *entry,
                        const kallima_wisdom_filter *filter)
{
    return (filter->kind == KALLIMA_WISDOM_ANY || filter->kind == entry->kind) &&
           matches(filter->device, entry->device) &&
           matches(filter->driver, entry->driver) &&
           matches(filter->version, entry->version) && matches(filter->key, entry->key);
}

int64_t kal_wisdom_remove(kallima_wisdom *wisdom, const kallima_wisdom_filter *filter)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < wisdom->count; i++) {
        struct kal_wisdom_record *record = wisdom->record[i];
        if (kal_wisdom_matches(&record->entry, filter))
            kal_free(&wisdom->host, record);
        else
            wisdom->record[kept++] = record;
    }
    const int64_t removed = wisdom->count - kept;
    wisdom->count = kept;
    return removed;
}

static kallima_status remember(kallima_wisdom *wisdom,
                               const kallima_wisdom_filter *filter)
{
    enum { FILTER_STRINGS = 4 };
    const char *string[FILTER_STRINGS] = { filter->device, filter->driver,
                                           filter->version, filter->key };
    void *memory;

    KAL_TRY(reserve(&wisdom->host, (void **)&wisdom->forgotten, wisdom->forgotten_count,
                    &wisdom->forgotten_capacity));
    KAL_TRY(kal_alloc(&wisdom->host, &memory, 1,
                      sizeof(struct kal_wisdom_forgotten) +
                          count_bytes(string, FILTER_STRINGS)));
    struct kal_wisdom_forgotten *forgotten = memory;
    copy_strings(string, FILTER_STRINGS, (char *)(forgotten + 1));
    forgotten->filter = (kallima_wisdom_filter){
        .kind = filter->kind,
        .device = string[0],
        .driver = string[1],
        .version = string[2],
        .key = string[3],
    };
    wisdom->forgotten[wisdom->forgotten_count++] = forgotten;
    return KALLIMA_OK;
}

kallima_status kal_wisdom_forget(kallima_wisdom *wisdom,
                                 const kallima_wisdom_filter *filter, int64_t *count)
{
    kal_wisdom_lock(wisdom);
    const kallima_status status = remember(wisdom, filter);
    *count = status ? 0 : kal_wisdom_remove(wisdom, filter);
    kal_wisdom_unlock(wisdom);
    return status;
}

void kal_wisdom_drop_forgotten(kallima_wisdom *wisdom, int64_t end)
{
    const int64_t count =
        kal_max(0, kal_min(end - wisdom->forgotten_start, wisdom->forgotten_count));

    for (int64_t i = 0; i < count; i++)
        kal_free(&wisdom->host, wisdom->forgotten[i]);
    wisdom->forgotten_start += count;
    wisdom->forgotten_count -= count;
    if (wisdom->forgotten_count > 0)
        memmove(wisdom->forgotten, wisdom->forgotten + count,
                (size_t)wisdom->forgotten_count * sizeof *wisdom->forgotten);
}
