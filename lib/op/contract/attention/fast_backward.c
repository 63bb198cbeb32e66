/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/fast.h"
#include "lib/op/contract/attention/tile.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/element/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = HU_FLASH_ROWS, TILE = HU_FLASH_TILE };

/* A thread's numbers. The rows of a tile are queries or keys; a block of the others is packed: two operands as columns,
   for scores and for their gradients, and two as rows, which the weights s and p multiply. */
typedef struct room {
	const hu_flash_loops *go;
	size_t ld, e, v;
	float *ct, *cv, *re, *rv, *s, *dp, *p, *oe, *ov, *zeros;
	const float **at;
	unsigned char *seen;
} room;

static void
room_init(room *r, const hu_flash *x)
{
	size_t ld = hu_flash_padded(x->block), e = hu_flash_padded(x->a.E), v = hu_flash_padded(x->a.V);

	*r = (room){ .go = hu_flash_loops_get(), .ld = ld, .e = e, .v = v };
	r->ct = hu_xcalloc((x->a.E + x->a.V + 3 * ROWS) * ld + (ld + TILE + 1) * (e + v), sizeof *r->ct);
	r->cv = r->ct + x->a.E * ld;
	r->s = r->cv + x->a.V * ld;
	r->dp = r->s + ROWS * ld;
	r->p = r->dp + ROWS * ld;
	r->re = r->p + ROWS * ld;
	r->rv = r->re + ld * e;
	r->oe = r->rv + ld * v;
	r->ov = r->oe + TILE * e;
	r->zeros = r->ov + TILE * v;
	r->at = hu_xmalloc(ld * sizeof *r->at);
	r->seen = hu_xcalloc(ROWS * ld, 1);
}

static void
room_release(room *r)
{
	free(r->ct);
	free(r->at);
	free(r->seen);
}

/* What all pairs of a query need: its D and L log2 e. */
typedef struct common {
	float *d, *l;
} common;

/* Turns one row's scores and products dy v' into the weights p and s of n pairs. In a row of a query (by_key 0) the n
   columns are keys from `first` on, in one of a key they are queries. */
static void
weigh(const hu_flash *x, room *r, const common *w, size_t b, size_t row, size_t at, size_t first, size_t n, int by_key)
{
	float *s = r->s + row * r->ld, *dp = r->dp + row * r->ld, *p = r->p + row * r->ld;
	unsigned char *seen = r->seen + row * r->ld;
	size_t query = b * x->a.L + (by_key ? first : at);

	for (size_t k = 0; k < n; k++)
		s[k] = hu_flash_masked(x, b, by_key ? first + k : at, by_key ? at : first + k, s[k], &seen[k]);
	r->go->powers(s, w->l + query, (size_t)by_key, n, p);
	for (size_t k = 0; k < n; k++) {
		float d = dp[k] - w->d[query + (by_key ? k : 0)], y = p[k] * d;
		s[k] = seen[k] ? y : 0;
	}
	hu_flash_narrow(x, p, n);
	hu_flash_narrow(x, s, n);
}

static void
query_tile(const hu_flash *x, room *r, const common *w, size_t b, size_t i0, size_t rows)
{
	const hu_attention *a = &x->a;
	const float *q[ROWS], *dy[ROWS];

	memset(r->oe, 0, TILE * r->e * sizeof *r->oe);
	for (size_t j0 = 0; j0 < a->S && !(a->causal && j0 > i0 + rows - 1); j0 += x->block) {
		size_t n = a->S - j0 < x->block ? a->S - j0 : x->block, key = b / a->repeat * a->S + j0;
		hu_flash_columns(r->ct, hu_flash_data(a->in[1], key * a->E), n, a->E, r->ld);
		hu_flash_columns(r->cv, hu_flash_data(a->in[2], key * a->V), n, a->V, r->ld);
		hu_flash_rows(r->re, hu_flash_data(a->in[1], key * a->E), n, a->E, r->e);
		for (size_t i = 0; i < rows; i += ROWS) {
			unsigned char act[ROWS];
			for (size_t k = 0; k < ROWS; k++) {
				size_t row = i + k < rows ? i + k : rows - 1, at = b * a->L + i0 + row;
				q[k] = hu_flash_data(a->in[0], at * a->E);
				dy[k] = hu_flash_data(a->in[a->dy], at * a->V);
				act[k] = i + k < rows && !(a->causal && j0 > i0 + row);
			}
			r->go->products(q, r->ct, a->E, r->ld, (float)x->scale, r->s);
			r->go->products(dy, r->cv, a->V, r->ld, 0, r->dp);
			for (size_t k = 0; k < ROWS; k++)
				if (act[k])
					weigh(x, r, w, b, k, i0 + i + k, j0, n, 0);
			hu_flash_add(
				r->go, r->oe + i * r->e, r->s, r->ld, r->seen, act, r->re, n, r->e, r->at, r->zeros);
		}
	}
}

static void
key_tile(const hu_flash *x, room *r, const common *w, size_t g, size_t j0, size_t rows)
{
	const hu_attention *a = &x->a;
	const float *key[ROWS], *value[ROWS];

	memset(r->oe, 0, TILE * (r->e + r->v) * sizeof *r->oe);
	for (size_t b = g * a->repeat; b < (g + 1) * a->repeat; b++)
		for (size_t i0 = a->causal ? j0 / x->block * x->block : 0; i0 < a->L; i0 += x->block) {
			size_t n = a->L - i0 < x->block ? a->L - i0 : x->block, at = b * a->L + i0;
			hu_flash_columns(r->ct, hu_flash_data(a->in[0], at * a->E), n, a->E, r->ld);
			hu_flash_columns(r->cv, hu_flash_data(a->in[a->dy], at * a->V), n, a->V, r->ld);
			hu_flash_rows(r->re, hu_flash_data(a->in[0], at * a->E), n, a->E, r->e);
			hu_flash_rows(r->rv, hu_flash_data(a->in[a->dy], at * a->V), n, a->V, r->v);
			for (size_t j = 0; j < rows; j += ROWS) {
				unsigned char act[ROWS];
				for (size_t k = 0; k < ROWS; k++) {
					size_t row = j + k < rows ? j + k : rows - 1;
					key[k] = hu_flash_data(a->in[1], (g * a->S + j0 + row) * a->E);
					value[k] = hu_flash_data(a->in[2], (g * a->S + j0 + row) * a->V);
					act[k] = j + k < rows && !(a->causal && i0 < (j0 + row) / x->block * x->block);
				}
				r->go->products(key, r->ct, a->E, r->ld, (float)x->scale, r->s);
				r->go->products(value, r->cv, a->V, r->ld, 0, r->dp);
				for (size_t k = 0; k < ROWS; k++)
					if (act[k])
						weigh(x, r, w, b, k, j0 + j + k, i0, n, 1);
				hu_flash_add(r->go, r->oe + j * r->e, r->s, r->ld, r->seen, act, r->re, n, r->e, r->at,
					r->zeros);
				hu_flash_add(r->go, r->ov + j * r->v, r->p, r->ld, r->seen, act, r->rv, n, r->v, r->at,
					r->zeros);
			}
		}
}

/* Stores rows of sums, from row `first` of the tensor on; times factor where that is not 0. */
static void
store(const hu_flash *x, const float *o, size_t ld, size_t first, size_t rows, size_t width, float factor,
	hu_tensor *to, const hu_env *env)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t d = 0; d < width; d++) {
			float y = o[i * ld + d] * (factor != 0 ? factor : 1);
			hu_store(x->c, env, to, (first + i) * width + d, y);
		}
}

static void
query_part(const hu_flash *x, room *r, const common *w, size_t t, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;
	size_t tiles = (a->L + TILE - 1) / TILE, b = t / tiles, i0 = t % tiles * TILE,
	       rows = a->L - i0 < TILE ? a->L - i0 : TILE;

	query_tile(x, r, w, b, i0, rows);
	store(x, r->oe, r->e, b * a->L + i0, rows, a->E, (float)hu_rne(x->f, a->factor), out[0], env);
}

static void
key_part(const hu_flash *x, room *r, const common *w, size_t t, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;
	size_t tiles = (a->S + TILE - 1) / TILE, g = t / tiles, j0 = t % tiles * TILE,
	       rows = a->S - j0 < TILE ? a->S - j0 : TILE;

	key_tile(x, r, w, g, j0, rows);
	if (x->c->nout > 1)
		store(x, r->oe, r->e, g * a->S + j0, rows, a->E, (float)hu_rne(x->f, a->factor), out[1], env);
	if (x->c->nout > 2)
		store(x, r->ov, r->v, g * a->S + j0, rows, a->V, 0, out[2], env);
}

void
hu_flash_fast_backward(const hu_flash *x, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;
	size_t queries = a->Q * a->L, query_tiles = a->Q * ((a->L + TILE - 1) / TILE),
	       key_tiles = a->Q / a->repeat * ((a->S + TILE - 1) / TILE);
	common w = { hu_xmalloc((2 * queries + 1) * sizeof *w.d), NULL };

	w.l = w.d + queries;
#pragma omp parallel num_threads(hu_threads()) if (queries * a->S > 4096)
	{
		room r;
		room_init(&r, x);
#pragma omp for schedule(static)
		for (size_t at = 0; at < queries; at++) {
			w.d[at] = hu_flash_sum(
				hu_flash_data(a->in[a->dy], at * a->V), hu_flash_data(a->in[a->out], at * a->V), a->V);
			w.l[at] = *hu_flash_data(a->in[a->lse], at) * (float)x->base;
		}
#pragma omp for schedule(dynamic) nowait
		for (size_t t = 0; t < query_tiles; t++)
			query_part(x, &r, &w, t, out, env);
#pragma omp for schedule(dynamic)
		for (size_t t = 0; t < key_tiles; t++)
			key_part(x, &r, &w, t, out, env);
		room_release(&r);
	}
	free(w.d);
}
