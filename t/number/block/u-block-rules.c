/* SPDX-License-Identifier: Apache-2.0
   The rules by which blocks get their scales. Powers of two: against what the rule says, sought among the powers by
   comparing, on 10^6 magnitudes with the corner cases. Normal deviates: the errors and biases that were published or
   measured elsewhere. t-block-rules.py has NVFP4's and the fp32 scales' steps, u-block-orders.c how often they
   differ. */
#include "lib/number/block/block.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 1000000, MANY = 1 << 20, ROW = 1024 };

static hu_block
block(const char *name)
{
	hu_block b;

	if (hu_block_find(name, &b) != HU_OK)
		bail_out("%s", hu_reason());
	return b;
}

static double
largest(const hu_block *b)
{
	return b->element == HU_NO_FORMAT ? 127.0 / 64 : hu_format_of(b->element).max;
}

static int
places(const hu_block *b)
{
	return b->element == HU_NO_FORMAT ? 6 : hu_format_of(b->element).p - 1;
}

/* The largest e with top * 2^e <= x, from a first guess that is at most 2 off. */
static int
below(double x, double top)
{
	int e = (int)floor(log2(x) - log2(top)) - 2;

	while (ldexp(top, e + 1) <= x)
		e++;
	return e;
}

/* What each rule says of a normal amax. */
static int
want_floor(const hu_block *b, double m)
{
	return below(m, 1) - below(largest(b), 1);
}
static int
want_ceil(const hu_block *b, double m)
{
	return want_floor(b, m) + (ldexp(1, below(m, 1)) < m);
}
static int
want_rceil(const hu_block *b, double m)
{
	double share = (double)(float)(m * (double)(float)(1 / largest(b)));
	int e = below(share, 1);

	if (share < FLT_MIN) /* subnormal: up only beyond 2^-127 */
		return share > 0x1p-127 ? -126 : -127;
	return e + (ldexp(1, e) < share);
}
static int
want_ratio(const hu_block *b, double m)
{
	return below(m, largest(b));
}
static int
want_even(const hu_block *b, double m)
{
	double unit = ldexp(1, below(m, 1) - places(b));

	return below(floor(m / unit + 0.5) * unit, 1) - below(largest(b), 1);
}

/* Magnitudes: any bits, neighbours of powers of two, and of max times powers of two. */
static float
drawn(uint64_t i, double max)
{
	hu_random r = hu_random_at(31, 7, 0, i);
	int e = (int)(r.w[1] % 252) - 126;
	float x = r.w[2] % 3 == 0 ? ldexpf(1, e) : r.w[2] % 3 == 1 ? (float)ldexp(max, e - 16) : 0;

	if (x == 0) {
		uint32_t bits = r.w[0] & 0x7fffffff;
		memcpy(&x, &bits, sizeof x);
		return isfinite(x) ? x : FLT_MAX;
	}
	return r.w[3] % 3 == 0 ? x : nextafterf(x, r.w[3] % 3 == 1 ? 0 : INFINITY);
}

static void
test_powers(const char *rule, int (*want)(const hu_block *, double))
{
	static const char *const formats[] = { "mxfp4", "mxfp6", "mxfp6e2m3", "mxfp8", "mxfp8e5m2", "mxint8" };

	for (int f = 0; f < 6; f++) {
		char name[64];
		long wrong = 0;
		snprintf(name, sizeof name, "%s:%s", formats[f], rule);
		hu_block b = block(name);
		for (uint64_t i = 0; i < DRAWS / 6; i++) {
			float x[3] = { 0.25f, drawn(i, largest(&b)), 0 };
			x[0] = x[1] > 1 ? x[0] : 0;
			if (x[1] < FLT_MIN)
				continue;
			int e = want(&b, (double)x[1]);
			int infinite = want == want_even && e == 128 - below(largest(&b), 1);
			e = e < -127 ? -127 : e > 127 ? 127 : e;
			hu_block_scale s = hu_block_scale_of(&b, x, 3, 1);
			if (infinite) /* rounded up to 2^128 */
				wrong += s.scale == s.scale || s.code != 255;
			else
				wrong += s.scale != ldexp(1, e) || s.code != (uint32_t)(e + 127);
		}
		is_int(wrong, 0, "%s: every scale is what the rule says", name);
	}
}

static uint32_t
code_of(const char *name, float x)
{
	hu_block b = block(name);
	float v[2] = { x, 0 };

	return hu_block_scale_of(&b, v, 2, 1).code;
}

/* The table of corner cases: amax 0, infinite, NaN, and the largest subnormal. */
static void
test_corners(void)
{
	static const struct {
		const char *name;
		uint32_t zero, inf, nan, subnormal;
	} rows[] = {
		{ "mxfp4:torchao", 0, 255, 255, 0 },
		{ "mxfp8:torchao:rceil", 0, 255, 255, 0 },
		{ "mxfp8:te", 0, 254, 255, 0 },
		{ "mxfp4:ceil", 0, 255, 255, 0 },
		{ "mxfp4:even", 0, 255, 255, 0 },
		{ "mxfp4:quark", 0, 254, 255, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		is_int(code_of(rows[i].name, 0), rows[i].zero, "%s: amax 0", rows[i].name);
		is_int(code_of(rows[i].name, INFINITY), rows[i].inf, "%s: an infinity", rows[i].name);
		is_int(code_of(rows[i].name, NAN), rows[i].nan, "%s: NaN", rows[i].name);
		is_int(code_of(rows[i].name, nextafterf(FLT_MIN, 0)), rows[i].subnormal, "%s: a subnormal",
			rows[i].name);
	}
	is_int(code_of("mxfp8:even", 0x1.fp127f), 255, "even: an amax that is rounded up to 2^128 is an infinity");
	is_int(code_of("mxfp8:even", nextafterf(0x1.fp127f, 0)), 127 + 127 - 8, "and one below that is none");
	is_int(code_of("mxfp4:quark", FLT_MAX), 254, "by quark it has the largest scale");
	is_int(code_of("mxfp8:deepgemm", INFINITY), 254, "deepgemm: an infinity is clamped to the code 254");
	is_int(code_of("mxfp8:deepgemm", NAN), 254, "and so is a NaN");
	is_int(code_of("mxfp8:deepgemm", 0), 127 + want_rceil(&(hu_block){ .element = HU_E4M3 }, (double)1e-4f),
		"zeros count as 1e-4");
}

/* Ties of e2m1: who rounds them where. */
static void
test_ties(void)
{
	static const float x[8] = { 6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5 };
	static const struct {
		const char *name;
		float to[8];
	} rows[] = {
		{ "mxfp4:torchao", { 6, 0, 1, 1, 2, 2, 4, 4 } },
		{ "mxfp4:deepgemm", { 6, 0, 0.5f, 1, 1.5f, 2, 3, 4 } },
		{ "mxfp4:quark:floor", { 6, 0.5f, 1, 1.5f, 2, 3, 4, 6 } },
		{ "mxfp4:modelopt", { 6, 0, 0.5f, 1, 1.5f, 2, 3, 4 } },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_block b = block(rows[i].name);
		float y[8];
		hu_block_cast(&b, y, x, 8);
		ok(!memcmp(y, rows[i].to, sizeof y), "%s: 0.25 0.75 1.25 1.75 2.5 3.5 5 become %g %g %g %g %g %g %g",
			rows[i].name, (double)y[1], (double)y[2], (double)y[3], (double)y[4], (double)y[5],
			(double)y[6], (double)y[7]);
	}
}

/* n normal deviates, by pairs (Box and Muller). */
static float *
normal(void)
{
	float *x = malloc(MANY * sizeof *x);

	for (uint64_t i = 0; x && i < MANY / 2; i++) {
		hu_random r = hu_random_at(32, 1, 0, i);
		double u = (r.w[0] + 1.0) / 0x1p32, v = r.w[1] / 0x1p32, a = sqrt(-2 * log(u));
		x[2 * i] = (float)(a * cos(2 * M_PI * v));
		x[2 * i + 1] = (float)(a * sin(2 * M_PI * v));
	}
	if (!x)
		bail_out("no memory");
	return x;
}

/* A row: the format; 1000 times the relative square error, as printed; the shrinkage <x,q>/<x,x> - 1 in percent, NaN
   where none was. 2^20 deviates leave 0.2 % of an error open (its relative variance is about 4/n); we allow 1 %, and
   half of the last digit that is printed. A shrinkage, Σxd/Σx², has a standard deviation of at most
   sqrt(Σx²d²)/Σx²; we allow four, and half of a digit. */
static const struct {
	const char *name;
	double error, last, shrink, digit;
} table[] = {
	{ "mxfp4:floor", 13.2, 0.1, -1.97, 0.01 },
	{ "mxfp4:even", 12.5, 0.1, -1.04, 0.01 },
	{ "mxfp4:rceil", 13.3, 0.1, -1.01, 0.01 },
	{ "mxfp4:ceil", 20.8, 0.1, NAN, 0 },
	{ "mxfp4x16:floor", 13.9, 0.1, NAN, 0 },
	{ "mxfp4x16:even", 12.1, 0.1, NAN, 0 },
	{ "mxfp4x16:rceil", 12.7, 0.1, NAN, 0 },
	{ "mxfp4x16:ceil", 17.9, 0.1, NAN, 0 },
	{ "nvfp4", 9.05, 0.01, -0.44, 0.01 },
	{ "nvfp4:te", 9.05, 0.01, -0.44, 0.01 },
	{ "nvfp4:torchao", 9.05, 0.01, -0.44, 0.01 },
	{ "nvfp4:fouroversix", 7.57, 0.01, -0.34, 0.01 },
	{ "nvfp4:te:46=mae", 7.80, 0.01, NAN, 0 },
	{ "nvfp4x16x16", 12.40, 0.01, -0.91, 0.01 },
	{ "mxfp4:rceil:SR", 27.2, 0.1, NAN, 0 },
	{ "mxfp4:floor:SR", 25.2, 0.1, -1.0, 0.1 },
	{ "mxfp4:floor:SR:times=3/4", 28.2, 0.1, 0.02, 0.01 },
	{ "nvfp4:SR", 18.9, 0.1, -0.33, 0.01 },
	{ "nvfp4:SR:headroom=17/16", 23.6, 0.1, -0.007, 0.001 },
};

static void
test_normal(const float *x)
{
	float *y = malloc(MANY * sizeof *y);

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double xx = 0, xy = 0, ee = 0, xxee = 0;
		hu_block b = block(table[i].name);
		hu_block_cast_rows(&b, y, x, MANY / ROW, ROW);
		for (size_t j = 0; j < MANY; j++) {
			double v = (double)x[j], d = (double)y[j] - v;
			xx += v * v, xy += v * (double)y[j], ee += d * d, xxee += v * v * d * d;
		}
		is_near(1e3 * ee / xx, table[i].error, 0.01 * table[i].error + table[i].last / 2,
			"%s: 1000 times the relative square error of normal deviates", table[i].name);
		if (!isnan(table[i].shrink))
			is_near(100 * (xy / xx - 1), table[i].shrink, 400 * sqrt(xxee) / xx + table[i].digit / 2,
				"%s: shrinkage in percent", table[i].name);
	}
	free(y);
}

/* Tiles: a matrix and its transpose are quantised alike, and the last tiles may be smaller. */
static void
test_tiles(const float *x)
{
	enum { R = 40, C = 70 };
	float *m = malloc(2 * R * C * sizeof *m), *t = m + R * C;
	hu_block b = block("nvfp4x16x16"), row = block("nvfp4");
	int apart_tiles = 0, apart_rows = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < R * C; i++)
			t[i % C * R + i / C] = m[i] = x[i];
		hu_block_cast_rows(pass ? &row : &b, m, m, R, C);
		hu_block_cast_rows(pass ? &row : &b, t, t, C, R);
		for (size_t i = 0; i < R * C; i++)
			*(pass ? &apart_rows : &apart_tiles) += t[i % C * R + i / C] != m[i];
	}
	ok(!apart_tiles && apart_rows > 100,
		"tiles of 16x16 make a matrix and its transpose alike (%d apart; rows: %d)", apart_tiles, apart_rows);
	free(m);
}

static void
test_names(void)
{
	static const char *const bad[] = { "mxfp4:", "mxfp4:te:", "mxfp4:least", "nvfp4:floor", "int8:te", "mxfp4:mean",
		"mxint8:SR", "mxfp4:46=mse", "nvfp4:46=max2", "mxfp4:headroom=0", "mxfp4:times=x", "mxfp4:headroom=9",
		"nvfp4x0x16", "nvfp4x16x16x16", "bfp8x16s8:te2" };
	hu_block b;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(hu_block_find(bad[i], &b) != HU_OK && strstr(hu_reason(), bad[i]), "'%s' is refused: %s", bad[i],
			hu_reason());
	ok(hu_block_find("NVFP4x16x16:TE:rna", &b) == HU_OK && b.rows == 16 && b.size == 16 && b.mode == HU_RNA,
		"words in any case, behind tiles");
}

int
main(void)
{
	float *x = normal();

	test_powers("floor", want_floor);
	test_powers("ceil", want_ceil);
	test_powers("rceil", want_rceil);
	test_powers("even", want_even);
	test_powers("ratio", want_ratio);
	test_corners();
	test_ties();
	test_normal(x);
	test_tiles(x);
	test_names();
	free(x);
	return done_testing();
}
