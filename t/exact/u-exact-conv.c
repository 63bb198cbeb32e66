/* SPDX-License-Identifier: Apache-2.0
   Exact convolutions and their gradients by the exact product's callbacks, which map operands in place as an
   implicit GEMM does: strides, padding, shapes that are no multiple of anything, inner lengths from 1 to 100 000, all
   bit for bit MPFR's. */
#include "lib/exact/dot.h"
#include "lib/exact/gemm.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(4711, 2, 0, counter++).w[0];
}

enum { ORDINARY, FULL, TINY, CANCEL, SPECIAL, KINDS };
static const char *const kind_names[] = { "uniform", "all exponents", "subnormal", "cancelling",
	"with infinities and NaN" };

static double
value(hu_format f, int kind, size_t i)
{
	double u = ((double)bits() + 0.5) * 0x1p-32, s = bits() & 1 ? -1 : 1;
	int low = f.emin - f.p + 1;

	switch (kind) {
	case FULL:
		return hu_round(s * (1 + u) * hu_pow2(low + (int)(bits() % (uint32_t)(f.emax - low + 1))), f, HU_RNE,
			HU_SATURATE, 0);
	case TINY: return hu_round(s * u * hu_pow2(bits() % 3 ? f.emin : 0), f, HU_RNE, HU_SATURATE, 0);
	case CANCEL: return i % 2 ? 1.5 : bits() % 64 ? -1.5 : hu_round(-1.5 * (1 + u * 0x1p-6), f, HU_RNE, 0, 0);
	case SPECIAL:
		if (bits() % 60 == 0)
			return bits() % 3 ? hu_inf(bits() & 1) : hu_nan();
	}
	return hu_round(s * u, f, HU_RNE, HU_SATURATE, 0);
}

/* An image x[n][h][w][c], kernels g[r][q][c][o] for y = conv(x, g), or gradients g[n][ho][wo][o] for dg = x^T g. */
typedef struct conv { size_t n, h, w, c, kh, kw, s, o, ho, wo; ptrdiff_t ph, pw; int weights; double *x, *g; } conv;

/* The image at output (or gradient) pixel P, tap T, channel CH; +0 outside. */
static double
tap(const conv *v, size_t p, size_t t, size_t ch)
{
	size_t n = p / (v->ho * v->wo), oy = p / v->wo % v->ho, ox = p % v->wo;
	ptrdiff_t y = (ptrdiff_t)(oy * v->s + t / v->kw) - v->ph, x = (ptrdiff_t)(ox * v->s + t % v->kw) - v->pw;

	if (y < 0 || x < 0 || y >= (ptrdiff_t)v->h || x >= (ptrdiff_t)v->w)
		return 0;
	return v->x[((n * v->h + (size_t)y) * v->w + (size_t)x) * v->c + ch];
}

static void
row(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *to)
{
	const conv *v = context;

	(void)batch;
	for (size_t k = k0; k < k1; k++)
		to[k - k0] = v->weights ? tap(v, k, i / v->c, i % v->c) : tap(v, i, k / v->c, k % v->c);
}

static void
column(void *context, size_t batch, size_t j, size_t k0, size_t k1, double *to)
{
	const conv *v = context;

	(void)batch;
	for (size_t k = k0; k < k1; k++)
		to[k - k0] = v->g[k * v->o + j];
}

static void
slab(void *context, size_t batch, size_t k, size_t j0, size_t j1, double *to)
{
	const conv *v = context;

	(void)batch;
	memcpy(to, v->g + k * v->o + j0, (j1 - j0) * sizeof *to);
}

typedef struct tally { const hu_exact_source *s; size_t seen, wrong; int stride; } tally;

static void
take(void *context, const hu_exact_tile *tile, size_t batch, size_t i0, size_t m, size_t j0, size_t n)
{
	tally *t = context;
	size_t k = t->s->k, seen = 0, wrong = 0;
	double *a = malloc((2 * k + 1) * sizeof *a), *b = a + k;
	mpfr_t x, y;

	mpfr_inits(x, y, (mpfr_ptr)0);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++, seen++) {
			if ((i * n + j) % (size_t)t->stride)
				continue;
			row(t->s->context, batch, i0 + i, 0, k, a);
			column(t->s->context, batch, j0 + j, 0, k, b);
			hu_exact_dot_mpfr(y, a, b, k);
			hu_exact_tile_mpfr(x, tile, i, j);
			wrong += !(mpfr_nan_p(x) ? mpfr_nan_p(y)
						 : mpfr_cmp(x, y) == 0 && mpfr_signbit(x) == mpfr_signbit(y));
		}
	mpfr_clears(x, y, (mpfr_ptr)0);
	free(a);
#pragma omp critical
	{
		t->seen += seen;
		t->wrong += wrong;
	}
}

static void
walk(size_t n, size_t h, size_t w, size_t c, size_t kernel_h, size_t kernel_w, size_t stride, size_t o, int weights,
	hu_format_id id, int kind)
{
	hu_format f = hu_format_of(id);
	conv v = {
		.n = n, .h = h, .w = w, .c = c, .kh = kernel_h, .kw = kernel_w, .s = stride, .o = o, .weights = weights
	};
	hu_exact_source s = { .batches = 1, .row = row, .column = column, .context = &v };

	v.ho = (h + stride - 1) / stride;
	v.wo = (w + stride - 1) / stride;
	v.ph = (ptrdiff_t)(kernel_h / 2);
	v.pw = (ptrdiff_t)(kernel_w / 2);
	s.m = weights ? kernel_h * kernel_w * c : n * v.ho * v.wo;
	s.k = weights ? n * v.ho * v.wo : kernel_h * kernel_w * c;
	s.n = o;
	if (kind % 2)
		s.slab = slab, s.column = NULL;
	v.x = malloc(n * h * w * c * sizeof *v.x);
	v.g = malloc(s.k * o * sizeof *v.g);
	for (size_t i = 0; i < n * h * w * c; i++)
		v.x[i] = value(f, kind, i);
	for (size_t i = 0; i < s.k * o; i++)
		v.g[i] = kind == CANCEL ? hu_round(1 + 0x1p-5 * (double)(i % o), f, HU_RNE, 0, 0) : value(f, kind, i);
	tally t = { &s, 0, 0, s.k > 5000 ? 7 : 1 };
	hu_exact_gemm(&s, take, &t);
	ok(!t.wrong && t.seen == s.m * s.n,
		"%s, %s: %s %zux%zux%zux%zu by %zux%zu, stride %zu, to %zu: %zu sums of %zu products are MPFR's",
		hu_format_name(id), kind_names[kind], weights ? "kernel gradient of" : "convolution of", n, h, w, c,
		kernel_h, kernel_w, stride, o, t.seen, s.k);
	free(v.x);
	free(v.g);
}

int
main(void)
{
	static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_E4M3, HU_E5M2, HU_E2M1 };

	for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
		for (int kind = 0; kind < KINDS; kind++) {
			walk(2, 7, 5, 3, 3, 5, 2, 11, 0, formats[f], kind);
			walk(3, 9, 6, 1, 1, 1, 1, 5, 0, formats[f], kind); /* k = 1 */
			walk(2, 11, 7, 2, 5, 3, 3, 13, 1, formats[f], kind);
		}
	walk(1, 19, 17, 13, 7, 3, 1, 17, 0, HU_FP32, ORDINARY);
	walk(9, 106, 105, 1, 1, 2, 1, 3, 1, HU_FP16, FULL);  /* k = 100 170 */
	walk(8, 112, 111, 1, 2, 1, 1, 2, 1, HU_FP32, SPECIAL);
	walk(9, 106, 105, 1, 1, 1, 1, 2, 1, HU_BF16, CANCEL);
	walk(5, 71, 83, 1, 1, 2, 1, 3, 1, HU_FP32, TINY);
	return done_testing();
}
