/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/exact.h"

#include "lib/judge/verdict/ziv.h"
#include "lib/exact/judge.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"

#include <stdlib.h>

enum { CHUNK = 8192 };   /* values held in MPFR at a time */

/* v: from element `base` on. open: elements that are left to the reference. */
typedef struct state {
	hu_sink s;
	const hu_tensor *minus;
	double *v;
	int none;
	size_t base, *open, n, cap;
} state;

static void
take(hu_sink *sink, const hu_tile *t)
{
	state *s = (state *)sink;

	for (size_t i = 0; i < t->n; i++) {
		size_t at = t->at ? t->at[i] : t->first + i;
		int known = !s->none && (s->minus ? hu_ziv_difference(&s->v[at], t->hi[i], t->lo[i], t->err[i],
							    hu_get(s->minus, s->base + at))
						  : hu_ziv_rounded(&s->v[at], t->hi[i], t->lo[i], t->err[i]));
		if (known)
			continue;
#pragma omp critical(hu_exact_doubles)
		{
			HU_GROW(s->open, s->n, s->cap);
			s->open[s->n++] = s->base + at;
		}
	}
}

static int
ascending(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

static hu_status
by_reference(state *s, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const size_t *element,
	size_t n)
{
	mpfr_t *exact = hu_xmalloc((n + 1) * sizeof *exact);

	for (size_t i = 0; i < n; i++)
		mpfr_init2(exact[i], 256);
	hu_status st = engine->exact(c, in, out, element, n, exact);
	for (size_t i = 0; i < n; i++) {
		if (st == HU_OK && s->minus)
			mpfr_sub_d(exact[i], exact[i], hu_get(s->minus, element[i]), MPFR_RNDN);
		if (st == HU_OK)
			s->v[element[i] - s->base] = mpfr_get_d(exact[i], s->minus ? MPFR_RNDA : MPFR_RNDN);
		mpfr_clear(exact[i]);
	}
	free(exact);
	return st;
}

/* Computes a few of n values by the reference as well. */
static hu_status
again(state *s, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, size_t n, size_t *count)
{
	size_t several = n / 65536 + 1, *element = hu_xmalloc(several * sizeof *element), k;
	double *first = hu_xmalloc(several * sizeof *first);
	hu_status st;

	*count = several;
	for (k = 0; k < several; k++) { /* one in each stretch, so that they ascend */
		size_t from = k * 65536, length = n - from < 65536 ? n - from : 65536;
		if (length == 0) {
			*count = k;
			break;
		}
		element[k] =
			s->base + from +
			hu_random_at(0, hu_fnv1a32("exact doubles"), (uint32_t)c->id, (uint64_t)out << 32 | k).w[0] %
				length;
		first[k] = s->v[element[k] - s->base];
	}
	st = by_reference(s, engine, c, in, out, element, *count);
	for (k = 0; k < *count && st == HU_OK; k++) {
		double x = first[k], y = s->v[element[k] - s->base];
		if (!(x == y || (hu_isnan(x) && hu_isnan(y))))
			hu_mpfr_disagrees("call %d (%s), output %d, element %zu is %a by its enclosure and %a by MPFR",
				c->id, c->op->name, out, element[k], x, y);
	}
	free(first);
	free(element);
	return st;
}

hu_status
hu_exact_doubles(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, size_t first, size_t n, hu_methods *methods)
{
	state s = { .s = { .take = take }, .minus = minus, .v = v, .none = !engine->enclose, .base = first };
	size_t *element = hu_xmalloc((n + 1) * sizeof *element);
	unsigned long long disagreed = hu_exact_disagreements();
	hu_status st = HU_OK;

	for (size_t i = 0; i < n; i++)
		element[i] = first + i;
	if (HU_COLUMN(c->op, enclose) && engine->enclose) {
		s.s.some.first = HU_COLUMN(c->op, grain) ? first : 0;
		s.s.some.last = HU_COLUMN(c->op, grain) ? first + n : 0;
		st = n ? HU_COLUMN(c->op, enclose)(c, in, out, s.s.some.last ? element : NULL, n, &s.s) : HU_OK;
		hu_sink_forget(&s.s);
		free(element);
	} else {
		s.open = element;
		s.n = n;
	}
	if (s.n)
		qsort(s.open, s.n, sizeof *s.open, ascending);
	for (size_t at = 0; at < s.n && st == HU_OK; at += CHUNK)
		st = by_reference(&s, engine, c, in, out, s.open + at, s.n - at < CHUNK ? s.n - at : CHUNK);
	methods->certified += n - s.n;
	methods->oracle += s.n;
	if (st == HU_OK && s.n < n) {
		size_t judged;
		st = again(&s, engine, c, in, out, n, &judged);
		methods->again += judged;
	}
	free(s.open);
	return hu_exact_agreed(st, disagreed, c->op->name, c->id);
}
