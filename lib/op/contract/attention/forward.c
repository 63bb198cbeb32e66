/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/flash.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include <math.h>
#include <stdlib.h>

/* A thread's numbers: the operands of a product, with an element in front, and a row's state. */
typedef struct room {
	double *q, *k, *p, *v, *s, *o;
} room;

static room
room_new(const hu_flash *x)
{
	size_t E = x->a.E + 1, N = x->block + 1, V = x->a.V + 1;
	double *at = hu_xmalloc((2 * E + 3 * N + V) * sizeof *at);

	return (room){ at, at + E, at + 2 * E, at + 2 * E + N, at + 2 * E + 2 * N, at + 2 * E + 3 * N };
}

/* Adds n keys from j0 on to the row: top is the largest score so far, sum that of the exponentials, r->o the result. */
static void
add_block(const hu_flash *x, size_t b, size_t i, size_t j0, size_t n, room *r, double *top, double *sum)
{
	const hu_attention *a = &x->a;
	double m = *top, alpha;

	for (size_t j = 0; j < n; j++) {
		r->s[j] = hu_flash_score(x, b, i, j0 + j, r->q, r->k);
		m = r->s[j] > m || r->s[j] != r->s[j] ? r->s[j] : m;
	}
	if (m == -INFINITY) /* nothing is seen so far */
		return;
	alpha = hu_flash_exp(x, hu_rne(x->f, *top - m));
	for (size_t j = 0; j < n; j++)
		r->p[j + 1] = r->s[j] == -INFINITY ? 0 : hu_flash_exp(x, hu_rne(x->f, r->s[j] - m));
	*sum = hu_rne(x->f, hu_rne(x->f, *sum * alpha) + hu_flash_lanes(x, r->p + 1, NULL, n));
	for (size_t j = 0; j < n; j++)
		r->p[j + 1] = hu_rne(x->narrow, r->p[j + 1]);
	for (size_t d = 0; d < a->V; d++) {
		for (size_t j = 0; j < n; j++)
			r->v[j + 1] =
				r->s[j] == -INFINITY ? 0 : hu_get(a->in[2], (b / a->repeat * a->S + j0 + j) * a->V + d);
		r->o[d] = hu_rne(x->f, r->o[d] * alpha);
		r->o[d] = hu_flash_product(x, x->outer, r->p, r->v, n, &r->o[d]);
	}
	*top = m;
}

/* Leaves the sum of the products in r->o. */
static void
forward_row(const hu_flash *x, size_t b, size_t i, room *r, double *weights, double *lse)
{
	const hu_attention *a = &x->a;
	double top = -INFINITY, sum = 0;

	for (size_t d = 0; d < a->V; d++)
		r->o[d] = 0;
	for (size_t j = 0; j < a->S && !(a->causal && j > i); j += x->block) {
		size_t n = a->S - j < x->block ? a->S - j : x->block;
		add_block(x, b, i, j, n, r, &top, &sum);
		hu_performed_operations(n * (2 * a->E + 4 + (a->mask < 0 ? 0 : 2) + 2 * a->V) + 4 + a->V);
	}
	if (top == -INFINITY) /* a query that sees no key has no result */
		sum = hu_nan();
	*weights = sum;
	*lse = hu_rne(x->f, hu_rne(x->f, top * x->back) + hu_rne(x->f, hu_log(sum)));
	hu_performed_operations(a->V + 3);
}

void
hu_flash_forward(const hu_flash *x, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;
#pragma omp parallel num_threads(hu_threads()) if (a->Q * a->L * a->S > 4096 && !hu_performed_asked())
	{
		room r = room_new(x);
		double l, lse;
#pragma omp for schedule(dynamic, 4)
		for (size_t at = 0; at < a->Q * a->L; at++) {
			forward_row(x, at / a->L, at % a->L, &r, &l, &lse);
			for (size_t d = 0; d < a->V; d++)
				hu_store(x->c, env, out[0], at * a->V + d,
					hu_flash_quotient(x->f, x->held, r.o[d], l));
			for (size_t d = 0; d < a->V && x->c->nout > 2; d++)
				hu_store(x->c, env, out[2], at * a->V + d, hu_flash_quotient(x->f, x->f, r.o[d], l));
			if (x->c->nout > 1)
				hu_store(x->c, env, out[1], at, lse);
		}
		free(r.q);
	}
}
