/* SPDX-License-Identifier: Apache-2.0
   How the program ends: its exit codes, and what it does about a broken invariant of its own. It stands below status.h,
   whose text of a failure needs memory and strings, which may find such a one. */
#ifndef HU_BASE_BUG_H
#define HU_BASE_BUG_H

#include <stddef.h>

/* All exit codes of the program. HU_EXIT_JUDGED: a command judged something, and it failed. */
enum { HU_EXIT_OK = 0, HU_EXIT_JUDGED = 1, HU_EXIT_USAGE = 2, HU_EXIT_FILE = 3, HU_EXIT_ENV = 4 };

/* Reports a broken invariant of the program itself: prints file, line and text, and aborts. */
void hu_bug(const char *file, int line, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* A library may call exit(1) by itself (libgomp does where no thread can be started), and the same number is the
   program's own word for "judged and failed". So the program says when it ends by itself, and any other call of exit
   becomes a failure of the environment with a line of its own. */
/* From now on exit ends the program with HU_EXIT_ENV, unless hu_bug_no_end came first. For main, before any library is
   called. */
void hu_bug_watch_end(void);
/* Says that the program, or this child of it, ends by itself. Returns code, for `return hu_bug_no_end(code)` in main
   and `exit(hu_bug_no_end(code))`. */
int hu_bug_no_end(int code);

/* Ends the program at once with exit code `code`, after it has written the line to standard error and run what
   hu_bug_at_end named. What stands in buffers is not written, and no memory is asked for, so that this is the end for
   a program without any. */
void hu_bug_end(int code, const char *line, size_t length) __attribute__((noreturn));
/* Names what hu_bug_end runs last. It may be called on any thread, and must neither allocate nor wait. */
void hu_bug_at_end(void (*act)(void));

#define HU_ASSERT(c) ((c) ? (void)0 : hu_bug(__FILE__, __LINE__, "%s", #c))
#endif
