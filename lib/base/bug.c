/* SPDX-License-Identifier: Apache-2.0
   Ends the program where an invariant of its own is broken, and tells the program's own end from one by a library. This
   stands apart from status.c, because everything needs it. */
#include "lib/base/bug.h"

#include "lib/base/caught.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local hu_bug_catcher *caught_by;

void
hu_bug_caught_by(hu_bug_catcher *catcher)
{
	caught_by = catcher;
}

void
hu_bug(const char *file, int line, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	if (caught_by) {
		char all[600];
		snprintf(all, sizeof all, "bug at %s:%d: %s", file, line, what);
		caught_by(HU_EXIT_BUG, all);
	}
	fprintf(stderr, "halfulp: bug at %s:%d: %s\n", file, line, what);
	abort();
}

static volatile int ours;
static void (*last_act)(void);

void
hu_bug_at_end(void (*act)(void))
{
	last_act = act;
}

void
hu_bug_end(int code, const char *line, size_t length)
{
	ssize_t n;

	if (caught_by)
		caught_by(code, line);
	n = write(2, line, length);
	(void)n;
	if (last_act)
		last_act();
	_exit(code);
}

/* Runs inside exit, after what libraries registered later. What stands in the buffers of standard output is half a
   result, so it is not written. */
static void
ended(void)
{
	static const char line[] = "halfulp: a library ended the program (its reason, if any, stands above), so that "
				   "nothing was judged\n";

	if (!ours)
		hu_bug_end(HU_EXIT_ENV, line, sizeof line - 1);
}

void
hu_bug_watch_end(void)
{
	static int watches;

	if (!watches && atexit(ended))
		HU_ASSERT(!"the end of the program can be watched");
	watches = 1;
}

int
hu_bug_no_end(int code)
{
	ours = 1;
	return code;
}
