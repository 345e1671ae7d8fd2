// SPDX-License-Identifier: MIT
// fork() makes no process: the one that calls it goes on as the child.
#ifndef KAL_BASE_WINDOWS_SYS_WAIT_H_
#define KAL_BASE_WINDOWS_SYS_WAIT_H_

#define fork()                         0
#define waitpid(process, status, flag) (*(status) = 0, -1)
#define WIFSIGNALED(status)            0
#define WTERMSIG(status)               (status)
#define WEXITSTATUS(status)            (status)

#endif
