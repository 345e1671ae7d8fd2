// SPDX-License-Identifier: MIT
// How far the processors of an execution are from each other.
#ifndef KAL_DEVICE_CPU_DISTANCE_H_
#define KAL_DEVICE_CPU_DISTANCE_H_

/**
 * Return what it takes that a line of the caches is written by one of `threads` threads
 * and read by another, in turn and among others, in ns: it is measured, in 3 to 12 us, or
 * 100 where the threads are asleep. Within a parallel region nothing is measured, and
 * they are taken for near ones.
 *
 * Thread: any number of threads at once.
 */
double kal_cpu_distance_find(int threads);

#endif
