/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/flash.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include <math.h>
#include <stdlib.h>

/* What the queries have in common with all keys: D and L log2 e of each. */
typedef struct rows {
	double *d, *l;
} rows;

/* A thread's numbers: operands of products, with an element in front, of a block the weights p and s of a pair, and the
   sums of a row. */
typedef struct room {
	double *q, *k, *p, *s, *x, *y, *to, *tv;
} room;

static room
room_new(const hu_flash *x)
{
	size_t E = x->a.E + 1, N = x->block + 1, V = x->a.V + 1, wide = E > V ? E : V, W = wide > N ? wide : N;
	double *at = hu_xmalloc((2 * E + 2 * N + 2 * W + E + V) * sizeof *at), *b = at + 2 * E + 2 * N;

	return (room){ at, at + E, at + 2 * E, at + 2 * E + N, b, b + W, b + 2 * W, b + 2 * W + E };
}

/* Sets p and s of query i of matrix b and key j, both as they enter a product; a hidden key has no part. Returns 0 for
   such. */
static int
pair(const hu_flash *x, const rows *w, size_t b, size_t i, size_t j, room *r, double *p, double *s)
{
	const hu_attention *a = &x->a;
	size_t at = b * a->L + i, v = (b / a->repeat * a->S + j) * a->V;
	double e, score = hu_flash_score(x, b, i, j, r->q, r->k), dp;

	*p = *s = 0;
	if (score == -INFINITY)
		return 0;
	e = hu_flash_exp(x, hu_rne(x->f, score - w->l[at]));
	for (size_t d = 0; d < a->V; d++) {
		r->x[d + 1] = hu_get(a->in[a->dy], at * a->V + d);
		r->y[d + 1] = hu_get(a->in[2], v + d);
	}
	dp = hu_rne(x->f, hu_flash_product(x, x->inner, r->x, r->y, a->V, NULL) - w->d[at]);
	*p = hu_rne(x->narrow, e);
	*s = hu_rne(x->narrow, hu_rne(x->f, e * dp));
	return 1;
}

/* Operations of a pair up to p and s. */
static size_t
pair_operations(const hu_attention *a)
{
	return 2 * a->E + 1 + (a->mask < 0 ? 0 : 2) + 2 + 2 * a->V + 2;
}

/* Adds n weights, w[1] the first of them, times rows of tensor t, the first of which starts at element `first`, to the
   `width` sums. seen tells which of the rows count. column has room for the rows. */
static void
add_rows(const hu_flash *x, double *w, const unsigned char *seen, const hu_tensor *t, size_t first, size_t width,
	size_t n, double *column, double *sums)
{
	for (size_t d = 0; d < width; d++) {
		for (size_t k = 0; k < n; k++)
			column[k + 1] = seen[k] ? hu_get(t, first + k * width + d) : 0;
		sums[d] = hu_flash_product(x, x->outer, w, column, n, &sums[d]);
	}
}

static void
query_gradient(const hu_flash *x, const rows *w, size_t b, size_t i, room *r, unsigned char *seen)
{
	const hu_attention *a = &x->a;
	size_t key = b / a->repeat * a->S;

	for (size_t d = 0; d < a->E; d++)
		r->to[d] = 0;
	for (size_t j0 = 0; j0 < a->S && !(a->causal && j0 > i); j0 += x->block) {
		size_t n = a->S - j0 < x->block ? a->S - j0 : x->block;
		for (size_t j = 0; j < n; j++)
			seen[j] = (unsigned char)pair(x, w, b, i, j0 + j, r, &r->p[j + 1], &r->s[j + 1]);
		add_rows(x, r->s, seen, a->in[1], (key + j0) * a->E, a->E, n, r->x, r->to);
		hu_performed_operations(n * (pair_operations(a) + 2 * a->E));
	}
	for (size_t d = 0; d < a->E; d++)
		r->to[d] = hu_rne(x->f, r->to[d] * hu_rne(x->f, a->factor));
	hu_performed_operations(a->E);
}

/* The sums of key j of matrix g of keys, into r->to for the key and r->tv for its value. */
static void
key_gradient(const hu_flash *x, const rows *w, size_t g, size_t j, room *r, unsigned char *seen)
{
	const hu_attention *a = &x->a;

	for (size_t d = 0; d < a->E; d++)
		r->to[d] = 0;
	for (size_t d = 0; d < a->V; d++)
		r->tv[d] = 0;
	for (size_t b = g * a->repeat; b < (g + 1) * a->repeat; b++)
		for (size_t i0 = a->causal ? j / x->block * x->block : 0; i0 < a->L; i0 += x->block) {
			size_t n = a->L - i0 < x->block ? a->L - i0 : x->block, at = b * a->L + i0;
			for (size_t i = 0; i < n; i++)
				seen[i] = (unsigned char)pair(x, w, b, i0 + i, j, r, &r->p[i + 1], &r->s[i + 1]);
			add_rows(x, r->s, seen, a->in[0], at * a->E, a->E, n, r->x, r->to);
			add_rows(x, r->p, seen, a->in[a->dy], at * a->V, a->V, n, r->x, r->tv);
			hu_performed_operations(n * (pair_operations(a) + 2 * a->E + 2 * a->V));
		}
	for (size_t d = 0; d < a->E; d++)
		r->to[d] = hu_rne(x->f, r->to[d] * hu_rne(x->f, a->factor));
	hu_performed_operations(a->E);
}

static void
common(const hu_flash *x, rows *w, size_t at, room *r)
{
	const hu_attention *a = &x->a;

	for (size_t d = 0; d < a->V; d++) {
		r->x[d] = hu_get(a->in[a->dy], at * a->V + d);
		r->y[d] = hu_get(a->in[a->out], at * a->V + d);
	}
	w->d[at] = hu_flash_lanes(x, r->x, r->y, a->V);
	w->l[at] = hu_rne(x->f, hu_get(a->in[a->lse], at) * x->base);
	hu_performed_operations(2 * a->V + 1);
}

void
hu_flash_backward(const hu_flash *x, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;
	size_t queries = a->Q * a->L, keys = a->Q / a->repeat * a->S;
	rows w = { hu_xmalloc((2 * queries + 1) * sizeof *w.d), NULL };
	w.l = w.d + queries;
#pragma omp parallel num_threads(hu_threads()) if (queries * a->S > 4096 && !hu_performed_asked())
	{
		room r = room_new(x);
		unsigned char *seen = hu_xmalloc(x->block);
#pragma omp for schedule(static)
		for (size_t at = 0; at < queries; at++)
			common(x, &w, at, &r);
#pragma omp for schedule(dynamic, 4)
		for (size_t at = 0; at < queries; at++) {
			query_gradient(x, &w, at / a->L, at % a->L, &r, seen);
			for (size_t d = 0; d < a->E; d++)
				hu_store(x->c, env, out[0], at * a->E + d, r.to[d]);
		}
#pragma omp for schedule(dynamic, 4)
		for (size_t at = 0; at < keys; at++) {
			key_gradient(x, &w, at / a->S, at % a->S, &r, seen);
			for (size_t d = 0; x->c->nout > 1 && d < a->E; d++)
				hu_store(x->c, env, out[1], at * a->E + d, r.to[d]);
			for (size_t d = 0; x->c->nout > 2 && d < a->V; d++)
				hu_store(x->c, env, out[2], at * a->V + d, r.tv[d]);
		}
		free(r.q);
		free(seen);
	}
	free(w.d);
}
