/* SPDX-License-Identifier: Apache-2.0
   How many threads the parallel loops use. Results never depend on it. */
#ifndef HU_BASE_THREAD_H
#define HU_BASE_THREAD_H

/* To be called first in main: lets waiting threads sleep soon. OpenMP's runtimes spin for a
   millisecond and more by default; with another program on the same cores that made a training
   step 15 times slower. They read their settings while they are loaded, so the program sets them
   and starts itself again, unless the user has set any of them. */
void hu_threads_settle(char **argv);

/* 0: as many as there are cores. */
void hu_threads_set(int n);
int hu_threads(void);
#endif
