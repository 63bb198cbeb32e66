/* SPDX-License-Identifier: Apache-2.0
   The memory that this process has in use, and its peak over a stretch of time: what `bench train` measures. */
#ifndef HU_BASE_RESIDENT_H
#define HU_BASE_RESIDENT_H

/* The state at the beginning of a measurement: begun is the resident set and lifetime its peak since the process
   started, both in bytes; reset is 1 where the kernel's own peak mark could be set back to the present size; most is
   the growth of the stretches that were ended by a pause, paused 1 from a pause to the next stretch. */
typedef struct hu_resident { double begun, lifetime, most; int reset, paused; } hu_resident;

/* Begins a measurement. It first gives back to the system the memory that malloc keeps from earlier work, and fixes
   malloc's settings, so that the same training takes the same memory whatever the process did before. */
hu_resident hu_resident_begin(void);

/* Ends a stretch: from here on malloc keeps what is freed, as it does in a long training, so that time is not spent on
   memory that is given back and asked for again. What is allocated until hu_resident_resume is not measured. */
void hu_resident_pause(hu_resident *r);

/* Begins another stretch of the same measurement, after a pause. */
void hu_resident_resume(hu_resident *r);

/* Returns by how many bytes the peak of the resident set since *r began exceeds its size then. All threads count, and
   code and libraries where they were first touched since. NaN where the peak cannot be known: the kernel could not
   set its mark back (there is no /proc/self/clear_refs) and the process was once larger than it has been since. Exact
   to some hundred kB, by which the kernel's counts of a running process may lag. */
double hu_resident_growth(const hu_resident *r);
#endif
