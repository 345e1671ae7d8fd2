// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // nftw(), CPU_SET()
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __linux__
#include <sys/prctl.h>
#endif
#include <omp.h>

#include "bench_sample.h"
#include "cli.h"
#include "serve.h"

static volatile sig_atomic_t is_end_asked;

const char *child_refusal(void)
{
    return NULL;
}

// --- starting ---------------------------------------------------------------------------

static void close_all(const int *descriptors, int count)
{
    for (int i = 0; i < count; i++) {
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    }
}

// Above what a child calls its own, so that nothing is overwritten on the way there.
static int move_up(int descriptor)
{
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, SERVE_ANSWERS + 1);
    close(descriptor);
    return moved;
}

// Pipes for questions and answers, and the log. Nothing of it is inherited by others.
static bool open_all(int descriptors[5], const char *log)
{
    for (int i = 0; i < 5; i++)
        descriptors[i] = -1;
    if (pipe(descriptors) != 0 || pipe(descriptors + 2) != 0)
        return false;
    descriptors[4] = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptors[4] < 0)
        return false;
    for (int i = 0; i < 5; i++) {
        descriptors[i] = move_up(descriptors[i]);
        if (descriptors[i] < 0)
            return false;
    }
    return true;
}

// Where OMP_PROC_BIND is set OpenMP has bound this thread, which the new process inherits, to one
// processor of those that it was given.
static void take_all_processors(void)
{
#if defined __linux__
    cpu_set_t all;
    int processors[CPU_SETSIZE];

    CPU_ZERO(&all);
    for (int i = 0; i < omp_get_num_places(); i++) {
        const int count = omp_get_place_num_procs(i);
        if (count > CPU_SETSIZE)
            continue;
        omp_get_place_proc_ids(i, processors);
        for (int j = 0; j < count; j++) {
            if (processors[j] < CPU_SETSIZE)
                CPU_SET(processors[j], &all);
        }
    }
    if (CPU_COUNT(&all) > 0)
        sched_setaffinity(0, sizeof all, &all);
#endif
}

// In the new process. A group of its own: what the terminal sends is for its parent. It ends
// with that one. Two threads on one processor, while another is idle, take twice the time; but a
// driver's threads inherit the one processor of the thread that starts them.
static _Noreturn void become(const int descriptors[5], char *const *arguments, bool binds)
{
    setpgid(0, 0);
    take_all_processors();
    if (binds)
        setenv("OMP_PROC_BIND", "true", 0);
#if defined __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (dup2(descriptors[0], STDIN_FILENO) >= 0 &&
        dup2(descriptors[4], STDOUT_FILENO) >= 0 &&
        dup2(descriptors[4], STDERR_FILENO) >= 0 &&
        dup2(descriptors[3], SERVE_ANSWERS) >= 0)
        execv("/proc/self/exe", arguments);
    _exit(127);
}

bool child_start(struct child *child, char *const *arguments, bool binds, const char *log,
                 char *why, size_t capacity)
{
    int descriptors[5];
    *child = (struct child){ 0 };
    signal(SIGPIPE, SIG_IGN); // a child that is gone is found by its answer
    fflush(NULL);
    const pid_t pid = open_all(descriptors, log) ? fork() : -1;
    if (pid == 0)
        become(descriptors, arguments, binds);
    if (pid < 0) {
        snprintf(why, capacity, "no process can be started to measure in: %s",
                 strerror(errno));
        close_all(descriptors, 5);
        return false;
    }
    close(descriptors[0]);
    close(descriptors[3]);
    close(descriptors[4]);
    child->pid = pid;
    child->to = descriptors[1];
    child->from = descriptors[2];
    return true;
}

// --- its end ----------------------------------------------------------------------------

// Wait for it, and forget it. Returns false if it does not end in time, as a process does
// that a driver does not let go.
static bool reap(struct child *child, int *status)
{
    enum { TRIES = 500, PAUSE_US = 10000 };
    pid_t done = 0;
    for (int i = 0; done == 0 && i < TRIES; i++) {
        done = waitpid(child->pid, status, WNOHANG);
        if (done == 0)
            usleep(PAUSE_US);
    }
    if (done != 0) {
        close(child->to);
        close(child->from);
        *child = (struct child){ 0 };
    }
    return done != 0;
}

void child_end(struct child *child)
{
    int status;
    if (!child->pid)
        return;
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    if (reap(child, &status))
        return;
    close(child->to);
    close(child->from);
    *child = (struct child){ 0 };
}

// What closed its pipe ends soon, or is made to. Returns false.
static bool tell_end(struct child *child, char *why, size_t capacity)
{
    int status = 0;
    if (!reap(child, &status)) {
        child_end(child);
        snprintf(why, capacity, "stopped answering");
    } else if (WIFSIGNALED(status)) {
        snprintf(why, capacity, "crashed: signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(why, capacity, "ended with status %d", WEXITSTATUS(status));
    }
    return false;
}

// --- asking -----------------------------------------------------------------------------

static bool send_line(const struct child *child, const char *line)
{
    char text[SERVE_LINE];
    const int length = snprintf(text, sizeof text, "%s\n", line);
    return length < (int)sizeof text &&
           write(child->to, text, (size_t)length) == (ssize_t)length;
}

// Waits for more of the answer. Returns what read() does, or -2: there was no time left.
static ssize_t receive(struct child *child, double until_ns)
{
    struct pollfd wanted = { .fd = child->from, .events = POLLIN };
    for (;;) {
        const double left_ms = 1e-6 * (until_ns - sample_now_ns());
        if (is_end_asked || left_ms <= 0)
            return -2;
        const int ready = poll(&wanted, 1, left_ms < 1e6 ? (int)left_ms + 1 : 1000000);
        if (ready > 0)
            return read(child->from, child->line + child->used,
                        sizeof child->line - 1 - child->used);
        if (ready < 0 && errno != EINTR)
            return -1;
    }
}

// Read on until a line is whole.
static bool receive_line(struct child *child, double limit_s, char **answer, char *why,
                         size_t capacity)
{
    const double until_ns = sample_now_ns() + 1e9 * limit_s;
    char *end;

    child->used -= child->taken;
    memmove(child->line, child->line + child->taken, child->used);
    child->taken = 0;
    while (!(end = memchr(child->line, '\n', child->used)) &&
           child->used < sizeof child->line - 1) {
        const ssize_t count = receive(child, until_ns);
        if (count == -2) {
            child_end(child);
            snprintf(why, capacity, is_end_asked ? "interrupted" : "no answer in %g s",
                     limit_s);
            return false;
        }
        if (count <= 0)
            return tell_end(child, why, capacity);
        child->used += (size_t)count;
    }
    if (!end) {
        child_end(child);
        snprintf(why, capacity, "an answer without an end");
        return false;
    }
    *end = '\0';
    child->taken = (size_t)(end + 1 - child->line);
    *answer = child->line;
    return true;
}

// Between two questions a child is stopped: threads that spin while they wait for work, some for
// 200 ms, would take processors from the child whose time is taken.
bool child_ask(struct child *child, const char *question, double limit_s, char **answer,
               char *why, size_t capacity)
{
    kill(child->pid, SIGCONT);
    if (question)
        send_line(child, question); // where that fails there is no answer either
    if (!receive_line(child, limit_s, answer, why, capacity))
        return false;
    kill(child->pid, SIGSTOP);
    return true;
}

// --- this process -----------------------------------------------------------------------

static void ask_for_end(int number)
{
    (void)number;
    is_end_asked = 1;
}

void child_catch_end(void)
{
    struct sigaction action = { .sa_handler = ask_for_end,
                                .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    is_end_asked = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) // nohup
        sigaction(SIGHUP, &action, NULL);
}

bool child_is_end_asked(void)
{
    return is_end_asked;
}

bool child_lock(FILE *file)
{
    fcntl(fileno(file), F_SETFD, FD_CLOEXEC); // a child must not keep it
    return flock(fileno(file), LOCK_EX | LOCK_NB) == 0;
}

// Of expected outputs, which a case's processes share.
static char references[4096];

void child_make_caches(char *folder, size_t capacity)
{
    static const char *const names[] = { "KALLIMA_KERNEL_CACHE",
                                         "CUDA_CACHE_PATH",
                                         "POCL_CACHE_DIR",
                                         "MESA_SHADER_CACHE_DIR",
                                         "__GL_SHADER_DISK_CACHE_PATH",
                                         "KALLIMA_COMPARE_REFERENCES" };
    const char *place = getenv("TMPDIR");
    char path[4096];
    if (snprintf(folder, capacity, "%s/kallima-compare-XXXXXX",
                 place && *place ? place : "/tmp") >= (int)capacity ||
        !mkdtemp(folder)) {
        *folder = '\0';
        unsetenv(names[CLI_COUNT(names) - 1]);
        return;
    }
    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        mkdir(path, 0777);
        setenv(names[i], path, 1);
    }
    strcpy(references, path); // the last of them
}

static int remove_one(const char *path, const struct stat *about, int type,
                      struct FTW *where)
{
    (void)about, (void)type, (void)where;
    remove(path);
    return 0;
}

void child_remove_caches(const char *folder)
{
    if (*folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void child_forget_references(void)
{
    child_remove_caches(references);
    if (*references)
        mkdir(references, 0777);
}

void child_read_command(const char *command, char *text, size_t capacity)
{
    *text = '\0';
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return;
    if (!fgets(text, (int)capacity, pipe))
        *text = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    pclose(pipe);
}

FILE *child_open_command(const char *command)
{
    signal(SIGPIPE, SIG_IGN); // a command that ends early fails, no more
    return popen(command, "w");
}

bool child_close_command(FILE *file)
{
    return pclose(file) == 0;
}
