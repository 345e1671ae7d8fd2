// SPDX-License-Identifier: MIT
// Compiled kernels on disk, one file each: docs/kernel-cache.md.
#ifndef KAL_EXEC_KERNEL_CACHE_H_
#define KAL_EXEC_KERNEL_CACHE_H_

#include "device/device.h"

/**
 * Where kernels are kept: `option` if it is not NULL, else KALLIMA_KERNEL_CACHE, else
 * kallima/ in the user's cache folder, as kal_place_find() finds it. Nothing is created.
 *
 * Owner: the caller frees *folder, an absolute path or NULL for nowhere, with kal_free().
 * Error: E_MEMORY  exhausted; *folder is NULL
 */
kallima_status kal_kernel_cache_folder(const struct kal_host *host, const char *option,
                                       char **folder);

/**
 * Load what was kept for `text` and `key`. A file that is missing, damaged, of another
 * version, not a plain file, or writable by other users is as good as none: *out is empty.
 *
 * Shape:  `key` is the device's kernel_key() and all else that the binary depends on beyond
 *         the text and the library's version; `folder` may be NULL.
 * Owner:  the caller frees out->data with kal_free().
 * Thread: any; any number of processes.
 * Error:  E_MEMORY  exhausted; *out is empty
 */
kallima_status kal_kernel_cache_load(const struct kal_host *host, const char *folder,
                                     const char *key, const char *text,
                                     struct kal_binary *out);

/**
 * Keep a binary, so that kal_kernel_cache_load() finds all of it. Where that is impossible
 * nothing is kept, which is no error. Now and then also does kal_kernel_cache_tidy().
 *
 * Thread: any; any number of processes. The last to finish wins.
 */
void kal_kernel_cache_store(const struct kal_host *host, const char *folder,
                            const char *key, const char *text,
                            const struct kal_binary *binary);

/**
 * Remove what killed processes left more than an hour ago and, above 4096 files or 256 MiB,
 * the kernels that were not used for longest. Other files in the folder stay.
 */
void kal_kernel_cache_tidy(const struct kal_host *host, const char *folder);

/** A temporary file is `prefix` and six letters; a kernel is 64 digits and `suffix`. */
#define KAL_KERNEL_CACHE_PREFIX ".kernel-"
#define KAL_KERNEL_CACHE_SUFFIX ".kernel"

#endif
