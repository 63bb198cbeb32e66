/* SPDX-License-Identifier: Apache-2.0
   judge --sum all: which order of additions gives a result's bits. A product's elements are emulated under each
   summation model; attention is in order_attention.c. Only elements of a sample are compared. */
#include "analyzers/judge/order/order.h"

#include "analyzers/judge/order/order_parts.h"
#include "analyzers/op/op_candidates.h"

#include "lib/base/mem.h"
#include "lib/op/op.h"
#include "lib/sum/model/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1500, FEW = 96, STRIDE = 577 /* a prime */ };

/* The operands of a product by name, whatever their order on the command line: a b bias of matmul, x w b of linear. */
static const hu_judge_array *
factor(const hu_kernel_job *j, int which)
{
	static const char *const names[2][3] = { { "a", "b", "bias" }, { "x", "w", "b" } };

	return hu_order_operand(j, names[!strcmp(j->composite->name, "linear")][which]);
}

/* The call that a kernel is, if it is one product of two matrices; x of linear may have more axes, whose rows follow
   each other. */
static int
is_product(const hu_kernel_job *j, hu_call *c)
{
	const char *name = j->composite ? j->composite->name : "";
	const hu_judge_array *a, *b, *bias;

	if (j->ngot != 1 || j->ngiven || (strcmp(name, "matmul") && strcmp(name, "linear")))
		return 0;
	a = factor(j, 0);
	b = factor(j, 1);
	bias = factor(j, 2);
	if (!a || !b || j->nin != 2 + (bias != NULL) || b->a.rank != 2 || (bias && bias->a.rank != 1) ||
		a->a.rank < 2 || (a->a.rank > 2 && strcmp(name, "linear")))
		return 0;
	c->op = hu_op_find("matmul");
	c->nin = 2;
	hu_attr_set(c, "ta", (double)hu_order_count(j, "ta"));
	hu_attr_set(c, "tb", strcmp(name, "linear") ? (double)hu_order_count(j, "tb") : 1);
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
	const hu_judge_array *added = factor(j, 2);
	hu_status st = hu_order_tensor(j, factor(j, 0), &a);

	st = st == HU_OK ? hu_order_tensor(j, factor(j, 1), &b) : st;
	if (st == HU_OK && a.shape.rank > 2) {
		size_t width = a.shape.d[a.shape.rank - 1];
		a.shape = (hu_shape){ .rank = 2, .d = { width ? a.n / width : 0, width } };
	}
	for (size_t i = 0; i < n; i++) /* places 0, STRIDE, 2 STRIDE, ... modulo n, so that the first few are spread */
		at[i] = (size_t)((__uint128_t)(n % STRIDE ? i * STRIDE % n : i) * count / n);
	if (st == HU_OK && added) {
		bias = hu_xmalloc((added->a.count + 1) * sizeof *bias);
		for (size_t i = 0; i < added->a.count; i++)
			bias[i] = hu_kernel_job_element(j, &added->a, i, hu_format_of(a.format));
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

hu_status
hu_order_judge(hu_kernel_job *j)
{
	hu_call *c = hu_xcalloc(1, sizeof *c);
	hu_status st = HU_OK;
	hu_judge_result *r = &j->result[0];
	int asks = j->nresult && !r->decides && r->same_shape;

	if (asks && is_product(j, c))
		st = product(j, r, c);
	else if (asks && hu_order_is_attention(j))
		st = hu_order_attention(j, r);
	else if (asks)
		snprintf(r->order, sizeof r->order, "not looked for: --sum all knows one product of two matrices, %s",
			"and attention without ALiBi slopes, sinks or lengths");
	free(c);
	return st;
}
