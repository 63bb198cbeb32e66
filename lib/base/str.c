/* SPDX-License-Identifier: Apache-2.0
   Growing strings, shell patterns, and the known name that is nearest to a misspelt one. */
#include "lib/base/str.h"

#include "lib/base/mem.h"
#include "lib/base/bug.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
hu_str_init(hu_str *b)
{
	b->cap = 64;
	b->len = 0;
	b->s = hu_xmalloc(b->cap);
	b->s[0] = 0;
}

void
hu_str_release(hu_str *b)
{
	free(b->s);
	b->s = NULL;
	b->len = b->cap = 0;
}

static void
reserve(hu_str *b, size_t more)
{
	while (b->len + more + 1 > b->cap)
		b->s = hu_xrealloc(b->s, b->cap *= 2);
}

void
hu_str_addn(hu_str *b, const void *bytes, size_t n)
{
	reserve(b, n);
	memcpy(b->s + b->len, bytes, n);
	b->s[b->len += n] = 0;
}

void
hu_str_add(hu_str *b, const char *text)
{
	hu_str_addn(b, text, strlen(text));
}

void
hu_str_addf(hu_str *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	HU_ASSERT(n >= 0);
	reserve(b, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

int
hu_match(const char *patterns, const char *s)
{
	char *all = hu_xstrdup(patterns), *save = NULL;
	int hit = 0;

	for (char *p = strtok_r(all, ",", &save); p && !hit; p = strtok_r(NULL, ",", &save))
		hit = fnmatch(p, s, 0) == 0;
	free(all);
	return hit;
}

char *
hu_str_unmatched(const char *patterns, const char *(*name)(const void *of, size_t i), const void *of, size_t n)
{
	char *all = hu_xstrdup(patterns), *save = NULL, *idle = NULL, *p = strtok_r(all, ",", &save);

	if (!p)
		idle = hu_xstrdup("");
	for (; p && !idle; p = strtok_r(NULL, ",", &save)) {
		int fits = 0;
		for (size_t i = 0; i < n && !fits; i++) {
			const char *s = name(of, i);
			fits = s && fnmatch(p, s, 0) == 0;
		}
		if (!fits)
			idle = hu_xstrdup(p);
	}
	free(all);
	return idle;
}

/* The edit distance without regard to case: how many letters must be changed, inserted, left out or swapped with
   their neighbour (Damerau and Levenshtein). */
static size_t
distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[3][64], *last = row[0], *now = row[1], *before = row[2], *t;

	if (n >= 64)
		return n;
	for (size_t j = 0; j <= n; j++)
		now[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		t = before, before = last, last = now, now = t;
		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
			size_t side = (now[j - 1] < last[j] ? now[j - 1] : last[j]) + 1, cost = last[j - 1] + (x != y);
			now[j] = cost < side ? cost : side;
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
				y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return now[n];
}

const char *
hu_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t length = strlen(word),
	       least = length < 4 ? 2 : length / 3 + 2; /* of three letters, two changed make another word */

	for (size_t i = 0; i < n; i++) {
		/* an unfinished name wins over a misspelt one */
		size_t d = length > 1 && !strncasecmp(word, names[i], length) ? 0 : distance(word, names[i]);
		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int
hu_str_order(const char *a, const char *b)
{
	const char *p = a, *q = b;

	while (*p && *q) {
		if (is_digit(*p) && is_digit(*q)) {
			p += strspn(p, "0");
			q += strspn(q, "0");
			size_t n = strspn(p, "0123456789"), k = strspn(q, "0123456789");
			int order = n != k ? (n < k ? -1 : 1) : strncmp(p, q, n);
			if (order)
				return order;
			p += n;
			q += k;
		} else if (*p != *q) {
			return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
		} else {
			p++;
			q++;
		}
	}
	return *p ? 1 : *q ? -1 : strcmp(a, b);
}
