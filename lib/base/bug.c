/* SPDX-License-Identifier: Apache-2.0
   Ends the program where an invariant of its own is broken. This stands apart from status.c, because everything
   needs it. */
#include "lib/base/bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
hu_bug(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "halfulp: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
