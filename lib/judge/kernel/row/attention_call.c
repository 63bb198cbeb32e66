/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/kernel/row/attention_call.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, LENGTHS = MASK + 3 }; /* slopes and sinks lie between */

static hu_status
shapes(const hu_ball_call *c, const hu_balls *in, hu_attention_call *t)
{
	char x[HU_BALLS_WORDS], y[HU_BALLS_WORDS], z[HU_BALLS_WORDS];

	t->q = in[Q];
	t->k = in[K];
	t->v = in[V];
	t->n = hu_balls_dim(&t->q, -2);
	t->depth = hu_balls_dim(&t->q, -1);
	t->keys = hu_balls_dim(&t->k, -2);
	t->width = hu_balls_dim(&t->v, -1);
	t->heads = hu_balls_dim(&t->q, -3);
	t->kv_heads = hu_balls_dim(&t->k, -3);
	t->outer = hu_balls_outer(&t->q, 3 < t->q.rank ? 3 : t->q.rank);
	if (t->q.rank < 2 || t->q.rank != t->k.rank || t->k.rank != t->v.rank || t->depth != hu_balls_dim(&t->k, -1) ||
		t->keys != hu_balls_dim(&t->v, -2) || t->kv_heads != hu_balls_dim(&t->v, -3) || !t->kv_heads ||
		t->heads % t->kv_heads || !t->keys || t->outer != hu_balls_outer(&t->k, 3 < t->k.rank ? 3 : t->k.rank))
		return hu_ball_misfit(c,
			"q %s, k %s and v %s do not fit each other; they are [..., heads, rows, head size], and k and "
			"v may have fewer heads, by a whole factor",
			hu_balls_shape(&t->q, x), hu_balls_shape(&t->k, y), hu_balls_shape(&t->v, z));
	hu_balls *const more[] = { &t->mask, &t->slopes, &t->sinks, &t->lengths };
	for (int i = MASK; i < c->nin && i <= LENGTHS; i++)
		*more[i - MASK] = in[i];
	if ((t->slopes.b && t->slopes.n != t->heads) || (t->sinks.b && t->sinks.n != t->heads))
		return hu_ball_misfit(c, "slopes and sinks have one number for each of the %zu heads", t->heads);
	if (t->lengths.b && t->lengths.n != t->outer)
		return hu_ball_misfit(c, "lengths has one number for each of the %zu sequences", t->outer);
	if (t->q.rank > 4)
		return hu_ball_misfit(c, "arrays have at most 4 axes");
	t->scores = (hu_balls){ .rank = 4, .d = { t->outer, t->heads, t->n, t->keys } };
	t->scores.n = t->outer * t->heads * t->n * t->keys;
	hu_balls fit;
	return t->mask.b ? hu_balls_broadcast(&fit, &t->mask, &t->scores, "attention's mask") : HU_OK;
}

static hu_status
facts(const hu_ball_call *c, hu_attention_call *t)
{
	hu_format_id p, pv;
	size_t block, below, turns;

	t->a = c->roundoffs;
	HU_TRY(hu_ball_count(c, "causal", 0, &t->causal));
	HU_TRY(hu_ball_count(c, "window", 0, &t->window));
	HU_TRY(hu_ball_count(c, "block", 16, &block));
	HU_TRY(hu_ball_count(c, "denominator_p", 0, &below));
	HU_TRY(hu_ball_count(c, "turns", 0, &turns));
	HU_TRY(hu_ball_real(c, "scale", 1 / sqrt((double)t->depth), &t->scale));
	HU_TRY(hu_ball_real(c, "softcap", 0, &t->cap));
	HU_TRY(hu_ball_real(c, "diagonal", 0, &t->diagonal));
	HU_TRY(hu_ball_count(c, "first", 0, &t->first));
	HU_TRY(hu_ball_count(c, "of", t->first + t->n, &t->of));
	if (t->of < t->first + t->n)
		return hu_ball_misfit(
			c, "first=%zu of=%zu: %zu queries from there on are not among so many", t->first, t->of, t->n);
	HU_TRY(hu_ball_format(c, "p", &p));
	HU_TRY(hu_ball_format(c, "pv", &pv));
	t->p_below = below != 0;
	t->turns = turns != 0;
	t->blocks = block ? ceil((double)t->keys / (double)block) : (double)t->keys;
	int stored = p != HU_NO_FORMAT && c->stores != HU_STORES_NONE;
	t->up = stored ? hu_unit(hu_format_of(p)) : 0;
	t->tiny_p = t->a->tiny + (stored ? hu_smallest(hu_format_of(p)) / 2 : 0);
	t->most_pv = INFINITY;
	if (pv != HU_NO_FORMAT && c->stores != HU_STORES_NONE) {
		hu_format f = hu_format_of(pv);
		t->upv = hu_unit(f);
		t->tiny_pv = hu_smallest(f) / 2;
		t->most_pv = f.max + hu_ball_half_ulp(f.max, f);
	}
	hu_roundoffs_sum(t->a, t->depth, &t->gd, &t->sd);
	hu_roundoffs_sum(t->a, t->keys + 1, &t->g, &t->s);
	t->gd += ((double)t->depth + 4) * 0x1p-52;
	t->g += ((double)t->keys + 8) * 0x1p-52;
	return HU_OK;
}

hu_status
hu_attention_call_read(hu_attention_call *t, const hu_ball_call *c, const hu_balls *in)
{
	memset(t, 0, sizeof *t);
	HU_TRY(shapes(c, in, t));
	return facts(c, t);
}
