/* SPDX-License-Identifier: Apache-2.0
   Integer codes of a product's weights against what lib/program/quantise/factor.h defines, a weight at a time: a scale
   a column, or one of all columns, for matrices either way round and for a convolution's kernel. */
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/program/quantise/factor.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 5, TERMS = 12, TAPS = 3, CHANNELS = 4, LAYOUTS = 3 };

static const char *const layouts[LAYOUTS] = { "a matrix", "its transpose", "a kernel" };

/* Where term k of a column lies: terms of a kernel count taps fastest, and lie channels fastest. */
static size_t
place(int layout, size_t column, size_t k)
{
	switch (layout) {
	case 0: return k * COLUMNS + column;
	case 1: return column * TERMS + k;
	default: return (k % TAPS * CHANNELS + k / TAPS) * COLUMNS + column;
	}
}

/* Weights of column j are up to 2^j, so that columns have scales of their own; those of column 2 are 0. The first
   weights of columns 0 and 3 are the largest there, and that of column 0 is the largest of all. */
static void
draw(float *w, int layout)
{
	for (size_t j = 0; j < COLUMNS; j++)
		for (size_t k = 0; k < TERMS; k++) {
			double u = (double)hu_philox((uint32_t)(j * TERMS + k), 0, 0, 0, 7, 0).w[0] * 0x1p-31 - 1;
			w[place(layout, j, k)] = j == 2 ? 0 : (float)ldexp(u, (int)j);
		}
	w[place(layout, 0, 0)] = -99;
	w[place(layout, 3, 0)] = 9;
}

static void
compare(int layout, int bits, hu_grain grain)
{
	float w[COLUMNS * TERMS], code[COLUMNS * TERMS], scale[COLUMNS] = { NAN, NAN, NAN, NAN, NAN };
	hu_factor f = { .w = w, .columns = COLUMNS, .k = TERMS, .transposed = layout == 1 };
	double most = NAN, top = ldexp(1, bits - 1) - 1, largest = 0, all = 0;
	int wrong = 0;

	if (layout == 2) {
		f.taps = TAPS;
		f.channels = CHANNELS;
	}
	draw(w, layout);
	for (size_t i = 0; i < COLUMNS * TERMS; i++)
		all = fabs((double)w[i]) > all ? fabs((double)w[i]) : all;
	hu_factor_codes(code, scale, &most, &f, bits, grain);
	for (size_t j = 0; j < COLUMNS; j++) {
		double own = 0, sum = 0;
		for (size_t k = 0; k < TERMS; k++)
			own = fmax(own, fabs((double)w[place(layout, j, k)]));
		float want = (float)((grain == HU_GRAIN_TENSOR ? all : own) / top);
		want = want > 0 ? want : 1;
		wrong += scale[j] != want;
		for (size_t k = 0; k < TERMS; k++) {
			size_t i = place(layout, j, k);
			wrong += !(code[i] == rintf(w[i] / want) && fabs((double)code[i]) <= top);
			sum += fabs((double)code[i]);
		}
		largest = fmax(largest, sum);
	}
	ok(!wrong && most == largest, "%s, %d bits, a scale %s: %d scales and codes are others", layouts[layout], bits,
		grain == HU_GRAIN_TENSOR ? "of all" : "a column", wrong);
}

int
main(void)
{
	for (int layout = 0; layout < LAYOUTS; layout++)
		for (int bits = 4; bits <= 8; bits += 4) {
			compare(layout, bits, HU_GRAIN_TENSOR);
			compare(layout, bits, HU_GRAIN_CHANNEL);
		}
	return done_testing();
}
