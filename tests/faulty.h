// SPDX-License-Identifier: MIT
// A device that miscompiles on purpose: it runs all plans as the device below it does, but
// spoils what one of them, the victim, leaves in a trial's memory.
#ifndef TESTS_FAULTY_H_
#define TESTS_FAULTY_H_

#include "tune/trial.h"

enum fault {
    FAULT_NONE,
    FAULT_ELEMENT,   // one number of the output has another sign
    FAULT_SLIGHT,    // all numbers of the output are off by some tens of epsilons
    FAULT_NAN,       // one is a NaN,
    FAULT_INFINITY,  // or infinite
    FAULT_SWAP,      // two neighbouring elements have changed places
    FAULT_EXCHANGE,  // two transforms have changed places
    FAULT_UNWRITTEN, // the last element is as it was before
    FAULT_BEHIND,    // the first byte behind the output was written,
    FAULT_BEFORE,    // or the last one in front of it,
    FAULT_GAP,       // or one between its elements
    FAULT_INPUT,     // one number of the input was written,
    FAULT_BESIDE,    // or the last byte in front of it
    FAULT_COUNT
};

extern const char *const fault_names[FAULT_COUNT];

/** Put the faulty device around an open one: for one device at a time, until it is closed. */
void faulty_wrap(kallima_device *device);

/** From now on executions of `victim` in the memory of `trial` end in `fault`. */
void faulty_set(struct kal_trial *trial, const kallima_plan *victim, enum fault fault);

/**
 * From now on faults of single elements are planted in transform `transform` of the batch, the
 * last one if that is negative, and it is the one that changes places, with the one `distance`
 * ahead of it. At first, the last one and 1.
 */
void faulty_aim(int64_t transform, int64_t distance);

/** Whether a fault can be seen in a problem: one without gaps has none to write to. */
bool faulty_applies(const struct kal_problem *problem, enum fault fault);

/** How often a fault has been planted. */
int faulty_count(void);

/**
 * From now on kernels are compiled from a text in which `from` is replaced by `to`, which is
 * no longer; NULL: as they are.
 */
void faulty_miscompile(const char *from, const char *to);

#endif
