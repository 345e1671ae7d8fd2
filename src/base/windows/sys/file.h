// SPDX-License-Identifier: MIT
#ifndef KAL_BASE_WINDOWS_SYS_FILE_H_
#define KAL_BASE_WINDOWS_SYS_FILE_H_

#define LOCK_EX 1
#define LOCK_NB 2
#define LOCK_UN 4

/** Lock or unlock a whole file; without LOCK_NB too, errno is EWOULDBLOCK where it is locked. */
#define flock(file, operation) kal_posix_flock(file, operation)
int kal_posix_flock(int file, int operation);

#endif
