// SPDX-License-Identifier: MIT
// Places on disk: where what is kept outside the process lies, and whole reads and writes.
#ifndef KAL_BASE_PLACE_H_
#define KAL_BASE_PLACE_H_

#include "base/base.h"

/**
 * Where something is kept: `option` if it is not NULL, else what the environment variable
 * `variable` says, else `name` in XDG_CACHE_HOME (on Windows LOCALAPPDATA) or
 * in .cache of HOME. "" and "off" mean nowhere, and so does a HOME that cannot be written, is
 * the root folder or, for root, somebody else's. Nothing is created.
 *
 * Owner: the caller frees *place, an absolute path or NULL for nowhere, with kal_free().
 * Error: E_MEMORY  exhausted; *place is NULL
 */
kallima_status kal_place_find(const struct kal_host *host, const char *option,
                              const char *variable, const char *name, char **place);

/** Whether `option` or, if that is NULL, the environment variable names a place or "off". */
bool kal_place_is_named(const char *option, const char *variable);

/**
 * Make the folders of `path` that are missing, for this user alone, whatever the umask. The
 * caller sees whether they are there when it opens a file. `path` is as before afterwards.
 */
void kal_place_make_folders(char *path);

/** Whether a file of so many bytes may be written: the process would be killed else. */
bool kal_place_allows(uint64_t bytes);

/** Read `bytes` bytes from `offset` on; false if there are fewer. */
bool kal_file_read(int file, void *data, size_t bytes, size_t offset);

/** Write all of it; false, with errno, if that fails. */
bool kal_file_write(int file, const void *data, size_t bytes);

/** Return whether a variable of the environment is set, and neither empty nor "0". */
bool kal_switch_is_on(const char *variable);

#endif
