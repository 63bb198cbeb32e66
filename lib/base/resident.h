/* SPDX-License-Identifier: Apache-2.0
   The memory that this process has in use, and the most that it had since a moment: what `bench train` measures. */
#ifndef HU_BASE_RESIDENT_H
#define HU_BASE_RESIDENT_H

/* When a measurement began: resident bytes, the lifetime's largest, and whether the kernel's own mark was set back. */
typedef struct hu_resident { double begun, lifetime; int reset; } hu_resident;

/* Gives back what malloc keeps of earlier work, and begins. What malloc does from now on depends on no earlier work:
   the same training takes the same memory whatever the process did before. */
hu_resident hu_resident_begin(void);

/* By how many bytes the largest resident set since *R began exceeds that at its beginning: of all threads, code and
   libraries included where they were first touched since. NaN where it cannot be known: the kernel cannot set its mark
   back (no /proc/self/clear_refs) and the process was once larger than it has been since. Exact to some hundred kB, by
   which the kernel's counts of a running process may lag. */
double hu_resident_growth(const hu_resident *r);
#endif
