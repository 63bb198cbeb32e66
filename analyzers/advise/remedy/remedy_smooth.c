/* SPDX-License-Identifier: Apache-2.0
   Scales by channels between a norm and the products that alone read it (SmoothQuant, Xiao et al. 2023,
   arXiv:2211.10438, equation 4): s_j = max|x_j|^a / max|w_j|^(1-a) of channel j, a the strength. The norm's factor and
   summand are divided by s, and the rows of the products' weights multiplied, so that the products stay what they are,
   and codes of one scale for a tensor have no channel that is much larger than the others. */
#include "analyzers/advise/remedy/remedy.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READERS = 8, HOLDERS = 2 };

/* The channels of one value: constants that divide it, which are inputs of nodes, and products that read it. */
typedef struct smoothing {
	hu_remedying *r;
	size_t channels, nholder, nreader;
	struct holder {
		int node;
		size_t k;
	} holder[HOLDERS], reader[READERS];
	float *scale;
} smoothing;

static int
is_op(const hu_onnx_node *x, const char *op)
{
	return !*x->domain && !strcmp(x->op, op);
}

/* Input K of node I as a constant of a number a channel along its last axis; 0 where it is none. */
static int
hold(smoothing *s, int i, size_t k)
{
	const hu_onnx_node *x = &s->r->m->graph->node[i];
	const hu_stensor *t;

	if (k >= x->nin || !hu_remedy_constant(s->r->m, x->in[k], &t) || !t->rank ||
		t->shape[t->rank - 1] != t->count || t->count < 2 || (s->channels && s->channels != t->count))
		return 0;
	s->channels = t->count;
	s->holder[s->nholder++] = (struct holder){ i, k };
	return 1;
}

/* The constants that scale the output of node I: a norm's own, or those of Mul, and of Add behind it. */
static int
find_holders(smoothing *s, int i)
{
	const hu_onnx_graph *g = s->r->m->graph;
	const hu_onnx_node *x = &g->node[i];

	if (is_op(x, "LayerNormalization") || is_op(x, "RMSNormalization") || is_op(x, "SimplifiedLayerNormalization"))
		return hold(s, i, 1) && (x->nin < 3 || !*x->in[2] || hold(s, i, 2));
	if (is_op(x, "Mul"))
		return hold(s, i, 0) || hold(s, i, 1);
	if (!is_op(x, "Add") || !(hold(s, i, 0) || hold(s, i, 1)))
		return 0;
	const char *value = x->in[1 - s->holder[0].k];
	int from = hu_remedy_maker(s->r->m, value);
	return from >= 0 && is_op(&g->node[from], "Mul") && hu_remedy_reader(s->r->m, value) == i &&
	       (hold(s, from, 0) || hold(s, from, 1));
}

/* Rows and columns of the weights of product X, NULL where they are none of so many channels. */
static const float *
weights(const smoothing *s, const hu_onnx_node *x, const hu_stensor **t, size_t *row, size_t *column)
{
	int gemm = is_op(x, "Gemm"), turned = gemm && hu_onnx_int(x, "transB", 0);
	const float *w = (gemm || is_op(x, "MatMul")) && x->nin > 1 ? hu_remedy_constant(s->r->m, x->in[1], t) : NULL;

	if (!w || (*t)->rank != 2 || (gemm && hu_onnx_int(x, "transA", 0)) || (*t)->shape[turned] != s->channels)
		return NULL;
	*row = turned ? 1 : (*t)->shape[1];
	*column = turned ? s->channels : 1;
	return w;
}

/* All that reads VALUE, which must be products of constant weights, and have it on their left alone. */
static int
find_readers(smoothing *s, const char *value)
{
	const hu_onnx_graph *g = s->r->m->graph;
	size_t row, column;

	for (size_t i = 0; i < g->nout; i++)
		if (!strcmp(g->out[i].name, value))
			return 0;
	for (size_t i = 0; i < g->nnode; i++) {
		const hu_onnx_node *x = &g->node[i];
		const hu_stensor *t;
		json_t *reads = json_object();
		hu_onnx_node_reads(reads, x);
		int is = json_object_get(reads, value) != NULL;
		json_decref(reads);
		if (!is)
			continue;
		if (s->nreader == READERS || strcmp(x->in[0], value) || !weights(s, x, &t, &row, &column) ||
			hu_remedy_node(s->r, i) < 0)
			return 0;
		s->reader[s->nreader++] = (struct holder){ (int)i, 1 };
	}
	return s->nreader > 0;
}

/* The scale of each channel; 1 where its inputs or its weights are 0 or not finite. */
static void
find_scale(smoothing *s, const float *seen)
{
	s->scale = hu_xcalloc(s->channels + 1, sizeof *s->scale);
	for (size_t j = 0; j < s->channels; j++) {
		float most = 0;
		for (size_t k = 0; k < s->nreader; k++) {
			const hu_stensor *t;
			size_t row, column;
			const float *w =
				weights(s, &s->r->m->graph->node[s->reader[k].node], &t, &row, &column);
			for (size_t n = 0; n < t->count / s->channels; n++)
				most = fmaxf(most, fabsf(w[j * row + n * column]));
		}
		double a = s->r->strength, x = pow(seen[j], a) / pow(most, 1 - a);
		s->scale[j] = isfinite(x) && x > 0 && seen[j] > 0 && most > 0 ? (float)x : 1;
	}
}

static void
divide(const smoothing *s)
{
	for (size_t h = 0; h < s->nholder; h++) {
		const hu_stensor *t;
		int i = s->holder[h].node;
		const float *from = hu_remedy_constant(s->r->m, s->r->m->graph->node[i].in[s->holder[h].k], &t);
		float *to = hu_xmalloc((t->count + 1) * sizeof *to);
		for (size_t j = 0; j < t->count; j++)
			to[j] = from[j] / s->scale[j];
		hu_remedy_replace(s->r, hu_remedy_node(s->r, (size_t)i), s->holder[h].k, t, to);
		free(to);
	}
}

static void
multiply(const smoothing *s)
{
	for (size_t h = 0; h < s->nreader; h++) {
		const hu_stensor *t;
		size_t row, column;
		int i = s->reader[h].node;
		const float *from = weights(s, &s->r->m->graph->node[i], &t, &row, &column);
		float *to = hu_xmalloc((t->count + 1) * sizeof *to);
		for (size_t j = 0; j < s->channels; j++)
			for (size_t n = 0; n < t->count / s->channels; n++)
				to[j * row + n * column] = from[j * row + n * column] * s->scale[j];
		hu_remedy_replace(s->r, hu_remedy_node(s->r, (size_t)i), 1, t, to);
		free(to);
	}
}

static void
tell(const smoothing *s, const char *name, const char *op)
{
	float least = s->scale[0], most = s->scale[0];

	for (size_t j = 1; j < s->channels; j++) {
		least = fminf(least, s->scale[j]);
		most = fmaxf(most, s->scale[j]);
	}
	hu_str_addf(&s->r->sentences,
		"node '%s' (%s): its %zu channels are divided by %.3g to %.3g, and the rows of %zu products' weights "
		"multiplied\n",
		name, op, s->channels, least, most, s->nreader);
	s->r->changed++;
}

void
hu_remedy_smooth(hu_remedying *r)
{
	const hu_onnx_graph *g = r->m->graph;

	for (size_t i = 0; i < g->nnode; i++) {
		smoothing s = { .r = r };
		if (!r->near[i] || !g->node[i].nout || !find_holders(&s, (int)i) ||
			!find_readers(&s, g->node[i].out[0]))
			continue;
		int named = 1;
		for (size_t h = 0; h < s.nholder; h++)
			named &= hu_remedy_node(r, (size_t)s.holder[h].node) >= 0;
		const float *seen = hu_remedy_channels_of(r->seen, g->node[i].out[0], s.channels);
		if (!named || !seen)
			continue;
		find_scale(&s, seen);
		divide(&s);
		multiply(&s);
		tell(&s, g->node[i].name, g->node[i].op);
		free(s.scale);
	}
}
