// SPDX-License-Identifier: MIT
// What tests use of POSIX beyond what the library does (src/base/windows/): read ahead of them.
#ifndef TESTS_WINDOWS_POSIX_H_
#define TESTS_WINDOWS_POSIX_H_

#include <stdlib.h>

#define SIGBUS SIGSEGV // all that a wrong access is called

#define setenv(name, value, replaces) _putenv_s(name, value)
#define unsetenv(name)                _putenv_s(name, "")

#endif
