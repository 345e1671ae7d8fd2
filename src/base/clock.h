// SPDX-License-Identifier: MIT
// The host's steady clock.
#ifndef KAL_BASE_CLOCK_H_
#define KAL_BASE_CLOCK_H_

/** Return the seconds since some moment that stays the same. Thread: any. */
double kal_clock_now(void);

#endif
