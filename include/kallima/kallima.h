// SPDX-License-Identifier: MIT
// Kallima: fast Fourier transforms on the CPU and on GPUs, one library, chosen at run time.
#ifndef KALLIMA_KALLIMA_H_
#define KALLIMA_KALLIMA_H_

#include <kallima/codelet.h>
#include <kallima/device.h>
#include <kallima/plan.h>
#include <kallima/status.h>
#include <kallima/tune.h>
#include <kallima/wisdom.h>

#define KALLIMA_VERSION_MAJOR 0
#define KALLIMA_VERSION_MINOR 1
#define KALLIMA_VERSION_PATCH 0
#define KALLIMA_VERSION       "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Return the version of the library that is running, such as "0.1.0".
 *
 * Owner:  static storage; never freed.
 * Thread: any.
 */
KALLIMA_API const char *kallima_version(void);

#ifdef __cplusplus
}
#endif
#endif
