// SPDX-License-Identifier: MIT
// From the text of a CUDA kernel to a function of the host.
#ifndef TESTS_SIMULATE_COMPILE_H_
#define TESTS_SIMULATE_COMPILE_H_

#include "device/device.h"
#include "simulate_cuda.h"

/** A compiled kernel; `library` is closed by its owner with simulate_release(). */
struct simulate_code {
    void *library;
    void (*enter)(const struct simulate_slot *slots); // run one lane
    struct simulate_calls **calls;                    // where it finds its simulator
};

/**
 * Compile `text` with the host's c++, after `before` in it, if not NULL, became `after`
 * wherever it stands. The number of these places is added to *places.
 *
 * Error: E_ABSENT   there is no c++
 *        E_COMPILE  the compiler refuses the text, or its result cannot be loaded
 *        E_DEVICE   no temporary file can be written
 */
kallima_status simulate_compile(struct simulate_code *out,
                                const struct kal_kernel_text *text, const char *before,
                                const char *after, int *places);

/** Unload what simulate_compile() made. */
void simulate_release(struct simulate_code *code);

#endif
