/* SPDX-License-Identifier: Apache-2.0
   hadamard x [, clock]: each 16 elements that follow each other along a row (with across=1 along a column; columns as
   block_cast has them), times signs, then times Sylvester's Hadamard matrix of order 16 over 4. What is left at the end
   of a row, fewer than 16, stays as it is. Two operands of a product that are both multiplied so have the same product,
   because the matrix is orthogonal. The signs are Transformer Engine's: + + + - + - - - - - - + - + - -; with a clock
   (seed, step), as dropout has it, they are drawn, the same for all calls of a step: sign k is - where bit k of word 0
   of Philox's block 0 of the stream "hadamard" is set. The sums are taken in four stages of fp32 additions, of elements
   1, 2, 4 and 8 apart. */
#include "lib/op/element/map.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/draw.h"
#include "lib/op/performed.h"
#include "lib/op/scalars.h"
#include "lib/op/sink.h"

#include <math.h>
#include <stdlib.h>

enum { ORDER = 16 };

/* Bit k: sign k is -. */
enum { FIXED = 0xd7e8 };

static unsigned
minus_of(const hu_call *c, hu_tensor *const *in)
{
	hu_dropout d;

	if (c->nin < 2)
		return FIXED;
	hu_dropout_clock(&d, hu_get(in[1], 0), hu_get(in[1], 1));
	return hu_random_at(d.seed, hu_fnv1a32("hadamard"), d.step, 0).w[0] & 0xffff;
}

/* Elements first, first + apart, ... are a row of x. */
typedef struct row {
	size_t first, apart, n;
} row;

static row
row_at(const hu_call *c, hu_shape s, size_t i)
{
	size_t last = hu_attr_count(c, "columns", hu_last(s)), rows = last ? hu_count(s) / last : 0;

	return hu_attr_num(c, "across", 0) != 0 ? (row){ i, last, rows } : (row){ i * last, 1, last };
}

static size_t
rows_of(const hu_call *c, hu_shape s)
{
	size_t last = hu_attr_count(c, "columns", hu_last(s));

	return hu_attr_num(c, "across", 0) != 0 ? last : last ? hu_count(s) / last : 0;
}

/* Sets y to the transform of 16 floats. */
static void
transform(float *y, unsigned minus)
{
	for (int k = 0; k < ORDER; k++)
		y[k] = (minus >> k & 1 ? -1.0f : 1.0f) * y[k];
	for (int by = 1; by < ORDER; by *= 2)
		for (int k = 0; k < ORDER; k++)
			if (!(k & by)) {
				float a = y[k], b = y[k | by];
				y[k] = a + b;
				y[k | by] = a - b;
			}
	for (int k = 0; k < ORDER; k++)
		y[k] = y[k] * 0.25f;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_format f = hu_format_of(c->fmt.out);
	size_t rows = rows_of(c, in[0]->shape);
	unsigned minus = minus_of(c, in);

	hu_stream draws = { env->seed, hu_fnv1a32(c->seed_name), env->step };

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 4096)
	for (size_t i = 0; i < rows; i++) {
		row r = row_at(c, in[0]->shape, i);
		for (size_t k = 0; k < r.n; k += ORDER) {
			size_t n = r.n - k < ORDER ? r.n - k : ORDER;
			float y[ORDER];
			for (size_t j = 0; j < n; j++)
				y[j] = (float)hu_get(in[0], r.first + (k + j) * r.apart);
			if (n == ORDER)
				transform(y, minus);
			for (size_t j = 0; j < n; j++)
				hu_put(out[0], r.first + (k + j) * r.apart,
					hu_round_drawn((double)y[j], f, c->mode, c->flags, draws,
						r.first + (k + j) * r.apart));
		}
	}
	hu_performed_operations(6 * in[0]->n);
	return HU_OK;
}

/* Where element e lies: the first element of its 16 and its number among them; 0 where it is left at a row's end. */
static int
group_of(const hu_call *c, const hu_tensor *x, size_t e, size_t *first, size_t *apart, int *k)
{
	size_t last = hu_attr_count(c, "columns", hu_last(x->shape)), across = hu_attr_num(c, "across", 0) != 0,
	       at = across ? e / last : e % last;
	row r = row_at(c, x->shape, across ? e % last : e / last);

	*apart = r.apart;
	*first = r.first + at / ORDER * ORDER * r.apart;
	*k = (int)(at % ORDER);
	return at / ORDER * ORDER + ORDER <= r.n;
}

static int
negative(unsigned minus, int i, int k)
{
	return (__builtin_popcount((unsigned)(i & k)) & 1) != (int)(minus >> k & 1);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	unsigned minus = minus_of(c, in);

	(void)out;
	for (size_t i = 0; i < n; i++) {
		size_t e = element ? element[i] : i, first, apart;
		mpfr_t x;
		int k;
		if (!group_of(c, in[0], e, &first, &apart, &k)) {
			hu_exact_get(exact[i], in[0], e);
			continue;
		}
		mpfr_set_prec(exact[i], 700); /* sums of doubles of any exponents are exact */
		mpfr_set_zero(exact[i], 1);
		for (int j = 0; j < ORDER; j++) {
			mpfr_init2(x, 64);
			hu_exact_get(x, in[0], first + (size_t)j * apart);
			if (negative(minus, k, j))
				mpfr_neg(x, x, MPFR_RNDN);
			mpfr_add(exact[i], exact[i], x, MPFR_RNDN);
			mpfr_clear(x);
		}
		mpfr_div_ui(exact[i], exact[i], 4, MPFR_RNDN);
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);
	unsigned minus = minus_of(c, in);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 4096)
	for (size_t i = 0; i < n; i++) {
		size_t e = element ? element[i] : i, first, apart;
		int k;
		v[i] = hu_operand_dd(sink, in, 0, e);
		if (!group_of(c, in[0], e, &first, &apart, &k))
			continue;
		v[i] = hu_dd_of(0);
		for (int j = 0; j < ORDER; j++) {
			hu_dd x = hu_operand_dd(sink, in, 0, first + (size_t)j * apart);
			v[i] = negative(minus, k, j) ? hu_dd_sub(v[i], x) : hu_dd_add(v[i], x);
		}
		v[i] = (hu_dd){ v[i].h / 4, v[i].l / 4, v[i].e / 4 };
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

static double
magnitude_at(const hu_call *c, const hu_tensor *x, size_t e)
{
	size_t first, apart;
	double sum = 0;
	int k;

	if (!group_of(c, x, e, &first, &apart, &k))
		return fabs(hu_get(x, e));
	for (int j = 0; j < ORDER; j++)
		sum += fabs(hu_get(x, first + (size_t)j * apart)) / 4;
	return sum;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *m)
{
	(void)out;
	for (size_t i = 0; i < n; i++)
		m[i] = magnitude_at(c, in[0], element ? element[i] : i);
	return HU_OK;
}

/* Four additions, and where operands are wider the rounding to fp32: (1 + 2^-24)^5 - 1 of the magnitudes; then the
   rounding to the output's format, in any mode. */
static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_format f = hu_format_of(c->fmt.out);

	(void)out;
	for (size_t i = 0; i < n; i++) {
		double m = magnitude_at(c, in[0], element ? element[i] : i), last = hu_pow2(f.emin - f.p + 1);
		b[i] = m * (1 + 0x1p-20) > f.max || m > 0x1p125
			       ? INFINITY
			       : m * 5.001 * 0x1p-24 + m * 1.001 * hu_pow2(1 - f.p) + last + 0x1p-147;
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t columns = hu_attr_count(c, "columns", hu_last(in[0]));

	if (columns && hu_count(in[0]) % columns)
		return hu_fail(
			HU_EINVAL, "hadamard: %zu elements are no rows of columns=%zu", hu_count(in[0]), columns);
	if (c->nin > 1)
		HU_TRY(hu_shape_length(c, 1, in[1], 2));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 6 * (double)hu_count(in[0]);
}

const hu_op hu_op_hadamard = {
	.name = "hadamard", .summary = "multiplies each 16 elements by a Hadamard matrix with signs", .min_in = 1,
	.max_in = 2, .nout = 1, .same = "=", .attrs = "across columns", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_NONE,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one, .magnitude = magnitude,
	},
};
