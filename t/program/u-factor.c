/* SPDX-License-Identifier: Apache-2.0
   Integer codes of a product's weights against what lib/program/quantise/factor.h defines, a weight at a time: a scale
   a column, or one of all columns, for matrices either way round and for a convolution's kernel. */
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/program/quantise/factor.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
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

/* y = a w + b: b is the product's bias where it is a constant of float32 and is added to this very product. */
static void
test_bias_of(void)
{
	hu_program *p = hu_program_new("eval");
	int a = hu_program_tensor(p, "a.x", HU_FP32, hu_shape2(2, TERMS), HU_ACTIVATION);
	int w = hu_program_tensor(p, "a.w", HU_FP32, hu_shape2(TERMS, COLUMNS), HU_WEIGHT);
	int b = hu_program_tensor(p, "a.b", HU_FP32, hu_shape1(COLUMNS), HU_WEIGHT);
	int half = hu_program_tensor(p, "a.half", HU_FP16, hu_shape1(COLUMNS), HU_WEIGHT);
	int computed = hu_program_tensor(p, "a.computed", HU_FP32, hu_shape1(COLUMNS), HU_WEIGHT);
	int in[2] = { a, w };
	int y[2] = { hu_program_apply(p, "matmul", HU_FORWARD, "a", in, 2, "a.y0", HU_FP32, HU_ACTIVATION, NULL, 0),
		hu_program_apply(p, "matmul", HU_FORWARD, "a", in, 2, "a.y1", HU_FP32, HU_ACTIVATION, NULL, 0) };
	int with[3] = { b, half, computed };
	float data[COLUMNS] = { 0 };

	for (int k = 0; k < 3; k++) {
		char name[8];
		snprintf(name, sizeof name, "a.z%d", k);
		hu_program_apply(
			p, "bias", HU_FORWARD, "a", (int[]){ y[0], with[k] }, 2, name, HU_FP32, HU_ACTIVATION, NULL, 0);
	}
	hu_program_apply(p, "add", HU_FORWARD, "a", (int[]){ y[0], y[1] }, 2, "a.s", HU_FP32, HU_ACTIVATION, NULL, 0);
	hu_tensor *constant = hu_xcalloc((size_t)p->nt, sizeof *constant);
	constant[w].data = constant[b].data = constant[half].data = constant[y[1]].data = data;
	is_int(hu_factor_bias_of(p, constant, &p->c[2], &p->c[0]), b, "a constant that is added to the product");
	is_int(hu_factor_bias_of(p, constant, &p->c[2], &p->c[1]), -1, "to another product");
	is_int(hu_factor_bias_of(p, constant, &p->c[3], &p->c[0]), -1, "one of 16 bits");
	is_int(hu_factor_bias_of(p, constant, &p->c[4], &p->c[0]), -1, "one that is computed");
	is_int(hu_factor_bias_of(p, constant, &p->c[5], &p->c[0]), -1, "a sum that is no bias");
	free(constant);
	hu_program_free(p);
}

int
main(void)
{
	test_bias_of();
	for (int layout = 0; layout < LAYOUTS; layout++)
		for (int bits = 4; bits <= 8; bits += 4) {
			compare(layout, bits, HU_GRAIN_TENSOR);
			compare(layout, bits, HU_GRAIN_CHANNEL);
		}
	return done_testing();
}
