/* SPDX-License-Identifier: Apache-2.0
   Sums that grow from layer to layer, as the residual stream of a transformer or a decoder does: all that is added up
   is scaled by a power of two. Norms that read a sum give the same results, with an eps scaled by its square; other
   readers get it scaled back. */
#include "analyzers/advise/remedy/remedy.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* in: by node, its output is a sum of the stream. */
typedef struct stream {
	hu_remedying *r;
	char *in;
	size_t sums, weights, norms;
} stream;

static int
is_one(const hu_onnx_node *x, const char *const *list)
{
	for (; *list; list++)
		if (!*x->domain && !strcmp(x->op, *list))
			return 1;
	return 0;
}

/* Operators of one value that s x makes s y of. */
static int
carries(const hu_onnx_node *x)
{
	static const char *const ops[] = { "Identity", "Relu", "Reshape", "Transpose", "Squeeze", "Unsqueeze",
		"Flatten", "MaxPool", "AveragePool", "GlobalAveragePool", "Slice", NULL };

	return is_one(x, ops);
}

static int
is_add(const hu_onnx_node *x)
{
	static const char *const ops[] = { "Add", NULL };

	return is_one(x, ops);
}

static int
is_norm(const hu_onnx_node *x)
{
	static const char *const ops[] = { "LayerNormalization", "InstanceNormalization", "GroupNormalization",
		"RMSNormalization", "SimplifiedLayerNormalization", NULL };

	return is_one(x, ops);
}

/* How many of the node's inputs carry the stream: both of a sum, the first of others. */
static size_t
width(const hu_onnx_node *x)
{
	return is_add(x) ? 2 : 1;
}

static int
is_output(const hu_onnx *m, const char *value)
{
	for (size_t i = 0; i < m->graph->nout; i++)
		if (!strcmp(m->graph->out[i].name, value))
			return 1;
	return 0;
}

/* Adds what hangs together with the nodes of the stream. Returns 0 where an output of the model does. */
static int
gather(stream *s)
{
	const hu_onnx_graph *g = s->r->m->graph;

	for (int more = 1; more;) {
		more = 0;
		for (size_t i = 0; i < g->nnode; i++) {
			const hu_onnx_node *x = &g->node[i];
			int joins = is_add(x) || carries(x), reads = 0;
			for (size_t k = 0; joins && k < width(x) && k < x->nin; k++) {
				int from = hu_remedy_maker(s->r->m, x->in[k]);
				if (from < 0)
					continue;
				reads |= s->in[from];
				const hu_onnx_node *y = &g->node[from];
				if (s->in[i] && !s->in[from] && (is_add(y) || carries(y)))
					more = s->in[from] = 1;
			}
			if (reads && !s->in[i])
				more = s->in[i] = 1;
		}
	}
	for (size_t i = 0; i < g->nnode; i++)
		if (s->in[i] && is_output(s->r->m, g->node[i].out[0]))
			return 0;
	return 1;
}

/* Scales constant NAME, which is input K of the node; 0 where it is none. */
static int
scale_constant(stream *s, int node, const char *name, size_t k, double factor)
{
	const hu_stensor *t;
	const float *from = hu_remedy_constant(s->r->m, name, &t);

	if (!from)
		return 0;
	float *to = hu_xmalloc((t->count + 1) * sizeof *to);
	for (size_t i = 0; i < t->count; i++)
		to[i] = from[i] * (float)factor;
	hu_remedy_replace(s->r, node, k, t, to);
	free(to);
	return 1;
}

static int
is_product(const hu_onnx_node *x)
{
	static const char *const ops[] = { "MatMul", "Conv", "Gemm", NULL };

	return is_one(x, ops);
}

/* Scales the weights, and the bias, of the product that makes VALUE for node READER alone. */
static int
scale_product(stream *s, const char *value, int reader)
{
	const hu_stensor *t;
	int from = hu_remedy_maker(s->r->m, value);
	const hu_onnx_node *x = from < 0 ? NULL : &s->r->m->graph->node[from];

	if (!x || !is_product(x) || hu_remedy_reader(s->r->m, value) != reader ||
		!hu_remedy_constant(s->r->m, x->in[1], &t))
		return 0;
	int node = hu_remedy_node(s->r, (size_t)from), bias = x->nin > 2 && *x->in[2];
	if (node < 0 || (bias && !hu_remedy_constant(s->r->m, x->in[2], &t)))
		return 0;
	(void)scale_constant(s, node, x->in[1], 1, s->r->strength);
	if (bias)
		(void)scale_constant(s, node, x->in[2], 2, s->r->strength);
	s->weights++;
	return 1;
}

/* Puts a factor before input K of the node. */
static void
put_factor(stream *s, size_t i, size_t k, double factor)
{
	const char *in[2] = { s->r->m->graph->node[i].in[k], hu_remedy_number(s->r, "scale", factor) };
	int node = hu_remedy_node(s->r, i);

	hu_onnx_edit_read(s->r->e, node, k, hu_onnx_edit_before(s->r->e, node, "Mul", in, 2, "scaled", NULL, 0));
}

/* What enters the stream at node I is scaled. */
static void
enter(stream *s, size_t i)
{
	const hu_onnx_node *x = &s->r->m->graph->node[i];

	for (size_t k = 0; k < width(x) && k < x->nin; k++) {
		int from = hu_remedy_maker(s->r->m, x->in[k]);
		if (from >= 0 && s->in[from])
			continue;
		if (!scale_constant(s, hu_remedy_node(s->r, i), x->in[k], k, s->r->strength) &&
			!scale_product(s, x->in[k], (int)i))
			put_factor(s, i, k, s->r->strength);
	}
	s->sums += (size_t)is_add(x);
}

/* What leaves it at node I is scaled back, but before norms: in the weights of a product, else by a factor. */
static void
leave(stream *s, size_t i)
{
	const hu_onnx_node *x = &s->r->m->graph->node[i];
	int node = hu_remedy_node(s->r, i);

	for (size_t k = 0; k < x->nin; k++) {
		int from = hu_remedy_maker(s->r->m, x->in[k]);
		if (from < 0 || !s->in[from] || !strcmp(x->op, "Shape"))
			continue;
		if (is_norm(x) && k == 0) {
			hu_onnx_edit_real(s->r->e, node, "epsilon",
				hu_onnx_float(x, "epsilon", 1e-5f) * (float)(s->r->strength * s->r->strength));
		} else if (!(is_product(x) && k == 0 && scale_constant(s, node, x->in[1], 1, 1 / s->r->strength))) {
			put_factor(s, i, k, 1 / s->r->strength);
		}
	}
}

/* How many norms read the stream. */
static size_t
norms(const stream *s)
{
	const hu_onnx_graph *g = s->r->m->graph;
	size_t n = 0;

	for (size_t i = 0; i < g->nnode; i++) {
		int from = is_norm(&g->node[i]) ? hu_remedy_maker(s->r->m, g->node[i].in[0]) : -1;
		n += from >= 0 && s->in[from];
	}
	return n;
}

/* 1 where every node that would be changed has a name of its own, and no graph inside a node reads the stream. */
static int
can_change(const stream *s)
{
	const hu_onnx_graph *g = s->r->m->graph;

	for (size_t i = 0; i < g->nnode; i++) {
		json_t *reads = json_object();
		hu_onnx_node_reads(reads, &g->node[i]);
		size_t all = 0, direct = 0;
		for (size_t k = 0; k < g->nnode; k++)
			all += s->in[k] && json_object_get(reads, g->node[k].out[0]);
		for (size_t k = 0; k < g->node[i].nin; k++) {
			int from = hu_remedy_maker(s->r->m, g->node[i].in[k]);
			direct += from >= 0 && s->in[from];
		}
		json_decref(reads);
		if (all > direct || ((s->in[i] || direct) && hu_remedy_node(s->r, i) < 0))
			return 0;
	}
	return 1;
}

void
hu_remedy_stream(hu_remedying *r)
{
	const hu_onnx_graph *g = r->m->graph;
	char *done = hu_xcalloc(g->nnode + 1, 1);

	for (size_t i = 0; i < g->nnode; i++) {
		stream s = { .r = r };
		if (!r->near[i] || done[i] || !is_add(&g->node[i]))
			continue;
		s.in = hu_xcalloc(g->nnode + 1, 1);
		s.in[i] = 1;
		int whole = gather(&s) && (s.norms = norms(&s)) && can_change(&s);
		for (size_t k = 0; k < g->nnode; k++)
			done[k] |= s.in[k];
		for (size_t k = 0; k < g->nnode && whole; k++)
			s.in[k] ? enter(&s, k) : leave(&s, k);
		if (whole) {
			hu_str_addf(&r->sentences,
				"node '%s' (Add): it and what it is added up with, %zu sums, are scaled by %g in %zu "
				"products' weights, and the eps of %zu norms by its square\n",
				g->node[i].name, s.sums, r->strength, s.weights, s.norms);
			r->changed++;
		}
		free(s.in);
	}
	free(done);
}
