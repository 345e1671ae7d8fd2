// SPDX-License-Identifier: MIT
// Files in and out of the program: an input is read whole, an output appears whole or not
// at all.
#ifndef KALLIMA_TOOLS_FILE_H_
#define KALLIMA_TOOLS_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** The content of an input file. */
struct input {
    const char *name;
    uint8_t *byte;
    size_t count;
};

/**
 * Read the file `name` whole; on failure, or if it is empty, print why.
 *
 * Owner: the caller frees with input_clear(); `name` must outlive *input.
 */
bool input_read(struct input *input, const char *name);

/** Free what input_read() read. */
void input_clear(struct input *input);

/**
 * An output file under way. A regular file is written beside its final place and renamed
 * at the end; devices and pipes are written directly. One at a time.
 */
struct output {
    const char *name;
    char *place;     // of a regular file: `name`, with symbolic links followed
    char *temporary; // NULL: written directly
    FILE *file;
};

/**
 * Make SIGINT, SIGTERM and SIGHUP remove the temporary file before they end the program,
 * and a file size limit an ordinary error.
 */
void output_catch_signals(void);

/** Open the output `name`; on failure print why. */
bool output_open(struct output *output, const char *name);

/** Close the output and move it to its place; on failure print why and leave nothing. */
bool output_commit(struct output *output);

/** Close the output and remove what was written. */
void output_discard(struct output *output);

/** Print that writing failed, with the cause in errno. Returns false. */
bool output_fail(const struct output *output);

#endif
