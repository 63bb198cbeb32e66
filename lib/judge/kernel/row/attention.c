/* SPDX-License-Identifier: Apache-2.0
   Attention as one closed form, for any size of the blocks of keys. Running maxima only rise, so that the arguments of
   the rescalings telescope to m - s_j, and only T = ceil(keys / smallest block) factors remain. With weights w, theta_j
   the relative error of numerator j, and M = sum of w theta < 1, an output errs by at most
     [sum w theta |v - o| + u_P sum w (1+theta) |v| + tiny_P sum |v| / L + g ((1 + u_P) sum w (1+theta) |v| + |o|)
      + 4u |o|] / (1 - M).
   A sum P V that is stored before it is divided by L adds u_PV ((1 + M) |o| + what stands before 4u |o|) + tiny_PV / L
   to the bracket, and has no bound where L times that magnitude may overflow.
   P is stored scaled by a maximum that depends on the block, so that its rounding cannot be decided. */
#include "lib/judge/kernel/row/attention_call.h"
#include "lib/judge/kernel/attention/attention_loops.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/elementary/elementary.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = -700 }; /* weights below exp(-700) count as that, so that none leaves double's range */

typedef hu_attention_call attention;

/* One head's keys, transposed in tiles (attention_loops.h), so that scores of keys are computed side by side, and its
   values. Magnitudes hold |k| + r; kr, which has whole rows of keys, is NULL where these are exact. */
typedef struct head {
	double *kt, *km, *kr, *v, *vr;
	char *open; /* by output column: its values are not all finite */
} head;

typedef struct row {
	double *s, *r, *var, *w, *theta, *radius, *carried, *q, *most;
	hu_attention_sums sums;
	hu_attention_key *key;
} row;

static int
masked(const attention *t, size_t i, size_t j, size_t length)
{
	size_t place = t->first + i, at = t->causal == 2 ? place + t->end - t->of : place;

	if (t->causal == 2 && place + t->end < t->of)
		return 1;
	return j >= length || (t->causal && (double)j > (double)at + t->diagonal) ||
	       (t->window && (j + t->window < at + 1 || (!t->causal && j > at + t->window - 1)));
}

/* The scores of one query row, their radii and variances. A masked score is -Inf. Returns 0 where one is no number. */
static int
score(const attention *t, const head *h, size_t b, size_t hd, size_t i, size_t length, row *y)
{
	const hu_ball *q = t->q.b + ((b * t->heads + hd) * t->n + i) * t->depth;
	int finite = 1;
	double u = t->a->u;

	memset(y->radius, 0, t->keys * sizeof *y->radius);
	for (size_t e = 0; e < t->depth; e++) {
		y->q[e] = q[e].x;
		y->most[e] = hu_ball_most(q[e]);
		for (size_t j = 0; q[e].r != 0 && j < t->keys; j++)
			y->radius[j] += q[e].r * h->km[hu_attention_place(t->depth, e, j)];
		for (size_t j = 0; h->kr && j < t->keys; j++)
			y->radius[j] += fabs(q[e].x) * h->kr[e * t->keys + j];
	}
	hu_attention_scores(y->q, y->most, h->kt, h->km, t->depth, t->keys, y->s, y->r);
	double slope = t->slopes.b ? t->slopes.b[hd].x : 0;
	for (size_t j = 0; j < t->keys; j++) {
		double size = y->r[j] * fabs(t->scale), s = y->s[j] * t->scale;
		double r = (t->gd * size + y->radius[j] * fabs(t->scale) +
				   (double)t->depth * t->a->sum_tiny * fabs(t->scale)) *
				   (1 + 3 * u) +
			   3 * u * fabs(s),
		       var = t->sd * size * t->sd * size + 3 * u * u * s * s +
			     (double)t->depth * t->a->sum_tiny * t->a->sum_tiny * t->scale * t->scale;
		if (t->cap > 0) {
			double z = hu_tanh(s / t->cap);
			r = r * (1 - z * z) + 0.385 * r * r / t->cap + (t->a->fn + 3 * u) * (t->cap * fabs(z) + r);
			s = t->cap * z;
			var += t->cap * t->cap * z * z * t->a->fn * t->a->fn;
		}
		if (slope != 0) {
			double bias =
				slope * ((double)j - ((double)(t->first + i) +
							     (t->causal == 2 ? (double)t->end - (double)t->of : 0)));
			s += bias;
			r += u * (fabs(s) + r + fabs(bias));
		}
		if (t->mask.b) {
			double bias = t->mask.b[hu_balls_at(&t->mask, &t->scores,
							((b * t->heads + hd) * t->n + i) * t->keys + j)]
					      .x;
			s += bias;
			r += bias != 0 ? 2 * u * (fabs(s) + r) : 0;
		}
		if (masked(t, i, j, length))
			s = -INFINITY;
		finite &= s < INFINITY && (s > -INFINITY || masked(t, i, j, length) || t->mask.b != NULL);
		y->s[j] = s;
		y->r[j] = s > -INFINITY ? r : 0;
		y->var[j] = var;
	}
	return finite;
}

/* Weights, thetas and the log of the denominator. *mean is the sum of w theta. */
static double
weights(const attention *t, size_t hd, row *y, double *mean, double *top, double *var)
{
	double sink = t->sinks.b ? t->sinks.b[hd].x : -INFINITY, m = sink, sum, u = t->a->u, off = 0;

	for (size_t j = 0; j < t->keys; j++) {
		m = y->s[j] > m ? y->s[j] : m;
		off = fmax(off, 10 * u * y->r[j]); /* arguments round that are within the radii of all */
	}
	*top = m;
	if (!(m > -INFINITY))
		return 0;
	sum = sink > -INFINITY ? hu_exp(sink - m) : 0;
	double own = expm1((t->blocks + 1) * log1p(t->a->exp) + t->blocks * log1p(u));
	for (size_t j = 0; j < t->keys; j++) {
		double s = y->s[j], d = s - m;
		if (!(s > -INFINITY)) {
			y->w[j] = y->theta[j] = y->var[j] = 0;
			continue;
		}
		double arg = 1.01 * u * (2 * fabs(s) + fabs(m) + 4.7 * fabs(d));
		y->w[j] = hu_exp(d);
		double reach = y->r[j] + off + arg;
		y->theta[j] = expm1(reach) * (1 + own) + own + 2 * HU_BALL_OWN;
		if (d < LEAST) { /* theta of a weight that has become 0 would say nothing of one that need not be */
			y->w[j] = hu_exp(LEAST);
			y->theta[j] = fmax(1, hu_exp(d + reach - LEAST) * (1 + own)) + own + 2 * HU_BALL_OWN;
		}
		y->var[j] += arg * arg + (t->blocks + 1) * t->a->exp * t->a->exp + t->blocks * u * u;
		sum += y->w[j];
	}
	*mean = *var = 0;
	for (size_t j = 0; j < t->keys; j++) {
		y->w[j] /= sum;
		*mean += y->w[j] * y->theta[j];
		*var += y->w[j] * y->w[j] * y->var[j];
	}
	if (sink > -INFINITY) {
		double theta = off + 1.01 * u * (2 * fabs(sink) + fabs(m) + 4.7 * fabs(sink - m));
		*mean += hu_exp(sink - m) / sum * (expm1(theta) * (1 + own) + own);
	}
	return sum;
}

/* Sums over the keys for all elements of an output row. */
static void
outputs(const attention *t, const head *h, row *y, double sum, double mean, hu_ball *o)
{
	size_t w = t->width, keys = 0;
	double tiny = t->tiny_p / sum, u = t->a->u;

	double f = fmax(u, t->a->fn); /* of the last quotient */
	memset(y->carried, 0, w * sizeof *y->carried);
	for (size_t j = 0; j < t->keys; j++) {
		double p = y->w[j], q = p * y->theta[j];
		if (!(y->s[j] > -INFINITY))
			continue;
		y->key[keys++] = (hu_attention_key){ h->v + j * w, p, q, p + q, p * p * y->var[j],
			t->up * t->up * p * p + tiny * tiny };
		for (size_t d = 0; h->vr && d < w; d++)
			y->carried[d] += (p + q) * h->vr[j * w + d];
	}
	hu_attention_add(y->key, keys, tiny, w, y->sums);
	for (size_t d = 0; d < w; d++) {
		double m = fabs(y->sums.o[d]), size = y->sums.size[d];
		if (h->open[d]) { /* a weight of 0 times an infinity is NaN, or is not computed */
			o[d] = (hu_ball){ NAN, INFINITY, 0, 0 };
			continue;
		}
		double r = y->sums.spread[d] + t->up * (t->p_below ? size + m : size) + y->sums.abs[d] +
			   t->g * ((1 + t->up) * size + m) + (1 + t->up) * y->carried[d] +
			   (double)t->keys * t->a->sum_tiny,
		       most = (1 + mean) * m + r, stored = t->upv * most + t->tiny_pv / sum;
		r += (3 * u + f) * m + stored;
		double v = y->sums.var[d] + y->sums.square[d] + t->s * t->s * (size * size + m * m) +
			   (3 * u * u + f * f) * m * m + (double)t->keys * t->a->sum_tiny * t->a->sum_tiny +
			   stored * stored;
		r *= 1 + t->g + 3 * u + f + (t->p_below ? t->up : 0); /* these roundings meet the error too */
		int bounded = mean < 1 && most * sum < t->most_pv;
		o[d] = (hu_ball){ y->sums.o[d], bounded ? r / (1 - mean) * HU_BALL_UP : INFINITY, v, 0 };
	}
}

/* A row that has no answer, since a score is an infinity or a NaN, or of which the mask leaves nothing. */
static void
no_answer(const attention *t, const head *h, int masked_out, hu_ball *o)
{
	double n = (double)t->keys, e = t->up + t->upv + t->g + (t->blocks + 1) * t->a->exp + 8 * t->a->u;

	for (size_t d = 0; d < t->width; d++) {
		double sum = 0, size = 0;
		for (size_t j = 0; j < t->keys; j++) {
			sum += h->v[j * t->width + d];
			size += fabs(h->v[j * t->width + d]);
		}
		double r = (e * size + n * t->a->sum_tiny + t->tiny_pv) / n;
		o[d] = masked_out && !h->open[d] ? hu_ball_nothing(sum / n, r) : (hu_ball){ NAN, INFINITY, 0, 0 };
	}
}

static void
one_row(const attention *t, const head *h, size_t b, size_t hd, size_t i, size_t length, row *y, hu_ball *o,
	hu_ball *lse)
{
	double mean = 0, top, var = 0, sum;
	int finite = score(t, h, b, hd, i, length, y);

	sum = weights(t, hd, y, &mean, &top, &var);
	if (!finite || !(top > -INFINITY) || !(sum > 0)) {
		no_answer(t, h, finite && top == -INFINITY, o);
		if (lse)
			*lse = (hu_ball){ NAN, INFINITY, 0, 0 };
		return;
	}
	outputs(t, h, y, sum, mean, o);
	if (!lse)
		return;
	double x = top + log(sum), d = mean * (1 + t->g) + t->g, u = t->a->u;
	*lse = (hu_ball){ x,
		d < 1 ? -log1p(-d) * (1 + t->a->fn + 2 * u) + (t->a->fn + HU_BALL_OWN) * (fabs(log(sum)) + 0.5) +
				2 * u * (fabs(top) + fabs(x))
		      : INFINITY,
		var + t->s * t->s + u * u * (x * x + top * top) + t->a->fn * t->a->fn, 0 };
}

static void
load(const attention *t, head *h, size_t b, size_t kv)
{
	size_t at = (b * t->kv_heads + kv) * t->keys;
	int r = 0;

	for (size_t j = 0; j < t->keys; j++)
		for (size_t d = 0; d < t->depth; d++) {
			hu_ball k = t->k.b[(at + j) * t->depth + d];
			h->kt[hu_attention_place(t->depth, d, j)] = k.x;
			h->km[hu_attention_place(t->depth, d, j)] = hu_ball_most(k);
			r |= k.r != 0;
		}
	free(h->kr);
	free(h->vr);
	h->kr = h->vr = NULL;
	if (r) {
		h->kr = hu_xmalloc((t->keys * t->depth + 1) * sizeof *h->kr);
		for (size_t j = 0; j < t->keys; j++)
			for (size_t d = 0; d < t->depth; d++)
				h->kr[d * t->keys + j] = t->k.b[(at + j) * t->depth + d].r;
	}
	r = 0;
	memset(h->open, 0, t->width);
	for (size_t j = 0; j < t->keys * t->width; j++)
		h->open[j % t->width] |= !hu_isfinite(t->v.b[at * t->width + j].x);
	for (size_t j = 0; j < t->keys * t->width; j++) {
		h->v[j] = t->v.b[at * t->width + j].x;
		r |= t->v.b[at * t->width + j].r != 0;
	}
	if (!r)
		return;
	h->vr = hu_xmalloc((t->keys * t->width + 1) * sizeof *h->vr);
	for (size_t j = 0; j < t->keys * t->width; j++)
		h->vr[j] = t->v.b[at * t->width + j].r;
}

static void
run(attention *t, hu_ball *o, hu_ball *lse)
{
	size_t share = t->heads / t->kv_heads;
	head h = { hu_xcalloc(hu_attention_tiled(t->depth, t->keys) + 1, sizeof(double)),
		hu_xcalloc(hu_attention_tiled(t->depth, t->keys) + 1, sizeof(double)), NULL,
		hu_xmalloc((t->keys * t->width + 1) * sizeof(double)), NULL, hu_xcalloc(t->width + 1, 1) };

	for (size_t group = 0; group < t->outer * t->kv_heads; group++) {
		size_t b = group / t->kv_heads, kv = group % t->kv_heads;
		size_t length = hu_roundoffs_terms(t->a, t->lengths.b ? (size_t)fmax(t->lengths.b[b].x, 0) : t->keys);
		t->end = t->lengths.b ? (size_t)fmax(t->lengths.b[b].x, 0) : t->keys;
		load(t, &h, b, kv);
#pragma omp parallel num_threads(hu_threads()) if (t->n * share * t->keys > 4096)
		{
			size_t m = t->keys + HU_ATTENTION_TILE, w = t->width;
			double *room = hu_xmalloc((6 * m + 7 * w + 2 * t->depth + 1) * sizeof *room), *p = room + 6 * m,
			       *q = p + 7 * w;
			hu_attention_sums sums = { p, p + w, p + 2 * w, p + 3 * w, p + 4 * w, p + 5 * w };
			row y = { room, room + m, room + 2 * m, room + 3 * m, room + 4 * m, room + 5 * m, p + 6 * w, q,
				q + t->depth, sums, hu_xmalloc((t->keys + 1) * sizeof(hu_attention_key)) };
#pragma omp for schedule(dynamic, 8)
			for (size_t i = 0; i < t->n * share; i++) {
				size_t hd = t->turns ? kv + i / t->n * t->kv_heads : kv * share + i / t->n;
				size_t at = (b * t->heads + hd) * t->n + i % t->n;
				row mine = y;
				one_row(t, &h, b, hd, i % t->n, length, &mine, o + at * t->width,
					lse ? lse + at : NULL);
			}
			free(room);
			free(y.key);
		}
	}
	free(h.kt);
	free(h.km);
	free(h.kr);
	free(h.v);
	free(h.vr);
	free(h.open);
}

hu_status hu_ball_row_attention(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_attention(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	attention t;
	size_t d[HU_BALLS_RANK];

	HU_TRY(hu_attention_call_read(&t, c, in));
	memcpy(d, t.q.d, sizeof d);
	d[t.q.rank - 1] = t.width;
	HU_TRY(hu_balls_make(&out[0], t.q.rank, d, c->row->name));
	if (c->nout > 1)
		HU_TRY(hu_balls_make(&out[1], t.q.rank - 1, d, c->row->name));
	run(&t, out[0].b, c->nout > 1 ? out[1].b : NULL);
	return HU_OK;
}
