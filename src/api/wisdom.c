// SPDX-License-Identifier: MIT
#include "wisdom/wisdom.h"

#include <string.h>

#include "api/host.h"
#include "device/device.h"

kallima_status kallima_wisdom_create(kallima_wisdom **out,
                                     const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    if (!options)
        options = &defaults;
    KAL_TRY(kal_host_init(&host, options));
    KAL_TRY(kal_wisdom_create(out, &host));
    const kallima_status status = kal_wisdom_set_places(
        *out, options->wisdom, options->wisdom_read_only != 0, NULL);
    if (status)
        kallima_wisdom_destroy(out);
    return status;
}

kallima_wisdom *kallima_device_get_wisdom(kallima_device *device)
{
    return device ? device->wisdom : NULL;
}

kallima_status kallima_device_get_owner(const kallima_device *device,
                                        kallima_wisdom_owner *owner)
{
    kallima_device_info info;

    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, owner);
    device->ops->describe(device, &info);
    kal_wisdom_owner_init(owner, &info);
    return KALLIMA_OK;
}

kallima_status kallima_wisdom_import(kallima_wisdom *wisdom, const char *text,
                                     kallima_wisdom_report report, void *user)
{
    struct kal_wisdom_faults faults;

    KAL_REQUIRE(NULL, wisdom);
    KAL_REQUIRE(&wisdom->host, text);
    const struct kal_wisdom_source source = {
        .place = "text",
        .text = text,
        .length = strlen(text),
        .report = report,
        .user = user,
    };
    KAL_TRY(kal_wisdom_read(wisdom, &source, &faults));
    return kal_wisdom_log_faults(wisdom, "text", &faults);
}

kallima_status kallima_wisdom_export(const kallima_wisdom *wisdom, char *out,
                                     size_t capacity, size_t *length)
{
    struct kal_text text;

    KAL_REQUIRE(NULL, wisdom);
    kal_text_init(&text, &wisdom->host);
    kal_wisdom_lock(wisdom);
    kal_wisdom_print(&text, wisdom);
    kal_wisdom_unlock(wisdom);
    const kallima_status status = kal_text_export(&text, out, capacity, length);
    kal_text_clear(&text);
    return status;
}

kallima_status kallima_wisdom_load(kallima_wisdom *wisdom, const char *file,
                                   kallima_wisdom_report report, void *user)
{
    KAL_REQUIRE(NULL, wisdom);
    return kal_wisdom_load(wisdom, file, report, user);
}

kallima_status kallima_wisdom_save(kallima_wisdom *wisdom, const char *file)
{
    KAL_REQUIRE(NULL, wisdom);
    return kal_wisdom_save(wisdom, file);
}

kallima_status kallima_wisdom_get_place(const kallima_wisdom *wisdom, char *out,
                                        size_t capacity, size_t *length)
{
    struct kal_text text;

    KAL_REQUIRE(NULL, wisdom);
    kal_text_init(&text, &wisdom->host);
    kal_text_add(&text, "%s", kal_wisdom_is_kept(wisdom) ? wisdom->place : "");
    const kallima_status status = kal_text_export(&text, out, capacity, length);
    kal_text_clear(&text);
    return status;
}

kallima_status kallima_wisdom_forget(kallima_wisdom *wisdom,
                                     const kallima_wisdom_filter *filter, int64_t *count)
{
    int64_t removed;

    KAL_REQUIRE(NULL, wisdom);
    KAL_REQUIRE(&wisdom->host, filter);
    KAL_REQUIRE(&wisdom->host,
                filter->kind >= 0 && filter->kind < KALLIMA_WISDOM_KIND_COUNT);
    const kallima_status status = kal_wisdom_forget(wisdom, filter, &removed);
    if (count)
        *count = removed;
    return status;
}

int64_t kallima_wisdom_get_count(const kallima_wisdom *wisdom)
{
    if (!wisdom)
        return 0;
    kal_wisdom_lock(wisdom);
    const int64_t count = wisdom->count;
    kal_wisdom_unlock(wisdom);
    return count;
}

int64_t kallima_wisdom_find(const kallima_wisdom *wisdom,
                            const kallima_wisdom_filter *filter, int64_t start)
{
    static const kallima_wisdom_filter any;

    if (!wisdom)
        return -1;
    kal_wisdom_lock(wisdom);
    int64_t i = kal_max(start, 0);
    while (i < wisdom->count &&
           !kal_wisdom_matches(&wisdom->record[i]->entry, filter ? filter : &any))
        i++;
    const int64_t found = i < wisdom->count ? i : -1;
    kal_wisdom_unlock(wisdom);
    return found;
}

// Entry number `index`, with the lock held; NULL if there is none.
static const struct kal_wisdom_record *get_record(const kallima_wisdom *wisdom,
                                                  int64_t index)
{
    return index >= 0 && index < wisdom->count ? wisdom->record[index] : NULL;
}

static kallima_status fail_index(const kallima_wisdom *wisdom, int64_t index)
{
    return kal_fail(&wisdom->host, KALLIMA_E_ARGUMENT,
                    "wisdom: index = %lld; there are %lld entries", (long long)index,
                    (long long)kallima_wisdom_get_count(wisdom));
}

kallima_status kallima_wisdom_get_entry(const kallima_wisdom *wisdom, int64_t index,
                                        kallima_wisdom_entry *entry)
{
    KAL_REQUIRE(NULL, wisdom);
    KAL_REQUIRE(&wisdom->host, entry);
    *entry = (kallima_wisdom_entry){ .kind = KALLIMA_WISDOM_ANY };
    kal_wisdom_lock(wisdom);
    const struct kal_wisdom_record *record = get_record(wisdom, index);
    if (record)
        *entry = record->entry;
    kal_wisdom_unlock(wisdom);
    return record ? KALLIMA_OK : fail_index(wisdom, index);
}

kallima_status kallima_wisdom_explain(const kallima_wisdom *wisdom, int64_t index,
                                      const kallima_wisdom_owner *owner, char *out,
                                      size_t capacity, size_t *length)
{
    struct kal_text text;

    KAL_REQUIRE(NULL, wisdom);
    KAL_REQUIRE(&wisdom->host, owner);
    kal_text_init(&text, &wisdom->host);
    kal_wisdom_lock(wisdom);
    const struct kal_wisdom_record *record = get_record(wisdom, index);
    if (record)
        kal_wisdom_explain(wisdom, record, owner, &text);
    kal_wisdom_unlock(wisdom);
    kallima_status status = record ? KALLIMA_OK : fail_index(wisdom, index);
    if (!status)
        status = kal_text_export(&text, out, capacity, length);
    kal_text_clear(&text);
    return status;
}
