// SPDX-License-Identifier: MIT
// Compiled kernels on disk: found whole or not at all, whatever is done to the folder.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../counting.h"
#include "../disk.h"
#include "../random.h"
#include "../rows.h"
#include "exec/kernel_cache.h"

enum { NOBODY = 65534, HOUR = 60 * 60, MEBIBYTE = 1 << 20 };

static const char key[] = "pretend, driver 1.2";
static const char text[] = "kernel void pretend() { }";

// --- folders and files -------------------------------------------------------------------

static char scratch[PATH_MAX]; // one folder for each test
static char cache[PATH_MAX + 20];
static struct counting counting;
static struct kal_host host;
static int open_files;

static int count_open_files(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
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
    if (!mkdtemp(scratch))
        return -1;
    open_files = count_open_files();
    snprintf(cache, sizeof cache, "%s/new/cache", scratch);
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
    if (count_open_files() != open_files)
        fprintf(stderr, "  files are left open\n");
    if (count_open_files() != open_files || counting.live != 0)
        return -1;
    return nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct found {
    int kernels, temporaries, others;
    char kernel[PATH_MAX + 300]; // path of one of them
};

static struct found look(const char *folder)
{
    struct found found = { 0 };
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, KAL_KERNEL_CACHE_PREFIX, 8) == 0) {
            found.temporaries++;
        } else if (strlen(entry->d_name) == 71) {
            found.kernels++;
            snprintf(found.kernel, sizeof found.kernel, "%s/%s", folder, entry->d_name);
        } else if (entry->d_name[0] != '.') {
            found.others++;
        }
    }
    if (dir)
        closedir(dir);
    return found;
}

// The only kernel in the cache.
static const char *the_kernel(void)
{
    static struct found found;
    found = look(cache);
    ROW_CHECK(found.kernels == 1 && found.temporaries == 0);
    return found.kernel;
}

// Without making the file empty first, after which some file systems wait for the disk.
static void write_whole(const char *path, const void *data, size_t bytes)
{
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    ROW_CHECK(file >= 0 && write(file, data, bytes) == (ssize_t)bytes);
    ROW_CHECK(ftruncate(file, (off_t)bytes) == 0 && close(file) == 0);
}

static size_t read_whole(const char *path, void *data, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(data, 1, capacity, file) : 0;
    ROW_CHECK(file && fclose(file) == 0 && bytes < capacity);
    return bytes;
}

static void set_age(const char *path, time_t seconds)
{
    const struct timespec then = { time(NULL) - seconds, 0 };
    const struct timespec times[2] = { then, then };
    ROW_CHECK(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0);
}

// --- what is stored ----------------------------------------------------------------------

static void store_text(const char *content)
{
    const struct kal_binary binary = { (void *)(uintptr_t)content, strlen(content) };
    kal_kernel_cache_store(&host, cache, key, text, &binary);
}

static bool finds_under(const char *other_key, const char *other_text,
                        const char *content)
{
    struct kal_binary binary = { &counting, 77 };
    const long long live = counting.live;
    const kallima_status status =
        kal_kernel_cache_load(&host, cache, other_key, other_text, &binary);
    const bool found = status == KALLIMA_OK && binary.data &&
                       binary.bytes == strlen(content) &&
                       memcmp(binary.data, content, strlen(content)) == 0;
    const bool empty = status == KALLIMA_OK && !binary.data && binary.bytes == 0;
    kal_free(&host, binary.data);
    ROW_CHECK(found || empty);
    ROW_CHECK(counting.live == live && counting.damaged == 0);
    return found;
}

static bool finds(const char *content)
{
    return finds_under(key, text, content);
}

static void what_is_stored_is_found(void **state)
{
    static const uint64_t sizes[] = { 1, 2, 63, 64, 1000, 3 * MEBIBYTE + 1 };
    struct kal_binary binary, found;

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(sizes); i++) {
        ROW_CHECK(kal_alloc(&host, &binary.data, sizes[i], 1) == KALLIMA_OK);
        binary.bytes = sizes[i];
        memset(binary.data, (int)i, (size_t)sizes[i]);
        kal_kernel_cache_store(&host, cache, key, text, &binary);
        ROW_CHECK(kal_kernel_cache_load(&host, cache, key, text, &found) == KALLIMA_OK);
        ROW_CHECK(found.data && found.bytes == sizes[i] &&
                  memcmp(found.data, binary.data, (size_t)sizes[i]) == 0);
        kal_free(&host, binary.data);
        kal_free(&host, found.data);
    }
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROW_CHECK(look(cache).kernels == 1 && look(cache).temporaries == 0);
    ROWS_FINISH();
}

static void what_is_empty_or_too_large_is_not_stored(void **state)
{
    struct kal_binary binary = { (void *)(uintptr_t)text, 0 };

    (void)state;
    kal_kernel_cache_store(&host, cache, key, text, &binary);
    binary.bytes = 64 * MEBIBYTE; // never touched
    kal_kernel_cache_store(&host, cache, key, text, &binary);
    binary.bytes = UINT64_MAX;
    kal_kernel_cache_store(&host, cache, key, text, &binary);
    ROW_CHECK(look(cache).kernels == 0 && look(cache).temporaries == 0);
    ROWS_FINISH();
}

static void only_the_owner_may_look(void **state)
{
    struct stat about;
    const mode_t mask = umask(0777);

    (void)state;
    store_text("binary");
    umask(mask);
    ROW_CHECK(stat(the_kernel(), &about) == 0 && (about.st_mode & 07777) == 0600);
    ROW_CHECK(stat(cache, &about) == 0 && (about.st_mode & 07777) == 0700);
    ROW_CHECK(finds("binary"));
    ROWS_FINISH();
}

static void other_keys_are_not_found(void **state)
{
    static const char *const others[][2] = {
        { "pretend, driver 1.3", "kernel void pretend() { }" },
        { "pretend, driver 1.2", "kernel void pretend() {  }" },
        { "pretend, driver 1.2k", "ernel void pretend() { }" },
        { "pretend, driver 1.", "2kernel void pretend() { }" },
        { "", "kernel void pretend() { }" },
        { "pretend, driver 1.2", "" },
        { "%s%n", "%s%n" },
    };

    (void)state;
    store_text("binary");
    for (size_t i = 0; i < KAL_COUNT(others); i++)
        ROW_CHECK(!finds_under(others[i][0], others[i][1], "binary"));
    ROW_CHECK(finds("binary"));

    // A file under another one's name is not that one.
    const struct kal_binary other = { (void *)(uintptr_t) "other", 5 };
    char kept[PATH_MAX + 20];
    snprintf(kept, sizeof kept, "%s/kept", scratch);
    ROW_CHECK(rename(the_kernel(), kept) == 0);
    kal_kernel_cache_store(&host, cache, "another", text, &other);
    ROW_CHECK(finds_under("another", text, "other"));
    ROW_CHECK(rename(kept, the_kernel()) == 0);
    ROW_CHECK(!finds_under("another", text, "other"));
    ROWS_FINISH();
}

// --- damage ------------------------------------------------------------------------------

static void a_changed_bit_is_noticed(void **state)
{
    uint8_t data[1000];

    (void)state;
    store_text("binary");
    const char *path = the_kernel();
    const size_t bytes = read_whole(path, data, sizeof data);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_whole(path, data, bytes);
        if (finds("binary"))
            row_fail("bit %zu of %zu: found", bit, 8 * bytes);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    write_whole(path, data, bytes);
    ROW_CHECK(bytes > 100 && finds("binary"));
    ROWS_FINISH();
}

static void a_wrong_length_is_noticed(void **state)
{
    uint8_t data[1000] = { 0 };

    (void)state;
    store_text("binary");
    const char *path = the_kernel();
    const size_t bytes = read_whole(path, data, sizeof data);
    for (size_t cut = 0; cut < bytes + 20; cut++) {
        write_whole(path, data, cut);
        if (finds("binary") != (cut == bytes))
            row_fail("%zu of %zu bytes", cut, bytes);
    }
    write_whole(path, data, bytes / 2);
    store_text("replaced");
    ROW_CHECK(finds("replaced"));
    ROWS_FINISH();
}

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
    write_whole(path, "", 0);
    ROW_CHECK(truncate(path, (off_t)1 << 40) == 0 || errno == EFBIG);
}

static void put_zeros(const char *path)
{
    write_whole(path, "", 0);
    ROW_CHECK(truncate(path, 64 * MEBIBYTE) == 0);
}

// Whatever stands where the kernel should be: not found, and replaced if it can be.
static void what_is_no_plain_file_is_not_read(void **state)
{
    static void (*const put[])(const char *) = { put_pipe,    put_folder, put_loop,
                                                 put_endless, put_huge,   put_zeros };
    struct stat about;

    (void)state;
    store_text("binary");
    const char *path = the_kernel();
    for (size_t i = 0; i < KAL_COUNT(put); i++) {
        ROW_CHECK(remove(path) == 0);
        put[i](path);
        ROW_CHECK(!finds("binary"));
        store_text("binary");
        ROW_CHECK(look(cache).temporaries == 0);
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode))
            ROW_CHECK(!finds("binary"));
        else
            ROW_CHECK(finds("binary"));
    }
    ROWS_FINISH();
}

static void links_are_not_followed(void **state)
{
    char elsewhere[PATH_MAX + 20], content[100] = "";

    (void)state;
    store_text("binary");
    const char *path = the_kernel();
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", scratch);
    ROW_CHECK(rename(path, elsewhere) == 0 && symlink(elsewhere, path) == 0);
    ROW_CHECK(!finds("binary")); // though what it points at is whole

    write_whole(elsewhere, "mine", 4);
    store_text("binary");
    ROW_CHECK(finds("binary"));
    ROW_CHECK(read_whole(elsewhere, content, sizeof content) == 4);
    ROW_CHECK(strcmp(content, "mine") == 0);
    ROWS_FINISH();
}

static void what_others_can_write_is_not_trusted(void **state)
{
    (void)state;
    store_text("binary");
    const char *path = the_kernel();
    ROW_CHECK(chmod(path, 0644) == 0 && finds("binary"));
    ROW_CHECK(chmod(path, 0620) == 0 && !finds("binary"));
    ROW_CHECK(chmod(path, 0602) == 0 && !finds("binary"));
    ROW_CHECK(chmod(path, 0600) == 0 && finds("binary"));
    if (geteuid() == 0)
        ROW_CHECK(chown(path, NOBODY, NOBODY) == 0 && !finds("binary"));
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

// Does `claim` hold in a process of its own, without the rights of root?
static bool holds_for_a_user(bool (*claim)(void))
{
    if (geteuid() == 0)
        ROW_CHECK(chmod(scratch, 0755) == 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(2);
        _exit(claim() ? 0 : 1);
    }
    return wait_for(child) == 0;
}

static const char *content_of(int process)
{
    static char content[4][30000];
    char *mine = content[process];
    if (mine[0] == '\0')
        memset(mine, 'a' + process, 20000 + 3000 * (size_t)process);
    return mine;
}

// Is it one of the processes' contents, whole? `absent` is what nothing at all counts as.
static bool finds_any(bool absent)
{
    struct kal_binary binary;
    if (kal_kernel_cache_load(&host, cache, key, text, &binary) != KALLIMA_OK)
        return false;
    bool good = !binary.data && absent;
    for (int i = 0; binary.data && i < 4; i++) {
        const char *content = content_of(i);
        good = good || (binary.bytes == strlen(content) &&
                        memcmp(binary.data, content, (size_t)binary.bytes) == 0);
    }
    kal_free(&host, binary.data);
    return good;
}

static int store_and_load(int process, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        store_text(content_of(process));
        if (!finds_any(false))
            return 1;
        if (i % 50 == 0)
            kal_kernel_cache_tidy(&host, cache);
    }
    return 0;
}

static void processes_share_a_folder(void **state)
{
    enum { PROCESSES = 4, ROUNDS = 300 };
    pid_t child[PROCESSES];

    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(store_and_load(i, ROUNDS));
    }
    for (int i = 0; i < 500; i++)
        ROW_CHECK(finds_any(true));
    for (int i = 0; i < PROCESSES; i++)
        ROW_CHECK(wait_for(child[i]) == 0);
    ROW_CHECK(finds_any(false));
    ROW_CHECK(look(cache).kernels == 1 && look(cache).temporaries == 0);
    ROWS_FINISH();
}

// A process is killed once it has written `bytes`.
static int store_killed(size_t bytes)
{
    const pid_t child = fork();
    if (child == 0) {
        disk.way = DISK_KILLING;
        disk.left = bytes;
        store_text("killed");
        _exit(0);
    }
    return wait_for(child);
}

static void age_temporaries(time_t seconds)
{
    const struct dirent *entry;
    char path[PATH_MAX + 300];
    DIR *dir = opendir(cache);

    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, KAL_KERNEL_CACHE_PREFIX, 8) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
        set_age(path, seconds);
    }
    if (dir)
        closedir(dir);
}

static void killed_writers_leave_no_kernel(void **state)
{
    enum { BYTES = 300 };
    size_t bytes = 0;
    int status, killed = 0;

    (void)state;
    while ((status = store_killed(bytes)) != 0 && bytes++ < BYTES) {
        ROW_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        ROW_CHECK(!finds("killed") && look(cache).temporaries == ++killed);
    }
    ROW_CHECK(killed > 100 && status == 0 && finds("killed"));

    age_temporaries(HOUR - 60); // a slow writer may still be at it
    kal_kernel_cache_tidy(&host, cache);
    ROW_CHECK(look(cache).temporaries == killed);
    age_temporaries(HOUR + 60);
    kal_kernel_cache_tidy(&host, cache);
    ROW_CHECK(look(cache).temporaries == 0 && finds("killed"));
    ROWS_FINISH();
}

static void writers_killed_at_any_time_leave_whole_kernels(void **state)
{
    struct random r = { 5 };

    (void)state;
    for (int i = 0; i < 60; i++) {
        const struct timespec pause = { 0, (long)random_between(&r, 1, 6000000) };
        const pid_t child = fork();
        if (child == 0)
            _exit(store_and_load(i % 4, 1000000));
        nanosleep(&pause, NULL);
        ROW_CHECK(finds_any(true));
        ROW_CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(wait_for(child)));
        ROW_CHECK(finds_any(true));
    }
    store_text(content_of(0));
    ROW_CHECK(finds_any(false) && look(cache).kernels == 1);
    age_temporaries(2 * HOUR);
    kal_kernel_cache_tidy(&host, cache);
    ROW_CHECK(look(cache).temporaries == 0);
    ROWS_FINISH();
}

// --- disks that do not take it -----------------------------------------------------------

static void a_full_disk_keeps_nothing(void **state)
{
    struct stat about;

    (void)state;
    store_text("binary");
    ROW_CHECK(stat(the_kernel(), &about) == 0 && remove(the_kernel()) == 0);
    for (size_t bytes = 0; bytes < (size_t)about.st_size; bytes++) {
        disk.way = DISK_FULL;
        disk.left = bytes;
        store_text("binary");
        disk.way = DISK_SOUND;
        ROW_CHECK(!finds("binary"));
        ROW_CHECK(look(cache).kernels == 0 && look(cache).temporaries == 0);
    }
    store_text("binary");
    disk.way = DISK_FULL;
    disk.left = 30;
    store_text("changed");
    disk.way = DISK_SOUND;
    ROW_CHECK(finds("binary")); // what was there is still there
    ROWS_FINISH();
}

// With a small disk of its own: `cache` lies in memory that is soon full.
static bool fits_until_full(void)
{
    char options[] = "size=256k";
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", scratch, "tmpfs", 0, options) != 0)
        return fprintf(stderr, "  no disk of its own: not tested\n") > 0;

    char each[] = "0: its key";
    const struct kal_binary binary = { (void *)(uintptr_t)content_of(0), 20000 };
    for (int i = 0; i < 40; i++) {
        each[0] = (char)('0' + i);
        kal_kernel_cache_store(&host, cache, each, text, &binary);
    }
    const struct found found = look(cache);
    each[0] = '0';
    return found.kernels > 3 && found.kernels < 13 && found.temporaries == 0 &&
           finds_under(each, text, content_of(0));
}

static void a_disk_that_fills_up_keeps_what_it_has(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(fits_until_full() ? 0 : 1);
    ROW_CHECK(wait_for(child) == 0);
    ROWS_FINISH();
}

static void interrupted_writes_go_on(void **state)
{
    (void)state;
    disk.way = DISK_INTERRUPTED;
    store_text("binary");
    disk.way = DISK_SOUND;
    ROW_CHECK(disk.calls > 10 && finds("binary"));
    ROWS_FINISH();
}

// A limit on files would end the process with SIGXFSZ.
static void limits_on_files_are_obeyed(void **state)
{
    const struct rlimit limit = { 1000, 1000 };

    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        store_text(content_of(0));
        _exit(finds(content_of(0)) || look(cache).temporaries ? 1 : 0);
    }
    ROW_CHECK(wait_for(child) == 0);
    ROW_CHECK(look(cache).kernels == 0 && look(cache).temporaries == 0);
    ROWS_FINISH();
}

static bool store_is_silent(void)
{
    store_text("changed");
    return !finds("changed");
}

static bool binary_stays(void)
{
    const bool found = finds("binary");
    store_text("changed");
    return found && finds("binary");
}

static void folders_that_cannot_be_written_are_left_alone(void **state)
{
    char parent[PATH_MAX + 20];

    (void)state;
    snprintf(parent, sizeof parent, "%s/new", scratch);
    ROW_CHECK(mkdir(parent, 0555) == 0);
    ROW_CHECK(holds_for_a_user(store_is_silent)); // cannot even be made

    ROW_CHECK(chmod(parent, 0755) == 0);
    store_text("binary");
    ROW_CHECK(chmod(the_kernel(), 0644) == 0 && chmod(cache, 0555) == 0);
    ROW_CHECK(holds_for_a_user(binary_stays));
    ROW_CHECK(chmod(the_kernel(), 0200) == 0);
    ROW_CHECK(holds_for_a_user(store_is_silent)); // cannot even be read
    ROW_CHECK(chmod(cache, 0755) == 0);
    ROW_CHECK(look(cache).kernels == 1 && look(cache).temporaries == 0);
    ROWS_FINISH();
}

static void a_folder_that_is_a_file_is_left_alone(void **state)
{
    char parent[PATH_MAX + 20], content[100] = "";

    (void)state;
    snprintf(parent, sizeof parent, "%s/new", scratch);
    write_whole(parent, "mine", 4);
    store_text("binary");
    ROW_CHECK(!finds("binary"));
    ROW_CHECK(read_whole(parent, content, sizeof content) == 4);
    kal_kernel_cache_tidy(&host, parent);
    ROW_CHECK(kal_kernel_cache_load(&host, NULL, key, text, &(struct kal_binary){ 0 }) ==
              KALLIMA_OK);
    kal_kernel_cache_store(&host, NULL, key, text, &(struct kal_binary){ parent, 4 });
    ROWS_FINISH();
}

// --- the place ---------------------------------------------------------------------------

static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static bool place_is(const char *option, const char *expected)
{
    char *folder = cache;
    const kallima_status status = kal_kernel_cache_folder(&host, option, &folder);
    const bool good =
        status == KALLIMA_OK &&
        (folder && expected ? strcmp(folder, expected) == 0 : !folder && !expected);
    if (!good)
        fprintf(stderr, "  place: %s\n", folder ? folder : "nowhere");
    kal_free(&host, folder);
    return good;
}

static void the_place_follows_option_and_environment(void **state)
{
    // Places that begin with @ are under the scratch folder, which is the current one.
    static const char *const places[][5] = {
        // option, variable, XDG's, home; expected
        { "/o", "/v", "/x", "@", "/o" },
        { "/o", "", "/x", "@", "/o" },
        { "o/p", "/v", "/x", "@", "@/o/p" },
        { ".", "/v", "/x", "@", "@/." },
        { "", "/v", "/x", "@", NULL },
        { "off", "/v", "/x", "@", NULL },
        { "./off", "/v", "/x", "@", "@/./off" },
        { NULL, "/v", "/x", "@", "/v" },
        { NULL, "v", "/x", "@", "@/v" },
        { NULL, "", "/x", "@", NULL },
        { NULL, "off", "/x", "@", NULL },
        { NULL, NULL, "@/x", "@", "@/x/kallima" },
        { NULL, NULL, "/nowhere/x", NULL, "/nowhere/x/kallima" },
        { NULL, NULL, "x", "@", "@/.cache/kallima" },
        { NULL, NULL, "", "@", "@/.cache/kallima" },
        { NULL, NULL, NULL, "@", "@/.cache/kallima" },
        { NULL, NULL, NULL, NULL, NULL },
        { NULL, NULL, NULL, "", NULL },
        { NULL, NULL, NULL, "/", NULL },
        { NULL, NULL, NULL, "//", NULL },
        { NULL, NULL, NULL, "/./..", NULL },
        { NULL, NULL, NULL, ".", NULL },
        { NULL, NULL, NULL, "@/missing", NULL },
        { NULL, NULL, NULL, "/dev/null", NULL },
        { NULL, NULL, NULL, "/proc/self", NULL },
    };
    char name[5][PATH_MAX + 40];
    const char *given[5];

    (void)state;
    char before[PATH_MAX];
    ROW_CHECK(getcwd(before, sizeof before) && chdir(scratch) == 0);
    ROW_CHECK(getcwd(scratch, sizeof scratch)); // without links
    for (size_t i = 0; i < KAL_COUNT(places); i++) {
        for (int k = 0; k < 5; k++) {
            const char *original = places[i][k];
            given[k] = original ? name[k] : NULL;
            if (original)
                snprintf(name[k], sizeof name[k], "%s%s",
                         original[0] == '@' ? scratch : "",
                         original + (original[0] == '@'));
        }
        set_variable("KALLIMA_KERNEL_CACHE", given[1]);
        set_variable("XDG_CACHE_HOME", given[2]);
        set_variable("HOME", given[3]);
        row_ran();
        if (!place_is(given[0], given[4]))
            row_fail("row %zu", i);
    }
    ROW_CHECK(look(scratch).others == 0 && counting.live == 0);
    ROW_CHECK(chdir(before) == 0);
    ROWS_FINISH();
}

static bool place_is_nowhere(void)
{
    return place_is(NULL, NULL);
}

static bool place_is_home(void)
{
    char expected[PATH_MAX + 40];
    snprintf(expected, sizeof expected, "%s/.cache/kallima", scratch);
    return place_is(NULL, expected);
}

static void homes_of_others_are_left_alone(void **state)
{
    (void)state;
    set_variable("KALLIMA_KERNEL_CACHE", NULL);
    set_variable("XDG_CACHE_HOME", NULL);
    set_variable("HOME", scratch);
    ROW_CHECK(place_is_home());
    ROW_CHECK(chmod(scratch, 0555) == 0);
    if (geteuid() != 0) {
        ROW_CHECK(place_is_nowhere());
    } else {
        ROW_CHECK(holds_for_a_user(place_is_nowhere));
        ROW_CHECK(chown(scratch, NOBODY, NOBODY) == 0);
        ROW_CHECK(holds_for_a_user(place_is_home));
        ROW_CHECK(place_is_nowhere()); // root could write there, but should not
        set_variable("XDG_CACHE_HOME", scratch);
        ROW_CHECK(place_is_nowhere());
    }
    ROW_CHECK(chmod(scratch, 0700) == 0);
    ROWS_FINISH();
}

// --- memory and room ---------------------------------------------------------------------

static void fail_at(int k, bool after)
{
    counting = (struct counting){ .fail_at = k, .fail_after = after };
}

// Load with the k-th allocation failing; return whether there were so many.
static bool load_under_failure(int k, bool after)
{
    struct kal_binary binary;

    fail_at(k, after);
    const kallima_status status = kal_kernel_cache_load(&host, cache, key, text, &binary);
    const bool failed = counting.calls >= k;
    ROW_CHECK(status == (failed ? KALLIMA_E_MEMORY : KALLIMA_OK));
    ROW_CHECK((binary.data != NULL) == !failed && (binary.bytes != 0) == !failed);
    kal_free(&host, binary.data);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    return failed;
}

static bool store_under_failure(int k, bool after)
{
    ROW_CHECK(remove(the_kernel()) == 0);
    fail_at(k, after);
    store_text("binary");
    const bool failed = counting.calls >= k;
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROW_CHECK(look(cache).temporaries == 0 && look(cache).kernels == !failed);
    fail_at(0, false);
    store_text("binary");
    return failed;
}

static void memory_may_run_out(void **state)
{
    char *folder = cache;

    (void)state;
    store_text("binary");
    for (int after = 0; after < 2; after++) {
        int loads = 1, stores = 1;
        while (load_under_failure(loads, after))
            loads++;
        while (store_under_failure(stores, after))
            stores++;
        ROW_CHECK(loads > 4 && stores > 3);
    }
    fail_at(1, false);
    ROW_CHECK(kal_kernel_cache_folder(&host, "/place", &folder) == KALLIMA_E_MEMORY);
    ROW_CHECK(!folder && counting.live == 0);
    ROWS_FINISH();
}

static void name_kernel(char *path, size_t capacity, int number)
{
    snprintf(path, capacity, "%s/%064x" KAL_KERNEL_CACHE_SUFFIX, cache, (unsigned)number);
}

static void the_folder_stays_bounded(void **state)
{
    enum { FILES = 4200, KEPT = 3072 };
    char path[PATH_MAX + 300];

    (void)state;
    store_text("binary");
    set_age(the_kernel(), 2 * FILES); // the oldest
    for (int i = 0; i < FILES - 1; i++) {
        name_kernel(path, sizeof path, i);
        ROW_CHECK(mknod(path, S_IFREG | 0600, 0) == 0);
        set_age(path, 100 + i);
    }
    snprintf(path, sizeof path, "%s/notes.txt", cache);
    ROW_CHECK(mknod(path, S_IFREG | 0600, 0) == 0);
    set_age(path, 1000 * HOUR);

    counting = (struct counting){ .fail_at = 3, .fail_after = true };
    kal_kernel_cache_tidy(&host, cache); // knows too few to remove any
    ROW_CHECK(look(cache).kernels == FILES && counting.live == 0);
    counting.fail_at = 0;
    kal_kernel_cache_tidy(&host, cache);
    ROW_CHECK(look(cache).kernels == KEPT && look(cache).others == 1);
    ROW_CHECK(!finds("binary") && counting.live == 0);
    name_kernel(path, sizeof path, KEPT - 1);
    ROW_CHECK(access(path, F_OK) == 0);
    name_kernel(path, sizeof path, KEPT);
    ROW_CHECK(access(path, F_OK) != 0);
    ROWS_FINISH();
}

static void large_kernels_make_room(void **state)
{
    char path[PATH_MAX + 300];

    (void)state;
    store_text("binary");
    for (int i = 0; i < 10; i++) { // 50 MiB each, as the folder sees it
        name_kernel(path, sizeof path, i);
        ROW_CHECK(mknod(path, S_IFREG | 0600, 0) == 0);
        ROW_CHECK(truncate(path, 50 * MEBIBYTE) == 0);
        set_age(path, 100 + i);
    }
    // Storing tidies, if not each time.
    for (int i = 0; i < 32; i++)
        store_text("binary");
    ROW_CHECK(look(cache).kernels == 1 + 3 && finds("binary"));
    name_kernel(path, sizeof path, 2);
    ROW_CHECK(access(path, F_OK) == 0);
    ROWS_FINISH();
}

static void kernels_in_use_stay_young(void **state)
{
    struct stat about = { 0 };

    (void)state;
    store_text("binary");
    const char *path = the_kernel();
    set_age(path, 23 * HOUR);
    ROW_CHECK(finds("binary") && stat(path, &about) == 0);
    ROW_CHECK(time(NULL) - about.st_mtim.tv_sec > 22 * HOUR);
    set_age(path, 25 * HOUR);
    ROW_CHECK(finds("binary") && stat(path, &about) == 0);
    ROW_CHECK(time(NULL) - about.st_mtim.tv_sec < HOUR);
    ROWS_FINISH();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_is_stored_is_found),
        TEST(what_is_empty_or_too_large_is_not_stored),
        TEST(only_the_owner_may_look),
        TEST(other_keys_are_not_found),
        TEST(a_changed_bit_is_noticed),
        TEST(a_wrong_length_is_noticed),
        TEST(what_is_no_plain_file_is_not_read),
        TEST(links_are_not_followed),
        TEST(what_others_can_write_is_not_trusted),
        TEST(processes_share_a_folder),
        TEST(killed_writers_leave_no_kernel),
        TEST(writers_killed_at_any_time_leave_whole_kernels),
        TEST(a_full_disk_keeps_nothing),
        TEST(a_disk_that_fills_up_keeps_what_it_has),
        TEST(interrupted_writes_go_on),
        TEST(limits_on_files_are_obeyed),
        TEST(folders_that_cannot_be_written_are_left_alone),
        TEST(a_folder_that_is_a_file_is_left_alone),
        TEST(the_place_follows_option_and_environment),
        TEST(homes_of_others_are_left_alone),
        TEST(memory_may_run_out),
        TEST(the_folder_stays_bounded),
        TEST(large_kernels_make_room),
        TEST(kernels_in_use_stay_young),
    };
    return cmocka_run_group_tests_name("kernel-cache", tests, NULL, NULL);
}
