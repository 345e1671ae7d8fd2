// SPDX-License-Identifier: MIT
#ifndef KAL_BASE_WINDOWS_DLFCN_H_
#define KAL_BASE_WINDOWS_DLFCN_H_

#define RTLD_LAZY  0
#define RTLD_NOW   0
#define RTLD_LOCAL 0

#define dlopen(name, flags)  kal_posix_dlopen(name, flags)
#define dlsym(library, name) kal_posix_dlsym(library, name)
#define dlclose(library)     kal_posix_dlclose(library)
#define dlerror()            kal_posix_dlerror()

/**
 * Load a library by the name that it has on Linux, such as libOpenCL.so.1, or by a path; NULL
 * name: NULL.
 */
void *kal_posix_dlopen(const char *name, int flags);
void *kal_posix_dlsym(void *library, const char *name);
int kal_posix_dlclose(void *library);
char *kal_posix_dlerror(void);

#endif
