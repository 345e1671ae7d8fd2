// SPDX-License-Identifier: MIT
// Systems without the calls of POSIX that measuring in processes of its own needs.
#include "child.h"
#include "machine.h"

const char *child_refusal(void)
{
    return "measuring in processes of its own needs a POSIX system; --report-only works "
           "here";
}

bool child_start(struct child *child, char *const *arguments, bool binds, const char *log,
                 char *why, size_t capacity)
{
    (void)child, (void)arguments, (void)binds, (void)log;
    snprintf(why, capacity, "%s", child_refusal());
    return false;
}

bool child_ask(struct child *child, const char *question, double limit_s, char **answer,
               char *why, size_t capacity)
{
    (void)question, (void)limit_s, (void)answer;
    return child_start(child, NULL, false, NULL, why, capacity);
}

void child_end(struct child *child)
{
    (void)child;
}

void child_catch_end(void)
{
}

bool child_is_end_asked(void)
{
    return false;
}

bool child_lock(FILE *file)
{
    (void)file;
    return true;
}

void child_remove_caches(const char *folder)
{
    (void)folder;
}

void child_read_command(const char *command, char *text, size_t capacity)
{
    (void)command;
    snprintf(text, capacity, "%s", "");
}

FILE *child_open_command(const char *command)
{
    (void)command;
    return NULL;
}

bool child_close_command(FILE *file)
{
    (void)file;
    return false;
}

void child_forget_references(void)
{
}

void child_make_caches(char *folder, size_t capacity)
{
    snprintf(folder, capacity, "%s", "");
}

void machine_describe(struct machine *machine)
{
    record_clear(RECORD_MACHINE, machine);
}

bool machine_is_same(const struct machine *a, const struct machine *b)
{
    return a == b;
}
