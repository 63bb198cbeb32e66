/* SPDX-License-Identifier: Apache-2.0
   Arrays in packs: every bit comes back, floats take half the room, and whatever is damaged is refused or reads as
   numbers, never beyond the text. */
#include "lib/base/parts/pack.h"
#include "t/tool/tap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *
written(double *x, size_t n)
{
	hu_pack r;

	hu_pack_write(&r);
	hu_pack_int(&r, &(int){ 7 });
	hu_pack_reals(&r, x, n);
	hu_pack_int(&r, &(int){ -9 });
	return r.text.s;
}

/* Reads it back; 0 where the pack is bad. */
static int
back(const char *text, double *y, size_t n)
{
	hu_pack r;
	int first = 0, last = 0;

	hu_pack_read(&r, text);
	hu_pack_int(&r, &first);
	hu_pack_reals(&r, y, n);
	hu_pack_int(&r, &last);
	int good = hu_pack_end(&r, "it") == HU_OK;
	hu_pack_release(&r);
	return good && first == 7 && last == -9;
}

/* Reads one count; 0 where the pack is bad. */
static int
count_of(const char *text, uint64_t *x)
{
	hu_pack r;

	hu_pack_read(&r, text);
	hu_pack_count(&r, x);
	int good = hu_pack_end(&r, "it") == HU_OK;
	hu_pack_release(&r);
	return good;
}

static void
counts(void)
{
	static const uint64_t some[] = { 0, 1, 9, 10, 4294967296, 9999999999999999999u, UINT64_MAX };
	uint64_t x;
	int wrong = 0;

	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		hu_pack r;
		uint64_t mine = some[i];
		hu_pack_write(&r);
		hu_pack_count(&r, &mine);
		wrong += !count_of(r.text.s, &x) || x != some[i];
		hu_pack_release(&r);
	}
	is_int(wrong, 0, "counts come back, up to the largest");
	ok(!count_of("18446744073709551616", &x) && !count_of("99999999999999999999", &x), "none is beyond it");
	ok(!count_of("12x", &x) && !count_of("-1", &x) && !count_of("+1", &x) && !count_of("", &x),
		"nor of other signs");
}

/* More numbers than are written at once. */
static void
many(void)
{
	enum { N = 1000 };
	double x[N], y[N];
	int wrong = 0;

	for (int wide = 0; wide < 2; wide++) {
		for (int i = 0; i < N; i++)
			x[i] = i / (wide ? 3.0 : 4.0);
		char *a = written(x, N);
		wrong += !back(a, y, N) || memcmp(x, y, sizeof x);
		free(a);
	}
	is_int(wrong, 0, "a thousand floats and doubles");
}

int
main(void)
{
	double floats[] = { 0.0, -0.0, 1.5, -FLT_MIN / 4, FLT_MAX, INFINITY, -INFINITY, NAN }, y[40];
	double wide[] = { 0.0, 0.1, -0.0, DBL_MAX, 0x1p-1074, -INFINITY, NAN, 1.0 };
	const size_t n = 8;
	unsigned dice = 20261123;
	int bad = 0, refused = 0;
	char *a = written(floats, n), *b = written(wide, n), *none = written(floats, 0);

	ok(back(a, y, n) && !memcmp(y, floats, sizeof floats), "floats come back with their bits");
	ok(back(b, y, n) && !memcmp(y, wide, sizeof wide), "doubles come back with their bits");
	ok(back(none, y, 0), "an array without elements");
	ok(strlen(a) == strlen("7 f -9") + 8 * n, "floats take half the room");
	ok(strlen(b) == strlen("7 d -9") + 16 * n, "of doubles");
	ok(!back(a, y, n - 1) && !back(a, y, 4 * n) && !back(b, y, 2 * n), "another number of elements is refused");
	for (int trial = 0; trial < 2000; trial++) {
		char *c = strdup(b);
		size_t length = strlen(c);
		for (int k = 0; k < 2; k++) {
			dice = dice * 1664525 + 1013904223;
			c[(dice >> 8) % length] = (char)(1 + (dice >> 20) % 255);
			if (dice % 5 == 0)
				c[(dice >> 8) % length] = 0;
		}
		for (size_t k = 0; k < n; k++)
			y[k] = -77;
		refused += !back(c, y, n);
		for (size_t k = 0; k < n; k++)
			bad += y[k] == -77;
		free(c);
	}
	ok(!bad && refused > 1000, "2000 damaged packs: %d are refused, and every element is set", refused);
	free(a);
	free(b);
	free(none);
	counts();
	many();
	return done_testing();
}
