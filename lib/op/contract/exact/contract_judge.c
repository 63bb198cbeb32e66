/* SPDX-License-Identifier: Apache-2.0
   Judges products: exact value, a-priori bound, magnitude, swamping, cost. Bounds and magnitudes come with the
   certified values (contract_enclose.c), except for tensor cores, whose bound needs every operand. */
#include "lib/op/contract/exact/contract_exact.h"
#include "lib/op/element/map.h"
#include "lib/op/sink.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/dot.h"
#include "lib/exact/judge.h"
#include "lib/sum/bound.h"
#include "lib/sum/table/parts.h"

#include <math.h>
#include <stdlib.h>

/* from this many rows on, the exact matrix product is used; for fewer, each output is computed by itself */
enum { ROWS = 4 };

/* All of t, trailing parts included, at a precision that holds its sums of doubles. */
static mpfr_t *
whole(const hu_tensor *t)
{
	mpfr_t *x = hu_xmalloc((t->n + 1) * sizeof *x);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (t->n > 4096)
	for (size_t i = 0; i < t->n; i++) {
		mpfr_init2(x[i], t->lows < 4 ? 256 : 320);
		hu_exact_get(x[i], t, i);
	}
	return x;
}

static void
whole_free(mpfr_t *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mpfr_clear(x[i]);
	free(x);
}

/* Sums products of operands with trailing parts at HU_EXACT_BITS. a and b hold their elements, or are NULL if few are
   needed. */
static void
sum_of_parts(mpfr_t y, const hu_contract *x, size_t m, size_t n, const mpfr_t *a, const mpfr_t *b)
{
	mpfr_t u, v;

	mpfr_inits2(320, u, v, (mpfr_ptr)NULL);
	mpfr_set_prec(y, HU_EXACT_BITS);
	mpfr_set_zero(y, 1);
	for (size_t k = 0; k < x->k;) {
		hu_stretch s = x->row(x, m, k);
		for (size_t i = 0; i < s.length; i++, k++) {
			size_t ib = x->column(x, k) + n * x->column_stride,
			       ia = s.offset < 0 ? 0 : (size_t)s.offset + i * s.stride;
			if (s.offset < 0 && hu_isfinite(hu_get(x->b, ib)))
				continue;
			if (s.offset < 0)
				mpfr_set_zero(u, 1);
			else if (!a)
				hu_exact_get(u, x->a, ia);
			if (!b)
				hu_exact_get(v, x->b, ib);
			mpfr_fma(y, a && s.offset >= 0 ? a[ia] : u, b ? b[ib] : v, y, MPFR_RNDN);
		}
	}
	mpfr_clears(u, v, (mpfr_ptr)NULL);
}

static void
reference_of_parts(const hu_contract *x, const size_t *element, size_t n, mpfr_t *exact)
{
	int many = n * x->k > x->a->n + x->b->n;
	mpfr_t *a = many ? whole(x->a) : NULL, *b = many ? whole(x->b) : NULL;

#pragma omp parallel num_threads(hu_threads()) if (n * x->k > 1024)
	{
#pragma omp for schedule(dynamic, 4)
		for (size_t i = 0; i < n; i++) {
			hu_contract one;
			size_t column, row = hu_contract_find(x, element[i], &one, &column);
			sum_of_parts(exact[i], &one, row, column, (const mpfr_t *)a, (const mpfr_t *)b);
			mpfr_div_d(exact[i], exact[i], x->scale, MPFR_RNDN);
		}
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
	}
	if (many) {
		whole_free(a, x->a->n);
		whole_free(b, x->b->n);
	}
}

/* Finds whole rows in the ascending list, counted over all batches in the output's order: a run of them without a gap
   from *row0 on, which starts at position *at of the list. Returns their number, 0 if there are none. */
static size_t
whole_rows(const hu_contract *x, const size_t *element, size_t n, size_t *row0, size_t *at)
{
	if (!n || element[n - 1] - element[0] + 1 != n)
		return 0;
	*row0 = (element[0] + x->row_step - 1) / x->row_step;
	*at = *row0 * x->row_step - element[0];
	return n > *at ? (n - *at) / x->row_step : 0;
}

/* Computes rows from row0 on, which may belong to several products, by the exact engine. */
static void
rows_of_products(const hu_contract *whole, size_t row0, size_t rows, mpfr_t *exact)
{
	for (size_t i = 0; i < hu_contract_products(whole); i++) {
		hu_contract x = hu_contract_product(whole, i);
		size_t from = 0, to; /* a product's rows ascend in the output */
		while (from < x.m && hu_contract_at(&x, from) / x.row_step < row0)
			from++;
		for (to = from; to < x.m && hu_contract_at(&x, to) / x.row_step < row0 + rows; to++)
			;
		if (from < to)
			hu_contract_exact_values(&x, from, to - from, exact, row0 * x.row_step);
	}
}

hu_status
hu_contract_reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_contract x;

	(void)out;
	hu_contract_open(&x, c, in);
	if (x.a->lows || x.b->lows) {
		reference_of_parts(&x, element, n, exact);
		return HU_OK;
	}
	unsigned long long disagreed = hu_exact_disagreements();
	size_t row0, at, rows = hu_exact_way_get() == HU_EXACT_MPFR ? 0 : whole_rows(&x, element, n, &row0, &at),
			 past = 0;
	if (rows >= ROWS) {
		rows_of_products(&x, row0, rows, exact + at);
		past = rows * x.row_step;
	}
#pragma omp parallel if ((n - past) * x.k > 4096)
	{
		double *a = hu_xmalloc(2 * x.k * sizeof *a);
#pragma omp for schedule(dynamic, 16)
		for (size_t e = 0; e < n - past; e++) {
			size_t i = past && e >= at ? e + past : e;
			hu_contract one;
			size_t column, row = hu_contract_find(&x, element[i], &one, &column);
			hu_contract_gather(&one, row, column, a, a + one.k);
			hu_exact_dot(exact[i], a, a + one.k, one.k);
			if (x.scale != 1)
				/* exact, because the scale is a power of two */
				mpfr_div_d(exact[i], exact[i], x.scale, MPFR_RNDN);
		}
		free(a);
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
	}
	return hu_exact_agreed(HU_OK, disagreed, c->op->name, c->id);
}

/* Receives the bounds and magnitudes of a list, which come with the certified values. */
typedef struct faces {
	hu_sink s;
	double *bound, *magnitude;
} faces;

static void
take(hu_sink *s, const hu_tile *t)
{
	faces *f = (faces *)s;

	for (size_t i = 0; i < t->n; i++) {
		if (f->bound)
			f->bound[t->at[i]] = t->bound[i];
		if (f->magnitude)
			f->magnitude[t->at[i]] = t->magnitude[i];
	}
}

hu_status
hu_contract_bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *bound)
{
	faces f = { { .take = take, .bounds = 1 }, bound, NULL };

	return hu_contract_enclose(c, in, out, element, n, &f.s);
}

hu_status
hu_contract_magnitude(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *magnitude)
{
	faces f = { { .take = take, .bounds = 1 }, NULL, magnitude };

	return hu_contract_enclose(c, in, out, element, n, &f.s);
}

hu_status
hu_contract_swamping(const hu_call *call, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count)
{
	hu_contract x;
	hu_call settled, *c = &settled;
	uint64_t additions = 0, swamped = 0, stagnated = 0;
	size_t *left = NULL, part = hu_attr_count(call, "part", 0);

	(void)out;
	HU_TRY(hu_contract_settle(c, call, in));

	hu_contract_open(&x, c, in);
	if (hu_contract_has_counted(&x, c)) {
		left = hu_xmalloc((n + 1) * sizeof *left);
		n = hu_contract_counted(&x, part, element, n, count, left);
		element = left;
	}
#pragma omp parallel reduction(+ : additions, swamped, stagnated) if (n * x.k > 4096)
	{
		double *a = hu_xmalloc(3 * x.k * sizeof *a);
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < n; i++) {
			hu_sum_count k = { 0 };
			hu_draw draw = { env->seed, hu_draw_stream(c->seed_name), env->step, element[i] * x.terms,
				c->sum.bits };
			hu_contract one;
			size_t column, row = hu_contract_find(&x, element[i], &one, &column);
			hu_contract_gather(&one, row, column, a, a + one.k);
			hu_parts_run(a, a + one.k, one.k, part, c->sum, &draw, a + 2 * one.k, &k);
			additions += k.additions;
			swamped += k.swamped;
			stagnated += k.run >= HU_STAGNANT_RUN;
		}
		free(a);
	}
	count->additions += additions;
	count->swamped += swamped;
	count->outputs += n;
	count->stagnated += stagnated;
	free(left);
	return HU_OK;
}

void
hu_contract_cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *cost)
{
	hu_contract x;

	(void)out;
	hu_contract_describe(&x, c, in);
	for (size_t i = 0; i < x.shares; i++) {
		hu_contract one = hu_contract_product(&x, i);
		cost->macs += (double)one.m * (double)one.n * (double)one.k;
	}
	cost->macs *= (double)x.batches;
	cost->flops = 2 * cost->macs;
	cost->unread = x.unread ? x.unread(&x) : 0;
}
