/* SPDX-License-Identifier: Apache-2.0
   Allocation (mem.h). */
#include "lib/base/mem.h"

#include "lib/base/bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
hu_mem_end(size_t n)
{
	char line[160];
	int length = snprintf(line, sizeof line,
		"halfulp: there is no memory for %zu bytes: free some, or let it take more (--max-memory)\n", n);

	hu_bug_end(HU_EXIT_ENV, line, (size_t)length);
}

static void *
checked(void *p, size_t n)
{
	if (!p)
		hu_mem_end(n);
	return p;
}

void *
hu_xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1), n);
}

void *
hu_xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *
hu_xrealloc(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1), n);
}

char *
hu_xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(hu_xmalloc(n), s, n);
}

char *
hu_xprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	HU_ASSERT(n >= 0);
	s = hu_xmalloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void *
hu_alloc(size_t n)
{
	void *p = NULL;

	if (posix_memalign(&p, 64, n ? n : 64))
		return NULL;
	memset(p, 0, n ? n : 64);
	return p;
}

void *
hu_xalloc(size_t n)
{
	return checked(hu_alloc(n), n);
}
