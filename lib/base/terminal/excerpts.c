/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/terminal/excerpts.h"

#include <stdio.h>
#include <string.h>

static const char dots[] = "...";
/* The bytes of a text that an excerpt has at most, beside dots on both sides. */
enum { ROOM = HU_EXCERPT - 2 * sizeof dots };

/* Whether the byte goes on with a character of UTF-8 that begins before it. */
static int
goes_on(char byte)
{
	return (byte & 0xC0) == 0x80;
}

/* Where the excerpts begin: a few characters before the difference, with a whole word if one begins there. */
static size_t
beginning(const char *s, size_t apart)
{
	const size_t before = 32;
	size_t from = apart > before ? apart - before : 0;

	for (size_t i = from; from && i < apart; i++)
		if (s[i] == ' ')
			return i + 1;
	while (from && goes_on(s[from]))
		from--;
	return from;
}

static void
excerpt(char to[HU_EXCERPT], const char *s, size_t from)
{
	size_t n = strlen(s + from), taken = n > ROOM ? ROOM : n;

	while (taken < n && taken && goes_on(s[from + taken]))
		taken--;
	snprintf(to, HU_EXCERPT, "%s%.*s%s", from ? dots : "", (int)taken, s + from, taken < n ? dots : "");
}

hu_excerpts
hu_excerpts_of(const char *a, const char *b)
{
	size_t apart = 0, from = 0;
	hu_excerpts w;

	while (a[apart] && a[apart] == b[apart])
		apart++;
	if (strlen(a) > ROOM || strlen(b) > ROOM)
		from = beginning(a, apart);
	excerpt(w.a, a, from);
	excerpt(w.b, b, from);
	return w;
}
