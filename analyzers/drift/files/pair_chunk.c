/* SPDX-License-Identifier: Apache-2.0
   A chunk in parts that stay in the first cache: codes become floats or doubles, what is not finite is counted and
   taken out, and the loops do the rest. */
#include "analyzers/drift/files/pair_chunk.h"

#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PART = HU_PAIR_PART };

/* PART elements of each tensor. The loops read them at x and y: in the file, where both lie there as a loop reads them,
   else as they were decoded here, as floats where those hold them all. A multiple of 16, by zeros behind them. */
typedef struct both {
	union {
		float f[PART];
		double d[PART];
		unsigned char raw[8 * PART];
	} a, b;
	const unsigned char *from, *to; /* their codes */
	const void *x, *y;
	hu_pair_kind kind;
	size_t n, padded;
	int narrow, decoded;
} both;

void
hu_pair_loops_choose(hu_pair_job *j)
{
	j->loops = &hu_pair_loops_plain;
#ifdef __x86_64__
	if (hu_simd_level() == HU_SIMD_AVX512)
		j->loops = &hu_pair_loops_avx512;
	else if (hu_simd_level() == HU_SIMD_AVX2)
		j->loops = &hu_pair_loops_avx2;
#endif
}

static int
is_narrow(const hu_item *t)
{
	return t->kind == HU_ITEM_FLOAT ? t->bits <= 32 : t->bits <= 16;
}

#define WIDEN(type, out)                                                                                               \
	for (size_t i = 0; i < n; i++) {                                                                               \
		type v;                                                                                                \
		memcpy(&v, codes + i * sizeof v, sizeof v);                                                            \
		out[i] = v;                                                                                            \
	}

/* The codes lie as they like. */
void
hu_pair_reals(double *out, const hu_item *t, const unsigned char *codes, size_t n)
{
	if (t->kind != HU_ITEM_FLOAT) {
		int width = t->kind == HU_ITEM_INT ? -t->bits : t->bits;
		switch (width) {
		case -64:
			for (size_t i = 0; i < n; i++) {
				int64_t v;
				memcpy(&v, codes + 8 * i, 8);
				out[i] = (double)v;
			}
			break;
		case 64:
			for (size_t i = 0; i < n; i++) {
				uint64_t v;
				memcpy(&v, codes + 8 * i, 8);
				out[i] = (double)v;
			}
			break;
		case -32: WIDEN(int32_t, out); break;
		case 32: WIDEN(uint32_t, out); break;
		case -16: WIDEN(int16_t, out); break;
		case 16: WIDEN(uint16_t, out); break;
		case -8: WIDEN(int8_t, out); break;
		default: /* 8, and a boolean */
			WIDEN(uint8_t, out);
		}
	} else if (t->bits == 64) {
		memcpy(out, codes, 8 * n);
	} else if (t->bits == 4) { /* the first of two in the lower half of a byte */
		unsigned char nibble[PART];
		for (size_t i = 0; i < n; i++)
			nibble[i] = codes[i / 2] >> 4 * (i % 2) & 15;
		hu_bulk_unpack_f64(out, nibble, n, t->format);
	} else {
		hu_bulk_unpack_f64(out, codes, n, t->format);
	}
}

static void
decode32(float *out, const hu_item *t, const unsigned char *codes, size_t n)
{
	if (t->kind == HU_ITEM_FLOAT && t->bits == 32) {
		memcpy(out, codes, 4 * n);
	} else if (t->kind == HU_ITEM_FLOAT && t->bits > 4) {
		hu_bulk_unpack(out, codes, n, t->format);
	} else {
		double wide[PART];
		hu_pair_reals(wide, t, codes, n);
		for (size_t i = 0; i < n; i++)
			out[i] = (float)wide[i];
	}
}

static double
get(const both *w, int second, size_t i)
{
	return w->narrow ? (second ? w->b.f[i] : w->a.f[i]) : second ? w->b.d[i] : w->a.d[i];
}

static void
clear(both *w, size_t i)
{
	if (w->narrow)
		w->a.f[i] = w->b.f[i] = 0;
	else
		w->a.d[i] = w->b.d[i] = 0;
}

static void
decode(both *w, const hu_pair_job *j)
{
	if (w->decoded)
		return;
	if (w->narrow) {
		decode32(w->a.f, j->old, w->from, w->n);
		decode32(w->b.f, j->new, w->to, w->n);
	} else {
		hu_pair_reals(w->a.d, j->old, w->from, w->n);
		hu_pair_reals(w->b.d, j->new, w->to, w->n);
	}
	for (size_t i = w->n; i < w->padded; i++)
		clear(w, i);
	w->kind = w->narrow ? HU_PAIR_FP32 : HU_PAIR_FP64;
	w->x = &w->a;
	w->y = &w->b;
	w->decoded = 1;
}

/* The loop that reads elements of T as they lie in memory, or none. */
static hu_pair_kind
kind_of(const hu_item *t)
{
	static const hu_format_id formats[] = { HU_FP64, HU_FP32, HU_FP16, HU_BF16 };
	int k = 0;

	while (k < HU_PAIR_KINDS && (t->kind != HU_ITEM_FLOAT || t->format != formats[k]))
		k++;
	return (hu_pair_kind)k;
}

static void
bring(both *w, const hu_pair_job *j, const unsigned char *from, const unsigned char *to, size_t n)
{
	size_t size = (size_t)j->old->bits / 8;

	w->from = from;
	w->to = to;
	w->n = n;
	w->padded = (n + 15) / 16 * 16;
	w->narrow = is_narrow(j->old) && is_narrow(j->new);
	w->kind = kind_of(j->old);
	w->decoded = 0;
	if (w->kind == HU_PAIR_KINDS || w->kind != kind_of(j->new)) {
		decode(w, j);
	} else if (n == w->padded) {
		w->x = from;
		w->y = to;
	} else {
		memset((char *)memcpy(w->a.raw, from, size * n) + size * n, 0, size * (w->padded - n));
		memset((char *)memcpy(w->b.raw, to, size * n) + size * n, 0, size * (w->padded - n));
		w->x = &w->a;
		w->y = &w->b;
	}
}

/* Counts the pairs of which one is not finite, and puts zeros in their place; two NaN, and two equal infinities, are
   the same and count for nothing. */
static size_t
take_out(hu_pair_part *p, const hu_pair_job *j, both *w, size_t first)
{
	size_t count = 0;

	decode(w, j);
	for (size_t i = 0; i < w->n; i++) {
		double x = get(w, 0, i), y = get(w, 1, i);
		if (isfinite(x) && isfinite(y))
			continue;
		clear(w, i);
		if ((isnan(x) && isnan(y)) || x == y)
			continue;
		if (!p->nonfinite && !count) {
			p->at = first + i;
			p->x = x;
			p->y = y;
		}
		count++;
	}
	return count;
}

/* Where the largest difference is. */
static void
find(hu_pair_part *p, const hu_pair_job *j, both *w, double d, size_t first)
{
	decode(w, j);
	for (size_t i = 0; i < w->n; i++)
		if (fabs(get(w, 1, i) - get(w, 0, i)) == d) {
			p->at = first + i;
			p->x = get(w, 0, i);
			p->y = get(w, 1, i);
			return;
		}
}

static double
ulps_in(const hu_pair_job *j, const both *w, int k)
{
	hu_format f = hu_format_of(j->format[k]);

	return j->loops->ulps[w->kind](w->x, w->y, w->padded, f.emin, f.p);
}

/* The loop in S that reads 16 bits in their own format's ulps. It rounds those to floats, which keeps their order: they
   are asked for exactly where they may be more than BEST. Where the floats are equal both are exact below 2^(p - 2): a
   difference of two elements needs more than 24 bits only where one is 2^(24 - p) times the other, and then it is that
   many ulps or more. */
static void
brief(hu_pair_sums *s, const hu_pair_job *j, const both *w, hu_format f, double best)
{
	double ulps;

	j->loops->brief[w->kind](s, w->x, w->y, w->padded, f.emin, f.p);
	ulps = s->ulps;
	s->ulps = 0;
	if (isfinite(s->aa + s->bb) && !(ulps < (float)best || (ulps == (float)best && ulps < hu_pow2(f.p - 2))))
		s->ulps = ulps_in(j, w, 0);
}

/* LONG_INTEGERS: the largest difference is exactly()'s. */
static void
add(hu_pair_part *p, const hu_pair_job *j, both *w, size_t first, int long_integers)
{
	const hu_pair_loops *l = j->loops;
	int first_is_format = j->formats && j->format[0] != HU_NO_FORMAT;
	hu_format f = hu_format_of(first_is_format ? j->format[0] : HU_FP32);
	hu_pair_sums s;
	size_t odd = 0;

	if (!w->narrow && !l->finite64(w->x, w->y, w->padded))
		odd = take_out(p, j, w, first);
	if (w->kind < HU_PAIR_KINDS && l->brief[w->kind] && first_is_format && f.id == j->old->format)
		brief(&s, j, w, f, p->ulps[0]);
	else
		l->sums[w->kind](&s, w->x, w->y, w->padded, j->scale, f.emin, f.p);
	if (w->narrow && !isfinite(s.aa + s.bb)) {
		odd = take_out(p, j, w, first);
		l->sums[w->kind](&s, w->x, w->y, w->padded, j->scale, f.emin, f.p);
	}
	p->s.aa += s.aa;
	p->s.bb += s.bb;
	p->s.ab += s.ab;
	p->s.dd += s.dd;
	p->s.differ += s.differ + odd;
	p->s.a = fmax(p->s.a, s.a);
	p->s.b = fmax(p->s.b, s.b);
	p->nonfinite += odd;
	for (int k = 0; s.differ && k < j->formats; k++) {
		double u = j->format[k] != HU_NO_FORMAT ? (k ? ulps_in(j, w, k) : s.ulps) : long_integers ? 0 : s.d;
		p->ulps[k] = fmax(p->ulps[k], u);
	}
	if (!long_integers && s.d > p->s.d) {
		p->s.d = s.d;
		if (!p->nonfinite)
			find(p, j, w, s.d, first);
	}
}

/* Integers of 64 bits are compared as such: doubles do not hold them all. */
static void
exactly(hu_pair_part *p, const hu_pair_job *j, const unsigned char *a, const unsigned char *b, const both *w,
	size_t first)
{
	int is_signed = j->old->kind == HU_ITEM_INT;

	for (size_t i = 0; i < w->n; i++) {
		uint64_t x, y, d;
		memcpy(&x, a + 8 * i, 8);
		memcpy(&y, b + 8 * i, 8);
		if (x == y)
			continue;
		d = (is_signed ? (int64_t)x < (int64_t)y : x < y) ? y - x : x - y;
		p->s.differ += w->a.d[i] == w->b.d[i];
		if ((double)d > p->s.d) {
			p->s.d = (double)d;
			p->at = first + i;
			p->x = w->a.d[i];
			p->y = w->b.d[i];
		}
		for (int k = 0; k < j->formats; k++)
			if (j->format[k] == HU_NO_FORMAT)
				p->ulps[k] = fmax(p->ulps[k], (double)d);
	}
}

void
hu_pair_chunk(hu_pair_part *p, const hu_pair_job *j, const unsigned char *a, const unsigned char *b, size_t n)
{
	both w;
	int long_integers = j->old->kind != HU_ITEM_FLOAT && j->old->bits == 64 && j->new->kind == j->old->kind &&
			    j->new->bits == 64;

	memset(p, 0, sizeof *p);
	for (size_t at = 0; at < n; at += PART) {
		const unsigned char *from = a + at * (size_t)j->old->bits / 8, *to = b + at * (size_t)j->new->bits / 8;
		bring(&w, j, from, to, n - at < PART ? n - at : PART);
		add(p, j, &w, at, long_integers);
		if (long_integers)
			exactly(p, j, from, to, &w, at);
	}
}
