// SPDX-License-Identifier: MIT
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

// What the signal handler removes. Whoever makes it holds the lock.
static char pending[4096];
static volatile sig_atomic_t is_pending;
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

static void lock(void)
{
    const struct timespec moment = { .tv_nsec = 100000 };
    while (atomic_flag_test_and_set(&is_locked))
        nanosleep(&moment, NULL);
}

// On any thread: those of the library do not block signals. The lock is kept, so that no file
// is made any more.
static void remove_pending(int number)
{
    lock();
    if (is_pending)
        unlink(pending);
    raise(number); // the handler was installed with SA_RESETHAND
}

void output_catch_signals(void)
{
    static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = remove_pending,
                                .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CLI_COUNT(caught); i++) {
        struct sigaction before;
        sigaction(caught[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}

// Append what `file` still holds to the input.
static bool read_all(struct input *input, FILE *file)
{
    size_t capacity = 1 << 16;
    struct stat about;
    if (fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode))
        capacity = (size_t)about.st_size + 1;

    for (;;) {
        uint8_t *byte = realloc(input->byte, capacity);
        if (!byte) {
            cli_fail("%s: no memory for a file of more than %zu bytes", input->name,
                     input->count);
            return false;
        }
        input->byte = byte;
        input->count += fread(byte + input->count, 1, capacity - input->count, file);
        if (input->count < capacity)
            break;
        capacity *= 2;
    }
    if (ferror(file)) {
        cli_fail("%s: cannot read: %s", input->name, strerror(errno));
        return false;
    }
    return true;
}

bool input_read(struct input *input, const char *name)
{
    *input = (struct input){ .name = name };
    FILE *file = fopen(name, "rb");
    if (!file) {
        cli_fail("%s: cannot open: %s", name, strerror(errno));
        return false;
    }
    bool good = read_all(input, file);
    fclose(file);
    if (good && input->count == 0) {
        cli_fail("%s: the file is empty", name);
        good = false;
    }
    if (!good)
        input_clear(input);
    return good;
}

void input_clear(struct input *input)
{
    free(input->byte);
    input->byte = NULL;
    input->count = 0;
}

static void forget(struct output *output)
{
    is_pending = 0;
    free(output->place);
    free(output->temporary);
    output->place = output->temporary = NULL;
    output->file = NULL;
}

static bool refuse(struct output *output, int code)
{
    cli_fail("%s: cannot write: %s", output->name, strerror(code));
    forget(output);
    return false;
}

// "DIR/.kallima-XXXXXX" in the directory of `place`, or NULL.
static char *temporary_name(const char *place)
{
    static const char pattern[] = ".kallima-XXXXXX";
    const char *slash = strrchr(place, '/');
    const size_t directory = slash ? (size_t)(slash + 1 - place) : 0;
    char *name = malloc(directory + sizeof pattern);
    if (!name || directory + sizeof pattern > sizeof pending) {
        free(name);
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(name, place, directory);
    memcpy(name + directory, pattern, sizeof pattern);
    return name;
}

// Create the temporary file with the permissions that the final one is to have.
static bool open_temporary(struct output *output, mode_t mode)
{
    output->temporary = temporary_name(output->place);
    if (!output->temporary)
        return refuse(output, errno);

    // Signals wait until the handler knows the name that mkstemp() chooses: on this thread they
    // are blocked, on others the handler waits for the lock.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    lock();
    const int descriptor = mkstemp(output->temporary);
    const int code = errno;
    if (descriptor >= 0) {
        strcpy(pending, output->temporary);
        is_pending = 1;
    }
    atomic_flag_clear(&is_locked);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (descriptor < 0)
        return refuse(output, code);

    if (fchmod(descriptor, mode) == 0)
        output->file = fdopen(descriptor, "wb");
    if (!output->file) {
        const int cause = errno;
        close(descriptor);
        unlink(output->temporary);
        return refuse(output, cause);
    }
    return true;
}

static mode_t new_file_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool output_open(struct output *output, const char *name)
{
    struct stat about;
    *output = (struct output){ .name = name };
    if (stat(name, &about) != 0) {
        output->place = strdup(name);
        return output->place ? open_temporary(output, new_file_mode())
                             : refuse(output, ENOMEM);
    }
    if (S_ISDIR(about.st_mode))
        return refuse(output, EISDIR);
    if (access(name, W_OK) != 0)
        return refuse(output, errno);
    if (!S_ISREG(about.st_mode)) {
        output->file = fopen(name, "wb");
        return output->file ? true : refuse(output, errno);
    }
    output->place = realpath(name, NULL);
    return output->place ? open_temporary(output, about.st_mode & 0777)
                         : refuse(output, errno);
}

bool output_fail(const struct output *output)
{
    cli_fail("%s: cannot write: %s", output->name, strerror(errno ? errno : EIO));
    return false;
}

bool output_commit(struct output *output)
{
    errno = 0;
    bool good = fflush(output->file) == 0 && !ferror(output->file);
    const int code = errno;
    good = fclose(output->file) == 0 && good;
    if (good && output->temporary)
        good = rename(output->temporary, output->place) == 0;
    if (!good) {
        errno = errno ? errno : code;
        output_fail(output);
        if (output->temporary)
            unlink(output->temporary);
    }
    forget(output);
    return good;
}

void output_discard(struct output *output)
{
    fclose(output->file);
    if (output->temporary)
        unlink(output->temporary);
    forget(output);
}
