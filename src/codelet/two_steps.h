// SPDX-License-Identifier: MIT
// Lines that the CPU engine has whole functions for, both steps at once: the radices of
// the first step and of the last one. Measured on a Zen 4 processor in November 2026, by
// timing all sequences of two steps of 4 points and more, floats and doubles, in
// registers of 32 bytes and of 64: these are the fastest or within 12 percent of them.
#ifndef KAL_CODELET_TWO_STEPS_H_
#define KAL_CODELET_TWO_STEPS_H_

// clang-format off
/**
 * Those that fill registers of 8 numbers in both steps; of two of a length such registers
 * take the second one.
 */
#define KAL_TWO_STEPS_FROM_8(X) \
    X(8, 8) X(9, 9) X(8, 11) X(9, 11) X(8, 13) X(10, 11) X(8, 14) X(9, 13) X(8, 15) X(11, 11) \
    X(9, 14) X(8, 16) X(9, 15) X(12, 12) X(10, 15) X(8, 20) X(12, 14) X(11, 16) X(12, 15) \
    X(8, 24) X(14, 14) X(10, 20) X(13, 16) X(14, 15) X(8, 27) X(11, 20) X(14, 16) X(15, 15) \
    X(12, 20) X(9, 27) X(10, 25) X(8, 32) X(13, 20) X(11, 24) X(10, 27) X(11, 25) X(14, 20) X(12, 24) \
    X(11, 27) X(12, 25) X(13, 24) X(20, 16) X(12, 27) X(14, 24) X(14, 25) X(11, 32) X(15, 24) \
    X(15, 25) X(14, 27) X(20, 20) X(15, 27) X(14, 32) X(20, 24) X(20, 25) \
    X(11, 8) X(12, 8) X(14, 8) X(20, 8) X(8, 25) X(16, 15)

/** And of 4: where there are such registers the others come before them. */
#define KAL_TWO_STEPS_FROM_4(X) \
    X(4, 4) X(4, 6) X(6, 5) X(4, 8) X(7, 5) X(4, 9) X(4, 10) X(7, 6) X(4, 11) X(5, 9) X(4, 12) \
    X(7, 7) X(5, 10) X(4, 13) X(6, 9) X(5, 11) X(4, 14) X(4, 15) X(7, 9) X(4, 16) X(5, 13) \
    X(6, 11) X(7, 10) X(6, 12) X(5, 15) X(7, 11) X(6, 13) X(4, 20) X(7, 12) X(6, 15) X(7, 13) \
    X(4, 24) X(7, 14) X(4, 25) X(7, 15) X(4, 27) X(5, 25) X(7, 20) \
    X(6, 27) X(7, 25) X(7, 27)
// clang-format on

/** All of them. */
#define KAL_TWO_STEPS_ONE_MORE(first, last) +1
enum {
    KAL_TWO_STEPS_COUNT = 0 KAL_TWO_STEPS_FROM_4(KAL_TWO_STEPS_ONE_MORE)
        KAL_TWO_STEPS_FROM_8(KAL_TWO_STEPS_ONE_MORE)
};

enum { KAL_TWO_STEPS_NUMBERS = 8 }; // of a register that takes the former alone

#endif
