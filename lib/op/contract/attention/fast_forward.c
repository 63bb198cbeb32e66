/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/fast.h"
#include "lib/op/contract/attention/tile.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/contract/attention/exp2.h"
#include "lib/op/element/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = HU_FLASH_ROWS, TILE = HU_FLASH_TILE };

/* A thread's numbers: a packed block of keys and values, four rows of scores and weights, and the state of a tile's
   queries. */
typedef struct room {
	const hu_flash_loops *go;
	size_t ld, wide;
	float *k, *v, *s, *p, *o, *zeros, top[TILE], sum[TILE];
	const float **at;
	unsigned char *seen;
} room;

static void
room_init(room *r, const hu_flash *x)
{
	size_t ld = hu_flash_padded(x->block), wide = hu_flash_padded(x->a.V);

	*r = (room){ .go = hu_flash_loops_get(), .ld = ld, .wide = wide };
	r->k = hu_xcalloc(x->a.E * ld + ld * wide + 2 * ROWS * ld + (TILE + 1) * wide, sizeof *r->k);
	r->v = r->k + x->a.E * ld;
	r->s = r->v + ld * wide;
	r->p = r->s + ROWS * ld;
	r->o = r->p + ROWS * ld;
	r->zeros = r->o + TILE * wide;
	r->at = hu_xmalloc(ld * sizeof *r->at);
	r->seen = hu_xcalloc(ROWS * ld, 1);
}

/* Takes one row's scores of a block: the largest so far, the weights and their sum, and the row's rescaling. Returns 0
   where it sees nothing yet. */
static int
weigh(const hu_flash *x, room *r, size_t b, size_t i, size_t j0, size_t n, size_t row, size_t at)
{
	float *s = r->s + row * r->ld, *p = r->p + row * r->ld, m = r->top[at], alpha;
	unsigned char *seen = r->seen + row * r->ld;

	for (size_t j = 0; j < n; j++) {
		s[j] = hu_flash_masked(x, b, i, j0 + j, s[j], &seen[j]);
		m = s[j] > m || s[j] != s[j] ? s[j] : m;
	}
	if (m == -INFINITY)
		return 0;
	alpha = hu_flash_exp2(r->top[at] - m);
	r->go->powers(s, &m, 0, n, p);
	r->sum[at] = r->sum[at] * alpha + hu_flash_sum(p, NULL, n);
	hu_flash_narrow(x, p, n);
	for (size_t d = 0; d < r->wide; d++)
		r->o[at * r->wide + d] *= alpha;
	r->top[at] = m;
	return 1;
}

static void
tile(const hu_flash *x, room *r, size_t b, size_t i0, size_t rows)
{
	const hu_attention *a = &x->a;
	const float *q[ROWS];

	memset(r->o, 0, TILE * r->wide * sizeof *r->o);
	for (size_t i = 0; i < TILE; i++) {
		r->top[i] = -INFINITY;
		r->sum[i] = 0;
	}
	for (size_t j0 = 0; j0 < a->S && !(a->causal && j0 > i0 + rows - 1); j0 += x->block) {
		size_t n = a->S - j0 < x->block ? a->S - j0 : x->block, key = b / a->repeat * a->S + j0;
		hu_flash_columns(r->k, hu_flash_data(a->in[1], key * a->E), n, a->E, r->ld);
		hu_flash_rows(r->v, hu_flash_data(a->in[2], key * a->V), n, a->V, r->wide);
		for (size_t i = 0; i < rows; i += ROWS) {
			unsigned char act[ROWS];
			for (size_t k = 0; k < ROWS; k++) {
				size_t row = i + k < rows ? i + k : rows - 1;
				q[k] = hu_flash_data(a->in[0], (b * a->L + i0 + row) * a->E);
				act[k] = i + k < rows && !(a->causal && j0 > i0 + row);
			}
			if (!act[0] && !act[1] && !act[2] && !act[3])
				continue;
			r->go->products(q, r->k, a->E, r->ld, (float)x->scale, r->s);
			for (size_t k = 0; k < ROWS; k++)
				if (act[k])
					act[k] = (unsigned char)weigh(x, r, b, i0 + i + k, j0, n, k, i + k);
			hu_flash_add(r->go, r->o + i * r->wide, r->p, r->ld, r->seen, act, r->v, n, r->wide, r->at,
				r->zeros);
		}
	}
}

static void
store(const hu_flash *x, const room *r, size_t b, size_t i0, size_t rows, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;

	for (size_t i = 0; i < rows; i++) {
		size_t at = b * a->L + i0 + i;
		float sum = r->top[i] == -INFINITY ? NAN : r->sum[i];
		const float *o = r->o + i * r->wide;
		int held = x->held.id != x->f.id;
		for (size_t d = 0; d < a->V; d++)
			hu_store(x->c, env, out[0], at * a->V + d,
				(held ? (float)hu_rne(x->held, (double)o[d]) : o[d]) / sum);
		for (size_t d = 0; d < a->V && x->c->nout > 2; d++)
			hu_store(x->c, env, out[2], at * a->V + d, o[d] / sum);
		float far = r->top[i] * (float)x->back, log = (float)hu_rne(x->f, hu_log((double)sum));
		if (x->c->nout > 1)
			hu_store(x->c, env, out[1], at, far + log);
	}
}

void
hu_flash_fast_forward(const hu_flash *x, hu_tensor *const *out, const hu_env *env)
{
	const hu_attention *a = &x->a;
	size_t tiles = (a->L + TILE - 1) / TILE;

#pragma omp parallel num_threads(hu_threads()) if (a->Q * a->L * a->S > 4096)
	{
		room r;
		room_init(&r, x);
#pragma omp for schedule(dynamic)
		for (size_t t = 0; t < a->Q * tiles; t++) {
			size_t i0 = t % tiles * TILE, rows = a->L - i0 < TILE ? a->L - i0 : TILE;
			tile(x, &r, t / tiles, i0, rows);
			store(x, &r, t / tiles, i0, rows, out, env);
		}
		free(r.k);
		free(r.at);
		free(r.seen);
	}
}
