/* SPDX-License-Identifier: Apache-2.0
   A library never ends the process that called it. What would end the program on this thread (no memory, a broken
   invariant) goes to a catcher instead, where there is one. */
#ifndef HU_BASE_CAUGHT_H
#define HU_BASE_CAUGHT_H

/* What a catcher is told in place of an exit code where the program contradicts itself. */
enum { HU_EXIT_BUG = -1 };

/* Gets the exit code that the program would have had, or HU_EXIT_BUG, and the line that it would have written; it does
   not return. */
typedef void hu_bug_catcher(int code, const char *line);

/* From now on failures of this thread go to `catcher`; NULL: they end the program again. Defined in lib/base/bug.c. */
void hu_bug_caught_by(hu_bug_catcher *catcher);
#endif
