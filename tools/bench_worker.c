// SPDX-License-Identifier: MIT
#include "bench_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

enum { STATUS_LOST = 64 }; // of a process whose device is lost

static size_t record_bytes(int cases)
{
    return sizeof(struct bench_record) + (size_t)cases * sizeof(struct result);
}

struct bench_record *worker_record_create(int cases)
{
    struct bench_record *record = mmap(NULL, record_bytes(cases), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (record == MAP_FAILED)
        return NULL;
    record->at_work = -1;
    return record;
}

void worker_record_destroy(struct bench_record *record, int cases)
{
    munmap(record, record_bytes(cases));
}

void worker_lose(struct bench_record *record, int library, const char *sentence)
{
    if (record->lost)
        return; // whoever comes after finds it broken
    record->lost = true;
    snprintf(record->broke[library], sizeof record->broke[library],
             "broke the device's context: %s", sentence);
}

void worker_keep(struct bench_record *record, const struct result *result)
{
    record->result[record->done++] = *result;
    record->at_work = -1;
    memset(record->broke, 0, sizeof record->broke);
}

void worker_give_up(void)
{
    fflush(NULL);
    _exit(STATUS_LOST);
}

// Blame the library that was at work when a signal ended its process. False: there is none,
// or it has been blamed before.
static bool blame(struct bench_record *record, int signal)
{
    if (record->at_work < 0 || record->broke[record->at_work][0])
        return false;
    char *why = record->broke[record->at_work];
    snprintf(why, sizeof record->broke[0], "ended the process: %s", strsignal(signal));
    return true;
}

// Returns whether another process is to go on; else *exit_status is to be returned.
static bool goes_on(struct bench_record *record, int wait_status, int *exit_status)
{
    if (WIFSIGNALED(wait_status)) {
        if (blame(record, WTERMSIG(wait_status)))
            return true;
        *exit_status =
            cli_fail("the measuring process ended: %s", strsignal(WTERMSIG(wait_status)));
        return false;
    }
    *exit_status = WEXITSTATUS(wait_status);
    return *exit_status == STATUS_LOST;
}

int worker_start(struct bench_record *record, bool *is_worker)
{
    int status = CLI_FAILED;
    do {
        int wait_status;
        record->lost = false;
        record->at_work = -1;
        fflush(NULL);
        const pid_t worker = fork();
        *is_worker = worker == 0;
        if (worker == 0)
            return CLI_OK;
        if (worker < 0 || waitpid(worker, &wait_status, 0) != worker)
            return cli_fail("no process can be started to measure in");
        if (!goes_on(record, wait_status, &status))
            return status;
    } while (true);
}
