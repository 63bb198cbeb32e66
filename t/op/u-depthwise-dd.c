/* SPDX-License-Identifier: Apache-2.0
   The exact values of convolutions of one filter for each channel (lib/op/contract/depthwise/depthwise_dd.c): sums that
   MPFR computes over taps listed here lie in the enclosures, also where operands lie at the ends of their own errors;
   enclosures are hardly wider than such errors make them; every instruction set gives the same bits; and nothing is
   said of sums with a NaN or an infinity. */
#include "lib/op/contract/depthwise/depthwise.h"

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/sink.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture {
	size_t images, h, w, channels, kh, kw, step, apart;
	ptrdiff_t pad;
	int wide, parts;
} picture;

static const picture pictures[] = {
	{ 2, 6, 5, 3, 3, 3, 1, 1, 1, 1, 1 }, { 1, 9, 9, 40, 9, 9, 1, 1, 4, 1, 1 },
	{ 2, 7, 8, 13, 3, 2, 2, 1, 0, 1, 1 },
	{ 1, 8, 8, 24, 3, 3, 1, 2, 2, 1, 0 }, { 1, 5, 6, 17, 3, 3, 2, 1, 1, 0, 1 }, { 1, 4, 4, 8, 1, 1, 1, 1, 0, 0, 0 },
};

static uint64_t drawn;

static uint32_t
draw(void)
{
	return hu_random_at(1, 9, 0, drawn++).w[0];
}

/* A tensor's values with trailing parts and errors; some are 0, tiny or huge. */
typedef struct values { hu_tensor t; double *h, *lo, *err; } values;

static values
values_of(size_t n, int wide, int parts)
{
	values v = { { 0 }, hu_xcalloc(3 * n + 1, sizeof(double)), NULL, NULL };

	v.lo = v.h + n;
	v.err = v.lo + n;
	v.t.format = wide ? HU_FP64 : HU_FP32;
	v.t.n = n;
	v.t.data = hu_xcalloc(n + 1, wide ? sizeof(double) : sizeof(float));
	for (size_t i = 0; i < n; i++) {
		int e = draw() % 16 ? (int)(draw() % 12) - 6 : (int)(draw() % 200) - 100;
		double x = draw() % 6 ? ldexp((draw() & 1 ? 1 : -1) * (1 + draw() * 0x1p-32), e) : 0;
		x = wide ? x : (double)(float)x;
		v.h[i] = x;
		v.lo[i] = parts && draw() % 3 ? x * 0x1p-54 * (draw() * 0x1p-32) : 0;
		v.err[i] = parts && draw() % 3 ? ldexp(draw() * 0x1p-32, e - 70) : 0;
		if (wide)
			((double *)v.t.data)[i] = x;
		else
			((float *)v.t.data)[i] = (float)x;
	}
	return v;
}

static void
values_free(values *v)
{
	free(v->h);
	free(v->t.data);
}

typedef struct kept { hu_sink s; double *hi, *lo, *err; size_t taken; } kept;

static void
take(hu_sink *s, const hu_tile *t)
{
	kept *k = (kept *)s;

	memcpy(k->hi + t->first, t->hi, t->n * sizeof *t->hi);
	memcpy(k->lo + t->first, t->lo, t->n * sizeof *t->lo);
	memcpy(k->err + t->first, t->err, t->n * sizeof *t->err);
#pragma omp atomic
	k->taken += t->n;
}

/* Adds x w for operands at element i and j, moved by `by` times their errors, to sum; *free gets what the errors may
   change, and *size the magnitude. */
static void
add_term(mpfr_t sum, const values *x, size_t i, const values *w, size_t j, int by, double *loose, double *size)
{
	mpfr_t a, b;

	mpfr_inits2(4096, a, b, (mpfr_ptr)NULL);
	mpfr_set_d(a, x->h[i], MPFR_RNDN);
	mpfr_add_d(a, a, x->lo[i], MPFR_RNDN);
	mpfr_add_d(a, a, by * x->err[i], MPFR_RNDN);
	mpfr_set_d(b, w->h[j], MPFR_RNDN);
	mpfr_add_d(b, b, w->lo[j], MPFR_RNDN);
	mpfr_add_d(b, b, by * w->err[j], MPFR_RNDN);
	mpfr_fma(sum, a, b, sum, MPFR_RNDN);
	*loose += fabs(x->h[i]) * w->err[j] + fabs(w->h[j]) * x->err[i] + x->err[i] * w->err[j];
	*size += fabs(x->h[i] * w->h[j]);
	mpfr_clears(a, b, (mpfr_ptr)NULL);
}

/* Counts the outputs whose exact value lies outside, and those whose enclosure is too wide. */
static void
judge(const picture *p, const hu_contract *c, const values *x, const values *w, const kept *got, size_t *outside,
	size_t *wide)
{
	mpfr_t sum;

	mpfr_init2(sum, 4096);
	for (size_t o = 0; o < c->m * p->channels; o++) {
		size_t channel = o % p->channels, col = o / p->channels % c->wo, row = o / p->channels / c->wo % c->ho,
		       image = o / p->channels / c->wo / c->ho;
		for (int by = -1; by <= 1; by++) {
			double loose = 0, size = 0;
			mpfr_set_zero(sum, 1);
			for (size_t tap = 0; tap < p->kh * p->kw; tap++) {
				ptrdiff_t v = (ptrdiff_t)(row * p->step + tap / p->kw * p->apart) - p->pad,
					  u = (ptrdiff_t)(col * p->step + tap % p->kw * p->apart) - p->pad;
				if (v < 0 || u < 0 || v >= (ptrdiff_t)p->h || u >= (ptrdiff_t)p->w)
					continue;
				size_t pixel = (image * p->h + (size_t)v) * p->w + (size_t)u;
				add_term(sum, x, pixel * p->channels + channel, w, tap * p->channels + channel, by,
					&loose, &size);
			}
			mpfr_sub_d(sum, sum, got->hi[o], MPFR_RNDN);
			mpfr_sub_d(sum, sum, got->lo[o], MPFR_RNDN);
			mpfr_abs(sum, sum, MPFR_RNDN);
			*outside += !(mpfr_cmp_d(sum, got->err[o]) <= 0);
			*wide += !(got->err[o] <= 1.001 * loose + 0x1p-90 * size + 0x1p-1000);
		}
	}
	mpfr_clear(sum);
}

static hu_contract
contract_of(const picture *p, const values *x, const values *w)
{
	hu_contract c = { 0 };

	c.images = p->images;
	c.h = p->h;
	c.w = p->w;
	c.kh = p->kh;
	c.kw = p->kw;
	c.ho = (p->h + 2 * (size_t)p->pad - (p->kh - 1) * p->apart - 1) / p->step + 1;
	c.wo = (p->w + 2 * (size_t)p->pad - (p->kw - 1) * p->apart - 1) / p->step + 1;
	c.sh = c.sw = p->step;
	c.dh = c.dw = p->apart;
	c.pad_h = c.pad_w = p->pad;
	c.ci = c.co = 1;
	c.cin = c.cout = c.batches = p->channels;
	c.scale = 1;
	c.m = p->images * c.ho * c.wo;
	c.n = 1;
	c.k = p->kh * p->kw;
	c.a = &x->t;
	c.b = &w->t;
	return c;
}

/* Computes the convolution by an instruction set into three arrays of n, one behind another. */
static int
enclose(const hu_contract *c, const values *x, const values *w, int parts, kept *k, double *room, size_t n)
{
	hu_low none = { NULL, NULL }, low[2] = { parts ? (hu_low){ x->lo, x->err } : none,
			parts ? (hu_low){ w->lo, w->err } : none };

	*k = (kept){ { .take = take, .low = low }, room, room + n, room + 2 * n, 0 };
	return hu_depthwise_enclose(c, &k->s) && k->taken == n;
}

static void
one(size_t q)
{
	const picture *p = &pictures[q];
	values x = values_of(p->images * p->h * p->w * p->channels, p->wide, p->parts),
	       w = values_of(p->kh * p->kw * p->channels, p->wide, p->parts);
	hu_contract c = contract_of(p, &x, &w);
	size_t n = c.m * p->channels, outside = 0, wide = 0, unlike = 0, silent = 0, odd = 0;
	double *first = hu_xcalloc(3 * n, sizeof *first), *other = hu_xcalloc(3 * n, sizeof *other);
	int all = 1;
	kept k;

	hu_simd_set("scalar");
	all &= enclose(&c, &x, &w, p->parts, &k, first, n);
	judge(p, &c, &x, &w, &k, &outside, &wide);
	for (int s = HU_SIMD_SCALAR + 1; s < HU_SIMDS; s++)
		if (hu_simd_has((hu_simd)s) && hu_simd_set(hu_simd_name_of((hu_simd)s)) == HU_OK) {
			all &= enclose(&c, &x, &w, p->parts, &k, other, n);
			unlike += memcmp(first, other, 3 * n * sizeof *first) != 0;
		}
	ok(all, "picture %zu: all %zu outputs come once", q, n);
	ok(!outside, "%zu of %zu exact values lie outside", outside, 3 * n);
	ok(!wide, "%zu enclosures are wider than errors make them", wide);
	ok(!unlike, "%zu instruction sets give other bits", unlike);
	/* the middle pixel's first channel is NaN, and its last one infinite */
	size_t at = (p->h / 2 * p->w + p->w / 2) * p->channels, end = at + p->channels - 1;
	for (int i = 0; i < 2; i++) {
		double v = i ? (double)INFINITY : (double)NAN;
		if (p->wide)
			((double *)x.t.data)[i ? end : at] = v;
		else
			((float *)x.t.data)[i ? end : at] = (float)v;
	}
	hu_simd_set("auto");
	enclose(&c, &x, &w, p->parts, &k, other, n);
	for (size_t o = 0; o < n; o++) {
		size_t channel = o % p->channels;
		silent += isinf(k.err[o]);
		odd += isnan(k.err[o]) || isnan(k.lo[o]) || (isinf(k.err[o]) && channel && channel != p->channels - 1);
	}
	ok(silent && !odd, "nothing is said of %zu sums with a NaN or an infinity; %zu are wrong", silent, odd);
	free(first);
	free(other);
	values_free(&x);
	values_free(&w);
}

int
main(void)
{
	for (size_t q = 0; q < sizeof pictures / sizeof *pictures; q++)
		one(q);
	return done_testing();
}
