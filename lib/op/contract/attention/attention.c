/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/contract/attention/attention.h"

#include "lib/base/mem.h"
#include "lib/op/element/map.h"

#include <math.h>
#include <stdlib.h>

/* The sum of n products of elements of operands j and k from these places on, its distance from what is computed, and
   its magnitude. */
static double
dot(const hu_attention *a, hu_attention_loss w, int j, size_t x, int k, size_t y, size_t n, double *e)
{
	double sum = 0, all = 0;
	hu_attention_sum lost = hu_attention_sum_loss(&w, 0, n);

	for (size_t d = 0; d < n; d++) {
		double p = hu_get(a->in[j], x + d), q = hu_get(a->in[k], y + d);
		sum += p * q;
		all += hu_attention_magnitude(&w, p, q);
	}
	*e = lost.relative * all + lost.absolute;
	if (!(all + *e < w.most))
		*e = INFINITY;
	return sum;
}

/* The scores of query i of matrix b, and how far computed ones may be from them. */
static void
scores(const hu_attention *a, hu_attention_loss w, size_t b, size_t i, double *t, double *e)
{
	size_t q = (b * a->L + i) * a->E, key = b / a->repeat * a->S * a->E, whole = a->L * a->S;
	size_t m = a->mask < 0 ? 0 : (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S;

	for (size_t j = 0; j < a->S; j++) {
		double s, own, add = a->mask < 0 ? 0 : hu_get(a->in[a->mask], m + j);
		if ((a->causal && j > i) || add == -INFINITY) {
			t[j] = -INFINITY;
			e[j] = 0;
			continue;
		}
		s = a->factor * dot(a, w, 0, q, 1, key + j * a->E, a->E, &own);
		t[j] = s + add;
		e[j] = fabs(a->factor) * own + 3 * w.u * (fabs(s) + fabs(add)) + 3 * w.tiny;
		if (!(fabs(s) + fabs(add) + e[j] < w.most))
			e[j] = INFINITY;
	}
}

/* A row of weights exp(t - top), their errors without and with the rounding before a product, and their sum. */
typedef struct row {
	double *t, *e, *p, *pe, *pn, top, sum, sume, worst;
} row;

static row
row_new(size_t S)
{
	double *x = hu_xmalloc((5 * S + 1) * sizeof *x);

	return (row){ x, x + S, x + 2 * S, x + 3 * S, x + 4 * S, 0, 0, 0, 0 };
}

/* Whether the mask or causality hides key j. A score of infinite operands may be NaN where it overflows before. */
static int
hidden(const row *r, size_t j)
{
	return r->t[j] == -INFINITY && r->e[j] == 0;
}

/* The rounding of a weight on its way into a product. */
static double
narrowed(hu_attention_loss w, double p, double e)
{
	if (!(p + e < w.widest))
		return INFINITY;
	return e + w.narrow * (p + e) + w.narrow_tiny;
}

static void
softmax(const hu_attention *a, hu_attention_loss w, size_t b, size_t i, row *r)
{
	double low = INFINITY, all = 0, turns = w.block ? ceil((double)a->S / (double)w.block) : (double)a->S / 64;

	scores(a, w, b, i, r->t, r->e);
	r->top = -INFINITY;
	r->sum = r->sume = r->worst = 0;
	for (size_t j = 0; j < a->S; j++) {
		r->top = r->t[j] > r->top ? r->t[j] : r->top;
		low = r->t[j] > -INFINITY && r->t[j] < low ? r->t[j] : low;
	}
	for (size_t j = 0; j < a->S; j++) {
		double far = r->top - r->t[j], rel;
		if (hidden(r, j) && r->top > -INFINITY) {
			r->p[j] = r->pe[j] = r->pn[j] = 0;
			continue;
		}
		/* The largest score so far stands for the largest in blocks of keys, whose sums are scaled later: with
		   `turns` factors, each of which errs by an exponential and is rounded once. */
		rel = r->e[j] + w.u * (far + (r->top - low) + 4 + turns) +
		      w.exp * (w.block ? 1 + turns : 1) * (1 + 0x1p-10);
		r->worst = rel > r->worst || rel != rel ? rel : r->worst;
		r->p[j] = exp(-far);
		r->pe[j] = r->p[j] * expm1(rel) + w.tiny;
		r->pn[j] = narrowed(w, r->p[j], r->pe[j]);
		r->sum += r->p[j];
		r->sume += r->pe[j];
		all += r->p[j] + r->pe[j];
	}
	r->sume += (double)(a->S + 3) * (w.u * all + w.tiny);
}

static double
lse_of(const hu_attention *a, hu_attention_loss w, const row *r, double *e)
{
	double lse = r->top + log(r->sum);

	*e = r->worst + (double)(a->S + 4) * w.u + 3 * w.u * (fabs(r->top) + fabs(lse) + 1) + w.tiny;
	return lse;
}

static double
weighted(const hu_attention *a, hu_attention_loss w, int held, size_t b, const row *r, size_t d, double *e)
{
	size_t v = b / a->repeat * a->S * a->V + d;
	double sum = 0, lost = 0, all = 0;
	hu_attention_sum added = hu_attention_sum_loss(&w, 1, a->S);

	for (size_t j = 0; j < a->S; j++) {
		double x;
		if (hidden(r, j))
			continue;
		x = hu_get(a->in[2], v + j * a->V);
		sum += r->p[j] * x;
		lost += r->pn[j] * fabs(x);
		all += hu_attention_magnitude(&w, r->p[j] + r->pn[j], x);
	}
	lost += added.relative * all + added.absolute;
	if (held && w.held > 0)
		lost = fabs(sum) + lost < w.held_most ? lost + w.held * (fabs(sum) + lost) + w.held_tiny : INFINITY;
	double y = sum / r->sum, least = r->sum - r->sume;
	*e = INFINITY;
	if (least > 0 && all + lost < w.most)
		*e = (lost + fabs(y) * r->sume) / least + 3 * w.u * fabs(y) + w.tiny;
	return y;
}

void
hu_attention_forward(
	const hu_attention *a, hu_attention_loss w, int out, const size_t *element, size_t n, double *y, double *e)
{
	size_t width = out == 1 ? 1 : a->V, now = (size_t)-1;
	row r = row_new(a->S);

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k, at = i / width;
		if (at != now)
			softmax(a, w, at / a->L, at % a->L, &r);
		now = at;
		y[k] = out == 1 ? lse_of(a, w, &r, &e[k]) : weighted(a, w, out == 0, at / a->L, &r, i % width, &e[k]);
		if (!isfinite(y[k]) || !(e[k] >= 0))
			e[k] = INFINITY;
	}
	free(r.t);
}

/* A library's kernel adds up gradients in the operands' format, block after block: of keys and values 32 queries, of
   queries 512 keys. */
enum { QUERIES = 32, KEYS = 512 };

/* Adds to y and e of the outputs in group g (a matrix of queries, or of keys and values) what query matrix b gives. */
static void
gradient_rows(const hu_attention *a, hu_attention_loss w, int out, size_t b, double *y, double *e)
{
	size_t S = a->S, L = a->L, key = b / a->repeat * S, terms = out ? L * a->repeat : S;
	double blocks = out ? (double)((L - 1) / QUERIES * a->repeat + a->repeat - 1) : (double)((S - 1) / KEYS);
	hu_attention_sum added = hu_attention_sum_loss(&w, 1, terms);
	row r = row_new(S);

	for (size_t i = 0; i < L; i++) {
		size_t at = b * L + i;
		double lse = hu_get(a->in[a->lse], at), de;
		double D = dot(a, w, a->dy, at * a->V, a->out, at * a->V, a->V, &de);
		scores(a, w, b, i, r.t, r.e);
		for (size_t j = 0; j < S; j++) {
			double p, pe, x, xe, s, se;
			size_t width = out == 2 ? a->V : a->E, to = (out == 0 ? i : j) * width;
			if (hidden(&r, j)) { /* 0 times a gradient that is no number may be NaN */
				for (size_t d = 0; w.meets && !isfinite(D) && d < width; d++)
					e[to + d] = INFINITY;
				continue;
			}
			p = exp(r.t[j] - lse);
			pe = p * expm1(r.e[j] + w.u * (fabs(r.t[j] - lse) + 4 + (w.block ? 2 * fabs(lse) : 0)) +
					 w.exp * (1 + 0x1p-10)) +
			     w.tiny;
			if (!(p + pe < w.most && fabs(lse) < w.most))
				pe = INFINITY;
			if (out == 2) {
				s = p;
				se = narrowed(w, p, pe);
			} else {
				x = dot(a, w, a->dy, at * a->V, 2, (key + j) * a->V, a->V, &xe);
				x -= D;
				xe += de + w.u * (fabs(x) + xe + de);
				s = p * x;
				se = pe * fabs(x) + (p + pe) * xe + 3 * w.u * fabs(s) + w.tiny;
				se = narrowed(w, fabs(s), se);
				if (!(fabs(x) + xe < w.most && (fabs(s) + se) * fmax(1, fabs(a->factor)) < w.most))
					se = INFINITY;
				s *= a->factor;
				se = fabs(a->factor) * se + 2 * w.u * fabs(s);
			}
			int from = out == 0 ? 1 : out == 1 ? 0 : a->dy;
			size_t x0 = (out == 0 ? key + j : at) * width;
			for (size_t d = 0; d < width; d++) {
				double z = hu_get(a->in[from], x0 + d),
				       all = hu_attention_magnitude(&w, fabs(s) + se, z);
				y[to + d] += s * z;
				e[to + d] += se * fabs(z) + w.tiny + added.absolute / (double)terms +
					     (added.relative + 2 * w.u + blocks * w.stored) * all;
				if (!(all < w.most) || !(fabs(y[to + d]) + e[to + d] < w.most))
					e[to + d] = INFINITY;
			}
		}
	}
	free(r.t);
}

void
hu_attention_backward(
	const hu_attention *a, hu_attention_loss w, int out, const size_t *element, size_t n, double *y, double *e)
{
	size_t size = out == 0 ? a->L * a->E : a->S * (out == 1 ? a->E : a->V), now = (size_t)-1;
	double *v = hu_xmalloc((2 * size + 1) * sizeof *v);

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k, g = i / size;
		if (g != now) {
			for (size_t j = 0; j < 2 * size; j++)
				v[j] = 0;
			for (size_t b = 0; b < (out ? a->repeat : 1); b++)
				gradient_rows(a, w, out, out ? g * a->repeat + b : g, v, v + size);
		}
		now = g;
		y[k] = v[i % size];
		e[k] = isfinite(y[k]) && v[size + i % size] >= 0 ? v[size + i % size] : INFINITY;
	}
	free(v);
}

void
hu_attention_exact_score(const hu_attention *a, size_t b, size_t i, size_t j, mpfr_t t, mpfr_t x)
{
	size_t q = (b * a->L + i) * a->E, k = (b / a->repeat * a->S + j) * a->E, whole = a->L * a->S;
	mpfr_t p;

	if (a->causal && j > i) {
		mpfr_set_inf(t, -1);
		return;
	}
	mpfr_init2(p, mpfr_get_prec(t));
	mpfr_set_zero(t, 1);
	for (size_t d = 0; d < a->E; d++) {
		hu_exact_get(p, a->in[0], q + d);
		hu_exact_get(x, a->in[1], k + d);
		mpfr_fma(t, p, x, t, MPFR_RNDN);
	}
	mpfr_mul_d(t, t, a->factor, MPFR_RNDN);
	if (a->mask >= 0) {
		hu_exact_get(x, a->in[a->mask], (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S + j);
		mpfr_add(t, t, x, MPFR_RNDN);
	}
	mpfr_clear(p);
}

hu_status
hu_attention_bound(const hu_call *c, hu_tensor *const *in, int gradient, hu_attention_values *values, int out,
	const size_t *element, size_t n, double *bound)
{
	hu_attention a = hu_attention_of(c, in, gradient, NULL);
	double *y = hu_xmalloc((n + 1) * sizeof *y);
	hu_format_id f = hu_output_format(c, in, out);
	double ulps = c->mode == HU_RNE || c->mode == HU_RNA ? 1 : 2;

	values(&a, hu_attention_loss_of(c, in), out, element, n, y, bound);
	for (size_t i = 0; i < n; i++) {
		/* A rounding of any number within this distance. */
		hu_format g = hu_format_of(f);
		double most = hu_up(hu_abs(y[i]) + bound[i]);
		bound[i] = most < g.max ? hu_up(bound[i] + ulps * (hu_unit(g) * most + hu_smallest(g))) : hu_inf(0);
	}
	free(y);
	return HU_OK;
}

hu_status
hu_attention_enclose(
	const hu_call *c, hu_tensor *const *in, int gradient, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_attention a = hu_attention_of(c, in, gradient, sink);
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);

	(gradient ? hu_attention_backward_dd : hu_attention_forward_dd)(&a, out, element, n, v);
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}
