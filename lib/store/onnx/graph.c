/* SPDX-License-Identifier: Apache-2.0
   From protobuf's messages to graphs: nodes, attributes, declared values, constant tensors, and the graphs that
   attributes hold. Every text is there afterwards, "" where the file has none. */
#include "lib/store/onnx/parts.h"

#include "lib/base/guard/allocators.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
text(const char *s)
{
	return s ? s : "";
}

/* protobuf's bytes as a text: they end with no 0. */
static const char *
bytes(hu_onnx *m, const ProtobufCBinaryData *b)
{
	char *s = hu_onnx_own(m, b->len + 1, 1);

	if (b->len)
		memcpy(s, b->data, b->len);
	return s;
}

static const char **
texts(hu_onnx *m, char *const *from, size_t n)
{
	const char **to = hu_onnx_own(m, n, sizeof *to);

	for (size_t i = 0; i < n; i++)
		to[i] = text(from[i]);
	return to;
}

/* The graph inside an attribute: its own message, which M keeps instead of its bytes. */
static hu_status
inner(hu_onnx *m, hu_onnx_graph **to, ProtobufCBinaryData *b, const char *where, int depth)
{
	if (depth + 1 > HU_ONNX_DEPTH)
		return hu_fail(HU_EFILE, "%s: node '%.200s': graphs are nested more than %d deep", m->path, where,
			HU_ONNX_DEPTH);
	Hu__Onnx__Pb__Graph *pb = hu__onnx__pb__graph__unpack(&hu_allocators_protobuf, b->len, b->data);
	if (!pb)
		return hu_fail(HU_EFILE, "%s: node '%.200s': the graph in it is damaged; export the model again",
			m->path, where);
	free(b->data);
	*b = (ProtobufCBinaryData){ 0, NULL };
	/* Kept in a list through the model's own memory, so that release finds it. */
	HU_GROW(m->inner, m->ninner, m->innercap);
	m->inner[m->ninner++] = pb;
	return hu_onnx_graph_of(m, to, pb, depth + 1);
}

enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_STRING = 3 }; /* of an attribute, by the format's numbers */

static hu_status
attribute(hu_onnx *m, hu_onnx_attr *a, Hu__Onnx__Pb__Attribute *pb, const char *node, int depth)
{
	*a = (hu_onnx_attr){ .name = text(pb->name),
		.ref = text(pb->ref_attr_name),
		.has_f = pb->has_f,
		.has_i = pb->has_i,
		.f = pb->f,
		.i = pb->i,
		.nfloats = pb->n_floats,
		.nints = pb->n_ints,
		.nstrings = pb->n_strings,
		.ngraphs = pb->n_graphs + (pb->has_g ? 1 : 0),
		.floats = pb->floats,
		.ints = pb->ints };
	if (pb->has_sparse_tensor)
		return hu_fail(HU_EFILE, "%s: node '%.200s' holds the sparse tensor '%.100s'; only dense ones are read",
			m->path, node, a->name);
	/* Writers of the newer syntax leave out a number that is 0, and say only its type. */
	a->has_f |= pb->type == TYPE_FLOAT;
	a->has_i |= pb->type == TYPE_INT;
	if (pb->has_s || pb->type == TYPE_STRING)
		a->s = bytes(m, &pb->s);
	a->strings = hu_onnx_own(m, a->nstrings, sizeof *a->strings);
	for (size_t i = 0; i < a->nstrings; i++)
		a->strings[i] = bytes(m, &pb->strings[i]);
	if (pb->t) {
		hu_stensor *t = hu_onnx_own(m, 1, sizeof *t);
		char *where = hu_xprintf(" of node '%.200s'", node);
		hu_status st = hu_onnx_tensor(m, t, pb->t, text(pb->t->name), where);
		free(where);
		HU_TRY(st);
		a->t = t;
	}
	a->graphs = hu_onnx_own(m, a->ngraphs, sizeof *a->graphs);
	for (size_t i = 0; i < a->ngraphs; i++)
		HU_TRY(inner(m, &a->graphs[i], i < pb->n_graphs ? &pb->graphs[i] : &pb->g, node, depth));
	return HU_OK;
}

static hu_status
nodes(hu_onnx *m, hu_onnx_graph *g, Hu__Onnx__Pb__Node **pb, size_t n, int depth)
{
	g->node = hu_onnx_own(m, n, sizeof *g->node);
	g->nnode = n;
	for (size_t i = 0; i < n; i++) {
		hu_onnx_node *x = &g->node[i];
		*x = (hu_onnx_node){ .name = text(pb[i]->name),
			.op = text(pb[i]->op_type),
			.domain = text(pb[i]->domain),
			.nin = pb[i]->n_input,
			.nout = pb[i]->n_output,
			.nattr = pb[i]->n_attribute };
		if (!strcmp(x->domain, "ai.onnx"))
			x->domain = "";
		x->in = texts(m, pb[i]->input, x->nin);
		x->out = texts(m, pb[i]->output, x->nout);
		if (!*x->name) /* a node without a name is known by what it makes */
			for (size_t k = 0; k < x->nout && !*x->name; k++)
				x->name = x->out[k];
		if (!*x->op)
			return hu_fail(HU_EFILE, "%s: node %zu, '%.200s', names no operator", m->path, i, x->name);
		x->attr = hu_onnx_own(m, x->nattr, sizeof *x->attr);
		for (size_t k = 0; k < x->nattr; k++)
			HU_TRY(attribute(m, &x->attr[k], pb[i]->attribute[k], x->name, depth));
	}
	return HU_OK;
}

static hu_status
values(hu_onnx *m, hu_onnx_value **to, Hu__Onnx__Pb__Value **pb, size_t n)
{
	hu_onnx_value *v = *to = hu_onnx_own(m, n, sizeof *v);

	for (size_t i = 0; i < n; i++) {
		const Hu__Onnx__Pb__TensorType *t = pb[i]->type ? pb[i]->type->tensor_type : NULL;
		const Hu__Onnx__Pb__Shape *s = t ? t->shape : NULL;
		v[i] = (hu_onnx_value){ .name = text(pb[i]->name), .type = t ? t->elem_type : 0, .rank = -1 };
		if (!s)
			continue;
		if (s->n_dim > HU_SAFETENSORS_RANK)
			return hu_fail(HU_EFILE, "%s: value '%.200s' has %zu dimensions; at most %d can be read",
				m->path, v[i].name, s->n_dim, HU_SAFETENSORS_RANK);
		v[i].rank = (int)s->n_dim;
		for (int k = 0; k < v[i].rank; k++) {
			const Hu__Onnx__Pb__Dim *d = s->dim[k];
			v[i].dim[k] = (hu_onnx_dim){ d->has_value && d->value >= 0 ? d->value : -1, text(d->param) };
		}
	}
	return HU_OK;
}

hu_status
hu_onnx_graph_of(hu_onnx *m, hu_onnx_graph **to, Hu__Onnx__Pb__Graph *pb, int depth)
{
	hu_onnx_graph *g = *to = hu_onnx_own(m, 1, sizeof *g);

	g->name = text(pb->name);
	if (pb->n_sparse_initializer) {
		const Hu__Onnx__Pb__Tensor *v = pb->sparse_initializer[0]->values;
		return hu_fail(HU_EFILE, "%s: initialiser '%.200s' is sparse; only dense ones are read", m->path,
			v ? text(v->name) : "");
	}
	g->init = hu_onnx_own(m, pb->n_initializer, sizeof *g->init);
	for (; g->ninit < pb->n_initializer; g->ninit++) {
		const Hu__Onnx__Pb__Tensor *t = pb->initializer[g->ninit];
		if (!t->name || !*t->name)
			return hu_fail(HU_EFILE, "%s: initialiser %zu has no name", m->path, g->ninit);
		HU_TRY(hu_onnx_tensor(m, &g->init[g->ninit], t, t->name, ""));
	}
	g->nin = pb->n_input;
	g->nout = pb->n_output;
	g->ninfo = pb->n_value_info;
	HU_TRY(values(m, &g->in, pb->input, g->nin));
	HU_TRY(values(m, &g->out, pb->output, g->nout));
	HU_TRY(values(m, &g->info, pb->value_info, g->ninfo));
	return nodes(m, g, pb->node, pb->n_node, depth);
}

/* Names alone as values of which nothing is said. */
static void
bare(hu_onnx *m, hu_onnx_value **to, char *const *name, size_t n)
{
	*to = hu_onnx_own(m, n, sizeof **to);
	for (size_t i = 0; i < n; i++)
		(*to)[i] = (hu_onnx_value){ .name = text(name[i]), .rank = -1 };
}

hu_status
hu_onnx_function_from(hu_onnx *m, hu_onnx_function *f, Hu__Onnx__Pb__Function *pb)
{
	hu_onnx_graph *g = hu_onnx_own(m, 1, sizeof *g);

	*f = (hu_onnx_function){ text(pb->name), text(pb->domain), g };
	g->name = f->name;
	g->nin = pb->n_input;
	g->nout = pb->n_output;
	bare(m, &g->in, pb->input, g->nin);
	bare(m, &g->out, pb->output, g->nout);
	return nodes(m, g, pb->node, pb->n_node, 0);
}
