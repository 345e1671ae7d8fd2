// SPDX-License-Identifier: MIT
// The files that wisdom is kept in. A writer holds a lock beside the file from reading it to
// replacing it, so that nobody's entries are lost; a reader needs none.
#include "wisdom/wisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/place.h"

#define LOCK_SUFFIX    ".lock"
#define NEW_SUFFIX     ".new"
#define DAMAGED_SUFFIX ".damaged"

// --- where -------------------------------------------------------------------------------

static const char variable[] = "KALLIMA_WISDOM";

bool kal_wisdom_is_named(const char *option)
{
    return kal_place_is_named(option, variable);
}

kallima_status kal_wisdom_set_places(kallima_wisdom *wisdom, const char *option,
                                     bool is_read_only, const char *system)
{
    const struct kal_host *host = &wisdom->host;

    wisdom->is_read_only = is_read_only || kal_switch_is_on("KALLIMA_WISDOM_READ_ONLY");
    if (!kal_wisdom_is_named(option))
        KAL_TRY(kal_place_find(host, system ? system : KAL_SYSTEM_WISDOM, variable, "",
                               &wisdom->system_place));
    return kal_place_find(host, option, variable, "kallima/wisdom", &wisdom->place);
}

bool kal_wisdom_is_kept(const kallima_wisdom *wisdom)
{
    return wisdom->place && !wisdom->is_read_only;
}

// --- reading -----------------------------------------------------------------------------

/** A file as it was read. */
struct content {
    const struct kal_host *host;
    const char *path;
    char *data;
    size_t bytes;
    mode_t mode;
    bool is_missing;
};

static kallima_status fail_file(const struct content *content, const char *why)
{
    return kal_fail(content->host, KALLIMA_E_WISDOM, "wisdom: %.400s: cannot be read: %s",
                    content->path, why);
}

static kallima_status read_opened(struct content *content, int file)
{
    struct stat about;
    void *data;

    if (fstat(file, &about) != 0)
        return fail_file(content, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail_file(content, "it is no plain file");
    if (about.st_size > KAL_WISDOM_MAX_BYTES)
        return fail_file(content, "it is larger than 64 MiB");
    KAL_TRY(kal_alloc(content->host, &data, (uint64_t)about.st_size, 1));
    if (!kal_file_read(file, data, (size_t)about.st_size, 0)) {
        kal_free(content->host, data);
        return fail_file(content, "it ends early");
    }
    content->data = data;
    content->bytes = (size_t)about.st_size;
    content->mode = about.st_mode & 0777;
    return KALLIMA_OK;
}

// A missing file is no failure. Whatever happens, the content is to be freed.
static kallima_status read_file(struct content *content, const struct kal_host *host,
                                const char *path)
{
    *content = (struct content){ .host = host, .path = path };
    // Without waiting: a pipe is told by fstat(), not by a writer that never comes.
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        content->is_missing = errno == ENOENT || errno == ENOTDIR;
        return content->is_missing ? KALLIMA_OK : fail_file(content, strerror(errno));
    }
    const kallima_status status = read_opened(content, file);
    close(file);
    return status;
}

/** How a file is read. */
struct manner {
    bool must_exist, is_system;
    kallima_wisdom_report report;
    void *user;
};

static kallima_status load(kallima_wisdom *wisdom, const char *path,
                           const struct manner *manner)
{
    struct kal_wisdom_faults faults = { 0 };
    struct content content;

    kallima_status status = read_file(&content, &wisdom->host, path);
    if (!status && content.is_missing && manner->must_exist)
        status = fail_file(&content, strerror(ENOENT));
    if (!status && !content.is_missing) {
        const struct kal_wisdom_source source = {
            .place = path,
            .text = content.data,
            .length = content.bytes,
            .is_system = manner->is_system,
            .report = manner->report,
            .user = manner->user,
        };
        status = kal_wisdom_read(wisdom, &source, &faults);
    }
    kal_free(&wisdom->host, content.data);
    return status ? status : kal_wisdom_log_faults(wisdom, path, &faults);
}

kallima_status kal_wisdom_load(kallima_wisdom *wisdom, const char *file,
                               kallima_wisdom_report report, void *user)
{
    const char *const place[] = { wisdom->system_place, wisdom->place };
    kallima_status worst = KALLIMA_OK;

    if (file)
        return load(wisdom, file, &(struct manner){ true, false, report, user });
    for (int i = 0; i < 2; i++) {
        const struct manner manner = { false, i == 0, report, user };
        const kallima_status status =
            place[i] ? load(wisdom, place[i], &manner) : KALLIMA_OK;
        if (status == KALLIMA_E_MEMORY)
            return status;
        worst = status ? status : worst;
    }
    return worst;
}

// --- writing -----------------------------------------------------------------------------

/** One saving under way. */
struct saving {
    kallima_wisdom *wisdom;
    char *path;  // of the file, with symbolic links followed
    bool is_own; // it is where the wisdom is kept
    struct content old;
    struct kal_wisdom_faults faults; // of the old content
    kallima_wisdom *merged;
    int64_t forgotten; // the number behind the last filter that was applied
};

static kallima_status fail_saving(const struct saving *s, const char *what)
{
    return kal_fail(&s->wisdom->host, KALLIMA_E_WISDOM,
                    "wisdom: %.400s: cannot be %s: %s", s->path, what, strerror(errno));
}

// Wait for the lock, but not for ever: who has it may have been stopped.
static bool wait_for_lock(int file)
{
    enum { PATIENCE_MS = 30000, LONGEST_PAUSE_MS = 16 };
    int waited_ms = 0;

    for (int pause_ms = 1; flock(file, LOCK_EX | LOCK_NB) != 0;) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited_ms > PATIENCE_MS)
            return false;
        const struct timespec pause = { 0, pause_ms * 1000000L };
        nanosleep(&pause, NULL);
        waited_ms += pause_ms;
        pause_ms = pause_ms < LONGEST_PAUSE_MS ? 2 * pause_ms : LONGEST_PAUSE_MS;
    }
    return true;
}

// The lock is a file beside that stays: a lock on the file itself would go with it.
static kallima_status take_lock(const struct saving *s, int *lock)
{
    struct kal_text path;

    *lock = -1;
    kal_text_init(&path, &s->wisdom->host);
    kal_text_add(&path, "%s" LOCK_SUFFIX, s->path);
    kallima_status status = path.status;
    if (!status) {
        *lock = open(path.data,
                     O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
                     0666);
        if (*lock < 0 || !wait_for_lock(*lock))
            status = fail_saving(s, "locked");
    }
    kal_text_clear(&path);
    return status;
}

static void give_back_lock(int lock)
{
    if (lock < 0)
        return;
    flock(lock, LOCK_UN); // also if a forked process has the file open
    close(lock);
}

static bool write_content(int file, mode_t mode, const char *data, size_t bytes)
{
    if (mode && fchmod(file, mode) != 0)
        return false;
    return kal_file_write(file, data, bytes) && fsync(file) == 0;
}

// The name of the temporary file is known: only who has the lock writes it.
static bool write_and_rename(const char *temporary, const char *target, mode_t mode,
                             const char *data, size_t bytes)
{
    if (!kal_place_allows(bytes)) {
        errno = EFBIG;
        return false;
    }
    unlink(temporary); // of a process that was killed
    const int file =
        open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
        return false;
    bool good = write_content(file, mode, data, bytes);
    int cause = errno;
    if (close(file) != 0 && good) { // where a network's disk says that it is full
        good = false;
        cause = errno;
    }
    if (good && rename(temporary, target) == 0)
        return true;
    cause = good ? errno : cause;
    unlink(temporary);
    errno = cause;
    return false;
}

// So that the new name outlives a failure of power. Where that is impossible, so be it.
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!fsync(file);
    close(file);
}

// Replace the file, or what has its name and `suffix`, at once.
static kallima_status replace(const struct saving *s, const char *suffix,
                              const char *data, size_t bytes)
{
    struct kal_text temporary, target;

    kal_text_init(&temporary, &s->wisdom->host);
    kal_text_init(&target, &s->wisdom->host);
    kal_text_add(&temporary, "%s" NEW_SUFFIX, s->path);
    kal_text_add(&target, "%s%s", s->path, suffix);
    kallima_status status = temporary.status ? temporary.status : target.status;
    if (!status &&
        !write_and_rename(temporary.data, target.data, s->old.mode, data, bytes))
        status = fail_saving(s, "written");
    kal_text_clear(&temporary);
    kal_text_clear(&target);
    return status;
}

// What the file holds, less what was forgotten.
static kallima_status merge_file(struct saving *s)
{
    kallima_wisdom *wisdom = s->wisdom;

    KAL_TRY(read_file(&s->old, &wisdom->host, s->path));
    const struct kal_wisdom_source source = { .place = s->path,
                                              .text = s->old.data,
                                              .length = s->old.bytes };
    KAL_TRY(kal_wisdom_read(s->merged, &source, &s->faults));
    if (s->faults.is_whole)
        return kal_fail(&wisdom->host, KALLIMA_E_WISDOM,
                        "wisdom: %.400s: not written, as %s", s->path, s->faults.reason);
    kal_wisdom_lock(wisdom);
    s->forgotten = wisdom->forgotten_start + wisdom->forgotten_count;
    for (int64_t i = 0; i < wisdom->forgotten_count; i++)
        kal_wisdom_remove(s->merged, &wisdom->forgotten[i]->filter);
    kal_wisdom_unlock(wisdom);
    return KALLIMA_OK;
}

// What is known here; the system's file is read by every process.
static kallima_status merge_memory(struct saving *s)
{
    kallima_status status = KALLIMA_OK;

    kal_wisdom_lock(s->wisdom);
    for (int64_t i = 0; i < s->wisdom->count && !status; i++) {
        const struct kal_wisdom_record *record = s->wisdom->record[i];
        if (!s->is_own || !record->is_system)
            status = kal_wisdom_insert(s->merged, &record->entry, false);
    }
    kal_wisdom_unlock(s->wisdom);
    return status == KALLIMA_E_WISDOM ? kal_wisdom_fail_full(s->wisdom) : status;
}

static kallima_status write_text(const struct saving *s, const struct kal_text *text)
{
    if (text->length > KAL_WISDOM_MAX_BYTES)
        return kal_fail(&s->wisdom->host, KALLIMA_E_WISDOM,
                        "wisdom: %.400s: not written: %zu bytes; at most 64 MiB are read",
                        s->path, text->length);
    if (s->old.bytes == text->length &&
        memcmp(s->old.data, text->data, text->length) == 0)
        return KALLIMA_OK;
    if (s->faults.count > 0)
        KAL_TRY(replace(s, DAMAGED_SUFFIX, s->old.data, s->old.bytes));
    KAL_TRY(replace(s, "", text->data, text->length));
    sync_folder(s->path);
    return KALLIMA_OK;
}

static kallima_status save_locked(struct saving *s)
{
    struct kal_text text;

    KAL_TRY(merge_file(s));
    KAL_TRY(merge_memory(s));
    kal_text_init(&text, &s->wisdom->host);
    kal_wisdom_print(&text, s->merged);
    const kallima_status status = text.status ? text.status : write_text(s, &text);
    kal_text_clear(&text);
    return status;
}

// A link stays a link: what it points at is replaced.
static kallima_status resolve(struct saving *s, const char *file)
{
    char followed[PATH_MAX];
    struct kal_text path;

    kal_text_init(&path, &s->wisdom->host);
    kal_text_add(&path, "%s", realpath(file, followed) ? followed : file);
    s->path = path.data;
    KAL_TRY(path.status);
    if (s->is_own)
        kal_place_make_folders(s->path);
    return KALLIMA_OK;
}

static kallima_status save(struct saving *s, const char *file)
{
    int lock;

    KAL_TRY(kal_wisdom_create(&s->merged, &s->wisdom->host));
    KAL_TRY(resolve(s, file));
    kallima_status status = take_lock(s, &lock);
    if (!status)
        status = save_locked(s);
    give_back_lock(lock);
    KAL_TRY(status);
    kal_wisdom_lock(s->wisdom);
    kal_wisdom_drop_forgotten(s->wisdom, s->forgotten);
    kal_wisdom_unlock(s->wisdom);
    if (s->faults.count > 0)
        kal_fail(&s->wisdom->host, KALLIMA_E_WISDOM,
                 "wisdom: %.400s: line %lld: %s; the file as it was is left as "
                 "%.400s" DAMAGED_SUFFIX,
                 s->path, (long long)s->faults.line, s->faults.reason, s->path);
    return KALLIMA_OK;
}

kallima_status kal_wisdom_save(kallima_wisdom *wisdom, const char *file)
{
    struct saving s = { .wisdom = wisdom, .is_own = !file };

    if (!file && !kal_wisdom_is_kept(wisdom))
        return kal_fail(&wisdom->host, KALLIMA_E_WISDOM, "wisdom: %s: nothing is written",
                        wisdom->place ? "it is read-only" : "it is kept nowhere");
    const kallima_status status = save(&s, file ? file : wisdom->place);
    kal_free(&wisdom->host, s.old.data);
    kal_free(&wisdom->host, s.path);
    kallima_wisdom_destroy(&s.merged);
    return status;
}
