/* SPDX-License-Identifier: Apache-2.0
   Attention's backward pass: from q, k, v, dO, and, where the kernel hands them in, its own O and log-sum-exp,
     P = exp(S - lse), dV = P' dO, dP = dO V', delta = rowsum(dO O), dS = P (dP - delta), dQ = scale dS K,
     dK = scale dS' Q.
   P and dS are stored in formats of their own for the products, dK and dV may be accumulated in another format. */
#include "lib/judge/kernel/graph.h"
#include "lib/judge/kernel/row/contract.h"
#include "lib/judge/kernel/store.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/elementary/elementary.h"

#include <stdlib.h>
#include <string.h>

enum { Q, K, V, DO, O, LSE };
enum { DQ, DK, DV };
enum { LEAST = -700 }; /* exponentials below exp(-700) leave the range in which a relative error says something */

typedef struct pass {
	const hu_roundoffs *a;
	hu_roundoffs keys; /* of the sums over rows, in dK and dV */
	hu_format p, ds, out;
	hu_stores stores;
	double scale;
	size_t n, m, depth, width, causal;
} pass;

static hu_status
accumulator(const hu_ball_call *c, hu_roundoffs *a)
{
	hu_facts f;
	const char *s = hu_ball_text(c, "acc_kv", "");

	*a = *c->roundoffs;
	if (!*s)
		return HU_OK;
	hu_facts_copy(&f, c->facts);
	hu_facts_set(&f, "acc", s);
	hu_status st = hu_facts_arithmetic(&f, a);
	hu_facts_release(&f);
	return st;
}

static void
product(hu_ball *y, const hu_ball *a, const hu_ball *b, size_t m, size_t n, size_t k, int ta, int tb,
	const hu_roundoffs *r)
{
	static const int all[3] = { 1, 1, 1 };

	hu_contract_balls(y, a, b, m, n, k, ta, tb, all, r);
}

/* One row of P from its scores s: with the kernel's lse, or normalised by the sum that the kernel would have found. */
static void
shares(const pass *t, hu_ball *s, size_t i, const hu_ball *lse)
{
	double top = -INFINITY, sum = 0, mean = 0, most = 0, u = t->a->u, g, proxy, log_sum;
	size_t end = t->causal && i + 1 < t->m ? i + 1 : t->m;

	for (size_t j = 0; j < end; j++) {
		top = fmax(top, s[j].x);
		most = fmax(most, s[j].r);
	}
	for (size_t j = 0; j < end; j++) {
		double d = s[j].x - top;
		sum += hu_exp(d);
	}
	log_sum = top + log(sum);
	hu_roundoffs_sum(t->a, t->m + 1, &g, &proxy);
	double l = lse ? lse->x : log_sum, lr = lse ? lse->r : 0;
	for (size_t j = 0; j < end && !lse; j++) {
		double theta = expm1(s[j].r + 10 * u * most + 4 * u * (fabs(s[j].x) + fabs(top)));
		mean += hu_exp(fmax(s[j].x - top, LEAST)) / sum * (theta * (1 + t->a->exp) + t->a->exp) + t->a->tiny;
	}
	mean += g * (1 + mean);
	if (!lse) /* the sum is at least 1, so that what is flushed counts as it is */
		lr = mean < 1 ? -log1p(-mean) * (1 + 2 * u + t->a->fn) + 2 * u * (fabs(l) + fabs(top)) +
					t->a->fn * (fabs(log(sum)) + 0.5)
			      : INFINITY;
	for (size_t j = 0; j < t->m; j++) {
		if (j >= end) {
			s[j] = hu_ball_of(0);
			continue;
		}
		double d = s[j].x - l, x = hu_exp(d),
		       arg = (s[j].r + lr) * (1 + 5 * u) + 2.02 * u * (fabs(s[j].x) + fabs(l) + fabs(d));
		double e = expm1(arg) * (1 + t->a->exp) + t->a->exp + HU_BALL_OWN;
		double v = s[j].v + lr * lr + t->a->exp * t->a->exp + 4 * u * u * (s[j].x * s[j].x + l * l);
		double r = d < LEAST ? hu_exp(fmax(d + arg, LEAST)) * (1 + 2 * t->a->exp) : x * e;
		s[j] = (hu_ball){ x, r + t->a->tiny, x * x * v + t->a->tiny * t->a->tiny, 0 };
	}
}

static void
stored(hu_ball *y, const hu_ball *x, size_t n, hu_format f, hu_stores how)
{
	for (size_t i = 0; i < n; i++)
		y[i] = hu_ball_store(x[i], f, how);
}

static void
times(hu_ball *y, size_t n, double scale, const hu_roundoffs *a)
{
	for (size_t i = 0; i < n; i++)
		y[i] = hu_ball_rounded(hu_ball_mul(y[i], hu_ball_of(scale)), 2 * a->u, a->tiny);
}

/* The error of delta[i] is one for all keys: Σ_j of it times P_ij K_j in dQ. It is taken out of dS, whose errors count
   as independent of each other, and added where it meets dQ: what it is multiplied by there is known. */
static void
add_shared(const pass *t, hu_ball *dq, const hu_ball *p, const hu_ball *k, const hu_ball *delta)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t d = 0; d < t->depth; d++) {
			hu_ball *y = &dq[i * t->depth + d];
			double by = 0;
			for (size_t j = 0; j < t->m; j++)
				by += p[i * t->m + j].x * k[j * t->depth + d].x;
			by *= t->scale;
			if (!hu_isfinite(by) || !hu_isfinite(y->x))
				continue;
			y->v += by * by * delta[i].v;
			y->c += fabs(by) * delta[i].c;
		}
}

/* delta = Σ_k dO_k O_k. Roundings of a stored O are independent of each other where its elements are different
   numbers; where they are one number, as where V's are, they are one rounding. Then what they make together is beyond
   any deviation of independent ones, and is an error that is shared. */
static hu_ball
delta_of(const pass *t, const hu_ball *d, const hu_ball *o, int stored_here)
{
	hu_ball delta;
	double sum = 0, v = 0;

	product(&delta, d, o, 1, 1, t->width, 0, 1, t->a);
	for (size_t k = 0; k < t->width && stored_here && t->stores == HU_STORES_ADD; k++) {
		double e = hu_round(o[k].x, t->out, HU_RNE, 0, 0) - o[k].x;
		sum += d[k].x * e;
		v += d[k].x * d[k].x * e * e;
	}
	if (sum * sum > 9 * v && hu_isfinite(sum))
		delta.c += fabs(sum);
	return delta;
}

/* O = P V, where the kernel's forward pass stored each P, before or after its division by the row's sum: a relative
   error of P's unit roundoff and half of its smallest number. */
static void
output(const pass *t, hu_ball *o, const hu_ball *p, const hu_ball *v)
{
	product(o, p, v, t->n, t->width, t->m, 0, 0, t->a);
	double u = t->p.id != HU_NO_FORMAT ? hu_unit(t->p) : 0, least = u > 0 ? hu_smallest(t->p) / 2 : 0;
	for (size_t i = 0; i < t->n * t->width && u > 0; i++) {
		double e = 0, s = 0;
		for (size_t j = 0; j < t->m; j++) {
			const hu_ball *a = &p[i / t->width * t->m + j], *b = &v[j * t->width + i % t->width];
			double d = a->x != 0 || a->r != 0 ? u * hu_ball_most(*a) + least : 0;
			e += d * hu_ball_most(*b);
			s += d * d * b->x * b->x / 3;
		}
		o[i].r = hu_ball_radius(o[i].r + e * (1 + hu_ball_gamma(t->a->u, (double)t->m)) * HU_BALL_UP);
		o[i].v += s;
	}
}

/* One head. p, dp and room have n m balls each. */
static void
head(const pass *t, const hu_ball *const in[6], hu_ball *const out[3], hu_ball *p, hu_ball *dp, hu_ball *room)
{
	size_t n = t->n, m = t->m, w = t->width;
	hu_ball *o = hu_xmalloc((n * w + 1) * sizeof *o), *delta = hu_xmalloc((n + 1) * sizeof *delta);

	product(p, in[Q], in[K], n, m, t->depth, 0, 1, t->a);
	times(p, n * m, t->scale, t->a);
	for (size_t i = 0; i < n; i++)
		shares(t, p + i * m, i, in[LSE] ? in[LSE] + i : NULL);
	if (in[O]) {
		memcpy(o, in[O], n * w * sizeof *o);
	} else {
		output(t, o, p, in[V]);
		stored(o, o, n * w, t->out, t->stores);
	}
	stored(room, p, n * m, t->p, t->stores);
	product(out[DV], room, in[DO], m, w, n, 1, 0, &t->keys);
	product(dp, in[DO], in[V], n, m, w, 0, 1, t->a);
	for (size_t i = 0; i < n; i++) {
		delta[i] = delta_of(t, in[DO] + i * w, o + i * w, !in[O] && t->out.id != HU_NO_FORMAT);
		hu_ball apart = { -delta[i].x, delta[i].r, 0, 0 };
		for (size_t j = 0; j < m; j++) {
			hu_ball d = hu_ball_rounded(hu_ball_add(dp[i * m + j], apart), t->a->u, 0);
			dp[i * m + j] = hu_ball_rounded(hu_ball_mul(p[i * m + j], d), t->a->u, t->a->tiny);
		}
	}
	stored(room, dp, n * m, t->ds, t->stores);
	product(out[DQ], room, in[K], n, t->depth, m, 0, 0, t->a);
	for (size_t i = 0; i < n * m; i++) { /* rows' errors are independent of each other in dK */
		double x = hu_isfinite(room[i].x) ? p[i].x : 0;
		room[i].v += x * x * delta[i / m].v;
		room[i].c += x * delta[i / m].c;
	}
	product(out[DK], room, in[Q], m, t->depth, n, 1, 0, &t->keys);
	times(out[DQ], n * t->depth, t->scale, t->a);
	times(out[DK], m * t->depth, t->scale, t->a);
	add_shared(t, out[DQ], p, in[K], delta);
	free(delta);
	free(o);
}

hu_status hu_ball_row_attention_dx(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_attention_dx(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	pass t = { .a = c->roundoffs,
		.stores = c->stores,
		.n = hu_balls_dim(&in[Q], -2),
		.m = hu_balls_dim(&in[K], -2),
		.depth = hu_balls_dim(&in[Q], -1),
		.width = hu_balls_dim(&in[V], -1) };
	hu_format_id p, ds, o;
	size_t heads = hu_balls_outer(&in[Q], 2);
	char x[HU_BALLS_WORDS], y[HU_BALLS_WORDS];

	HU_TRY(hu_ball_format(c, "p", &p));
	HU_TRY(hu_ball_format(c, "ds", &ds));
	HU_TRY(hu_ball_format(c, "o", &o));
	HU_TRY(hu_ball_count(c, "causal", 0, &t.causal));
	HU_TRY(hu_ball_real(c, "scale", 1 / sqrt((double)t.depth), &t.scale));
	HU_TRY(accumulator(c, &t.keys));
	t.p = hu_format_of(p);
	t.ds = hu_format_of(ds);
	t.out = hu_format_of(o);
	if (in[Q].rank < 2 || hu_balls_outer(&in[K], 2) != heads || hu_balls_outer(&in[V], 2) != heads ||
		hu_balls_dim(&in[K], -1) != t.depth || hu_balls_dim(&in[V], -2) != t.m ||
		in[DO].n != heads * t.n * t.width || (c->nin > O && in[O].b && in[O].n != in[DO].n) ||
		(c->nin > LSE && in[LSE].b && in[LSE].n != heads * t.n))
		return hu_ball_misfit(c,
			"q %s, k %s, v, do, o and lse do not fit each other; q and k have as many heads",
			hu_balls_shape(&in[Q], x), hu_balls_shape(&in[K], y));
	for (int k = 0; k < 3; k++)
		HU_TRY(hu_balls_like(&out[k], &in[k], c->row->name));
	hu_ball *room = hu_xmalloc((3 * t.n * t.m + 1) * sizeof *room);
	for (size_t h = 0; h < heads; h++) {
		const hu_ball *from[6];
		size_t size[6] = { t.n * t.depth, t.m * t.depth, t.m * t.width, t.n * t.width, t.n * t.width, t.n };
		for (int k = 0; k < 6; k++)
			from[k] = k < c->nin && in[k].b ? in[k].b + h * size[k] : NULL;
		hu_ball *const to[3] = { out[DQ].b + h * size[Q], out[DK].b + h * size[K], out[DV].b + h * size[V] };
		head(&t, from, to, room, room + t.n * t.m, room + 2 * t.n * t.m);
	}
	free(room);
	return HU_OK;
}
