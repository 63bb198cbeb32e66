/* SPDX-License-Identifier: Apache-2.0
   How many threads the parallel loops use. Results never depend on it. */
#ifndef HU_BASE_THREAD_H
#define HU_BASE_THREAD_H

/* 0: as many as there are cores. */
void hu_threads_set(int n);
int hu_threads(void);
#endif
