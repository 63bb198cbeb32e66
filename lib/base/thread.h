/* SPDX-License-Identifier: Apache-2.0
   The number of threads that parallel loops use. Results never depend on it. */
#ifndef HU_BASE_THREAD_H
#define HU_BASE_THREAD_H

/* Makes idle threads sleep soon; main calls it first. OpenMP's runtimes spin for a millisecond and more by default,
   which made a training step 15 times slower while another program used the same cores. The runtimes read their
   settings while they are loaded, so this sets the environment variables and starts the program again. It does
   nothing where the user has set any of them. */
void hu_threads_settle(char **argv);

/* Sets the number of threads; 0 means one for each core. */
void hu_threads_set(int n);
int hu_threads(void);
/* The threads that each of so many processes on this machine has: an equal share of the cores that this one may use, at
   least 1; all of them where it was bound to some of the machine's. */
int hu_threads_of(int processes);
#endif
