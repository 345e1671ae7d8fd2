// SPDX-License-Identifier: MIT
// Processes of this program that measure, each one technology: started, asked, ended. One that
// crashes or does not answer is noticed, and its end costs nothing but its answer.
#ifndef KALLIMA_COMPARE_CHILD_H_
#define KALLIMA_COMPARE_CHILD_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CHILD_LINE = 8192 };

/** All zero is none that runs. */
struct child {
    int pid;            // 0: it does not run
    int to, from;       // pipes
    size_t used, taken; // bytes in `line`; of these, of an answer that was given
    char line[CHILD_LINE];
};

/** Return why there can be no such processes on this system; NULL: there can. */
const char *child_refusal(void);

/**
 * Start this program again with `arguments`, of which the first is its name and the last NULL.
 * What it prints is appended to the file `log`. `binds` keeps each thread of OpenMP on a processor,
 * unless the environment says otherwise.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool child_start(struct child *child, char *const *arguments, bool binds, const char *log,
                 char *why, size_t capacity);

/**
 * Send a question, a line without its end (NULL: none), and wait for one line of answer. The
 * child runs only meanwhile.
 *
 * Owner: *answer lies in the child and is good until it is asked again.
 * Error: returns false and writes why to `why`: "crashed: signal 11 (...)", "no answer in
 *        30 s", or that the user wants an end. The child does not run any more then.
 */
bool child_ask(struct child *child, const char *question, double limit_s, char **answer,
               char *why, size_t capacity);

/** End the child, if it runs. */
void child_end(struct child *child);

/** Let SIGINT, SIGTERM and SIGHUP ask for an end, once; a second one ends the program. */
void child_catch_end(void);

/** Return whether an end was asked for. */
bool child_is_end_asked(void);

/** Lock an open file for this process; false: another one has it. */
bool child_lock(FILE *file);

/**
 * Have Kallima and drivers keep what they compile in a new folder, for temporary files, whose
 * name is written to `folder`; "" if none can be made: then it is where it always is.
 */
void child_make_caches(char *folder, size_t capacity);

/** Remove that folder with what is in it. */
void child_remove_caches(const char *folder);

/** Remove what the processes of a case kept for each other there. */
void child_forget_references(void);

/** Write the first line that a command prints to `text`; "" if there is none. */
void child_read_command(const char *command, char *text, size_t capacity);

/** Start a command that reads what is written to the file; NULL: it cannot be started. */
FILE *child_open_command(const char *command);

/** End the command's input and wait for it; false: it failed. */
bool child_close_command(FILE *file);

#endif
