/* SPDX-License-Identifier: Apache-2.0
   judge --sum all of attention: the size of the blocks of keys. P is rounded relative to the maximum that its block has
   seen, so that each size leaves roundings of its own. */
#include "analyzers/judge/order/order_parts.h"

#include "lib/base/mem.h"
#include "lib/number/elementary/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 96, SIZES = 10 };

/* One head's shape, and a row of scores; of a mask the strides of its head, row and key, 0 where it has only one. */
typedef struct flash {
	size_t heads, kv_heads, rows, keys, depth, width, causal, window, turns;
	size_t first, of, stride[4]; /* first, of: of q's rows */
	double scale, cap, diagonal;
	hu_format p, pv, out;
	int p_below;
	hu_tensor q, k, v, mask;
	double *score, *o;
} flash;

/* Where in k and v the heads of queries' head h are. */
static size_t
head_of_keys(const flash *f, size_t h)
{
	size_t head = h % f->heads;

	return h / f->heads * f->kv_heads + (f->turns ? head % f->kv_heads : head / (f->heads / f->kv_heads));
}

/* Row i of head h as online softmax gives it that takes blocks of so many keys. All but P and the result is in double;
   other roundings of a kernel are some 2^15 times smaller than P's. */
static void
row(const flash *f, size_t h, size_t block, double *out)
{
	size_t kv = head_of_keys(f, h);
	double m = -INFINITY, l = 0;

	memset(f->o, 0, f->width * sizeof *f->o);
	for (size_t first = 0; first < f->keys; first += block) {
		size_t end = f->keys - first < block ? f->keys : first + block;
		double now = m;
		for (size_t k = first; k < end; k++)
			now = fmax(now, f->score[k]);
		if (!(now > -INFINITY))
			continue;
		double back = m > -INFINITY ? hu_exp(m - now) : 0;
		l *= back;
		for (size_t d = 0; d < f->width; d++)
			f->o[d] *= back;
		for (size_t k = first; k < end; k++) {
			double e = hu_exp(f->score[k] - now), p = hu_round(e, f->p, HU_RNE, 0, 0);
			l += f->p_below ? p : e;
			for (size_t d = 0; d < f->width && e > 0; d++)
				f->o[d] += p * hu_get(&f->v, (kv * f->keys + k) * f->width + d);
		}
		m = now;
		if (f->keys - first <= block)
			break;
	}
	for (size_t d = 0; d < f->width; d++)
		out[d] = (f->pv.id == HU_NO_FORMAT ? f->o[d] : hu_round(f->o[d], f->pv, HU_RNE, 0, 0)) / l;
}

/* Whether row i does not see key k by what was declared. */
static int
is_shut(const flash *f, size_t i, size_t k)
{
	double at = (double)(f->first + i) + (f->causal == 2 ? (double)f->keys - (double)f->of : 0), key = (double)k;
	double wide = (double)f->window;

	return (f->causal && key > at + f->diagonal) || (f->window && key <= at - wide) ||
	       (f->window && !f->causal && key >= at + wide);
}

static void
scores(const flash *f, size_t h, size_t i)
{
	size_t kv = head_of_keys(f, h);

	for (size_t k = 0; k < f->keys; k++) {
		double s = 0;
		if (is_shut(f, i, k)) {
			f->score[k] = -INFINITY;
			continue;
		}
		for (size_t d = 0; d < f->depth; d++)
			s += hu_get(&f->q, (h * f->rows + i) * f->depth + d) *
			     hu_get(&f->k, (kv * f->keys + k) * f->depth + d);
		s *= f->scale;
		s = f->cap > 0 ? f->cap * hu_tanh(s / f->cap) : s;
		f->score[k] = f->mask.data ? s + hu_get(&f->mask, h / f->heads * f->stride[0] +
									  h % f->heads * f->stride[1] +
									  i * f->stride[2] + k * f->stride[3])
					   : s;
	}
}

/* The size of blocks whose roundings of P the errors follow: mean squares of what remains of the result when each
   size's values are taken from it. */
static void
sizes(flash *f, hu_judge_result *r)
{
	static const size_t size[SIZES] = { 16, 32, 48, 64, 96, 128, 192, 256, 512, (size_t)-1 };
	double rest[SIZES] = { 0 }, *out = hu_xmalloc((f->width + 1) * sizeof *out);
	size_t all = r->v.n / f->width, n = all < ROWS ? all : ROWS, same[SIZES] = { 0 }, least = 0, count = 0;

	for (size_t s = 0; s < n; s++) {
		size_t at = all - 1 - (size_t)((__uint128_t)s * all / n), h = at / f->rows;
		scores(f, h, at % f->rows);
		count += f->width;
		for (int b = 0; b < SIZES; b++) {
			row(f, h, size[b], out);
			for (size_t d = 0; d < f->width; d++) {
				double got = r->got[at * f->width + d], e = hu_round(out[d], f->out, HU_RNE, 0, 0);
				rest[b] += isnan(got) && isnan(e) ? 0 : (got - out[d]) * (got - out[d]);
				same[b] += got == e || (isnan(got) && isnan(e));
			}
		}
	}
	free(out);
	for (int b = 1; b < SIZES; b++)
		if (same[b] > same[least] || (same[b] == same[least] && rest[b] < rest[least]))
			least = (size_t)b;
	/* sizes that give the same values cannot be told apart; any other has to be worse by far */
	int alike = 0, close = 0;
	for (size_t b = 0; b < SIZES; b++) {
		if (b == least)
			continue;
		alike += same[b] == same[least] && rest[b] == rest[least];
		close += !(same[b] == same[least] && rest[b] == rest[least]) &&
			 !(count - same[b] > 2 * (count - same[least]) + 4 || rest[b] > 4 * rest[least]);
	}
	if (close || !count)
		snprintf(r->order, sizeof r->order, "no size of blocks of keys stands out");
	else if (size[least] == (size_t)-1 || size[least] >= f->keys)
		snprintf(r->order, sizeof r->order,
			"P is rounded relative to its row's maximum, in one block of keys: %zu of the %zu elements "
			"tried have these bits",
			same[least], count);
	else
		snprintf(r->order, sizeof r->order,
			"blocks of %zu keys%s: %zu of the %zu elements tried have these bits", size[least],
			alike ? " or another size that gives the same" : "", same[least], count);
}

int
hu_order_is_attention(const hu_kernel_job *j)
{
	int known = 3 + (hu_order_operand(j, "mask") != NULL);

	return j->composite && !strcmp(j->composite->name, "attention") && j->nin == known && !j->ngiven &&
	       hu_order_operand(j, "q") && hu_order_operand(j, "k") && hu_order_operand(j, "v") &&
	       hu_order_operand(j, "q")->a.rank >= 3;
}

/* Strides of a mask whose axes are the last ones of [batch, heads, rows, keys], each whole or 1; 0 where it has others,
   as of a batch in several axes. */
static int
strides(flash *f, const hu_npy *m, size_t batch)
{
	const size_t whole[4] = { batch, f->heads, f->rows, f->keys };
	size_t step = 1;

	for (int d = 0; d < m->rank && m->rank <= 4; d++) {
		size_t n = m->shape[m->rank - 1 - d], most = whole[3 - d];
		if (n != most && n != 1)
			return 0;
		f->stride[3 - d] = n == 1 ? 0 : step;
		step *= n;
	}
	return m->rank <= 4;
}

static double
real(const hu_kernel_job *j, const char *key, double preset)
{
	const char *s = hu_facts_text(&j->facts, key);

	return s && *s ? strtod(s, NULL) : preset;
}

static void
shape_of(flash *f, const hu_kernel_job *j, const hu_npy *q, const hu_npy *k, const hu_npy *v)
{
	f->heads = q->shape[q->rank - 3];
	f->kv_heads = k->shape[q->rank - 3];
	f->rows = q->shape[q->rank - 2];
	f->keys = k->shape[q->rank - 2];
	f->depth = q->shape[q->rank - 1];
	f->width = v->shape[q->rank - 1];
	f->causal = hu_order_count(j, "causal");
	f->turns = hu_order_count(j, "turns");
	f->window = hu_order_count(j, "window");
	f->first = hu_order_count(j, "first");
	f->of = hu_order_count(j, "of") ? hu_order_count(j, "of") : f->first + f->rows;
	f->p_below = (int)hu_order_count(j, "denominator_p");
	f->cap = real(j, "softcap", 0);
	f->diagonal = real(j, "diagonal", 0);
	f->scale = real(j, "scale", 1 / sqrt((double)f->depth));
}

hu_status
hu_order_attention(const hu_kernel_job *j, hu_judge_result *r)
{
	const hu_judge_array *q = hu_order_operand(j, "q"), *k = hu_order_operand(j, "k"),
			     *v = hu_order_operand(j, "v"), *mask = hu_order_operand(j, "mask");
	flash f = { .out = r->f };
	hu_format_id p = HU_NO_FORMAT, pv = HU_NO_FORMAT;
	hu_status st;

	HU_TRY(hu_facts_format(&j->facts, "p", &p));
	HU_TRY(hu_facts_format(&j->facts, "pv", &pv));
	if (p == HU_NO_FORMAT || hu_format_of(p).p > 16) {
		snprintf(r->order, sizeof r->order,
			"P is not stored in 16 bits or fewer, so that blocks leave no trace");
		return HU_OK;
	}
	f.p = hu_format_of(p);
	f.pv = hu_format_of(pv);
	shape_of(&f, j, &q->a, &k->a, &v->a);
	if (mask && !strides(&f, &mask->a, q->a.rank == 4 ? q->a.shape[0] : 1)) {
		snprintf(r->order, sizeof r->order,
			"not looked for: the mask has other axes than batch, heads, rows, keys");
		return HU_OK;
	}
	f.score = hu_xmalloc((f.keys + 1) * sizeof *f.score);
	f.o = hu_xmalloc((f.width + 1) * sizeof *f.o);
	st = hu_order_tensor(j, q, &f.q);
	st = st == HU_OK ? hu_order_tensor(j, k, &f.k) : st;
	st = st == HU_OK ? hu_order_tensor(j, v, &f.v) : st;
	st = st == HU_OK && mask ? hu_order_tensor(j, mask, &f.mask) : st;
	if (st == HU_OK && r->v.n)
		sizes(&f, r);
	free(f.q.data);
	free(f.k.data);
	free(f.v.data);
	free(f.mask.data);
	free(f.score);
	free(f.o);
	return st;
}
