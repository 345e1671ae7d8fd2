// SPDX-License-Identifier: MIT
// POSIX on Windows: read ahead of every file, so that all others are written for POSIX alone.
// What mingw-w64 has is taken from there; here is the rest, as far as it is used. Files are the
// C library's descriptors, always binary; permissions are the folder's, whatever a mode says.
#ifndef KAL_BASE_WINDOWS_POSIX_H_
#define KAL_BASE_WINDOWS_POSIX_H_

#include <direct.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Every file is opened with O_CLOEXEC.
#define O_CLOEXEC   (_O_NOINHERIT | _O_BINARY)
#define O_NOFOLLOW  0
#define O_NONBLOCK  0
#define O_NOCTTY    0
#define O_DIRECTORY 0 // folders cannot be opened, so that they are not synchronised

#define AT_FDCWD            (-100)
#define AT_EACCESS          0
#define AT_SYMLINK_NOFOLLOW 0

#ifndef EWOULDBLOCK
#define EWOULDBLOCK EAGAIN
#endif

/** What is asked of a file: its owner is always this user, who alone may write it. */
struct kal_posix_stat {
    uint64_t st_dev, st_ino;
    int st_mode;
    int st_uid;
    int64_t st_size;
    struct timespec st_mtim;
};

#undef stat
#undef fstat
#undef SIG_SETMASK
#define stat                                 kal_posix_stat // the struct and the function
#define fstat(file, about)                   kal_posix_fstat(file, about)
#define fstatat(folder, name, about, flags)  kal_posix_stat_in(folder, name, about)
#define unlinkat(folder, name, flags)        kal_posix_unlink_in(folder, name)
#define dirfd(folder)                        kal_posix_enter(folder)
#define rename(from, to)                     kal_posix_rename(from, to)
#define mkdir(path, mode)                    _mkdir(path)
#define fchmod(file, mode)                   ((void)(file), (void)(mode), 0)
#define fchmodat(folder, path, mode, flags)  0
#define faccessat(folder, path, mode, flags) _access(path, 0)
#define access(path, mode)                   _access(path, (mode)&6)
#define fsync(file)                          kal_posix_fsync(file)
#define futimens(file, times)                kal_posix_touch(file)
#define pread(file, data, bytes, at)         kal_posix_pread(file, data, bytes, at)
#define mkostemp(path, flags)                kal_posix_mkstemp(path)
#define mkstemp(path)                        kal_posix_mkstemp(path)
#define realpath(path, followed)             kal_posix_realpath(path, followed)
#define secure_getenv(name)                  getenv(name)
#define geteuid()                            1
#define strndup(text, bytes)                 kal_posix_strndup(text, bytes)
#define strsignal(number)                    ((void)(number), "a signal")

int kal_posix_stat(const char *path, struct kal_posix_stat *about);
int kal_posix_fstat(int file, struct kal_posix_stat *about);

/** dirfd() of one folder at a time: what the next two calls of this thread are of. */
int kal_posix_enter(DIR *folder);
int kal_posix_stat_in(int folder, const char *name, struct kal_posix_stat *about);
int kal_posix_unlink_in(int folder, const char *name);

/** Replace `to` at once; waits a little for readers that have it open. */
int kal_posix_rename(const char *from, const char *to);
int kal_posix_fsync(int file);
int kal_posix_touch(int file);
ssize_t kal_posix_pread(int file, void *data, size_t bytes, int64_t at);
int kal_posix_mkstemp(char *path);

/** `followed` holds PATH_MAX bytes, or is NULL for memory that the caller frees. */
char *kal_posix_realpath(const char *path, char *followed);
char *kal_posix_strndup(const char *text, size_t bytes);

/** Aligned to 16 bytes, whatever is asked for, so that free() frees it. */
#define posix_memalign kal_posix_memalign
static inline int kal_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    (void)alignment;
    *memory = malloc(bytes);
    return *memory ? 0 : ENOMEM;
}

#define aligned_alloc(alignment, bytes) malloc(bytes)

// There are no links, nor streams in memory.
#define readlink(path, target, bytes) ((void)(path), (void)(target), (void)(bytes), -1)
#define open_memstream(text, length)  ((void)(text), (void)(length), (FILE *)NULL)

enum { _SC_PAGESIZE, _SC_PHYS_PAGES, _SC_NPROCESSORS_ONLN };
#define sysconf(name) kal_posix_sysconf(name)
long kal_posix_sysconf(int name);

// Signals: a handler is called once, as with SA_RESETHAND. None is blocked.
#define SIGHUP       SIGBREAK
#define SIGXFSZ      SIGABRT_COMPAT
#define SA_RESETHAND 0
#define SA_NODEFER   0
#define SA_RESTART   0
#ifndef _POSIX
typedef int sigset_t;
#endif
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
    sigset_t sa_mask;
};
#define sigemptyset(set) (*(set) = 0)
#define sigfillset(set)  (*(set) = 0)
#undef pthread_sigmask
#define pthread_sigmask(how, set, before) ((void)(set), (void)(before))
#define SIG_SETMASK                       0
#define sigaction(number, action, before) kal_posix_sigaction(number, action, before)
int kal_posix_sigaction(int number, const struct sigaction *action,
                        struct sigaction *before);

#endif
