// SPDX-License-Identifier: MIT
// Wisdom on disk: nothing is lost and nothing is half written, whatever the disk, other
// processes and whoever kills them do.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../counting.h"
#include "../disk.h"
#include "../pretend.h"
#include "../random.h"
#include "../rows.h"
#include "base/place.h"

enum { NOBODY = 65534, TEXT_BYTES = 1 << 18 };

#define FIRST "kallima-wisdom 1\n"
#define PLAN  "plan \"d\" \"r\" \"0.0.1\" \"k\" \"x\" measure 1 0\n"

// --- folders and files -------------------------------------------------------------------

static char scratch[PATH_MAX]; // one folder for each test
static char place[PATH_MAX + 20];
static struct counting counting;
static struct kal_host host;
static int open_files;

static int count_files(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count - 2;
}

static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static int make_scratch(void **state)
{
    const char *temporary = getenv("TMPDIR");
    (void)state;
    memset(&counting, 0, sizeof counting);
    memset(&disk, 0, sizeof disk);
    host = (struct kal_host){ .allocator = counting_allocator(&counting) };
    snprintf(scratch, sizeof scratch, "%s/kallima-XXXXXX",
             temporary ? temporary : "/tmp");
    if (!mkdtemp(scratch) || !realpath(scratch, place))
        return -1;
    memcpy(scratch, place, sizeof scratch); // without links
    snprintf(place, sizeof place, "%s/wisdom", scratch);
    set_variable("KALLIMA_WISDOM", "");
    set_variable("KALLIMA_WISDOM_READ_ONLY", NULL);
    open_files = count_files("/proc/self/fd");
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int kind,
                      struct FTW *ftw)
{
    (void)about;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static int remove_scratch(void **state)
{
    (void)state;
    disk.way = DISK_SOUND;
    if (count_files("/proc/self/fd") != open_files || counting.live != 0 ||
        counting.damaged != 0) {
        fprintf(stderr, "  files are left open, or %lld blocks\n",
                (long long)counting.live);
        return -1;
    }
    return nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ROW_CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

// Whole, as text; "" if it is not there.
static const char *read_file(const char *path)
{
    static char text[TEXT_BYTES];
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[bytes] = '\0';
    if (file)
        fclose(file);
    return text;
}

// The path of what lies beside the wisdom.
static const char *beside(const char *suffix)
{
    static char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s%s", place, suffix);
    return path;
}

static bool is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static kallima_wisdom *create(void)
{
    return pretend_create(&host);
}

// The wisdom of the file, which must be whole; NULL if it is not.
static kallima_wisdom *load(void)
{
    kallima_wisdom *wisdom = create();
    if (kal_wisdom_load(wisdom, place, NULL, NULL) != KALLIMA_OK)
        kallima_wisdom_destroy(&wisdom);
    return wisdom;
}

// How many entries the file has; -1: it is not whole.
static int64_t count_entries(void)
{
    kallima_wisdom *wisdom = load();
    const int64_t count = wisdom ? kallima_wisdom_get_count(wisdom) : -1;
    kallima_wisdom_destroy(&wisdom);
    return count;
}

// Save a wisdom of one plan.
static kallima_status save_plan(const char *key)
{
    kallima_wisdom *wisdom = create();
    pretend_add_plan(wisdom, key, "x", 1.0);
    const kallima_status status = kal_wisdom_save(wisdom, place);
    kallima_wisdom_destroy(&wisdom);
    return status;
}

// --- saving ------------------------------------------------------------------------------

static void what_is_saved_is_loaded(void **state)
{
    kallima_wisdom *wisdom = create();
    struct stat about;

    (void)state;
    const mode_t mask = umask(027);
    pretend_add_plan(wisdom, "k", "local(8.8)", 12.5);
    pretend_add(wisdom, pretend_bad("k", "local(64)"));
    ROW_CHECK(kal_wisdom_save(wisdom, place) == KALLIMA_OK);
    umask(mask);
    ROW_CHECK(stat(place, &about) == 0 && (about.st_mode & 07777) == 0640);
    kallima_wisdom *read = load();
    ROW_CHECK(read && pretend_is_same(wisdom, read));
    char *text = pretend_text(wisdom);
    ROW_CHECK(strcmp(read_file(place), text) == 0);
    ROW_CHECK(count_files(scratch) == 2 && is_there(beside(".lock")));
    free(text);
    kallima_wisdom_destroy(&wisdom);
    kallima_wisdom_destroy(&read);
    ROWS_FINISH();
}

static void saving_merges(void **state)
{
    struct stat before, after;

    (void)state;
    write_file(place, FIRST PLAN); // of another device and another version
    ROW_CHECK(chmod(place, 0604) == 0);
    ROW_CHECK(save_plan("a") == KALLIMA_OK && save_plan("b") == KALLIMA_OK);
    ROW_CHECK(count_entries() == 3 && strstr(read_file(place), PLAN));
    ROW_CHECK(stat(place, &before) == 0 && (before.st_mode & 07777) == 0604);
    ROW_CHECK(save_plan("a") == KALLIMA_OK); // is known: nothing is written
    ROW_CHECK(stat(place, &after) == 0 && before.st_ino == after.st_ino);
    ROW_CHECK(save_plan("c") == KALLIMA_OK);
    ROW_CHECK(count_entries() == 4 && !is_there(beside(".damaged")));
    ROWS_FINISH();
}

static void what_is_forgotten_leaves_the_file(void **state)
{
    const kallima_wisdom_filter filter = { .key = "a*" };

    (void)state;
    save_plan("a1");
    save_plan("b");
    kallima_wisdom *wisdom = load();
    save_plan("a2"); // by somebody else
    ROW_CHECK(kallima_wisdom_forget(wisdom, &filter, NULL) == KALLIMA_OK);
    pretend_add_plan(wisdom, "a3", "x", 1.0); // learnt afterwards
    ROW_CHECK(kal_wisdom_save(wisdom, place) == KALLIMA_OK);
    ROW_CHECK(count_entries() == 2 && strstr(read_file(place), "\"a3\""));
    save_plan("a4"); // learnt by somebody else, afterwards
    pretend_add_plan(wisdom, "c", "x", 1.0);
    ROW_CHECK(kal_wisdom_save(wisdom, place) == KALLIMA_OK);
    ROW_CHECK(count_entries() == 4 && strstr(read_file(place), "\"a4\""));
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// What was forgotten is remembered until a file without it is written.
static void a_failed_saving_still_forgets_later(void **state)
{
    const kallima_wisdom_filter all = { 0 };

    (void)state;
    save_plan("a");
    kallima_wisdom *wisdom = load();
    ROW_CHECK(kallima_wisdom_forget(wisdom, &all, NULL) == KALLIMA_OK);
    disk.way = DISK_FULL;
    disk.left = 3;
    ROW_CHECK(kal_wisdom_save(wisdom, place) == KALLIMA_E_WISDOM);
    disk.way = DISK_SOUND;
    ROW_CHECK(count_entries() == 1);
    ROW_CHECK(kal_wisdom_save(wisdom, place) == KALLIMA_OK && count_entries() == 0);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void damaged_lines_are_kept_aside(void **state)
{
    static const char damaged[] = FIRST "nonsense\n" PLAN "plan \"cut";

    (void)state;
    write_file(place, damaged);
    ROW_CHECK(save_plan("a") == KALLIMA_OK);
    ROW_CHECK(strstr(kallima_last_error(), "line 2"));
    ROW_CHECK(strstr(kallima_last_error(), ".damaged"));
    ROW_CHECK(count_entries() == 2 && strstr(read_file(place), PLAN));
    ROW_CHECK(strcmp(read_file(beside(".damaged")), damaged) == 0);
    ROW_CHECK(save_plan("b") == KALLIMA_OK && count_entries() == 3);
    ROW_CHECK(strcmp(read_file(beside(".damaged")), damaged) == 0);
    ROWS_FINISH();
}

static void what_is_no_wisdom_is_not_replaced(void **state)
{
    static const char *const texts[] = { "kallima-wisdom 2\nplan\n", "my diary\n",
                                         "no newline", "\n", FIRST };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(texts); i++) {
        const bool good = i + 1 == KAL_COUNT(texts);
        write_file(place, texts[i]);
        ROW_CHECK(save_plan("a") == (good ? KALLIMA_OK : KALLIMA_E_WISDOM));
        ROW_CHECK((strcmp(read_file(place), texts[i]) == 0) == !good);
        ROW_CHECK(!is_there(beside(".damaged")) && !is_there(beside(".new")));
    }
    write_file(place, ""); // made by touch, or by a full disk
    ROW_CHECK(save_plan("a") == KALLIMA_OK && count_entries() == 1);
    ROWS_FINISH();
}

static void links_are_followed(void **state)
{
    char target[PATH_MAX + 20];

    (void)state;
    snprintf(target, sizeof target, "%s/target", scratch);
    ROW_CHECK(symlink("target", place) == 0);
    ROW_CHECK(save_plan("a") == KALLIMA_OK); // points nowhere: replaced
    ROW_CHECK(remove(place) == 0 && symlink("target", place) == 0);
    write_file(target, FIRST PLAN);
    ROW_CHECK(save_plan("b") == KALLIMA_OK && count_entries() == 2);
    ROW_CHECK(readlink(place, (char[10]){ 0 }, 9) == 6);
    ROW_CHECK(strstr(read_file(target), "\"b\""));
    // A link where the temporary file goes is not.
    ROW_CHECK(symlink("elsewhere", beside(".new")) == 0);
    ROW_CHECK(remove(place) == 0 && save_plan("c") == KALLIMA_OK);
    ROW_CHECK(count_entries() == 1 && !is_there(beside(".new")));
    ROWS_FINISH();
}

// --- files that are none -----------------------------------------------------------------

static void put_pipe(const char *path)
{
    ROW_CHECK(mkfifo(path, 0600) == 0);
}

static void put_folder(const char *path)
{
    ROW_CHECK(mkdir(path, 0700) == 0);
}

static void put_loop(const char *path)
{
    ROW_CHECK(symlink(path, path) == 0);
}

static void put_endless(const char *path)
{
    ROW_CHECK(symlink("/dev/zero", path) == 0);
}

static void put_huge(const char *path)
{
    write_file(path, FIRST);
    ROW_CHECK(truncate(path, (off_t)1 << 40) == 0 || errno == EFBIG);
}

static void what_is_no_plain_file_is_refused(void **state)
{
    static void (*const put[])(const char *) = { put_pipe, put_folder, put_loop,
                                                 put_endless, put_huge };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(put); i++) {
        kallima_wisdom *wisdom = create();
        put[i](place);
        ROW_CHECK(kal_wisdom_load(wisdom, place, NULL, NULL) == KALLIMA_E_WISDOM);
        ROW_CHECK(strstr(kallima_last_error(), "cannot be read: "));
        ROW_CHECK(strstr(kallima_last_error(), place));
        if (put[i] != put_endless) // its lock would lie in /dev
            ROW_CHECK(save_plan("a") == KALLIMA_E_WISDOM);
        ROW_CHECK(is_there(place) && remove(place) == 0);
        kallima_wisdom_destroy(&wisdom);
    }
    kallima_wisdom *wisdom = create();
    ROW_CHECK(kal_wisdom_load(wisdom, place, NULL, NULL) == KALLIMA_E_WISDOM);
    ROW_CHECK(strstr(kallima_last_error(), "No such file"));
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// --- processes ---------------------------------------------------------------------------

static int wait_for(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

// As a process that tunes: it learns one thing after the other, and saves each time.
static int learn_and_save(int process, int count)
{
    kallima_wisdom *wisdom = create();
    char key[40];

    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "process %d learns %d", process, i);
        pretend_add_plan(wisdom, key, "x", 1.0);
        snprintf(key, sizeof key, "all learn %d", i);
        pretend_add_plan(wisdom, key, "x", 10.0 - process % 8);
        if (kal_wisdom_save(wisdom, place) != KALLIMA_OK) {
            fprintf(stderr, "  %s\n", kallima_last_error());
            return 1;
        }
    }
    kallima_wisdom_destroy(&wisdom);
    return 0;
}

static void eight_processes_lose_nothing(void **state)
{
    enum { PROCESSES = 8, EACH = 25 };
    kallima_wisdom_entry entry;
    pid_t child[PROCESSES];

    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(learn_and_save(i, EACH));
    }
    for (int i = 0; i < PROCESSES; i++)
        ROW_CHECK(wait_for(child[i]) == 0);
    kallima_wisdom *wisdom = load();
    ROW_CHECK(wisdom && kallima_wisdom_get_count(wisdom) == (PROCESSES + 1) * EACH);
    for (int64_t i = 0; wisdom && i < EACH; i++) { // "all" comes before "process"
        ROW_CHECK(kallima_wisdom_get_entry(wisdom, i, &entry) == KALLIMA_OK);
        ROW_CHECK(strncmp(entry.key, "all", 3) == 0 && entry.time_ns == 3.0);
    }
    ROW_CHECK(count_files(scratch) == 2);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

struct worker {
    pthread_t thread;
    kallima_wisdom *wisdom;
    int number;
    bool ok;
};

// Learns, forgets what it learnt before, and saves.
static void *change_and_save(void *argument)
{
    struct worker *w = argument;
    char key[40];

    w->ok = true;
    for (int i = 0; i < 20 && w->ok; i++) {
        snprintf(key, sizeof key, "thread %d learns %d", w->number, i);
        const kallima_wisdom_entry entry = pretend_plan(key, "x", 1.0);
        w->ok = kal_wisdom_add(w->wisdom, &entry) == KALLIMA_OK;
        snprintf(key, sizeof key, "thread %d learns %d", w->number, i - 1);
        const kallima_wisdom_filter filter = { .key = key };
        w->ok = w->ok && kallima_wisdom_forget(w->wisdom, &filter, NULL) == KALLIMA_OK &&
                kal_wisdom_save(w->wisdom, place) == KALLIMA_OK;
    }
    return NULL;
}

static void threads_save_one_wisdom(void **state)
{
    enum { THREADS = 4 };
    struct worker worker[THREADS];
    kallima_wisdom *wisdom = create();

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ .wisdom = wisdom, .number = i };
        assert_int_equal(
            pthread_create(&worker[i].thread, NULL, change_and_save, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(worker[i].thread, NULL);
        ROW_CHECK(worker[i].ok);
    }
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == THREADS);
    ROW_CHECK(wisdom->forgotten_count == 0 && wisdom->forgotten_start == THREADS * 20);
    ROW_CHECK(count_entries() == THREADS &&
              strstr(read_file(place), "thread 3 learns 19"));
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// Who saves waits for who is at it.
static void the_lock_is_waited_for(void **state)
{
    (void)state;
    save_plan("a");
    const int lock = open(beside(".lock"), O_RDONLY | O_CLOEXEC);
    ROW_CHECK(lock >= 0 && flock(lock, LOCK_EX) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(lock);
        _exit(save_plan("b") == KALLIMA_OK ? 0 : 1);
    }
    nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
    ROW_CHECK(waitpid(child, NULL, WNOHANG) == 0);
    write_file(place, FIRST PLAN); // the holder of the lock may
    ROW_CHECK(flock(lock, LOCK_UN) == 0 && wait_for(child) == 0 && close(lock) == 0);
    ROW_CHECK(count_entries() == 2 && strstr(read_file(place), PLAN));
    ROWS_FINISH();
}

// A process is killed once it has written `bytes`.
static int save_killed(size_t bytes)
{
    const pid_t child = fork();
    if (child == 0) {
        disk.way = DISK_KILLING;
        disk.left = bytes;
        save_plan("killed");
        _exit(0);
    }
    return wait_for(child);
}

static void a_killed_writer_leaves_the_file_whole(void **state)
{
    enum { BYTES = 400 };
    size_t bytes = 0;
    int status;

    (void)state;
    save_plan("a");
    while ((status = save_killed(bytes)) != 0 && bytes++ < BYTES) {
        ROW_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        ROW_CHECK(count_entries() == 1 && is_there(beside(".new")));
    }
    ROW_CHECK(bytes > 100 && status == 0 && count_entries() == 2);
    ROW_CHECK(count_files(scratch) == 2); // what the killed ones left is gone
    ROWS_FINISH();
}

static void writers_killed_at_any_time_leave_it_whole(void **state)
{
    struct random r = { 5 };
    int64_t count = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        const struct timespec pause = { 0, (long)random_between(&r, 1, 20000000) };
        const pid_t child = fork();
        if (child == 0)
            _exit(learn_and_save(i, 1000));
        nanosleep(&pause, NULL);
        ROW_CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(wait_for(child)));
        const int64_t now = is_there(place) ? count_entries() : 0;
        ROW_CHECK(now >= count);
        count = now;
    }
    ROW_CHECK(count > 0 && save_plan("last") == KALLIMA_OK);
    ROW_CHECK(count_entries() == count + 1 && count_files(scratch) == 2);
    ROWS_FINISH();
}

// --- disks that do not take it -----------------------------------------------------------

static void a_full_disk_leaves_the_file_as_it_was(void **state)
{
    struct stat about;
    char before[2000];

    (void)state;
    write_file(place, FIRST "damaged\n" PLAN); // what is kept aside may not fit either
    snprintf(before, sizeof before, "%s", read_file(place));
    size_t bytes = 0;
    for (kallima_status status = KALLIMA_E_WISDOM; status; bytes++) {
        disk.way = DISK_FULL;
        disk.left = bytes;
        status = save_plan("a");
        disk.way = DISK_SOUND;
        if (status == KALLIMA_OK)
            break;
        ROW_CHECK(status == KALLIMA_E_WISDOM);
        ROW_CHECK(strstr(kallima_last_error(), "cannot be written: No space left"));
        ROW_CHECK(strstr(kallima_last_error(), place));
        ROW_CHECK(strcmp(read_file(place), before) == 0 && !is_there(beside(".new")));
    }
    ROW_CHECK(stat(place, &about) == 0 && bytes > (size_t)about.st_size);
    ROW_CHECK(count_entries() == 2);
    ROWS_FINISH();
}

static void interrupted_writes_go_on(void **state)
{
    (void)state;
    disk.way = DISK_INTERRUPTED;
    ROW_CHECK(save_plan("a") == KALLIMA_OK);
    disk.way = DISK_SOUND;
    ROW_CHECK(disk.calls > 10 && count_entries() == 1);
    ROWS_FINISH();
}

// A limit on files would end the process with SIGXFSZ.
static void limits_on_files_are_obeyed(void **state)
{
    const struct rlimit limit = { 50, 50 };

    (void)state;
    write_file(place, FIRST);
    const pid_t child = fork();
    if (child == 0) {
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        const bool refused = save_plan("a") == KALLIMA_E_WISDOM &&
                             strstr(kallima_last_error(), "File too large");
        _exit(refused ? 0 : 1);
    }
    ROW_CHECK(wait_for(child) == 0);
    ROW_CHECK(strcmp(read_file(place), FIRST) == 0 && !is_there(beside(".new")));
    ROWS_FINISH();
}

// Does `claim` hold in a process of its own, without the rights of root?
static bool holds_for_a_user(bool (*claim)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(2);
        _exit(claim() ? 0 : 1);
    }
    return wait_for(child) == 0;
}

static bool is_readable_only(void)
{
    return count_entries() == 1 && save_plan("b") == KALLIMA_E_WISDOM &&
           strstr(kallima_last_error(), "Permission denied") && count_entries() == 1;
}

static bool is_unreadable(void)
{
    kallima_wisdom *wisdom = create();
    const bool refused = kal_wisdom_load(wisdom, place, NULL, NULL) == KALLIMA_E_WISDOM &&
                         strstr(kallima_last_error(), "Permission denied");
    kallima_wisdom_destroy(&wisdom);
    return refused && save_plan("b") == KALLIMA_E_WISDOM;
}

static void permissions_are_obeyed(void **state)
{
    (void)state;
    save_plan("a");
    ROW_CHECK(chmod(place, 0644) == 0 && chmod(beside(".lock"), 0644) == 0);
    ROW_CHECK(chmod(scratch, 0555) == 0);
    ROW_CHECK(holds_for_a_user(is_readable_only)); // who may lock, but not replace
    ROW_CHECK(remove(beside(".lock")) == 0 || geteuid() != 0);
    ROW_CHECK(holds_for_a_user(is_readable_only));
    ROW_CHECK(chmod(place, 0200) == 0);
    ROW_CHECK(holds_for_a_user(is_unreadable));
    ROW_CHECK(chmod(scratch, 0700) == 0 && chmod(place, 0600) == 0);
    ROW_CHECK(count_entries() == 1);
    ROWS_FINISH();
}

static void folders_are_made_for_ones_own_file_alone(void **state)
{
    char path[PATH_MAX + 40];
    struct stat about;
    kallima_wisdom *wisdom = create();

    (void)state;
    snprintf(path, sizeof path, "%s/new/folder/wisdom", scratch);
    ROW_CHECK(kal_wisdom_save(wisdom, path) == KALLIMA_E_WISDOM);
    ROW_CHECK(strstr(kallima_last_error(), "No such file"));
    ROW_CHECK(kal_wisdom_set_places(wisdom, path, false, NULL) == KALLIMA_OK);
    ROW_CHECK(kal_wisdom_save(wisdom, NULL) == KALLIMA_OK && is_there(path));
    snprintf(path, sizeof path, "%s/new/folder", scratch);
    ROW_CHECK(stat(path, &about) == 0 && (about.st_mode & 07777) == 0700);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// --- the search path ---------------------------------------------------------------------

static const struct {
    const char *option, *variable, *cache, *home; // @ is the scratch folder
    const char *system, *place;                   // NULL: none
} paths[] = {
    { "/o", "/v", "/x", "@", NULL, "/o" },
    { "o/p", "/v", "/x", "@", NULL, "@/o/p" },
    { "", "/v", "/x", "@", NULL, NULL },
    { "off", "/v", "/x", "@", NULL, NULL },
    { NULL, "/v", "/x", "@", NULL, "/v" },
    { NULL, "v", "/x", "@", NULL, "@/v" },
    { NULL, "", "/x", "@", NULL, NULL },
    { NULL, "off", "/x", "@", NULL, NULL },
    { NULL, NULL, "@/x", "@", "/system", "@/x/kallima/wisdom" },
    { NULL, NULL, "x", "@", "/system", "@/.cache/kallima/wisdom" },
    { NULL, NULL, NULL, "@", "/system", "@/.cache/kallima/wisdom" },
    { NULL, NULL, NULL, "/", "/system", NULL },
    { NULL, NULL, NULL, NULL, "/system", NULL },
};

static const char *expand(const char *path, char *text, size_t capacity)
{
    if (!path)
        return NULL;
    snprintf(text, capacity, "%s%s", path[0] == '@' ? scratch : "",
             path + (path[0] == '@'));
    return text;
}

static bool are_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static void the_search_path_follows_option_and_environment(void **state)
{
    char text[PATH_MAX + 40], before[PATH_MAX];

    (void)state;
    ROW_CHECK(getcwd(before, sizeof before) && chdir(scratch) == 0);
    for (size_t i = 0; i < KAL_COUNT(paths); i++) {
        kallima_wisdom *wisdom = create();
        set_variable("KALLIMA_WISDOM", expand(paths[i].variable, text, sizeof text));
        set_variable("XDG_CACHE_HOME", expand(paths[i].cache, text, sizeof text));
        set_variable("HOME", expand(paths[i].home, text, sizeof text));
        ROW_CHECK(kal_wisdom_set_places(wisdom, paths[i].option, false, "/system") ==
                  KALLIMA_OK);
        row_ran();
        if (!are_same(wisdom->place, expand(paths[i].place, text, sizeof text)) ||
            !are_same(wisdom->system_place, paths[i].system))
            row_fail("row %zu: %s and %s", i,
                     wisdom->system_place ? wisdom->system_place : "none",
                     wisdom->place ? wisdom->place : "none");
        ROW_CHECK(kal_wisdom_is_kept(wisdom) == (paths[i].place != NULL));
        kallima_wisdom_destroy(&wisdom);
    }
    ROW_CHECK(chdir(before) == 0 && count_files(scratch) == 0);
    ROWS_FINISH();
}

static kallima_wisdom *open_places(const char *system)
{
    kallima_wisdom *wisdom = create();
    set_variable("KALLIMA_WISDOM", NULL);
    set_variable("XDG_CACHE_HOME", scratch);
    ROW_CHECK(kal_wisdom_set_places(wisdom, NULL, false, system) == KALLIMA_OK);
    ROW_CHECK(kal_wisdom_load(wisdom, NULL, NULL, NULL) == KALLIMA_OK);
    return wisdom;
}

// The system's file is read, and neither written nor copied.
static void the_systems_file_is_read_only(void **state)
{
    static const char shared[] = "plan \"d\" \"r\" \"v\" \"shared\" \"x\" measure 5 0\n";
    char system[PATH_MAX + 20];

    (void)state;
    snprintf(system, sizeof system, "%s/system", scratch);
    snprintf(place, sizeof place, "%s/kallima/wisdom", scratch);
    kallima_wisdom *wisdom = open_places(system); // none is there yet
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 0);
    kallima_wisdom_destroy(&wisdom);

    FILE *file = fopen(system, "w");
    ROW_CHECK(file && fprintf(file, FIRST PLAN "%s", shared) > 0 && fclose(file) == 0);
    wisdom = open_places(system);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 2);
    pretend_add_plan(wisdom, "mine", "x", 1.0);
    kallima_wisdom_entry better = { KALLIMA_WISDOM_PLAN,
                                    KALLIMA_EFFORT_PATIENT,
                                    "d",
                                    "r",
                                    "v",
                                    "shared",
                                    "x",
                                    "",
                                    4.0,
                                    0.0,
                                    0.0 };
    pretend_add(wisdom, better);
    ROW_CHECK(kal_wisdom_save(wisdom, NULL) == KALLIMA_OK);
    ROW_CHECK(count_entries() == 2 && !strstr(read_file(place), PLAN));
    ROW_CHECK(strstr(read_file(place), "\"shared\" \"x\" patient 4 0\n"));
    ROW_CHECK(strstr(read_file(system), shared) && strstr(read_file(system), PLAN));
    char *text = pretend_text(wisdom);
    ROW_CHECK(strstr(text, PLAN)); // asked for by name, all of it is written
    free(text);
    snprintf(place, sizeof place, "%s/copy", scratch);
    ROW_CHECK(kal_wisdom_save(wisdom, place) == KALLIMA_OK && count_entries() == 3);
    kallima_wisdom_destroy(&wisdom);

    wisdom = open_places(system);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 3);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// One damaged file of the search path does not hide the other.
static void a_damaged_file_of_the_path_hides_no_other(void **state)
{
    char system[PATH_MAX + 20];
    kallima_wisdom *wisdom = create();

    (void)state;
    snprintf(system, sizeof system, "%s/system", scratch);
    write_file(system, "nonsense\n");
    write_file(place, FIRST PLAN);
    set_variable("KALLIMA_WISDOM", NULL);
    set_variable("XDG_CACHE_HOME", scratch);
    ROW_CHECK(kal_wisdom_set_places(wisdom, NULL, false, system) == KALLIMA_OK);
    kal_free(&host, wisdom->place);
    wisdom->place = NULL;
    ROW_CHECK(kal_wisdom_load(wisdom, NULL, NULL, NULL) == KALLIMA_E_WISDOM);
    ROW_CHECK(strstr(kallima_last_error(), "system: line 1: it is no wisdom"));
    ROW_CHECK(kal_place_find(&host, place, "", "", &wisdom->place) == KALLIMA_OK);
    ROW_CHECK(kal_wisdom_load(wisdom, NULL, NULL, NULL) == KALLIMA_E_WISDOM);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void read_only_wisdom_is_not_written(void **state)
{
    static const struct {
        bool option;
        const char *variable;
        bool is_read_only;
    } ways[] = { { false, NULL, false }, { true, NULL, true },  { false, "1", true },
                 { false, "", false },   { false, "0", false }, { true, "0", true } };
    char text[PATH_MAX + 20];
    size_t length;

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(ways); i++) {
        const kallima_device_options options = { .allocator = host.allocator,
                                                 .wisdom = place,
                                                 .wisdom_read_only = ways[i].option };
        kallima_wisdom *wisdom = NULL;
        set_variable("KALLIMA_WISDOM_READ_ONLY", ways[i].variable);
        write_file(place, FIRST PLAN);
        ROW_CHECK(kallima_wisdom_create(&wisdom, &options) == KALLIMA_OK);
        ROW_CHECK(kallima_wisdom_load(wisdom, NULL, NULL, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
        pretend_add_plan(wisdom, "new", "x", 1.0);
        const kallima_status status = kallima_wisdom_save(wisdom, NULL);
        ROW_CHECK(status == (ways[i].is_read_only ? KALLIMA_E_WISDOM : KALLIMA_OK));
        ROW_CHECK(count_entries() == (ways[i].is_read_only ? 1 : 2));
        ROW_CHECK(kallima_wisdom_get_place(wisdom, text, sizeof text, &length) ==
                  KALLIMA_OK);
        ROW_CHECK(strcmp(text, ways[i].is_read_only ? "" : place) == 0 &&
                  length == strlen(text));
        if (ways[i].is_read_only)
            ROW_CHECK(strstr(kallima_last_error(), "read-only"));
        kallima_wisdom_destroy(&wisdom);
    }
    kallima_wisdom *wisdom = create();
    ROW_CHECK(kal_wisdom_save(wisdom, NULL) == KALLIMA_E_WISDOM);
    ROW_CHECK(strstr(kallima_last_error(), "kept nowhere"));
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// --- memory ------------------------------------------------------------------------------

// Load and save with the k-th allocation failing; return whether there were so many.
static bool works_without(long long k, bool after)
{
    kallima_wisdom *wisdom = create();

    pretend_add_plan(wisdom, "b", "x", 1.0);
    ROW_CHECK(kal_wisdom_forget(wisdom, &(kallima_wisdom_filter){ .key = "c" },
                                &(int64_t){ 0 }) == KALLIMA_OK);
    write_file(place, FIRST PLAN);
    const long long first = counting.calls;
    counting.fail_at = first + k;
    counting.fail_after = after;
    kallima_status status = kal_wisdom_load(wisdom, place, NULL, NULL);
    if (!status)
        status = kal_wisdom_save(wisdom, place);
    const bool failed = counting.calls >= first + k;
    counting.fail_at = 0;
    ROW_CHECK(status == (failed ? KALLIMA_E_MEMORY : KALLIMA_OK));
    ROW_CHECK(count_entries() == (failed ? 1 : 2) && !is_there(beside(".new")));
    kallima_wisdom_destroy(&wisdom);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    return !failed;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        long long k = 1;
        while (!works_without(k, after))
            k++;
        ROW_CHECK(k > 10);
    }
    ROWS_FINISH();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_is_saved_is_loaded),
        TEST(saving_merges),
        TEST(what_is_forgotten_leaves_the_file),
        TEST(a_failed_saving_still_forgets_later),
        TEST(damaged_lines_are_kept_aside),
        TEST(what_is_no_wisdom_is_not_replaced),
        TEST(links_are_followed),
        TEST(what_is_no_plain_file_is_refused),
        TEST(eight_processes_lose_nothing),
        TEST(threads_save_one_wisdom),
        TEST(the_lock_is_waited_for),
        TEST(a_killed_writer_leaves_the_file_whole),
        TEST(writers_killed_at_any_time_leave_it_whole),
        TEST(a_full_disk_leaves_the_file_as_it_was),
        TEST(interrupted_writes_go_on),
        TEST(limits_on_files_are_obeyed),
        TEST(permissions_are_obeyed),
        TEST(folders_are_made_for_ones_own_file_alone),
        TEST(the_search_path_follows_option_and_environment),
        TEST(the_systems_file_is_read_only),
        TEST(a_damaged_file_of_the_path_hides_no_other),
        TEST(read_only_wisdom_is_not_written),
        TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("wisdom-file", tests, NULL, NULL);
}
