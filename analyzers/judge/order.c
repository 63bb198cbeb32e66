/* SPDX-License-Identifier: Apache-2.0
   judge --sum all: which order of additions gives a result's bits. A product's elements are emulated under each
   summation model; attention's rows under each size of blocks of keys, since P is rounded relative to the maximum that
   its block has seen. Only elements of a sample are compared. */
#include "analyzers/judge/order.h"

#include "analyzers/op/op_candidates.h"

#include "lib/base/mem.h"
#include "lib/number/elementary/elementary.h"
#include "lib/op/op.h"
#include "lib/sum/model/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1500, FEW = 96, STRIDE = 577 /* a prime */, ROWS = 96, SIZES = 10 };

static const hu_judge_array *
operand(const hu_kernel_job *j, const char *name)
{
	for (int i = 0; i < j->nin; i++)
		if (!strcmp(j->in[i].name, name))
			return &j->in[i];
	return NULL;
}

static size_t
key(const hu_kernel_job *j, const char *name)
{
	const char *s = hu_facts_text(&j->facts, name);

	return s ? (size_t)strtoull(s, NULL, 10) : 0;
}

/* Reads an operand as a tensor of its declared or own format. */
static hu_status
tensor(const hu_kernel_job *j, const hu_judge_array *a, hu_tensor *t)
{
	hu_format f;

	HU_TRY(hu_kernel_job_format(j, "in", &a->a, &f));
	*t = (hu_tensor){ .format = f.id, .n = a->a.count };
	t->shape.rank = a->a.rank;
	for (int d = 0; d < a->a.rank && d < HU_RANK; d++)
		t->shape.d[d] = a->a.shape[d];
	t->data = hu_xmalloc((t->n + 1) * hu_element_size(t->format));
	for (size_t i = 0; i < t->n; i++)
		hu_put(t, i, hu_kernel_job_element(j, &a->a, i, f));
	return HU_OK;
}

/* The call that a kernel is, if it is one product of matrices or one sum along the last axis. */
static int
is_product(const hu_kernel_job *j, hu_call *c)
{
	const char *name = j->composite ? j->composite->name : "";

	if (j->ngot != 1 || j->ngiven || (strcmp(name, "matmul") && strcmp(name, "linear")))
		return 0;
	if (j->nin < 2 || j->nin > 3 || j->in[0].a.rank != 2 || j->in[1].a.rank != 2 ||
		(j->nin == 3 && j->in[2].a.rank != 1))
		return 0;
	c->op = hu_op_find("matmul");
	c->nin = 2;
	hu_attr_set(c, "ta", (double)key(j, "ta"));
	hu_attr_set(c, "tb", strcmp(name, "linear") ? (double)key(j, "tb") : 1);
	return 1;
}

/* The sampled elements of a product: the first FEW of them, which are spread too, tell which models are worth all. */
typedef struct sampled {
	const double *got, *bias; /* bias: by column, NULL where there is none */
	const size_t *at;
	size_t n, few, cols;
	hu_format out;
	double *value;
} sampled;

/* A sum with the bias added in fp32, and rounded to the result's format, where the product was not. */
static double
finish(const sampled *s, size_t i, double sum)
{
	if (!s->bias)
		return sum;
	return hu_round(
		hu_round(sum + s->bias[s->at[i] % s->cols], hu_format_of(HU_FP32), HU_RNE, 0, 0), s->out, HU_RNE, 0, 0);
}

static int
has_bits(const sampled *s, size_t i, double value)
{
	double got = s->got[s->at[i]];

	return isnan(got) ? isnan(value) : hu_bits64(value) == hu_bits64(got);
}

/* How many of the first n sampled elements have the result's bits where the call c computes them. */
static size_t
equal_bits(const hu_call *c, hu_tensor *const *in, const sampled *s, size_t n)
{
	size_t same = 0;

	hu_status st = HU_COLUMN(c->op, emulate_some)(c, in, 0, s->at, n, &(hu_env){ 0, 0 }, s->value, NULL);
	for (size_t i = 0; i < n && st == HU_OK; i++)
		same += (size_t)has_bits(s, i, finish(s, i, s->value[i]));
	return same;
}

/* The same of sums of `len` terms in fp32, which are added up one after the other in the operands' type. */
static size_t
equal_between(const hu_call *c, const hu_tensor *a, const hu_tensor *b, size_t len, const sampled *s)
{
	int ta = hu_attr_num(c, "ta", 0) != 0, tb = hu_attr_num(c, "tb", 0) != 0;
	size_t terms = a->shape.d[ta ? 0 : 1], cols = b->shape.d[tb ? 0 : 1], same = 0;
	hu_format f = hu_format_of(a->format);

	for (size_t i = 0; i < s->n; i++) {
		size_t row = s->at[i] / cols, col = s->at[i] % cols;
		double total = 0;
		for (size_t first = 0; first < terms; first += len) {
			float acc = 0;
			for (size_t k = first; k < terms && k < first + len; k++)
				acc = fmaf((float)hu_get(a, ta ? k * a->shape.d[1] + row : row * terms + k),
					(float)hu_get(b, tb ? col * terms + k : k * cols + col), acc);
			total = hu_round(total + acc, f, HU_RNE, 0, 0);
		}
		same += (size_t)has_bits(s, i, s->bias ? finish(s, i, total) : hu_round(total, s->out, HU_RNE, 0, 0));
	}
	return same;
}

typedef struct best {
	size_t same, tried, alike, between;
	hu_sum sum;
} best;

/* All models that products of these operands can have, units among them (op_candidates.h). A model that has fewer of
   the first elements than the best one had is not asked for the others. */
static void
try_models(best *b, hu_call *c, hu_tensor *const *in, const sampled *s, size_t terms)
{
	size_t n, most = 0, few;
	hu_sum *list = hu_op_candidates_of(in[0]->format, in[1]->format, HU_FP32, terms, &n);
	size_t *first = hu_xcalloc(n + 1, sizeof *first);

	for (size_t k = 0; k < n; k++) {
		if (hu_sum_resolve(&list[k], in[0]->format, in[1]->format, list[k].acc) != HU_OK)
			continue;
		c->sum = list[k];
		c->fmt.acc = list[k].acc;
		first[k] = few = equal_bits(c, in, s, s->few);
		most = few > most ? few : most;
		b->tried++;
	}
	for (size_t k = 0; k < n; k++) {
		if (first[k] < most || !most)
			continue;
		c->sum = list[k];
		c->fmt.acc = list[k].acc;
		size_t same = equal_bits(c, in, s, s->n);
		b->alike = same == b->same ? b->alike + 1 : same > b->same ? 0 : b->alike;
		if (same > b->same) {
			b->same = same;
			b->sum = list[k];
		}
	}
	free(first);
	free(list);
}

static hu_status
product(const hu_kernel_job *j, hu_judge_result *r, hu_call *c)
{
	hu_tensor a = { .data = NULL }, b = { .data = NULL }, *in[2] = { &a, &b };
	size_t count = r->v.n, n = count < SAMPLE ? count : SAMPLE, *at = hu_xmalloc((n + 1) * sizeof *at);
	double *value = hu_xmalloc((n + 1) * sizeof *value), *bias = NULL;
	best most = { 0 };
	char words[96];
	hu_status st = tensor(j, &j->in[0], &a);

	st = st == HU_OK ? tensor(j, &j->in[1], &b) : st;
	for (size_t i = 0; i < n; i++) /* places 0, STRIDE, 2 STRIDE, ... modulo n, so that the first few are spread */
		at[i] = (size_t)((__uint128_t)(n % STRIDE ? i * STRIDE % n : i) * count / n);
	if (st == HU_OK && j->nin == 3) {
		bias = hu_xmalloc((j->in[2].a.count + 1) * sizeof *bias);
		for (size_t i = 0; i < j->in[2].a.count; i++)
			bias[i] = hu_kernel_job_element(j, &j->in[2].a, i, hu_format_of(a.format));
	}
	c->fmt.in = a.format;
	c->fmt.compute = HU_FP32;
	c->fmt.out = bias ? HU_FP32 : r->f.id;
	c->nout = 1;
	size_t terms = st == HU_OK ? a.shape.d[hu_attr_num(c, "ta", 0) != 0 ? 0 : 1] : 0;
	sampled s = { r->got, bias, at, n, n < FEW ? n : FEW,
		st == HU_OK ? b.shape.d[hu_attr_num(c, "tb", 0) != 0 ? 0 : 1] : 1, r->f, value };
	if (st == HU_OK)
		try_models(&most, c, in, &s, terms);
	/* sums of so many terms that are added up in the operands' type: acc=bf16@n */
	for (size_t len = 4; st == HU_OK && a.format != HU_FP32 && len < terms; len *= 2) {
		size_t same = equal_between(c, &a, &b, len, &s);
		most.tried++;
		if (same > most.same) {
			most.same = same;
			most.alike = 0;
			most.between = len;
		}
	}
	if (most.between)
		snprintf(words, sizeof words, "acc=%s@%zu", hu_format_name(a.format), most.between);
	else
		hu_sum_print(most.sum, words, sizeof words);
	if (st == HU_OK && most.same == n && n)
		snprintf(r->order, sizeof r->order, "%s gives the bits of all %zu elements tried%s", words, n,
			most.alike ? ", and so do other models" : "");
	else if (st == HU_OK)
		snprintf(r->order, sizeof r->order,
			"none of %zu models gives these bits; %s gives %zu of the %zu elements tried", most.tried,
			words, most.same, n);
	free(a.data);
	free(b.data);
	free(at);
	free(value);
	free(bias);
	return st;
}

/* One head's shape, and a row of scores. */
typedef struct flash {
	size_t heads, kv_heads, rows, keys, depth, width, causal;
	double scale;
	hu_format p, out;
	int p_below;
	hu_tensor q, k, v;
	double *score, *o;
} flash;

/* Row i of head h as online softmax gives it that takes blocks of so many keys. All but P and the result is in double;
   other roundings of a kernel are some 2^15 times smaller than P's. */
static void
row(const flash *f, size_t h, size_t i, size_t block, double *out)
{
	size_t kv = h / f->heads * f->kv_heads + h % f->heads / (f->heads / f->kv_heads);
	size_t last = f->causal == 1 ? (i + 1 < f->keys ? i + 1 : f->keys) : f->keys;
	double m = -INFINITY, l = 0;

	memset(f->o, 0, f->width * sizeof *f->o);
	for (size_t first = 0; first < last; first += block) {
		size_t end = last - first < block ? last : first + block;
		double now = m;
		for (size_t k = first; k < end; k++)
			now = fmax(now, f->score[k]);
		double back = m > -INFINITY ? hu_exp(m - now) : 0;
		l *= back;
		for (size_t d = 0; d < f->width; d++)
			f->o[d] *= back;
		for (size_t k = first; k < end; k++) {
			double e = hu_exp(f->score[k] - now), p = hu_round(e, f->p, HU_RNE, 0, 0);
			l += f->p_below ? p : e;
			for (size_t d = 0; d < f->width; d++)
				f->o[d] += p * hu_get(&f->v, (kv * f->keys + k) * f->width + d);
		}
		m = now;
	}
	for (size_t d = 0; d < f->width; d++)
		out[d] = f->o[d] / l;
}

static void
scores(const flash *f, size_t h, size_t i)
{
	size_t kv = h / f->heads * f->kv_heads + h % f->heads / (f->heads / f->kv_heads);

	for (size_t k = 0; k < f->keys; k++) {
		double s = 0;
		for (size_t d = 0; d < f->depth; d++)
			s += hu_get(&f->q, (h * f->rows + i) * f->depth + d) *
			     hu_get(&f->k, (kv * f->keys + k) * f->depth + d);
		f->score[k] = s * f->scale;
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
		size_t at = all - 1 - (size_t)((__uint128_t)s * all / n), h = at / f->rows, i = at % f->rows;
		scores(f, h, i);
		count += f->width;
		for (int b = 0; b < SIZES; b++) {
			row(f, h, i, size[b], out);
			for (size_t d = 0; d < f->width; d++) {
				double got = r->got[at * f->width + d], e = hu_round(out[d], f->out, HU_RNE, 0, 0);
				rest[b] += (got - out[d]) * (got - out[d]);
				same[b] += got == e;
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

static int
is_attention(const hu_kernel_job *j)
{
	const char *diagonal = hu_facts_text(&j->facts, "diagonal");

	return j->composite && !strcmp(j->composite->name, "attention") && j->nin == 3 && !j->ngiven &&
	       !key(j, "window") && !key(j, "softcap") && key(j, "causal") < 2 && !(diagonal && *diagonal);
}

static hu_status
attention(const hu_kernel_job *j, hu_judge_result *r)
{
	const hu_judge_array *q = operand(j, "q"), *k = operand(j, "k"), *v = operand(j, "v");
	flash f = { .causal = key(j, "causal"), .p_below = (int)key(j, "denominator_p"), .out = r->f };
	const char *scale = hu_facts_text(&j->facts, "scale");
	hu_format_id p = HU_NO_FORMAT;
	hu_status st;

	if (!q || !k || !v || q->a.rank < 3)
		return HU_OK;
	HU_TRY(hu_facts_format(&j->facts, "p", &p));
	if (p == HU_NO_FORMAT || hu_format_of(p).p > 16) {
		snprintf(r->order, sizeof r->order,
			"P is not stored in 16 bits or fewer, so that blocks leave no trace");
		return HU_OK;
	}
	int rank = q->a.rank;
	f.p = hu_format_of(p);
	f.heads = q->a.shape[rank - 3];
	f.kv_heads = k->a.shape[rank - 3];
	f.rows = q->a.shape[rank - 2];
	f.keys = k->a.shape[rank - 2];
	f.depth = q->a.shape[rank - 1];
	f.width = v->a.shape[rank - 1];
	f.scale = scale && *scale ? strtod(scale, NULL) : 1 / sqrt((double)f.depth);
	f.score = hu_xmalloc((f.keys + 1) * sizeof *f.score);
	f.o = hu_xmalloc((f.width + 1) * sizeof *f.o);
	st = tensor(j, q, &f.q);
	st = st == HU_OK ? tensor(j, k, &f.k) : st;
	st = st == HU_OK ? tensor(j, v, &f.v) : st;
	if (st == HU_OK && r->v.n)
		sizes(&f, r);
	free(f.q.data);
	free(f.k.data);
	free(f.v.data);
	free(f.score);
	free(f.o);
	return st;
}

hu_status
hu_judge_order(hu_kernel_job *j)
{
	hu_call *c = hu_xcalloc(1, sizeof *c);
	hu_status st = HU_OK;
	hu_judge_result *r = &j->result[0];
	int asks = j->nresult && !r->decides && r->same_shape;

	if (asks && is_product(j, c))
		st = product(j, r, c);
	else if (asks && is_attention(j))
		st = attention(j, r);
	else if (asks)
		snprintf(r->order, sizeof r->order, "not looked for: --sum all knows one product of two matrices, %s",
			"and attention without masks but the causal one");
	free(c);
	return st;
}
