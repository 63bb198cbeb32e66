/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/exact.h"

#include "lib/judge/verdict/verdict.h"
#include "lib/judge/verdict/ziv.h"
#include "lib/exact/judge.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8192 };   /* values held in MPFR at a time */

/* v: of the elements of a list, or from element `base` on where that is NULL. open: which of them are left to the
   reference. */
typedef struct state {
	hu_sink s;
	const hu_tensor *minus;
	double *v;
	int none;
	const size_t *list;
	size_t base, *open, n, cap;
} state;

static size_t
element_of(const state *s, size_t i)
{
	return s->list ? s->list[i] : s->base + i;
}

/* The differences of values `first` to first + HU_VERDICT_BLOCK - 1 of a tile. */
static void
block_of(hu_verdict_block *b, const state *s, const hu_tile *t, size_t first)
{
	memcpy(b->hi, t->hi + first, sizeof b->hi);
	memcpy(b->lo, t->lo + first, sizeof b->lo);
	memcpy(b->err, t->err + first, sizeof b->err);
	for (size_t i = 0; i < HU_VERDICT_BLOCK; i++)
		b->got[i] = hu_get(s->minus, element_of(s, t->at ? t->at[first + i] : t->first + first + i));
	hu_verdicts_get()->difference(b);
}

static void
take(hu_sink *sink, const hu_tile *t)
{
	state *s = (state *)sink;
	size_t whole = s->minus && !s->none ? t->n - t->n % HU_VERDICT_BLOCK : 0; /* values that fill blocks */
	hu_verdict_block b;

	for (size_t i = 0; i < t->n; i++) {
		size_t at = t->at ? t->at[i] : t->first + i, in = i % HU_VERDICT_BLOCK;
		if (i < whole && in == 0)
			block_of(&b, s, t, i);
		if (i < whole && b.known[in]) {
			s->v[at] = b.error[in];
			continue;
		}
		int known = !s->none && (s->minus ? hu_ziv_difference(&s->v[at], t->hi[i], t->lo[i], t->err[i],
							    hu_get(s->minus, element_of(s, at)))
						  : hu_ziv_rounded(&s->v[at], t->hi[i], t->lo[i], t->err[i]));
		if (known)
			continue;
#pragma omp critical(hu_exact_doubles)
		{
			HU_GROW(s->open, s->n, s->cap);
			s->open[s->n++] = at;
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
by_reference(state *s, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const size_t *which,
	size_t n)
{
	mpfr_t *exact = hu_xmalloc((n + 1) * sizeof *exact);
	size_t *element = hu_xmalloc((n + 1) * sizeof *element);

	for (size_t i = 0; i < n; i++) {
		mpfr_init2(exact[i], 256);
		element[i] = element_of(s, which[i]);
	}
	hu_status st = engine->exact(c, in, out, element, n, exact);
	for (size_t i = 0; i < n; i++) {
		if (st == HU_OK && s->minus)
			mpfr_sub_d(exact[i], exact[i], hu_get(s->minus, element[i]), MPFR_RNDN);
		if (st == HU_OK)
			s->v[which[i]] = mpfr_get_d(exact[i], s->minus ? MPFR_RNDA : MPFR_RNDN);
		mpfr_clear(exact[i]);
	}
	free(exact);
	free(element);
	return st;
}

/* Computes a few of n values by the reference as well. */
static hu_status
again(state *s, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, size_t n, size_t *count)
{
	size_t several = n / 65536 + 1, *which = hu_xmalloc(several * sizeof *which), k;
	double *first = hu_xmalloc(several * sizeof *first);
	hu_status st;

	*count = several;
	for (k = 0; k < several; k++) { /* one in each stretch, so that they ascend */
		size_t from = k * 65536, length = n - from < 65536 ? n - from : 65536;
		if (length == 0) {
			*count = k;
			break;
		}
		which[k] =
			from +
			hu_random_at(0, hu_fnv1a32("exact doubles"), (uint32_t)c->id, (uint64_t)out << 32 | k).w[0] %
				length;
		first[k] = s->v[which[k]];
	}
	st = by_reference(s, engine, c, in, out, which, *count);
	for (k = 0; k < *count && st == HU_OK; k++) {
		double x = first[k], y = s->v[which[k]];
		if (!(x == y || (hu_isnan(x) && hu_isnan(y))))
			hu_mpfr_disagrees("call %d (%s), output %d, element %zu is %a by its enclosure and %a by MPFR",
				c->id, c->op->name, out, element_of(s, which[k]), x, y);
	}
	free(first);
	free(which);
	return st;
}

/* What the enclosures left of n values, and a few of the others once more. */
static hu_status
finish(state *s, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, size_t n,
	hu_methods *methods, hu_status st)
{
	if (s->n)
		qsort(s->open, s->n, sizeof *s->open, ascending);
	for (size_t at = 0; at < s->n && st == HU_OK; at += CHUNK)
		st = by_reference(s, engine, c, in, out, s->open + at, s->n - at < CHUNK ? s->n - at : CHUNK);
	methods->certified += n - s->n;
	methods->oracle += s->n;
	if (st == HU_OK && s->n < n) {
		size_t judged;
		st = again(s, engine, c, in, out, n, &judged);
		methods->again += judged;
	}
	free(s->open);
	return st;
}

/* Computes n elements, those of a list or, where it is NULL, all. */
static hu_status
doubles(state *s, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const size_t *element,
	size_t n, hu_methods *methods)
{
	unsigned long long disagreed = hu_exact_disagreements();
	hu_status st = HU_OK;

	if (HU_COLUMN(c->op, enclose) && engine->enclose)
		st = n ? HU_COLUMN(c->op, enclose)(c, in, out, element, n, &s->s) : HU_OK;
	else
		for (; s->n < n; s->n++) {
			HU_GROW(s->open, s->n, s->cap);
			s->open[s->n] = s->n;
		}
	hu_sink_forget(&s->s);
	st = finish(s, engine, c, in, out, n, methods, st);
	return hu_exact_agreed(st, disagreed, c->op->name, c->id);
}

hu_status
hu_exact_doubles(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, size_t first, size_t n, hu_methods *methods)
{
	state s = { .s = { .take = take }, .minus = minus, .v = v, .none = !engine->enclose, .base = first };
	int stretch = HU_COLUMN(c->op, grain) != NULL;
	size_t *element = stretch ? hu_xmalloc((n + 1) * sizeof *element) : NULL;

	for (size_t i = 0; element && i < n; i++)
		element[i] = first + i;
	s.s.some.first = stretch ? first : 0;
	s.s.some.last = stretch ? first + n : 0;
	hu_status st = doubles(&s, engine, c, in, out, element, n, methods);
	free(element);
	return st;
}

hu_status
hu_exact_doubles_of(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, const size_t *element, size_t n, hu_methods *methods)
{
	state s = { .s = { .take = take }, .minus = minus, .v = v, .none = !engine->enclose, .list = element };

	return doubles(&s, engine, c, in, out, element, n, methods);
}

hu_status
hu_exact_doubles_enclosed(double *v, const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out,
	const hu_tensor *minus, const hu_enclosed *e, hu_methods *methods)
{
	state s = { .s = { .take = take }, .minus = minus, .v = v, .none = !engine->enclose, .base = e->first };
	hu_tile t = { e->n, 0, NULL, e->hi, e->lo, e->err, NULL, NULL };
	unsigned long long disagreed = hu_exact_disagreements();

	take(&s.s, &t);
	hu_status st = finish(&s, engine, c, in, out, e->n, methods, HU_OK);
	return hu_exact_agreed(st, disagreed, c->op->name, c->id);
}
