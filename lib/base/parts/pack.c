/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/parts/pack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
hu_pack_write(hu_pack *r)
{
	memset(r, 0, sizeof *r);
	hu_str_init(&r->text);
}

void
hu_pack_read(hu_pack *r, const char *text)
{
	hu_pack_write(r);
	r->reading = 1;
	r->at = text;
}

void
hu_pack_release(hu_pack *r)
{
	hu_str_release(&r->text);
}

hu_status
hu_pack_end(const hu_pack *r, const char *what)
{
	if (r->bad || (r->reading && *r->at))
		return hu_fail(HU_EFILE, "%s: what was found is not as this program writes it: compute it again", what);
	return HU_OK;
}

/* Returns the next word, of *n characters, and steps behind it; NULL where there is none. */
static const char *
word(hu_pack *r, size_t *n)
{
	const char *s = r->at;

	*n = r->bad ? 0 : strcspn(s, " ");
	if (!*n) {
		r->bad = 1;
		return NULL;
	}
	r->at += *n + (s[*n] == ' ' && s[*n + 1]);
	return s;
}

static void
put(hu_pack *r, const char *s)
{
	if (r->text.len)
		hu_str_add(&r->text, " ");
	hu_str_add(&r->text, s);
}

/* Writes x in decimal digits: a histogram or the sums of clusters are hundreds of numbers in each unit of a work. */
static void
put_count(hu_pack *r, uint64_t x)
{
	char b[24], *s = b + sizeof b;

	*--s = 0;
	do
		*--s = (char)('0' + x % 10);
	while (x /= 10);
	put(r, s);
}

void
hu_pack_count(hu_pack *r, uint64_t *x)
{
	uint64_t v = 0;
	size_t n;

	if (!r->reading) {
		put_count(r, *x);
		return;
	}
	const char *s = word(r, &n);
	*x = 0;
	if (!s)
		return;
	for (size_t i = 0; i < n && !r->bad; i++) {
		uint64_t d = (uint64_t)(s[i] - '0');
		r->bad |= s[i] < '0' || s[i] > '9' || v > (UINT64_MAX - d) / 10;
		v = v * 10 + d;
	}
	*x = r->bad ? 0 : v;
}

void
hu_pack_size(hu_pack *r, size_t *x)
{
	uint64_t v = *x;

	hu_pack_count(r, &v);
	r->bad |= v > SIZE_MAX;
	*x = (size_t)v;
}

void
hu_pack_int(hu_pack *r, int *x)
{
	int negative = *x < 0;
	uint64_t v = negative ? (uint64_t)-(long long)*x : (uint64_t)*x;

	if (!r->reading) {
		char b[32];
		snprintf(b, sizeof b, "%d", *x);
		put(r, b);
		return;
	}
	negative = !r->bad && *r->at == '-';
	r->at += negative;
	hu_pack_count(r, &v);
	r->bad |= v > INT_MAX;
	*x = r->bad ? 0 : negative ? -(int)v : (int)v;
}

void
hu_pack_wide(hu_pack *r, long double *x)
{
	char b[64], *end;
	size_t n;

	if (!r->reading) {
		snprintf(b, sizeof b, "%La", *x);
		put(r, b);
		return;
	}
	const char *s = word(r, &n);
	*x = 0;
	if (!s)
		return;
	long double v = strtold(s, &end);
	r->bad |= end != s + n;
	*x = r->bad ? 0 : v;
}

void
hu_pack_real(hu_pack *r, double *x)
{
	long double v = 0;
	char b[40];

	if (!r->reading) {
		snprintf(b, sizeof b, "%a", *x);
		put(r, b);
		return;
	}
	hu_pack_wide(r, &v);
	*x = (double)v;
}

/* One more than what a character stands for in a number to the base 16; 0 where it is none. */
static const unsigned char digit_of[256] = { ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6,
	['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15,
	['F'] = 16 };

static int
digit(char c)
{
	return digit_of[(unsigned char)c] - 1;
}

/* A NaN of any bits is the double NaN of these bits, so that it has a float. */
static int
is_float(double x)
{
	float f = (float)x;
	double back = f;

	return !memcmp(&back, &x, sizeof x);
}

static void
write_reals(hu_pack *r, const double *x, size_t n)
{
	enum { SOME = 256 }; /* numbers whose digits are added at once */
	static const char digits[] = "0123456789ABCDEF";
	int shorter = 1;
	char text[16 * SOME], kind[2] = "";
	size_t length = 0;

	for (size_t i = 0; i < n && shorter; i++)
		shorter = is_float(x[i]);
	*kind = shorter ? 'f' : 'd';
	put(r, kind);
	for (size_t i = 0; i < n; i++) {
		float f = (float)x[i];
		uint32_t narrow;
		uint64_t bits;
		memcpy(&narrow, &f, sizeof narrow);
		memcpy(&bits, &x[i], sizeof bits);
		bits = shorter ? (uint64_t)narrow << 32 : bits;
		for (int k = 0; k < (shorter ? 8 : 16); k++, bits <<= 4)
			text[length++] = digits[bits >> 60];
		if (i % SOME == SOME - 1 || i == n - 1) {
			hu_str_addn(&r->text, text, length);
			length = 0;
		}
	}
}

void
hu_pack_reals(hu_pack *r, double *x, size_t n)
{
	size_t length;

	if (!r->reading) {
		write_reals(r, x, n);
		return;
	}
	const char *s = word(r, &length);
	size_t each = s && *s == 'f' ? 8 : 16;
	if (!s || (*s != 'f' && *s != 'd') || (length - 1) % each || (length - 1) / each != n) {
		r->bad = 1;
		memset(x, 0, n * sizeof *x);
		return;
	}
	s++;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = 0;
		for (size_t k = 0; k < each; k++, s++) {
			int d = digit(*s);
			r->bad |= d < 0;
			bits = bits << 4 | (uint64_t)(d & 15);
		}
		uint32_t narrow = (uint32_t)bits;
		float f;
		memcpy(&f, &narrow, sizeof f);
		if (each == 8)
			x[i] = f;
		else
			memcpy(&x[i], &bits, sizeof bits);
	}
}

/* A text is the character = and the text, in which %XX stands for a byte that is no visible ASCII, and for the percent
   sign. */
void
hu_pack_text(hu_pack *r, hu_str *s)
{
	size_t n;

	if (!r->reading) {
		put(r, "=");
		for (const char *c = s->s; *c; c++)
			if (*c <= ' ' || *c > '~' || *c == '%')
				hu_str_addf(&r->text, "%%%02X", (unsigned char)*c);
			else
				hu_str_addn(&r->text, c, 1);
		return;
	}
	const char *from = word(r, &n);
	if (!from || *from != '=') {
		r->bad = 1;
		return;
	}
	for (const char *c = from + 1, *end = from + n; c < end; c++) {
		char byte = *c;
		if (byte == '%') {
			int high = end - c > 2 ? digit(c[1]) : -1, low = high < 0 ? -1 : digit(c[2]);
			if (low < 0 || high + low == 0) {
				r->bad = 1;
				return;
			}
			byte = (char)(high * 16 + low);
			c += 2;
		}
		hu_str_addn(s, &byte, 1);
	}
}

size_t
hu_pack_length(hu_pack *r, size_t n)
{
	hu_pack_size(r, &n);
	if (r->reading && n > strlen(r->at)) {
		r->bad = 1;
		n = 0;
	}
	return n;
}
