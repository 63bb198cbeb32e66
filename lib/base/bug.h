/* SPDX-License-Identifier: Apache-2.0
   How the program ends: its exit codes, and what it does about a broken invariant of its own. It stands below status.h,
   whose text of a failure needs memory and strings, which may find such a one. */
#ifndef HU_BASE_BUG_H
#define HU_BASE_BUG_H

/* All exit codes of the program. HU_EXIT_JUDGED: a command judged something, and it failed. */
enum { HU_EXIT_OK = 0, HU_EXIT_JUDGED = 1, HU_EXIT_USAGE = 2, HU_EXIT_FILE = 3, HU_EXIT_ENV = 4 };

/* Reports a broken invariant of the program itself: prints file, line and text, and aborts. */
void hu_bug(const char *file, int line, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));

#define HU_ASSERT(c) ((c) ? (void)0 : hu_bug(__FILE__, __LINE__, "%s", #c))
#endif
