/* SPDX-License-Identifier: Apache-2.0 */
#include "t/store/onnx-model.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What models consist of lives as long as the test: this list holds it, so that no leak is reported. */
static void *
kept(void *made)
{
	static void **all;
	static size_t n;

	all = hu_xrealloc(all, (n + 1) * sizeof *all);
	return all[n++] = made;
}

static void *
made(size_t n, size_t size)
{
	return kept(hu_xcalloc(n, size));
}

static char *
made_text(const char *s)
{
	return kept(hu_xstrdup(s));
}

pb_tensor *
pb_tensor_raw(const char *name, int type, const void *bytes, size_t n, int rank, const int64_t *dims)
{
	pb_tensor *t = made(1, sizeof *t);

	hu__onnx__pb__tensor__init(t);
	t->name = made_text(name);
	t->has_data_type = 1;
	t->data_type = type;
	t->n_dims = (size_t)rank;
	t->dims = made((size_t)rank + 1, sizeof *t->dims);
	if (rank)
		memcpy(t->dims, dims, (size_t)rank * sizeof *dims);
	if (!bytes)
		return t;
	t->has_raw_data = 1;
	t->raw_data = (ProtobufCBinaryData){ n, made(n + 1, 1) };
	memcpy(t->raw_data.data, bytes, n);
	return t;
}

static char **
words(const char *text, size_t *n)
{
	char **w = made(strlen(text) / 2 + 2, sizeof *w);

	*n = 0;
	for (const char *p = text; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		w[(*n)++] = len == 1 && *p == '-' ? made_text("") : kept(hu_xprintf("%.*s", (int)len, p));
		p += len;
	}
	return w;
}

pb_node *
pb_node_new(const char *op, const char *name, const char *in, const char *out)
{
	pb_node *x = made(1, sizeof *x);

	hu__onnx__pb__node__init(x);
	x->op_type = made_text(op);
	x->name = made_text(name);
	x->input = words(in, &x->n_input);
	x->output = words(out, &x->n_output);
	return x;
}

pb_attribute *
pb_node_attribute(pb_node *node, const char *name)
{
	pb_attribute *a = made(1, sizeof *a);

	hu__onnx__pb__attribute__init(a);
	a->name = made_text(name);
	node->attribute = hu_xrealloc(node->attribute, (node->n_attribute + 1) * sizeof(void *));
	return node->attribute[node->n_attribute++] = a;
}

void
pb_node_int(pb_node *node, const char *name, int64_t value)
{
	pb_attribute *a = pb_node_attribute(node, name);

	a->has_i = 1;
	a->i = value;
}

void
pb_add_node(pb_graph *g, pb_node *node)
{
	g->node = hu_xrealloc(g->node, (g->n_node + 1) * sizeof(void *));
	g->node[g->n_node++] = node;
}

void
pb_add_tensor(pb_graph *g, pb_tensor *t)
{
	g->initializer = hu_xrealloc(g->initializer, (g->n_initializer + 1) * sizeof(void *));
	g->initializer[g->n_initializer++] = t;
}

void
pb_add_value(pb_graph *g, int output, const char *name, int rank, const int64_t *dims)
{
	Hu__Onnx__Pb__Value ***to = output ? &g->output : &g->input, *v = made(1, sizeof *v);
	size_t *n = output ? &g->n_output : &g->n_input;

	hu__onnx__pb__value__init(v);
	v->name = made_text(name);
	hu__onnx__pb__type__init(v->type = made(1, sizeof *v->type));
	hu__onnx__pb__tensor_type__init(v->type->tensor_type = made(1, sizeof *v->type->tensor_type));
	v->type->tensor_type->has_elem_type = 1;
	v->type->tensor_type->elem_type = 1;
	if (rank >= 0) {
		Hu__Onnx__Pb__Shape *s = v->type->tensor_type->shape = made(1, sizeof *s);
		hu__onnx__pb__shape__init(s);
		s->n_dim = (size_t)rank;
		s->dim = made((size_t)rank + 1, sizeof(void *));
		for (int i = 0; i < rank; i++) {
			hu__onnx__pb__dim__init(s->dim[i] = made(1, sizeof **s->dim));
			s->dim[i]->has_value = dims[i] >= 0;
			s->dim[i]->value = dims[i];
			s->dim[i]->param = dims[i] < 0 ? made_text("N") : NULL;
		}
	}
	*to = hu_xrealloc(*to, (*n + 1) * sizeof(void *));
	(*to)[(*n)++] = v;
}

pb_graph *
pb_graph_new(const char *name)
{
	pb_graph *g = made(1, sizeof *g);

	hu__onnx__pb__graph__init(g);
	g->name = made_text(name);
	return g;
}

void
pb_add_graph(pb_node *node, const char *attribute, const pb_graph *inner)
{
	pb_attribute *a = pb_node_attribute(node, attribute);

	a->has_g = 1;
	a->g.len = hu__onnx__pb__graph__get_packed_size(inner);
	a->g.data = made(a->g.len + 1, 1);
	hu__onnx__pb__graph__pack(inner, a->g.data);
}

pb_model *
pb_model_new(pb_graph *g, int opset)
{
	pb_model *m = made(1, sizeof *m);
	Hu__Onnx__Pb__OpsetId *o = made(1, sizeof *o);

	hu__onnx__pb__model__init(m);
	hu__onnx__pb__opset_id__init(o);
	o->has_version = 1;
	o->version = opset;
	m->has_ir_version = 1;
	m->ir_version = 8;
	m->graph = g;
	m->opset_import = made(1, sizeof(void *));
	m->opset_import[m->n_opset_import++] = o;
	return m;
}

unsigned char *
pb_pack(const pb_model *m, size_t *n)
{
	*n = hu__onnx__pb__model__get_packed_size(m);
	unsigned char *p = hu_xmalloc(*n + 1);
	hu__onnx__pb__model__pack(m, p);
	return p;
}

/* A branch that gives relu(NAME), which another graph makes. */
static pb_graph *
branch(const char *name, const char *out)
{
	pb_graph *g = pb_graph_new(out);

	pb_add_node(g, pb_node_new("Relu", "", name, out));
	pb_add_value(g, 1, out, -1, NULL);
	return g;
}

pb_model *
pb_sample(void)
{
	static const float w[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, b[2] = { 0.5f, -1 };
	static const unsigned char yes = 1;
	pb_graph *g = pb_graph_new("sample");
	pb_node *x;

	x = pb_node_new("If", "pick", "yes", "y");
	pb_add_graph(x, "then_branch", branch("logits", "a"));
	pb_add_graph(x, "else_branch", branch("flat", "b"));
	pb_add_node(g, x);
	x = pb_node_new("Gemm", "fc", "flat fc.w fc.b", "logits");
	pb_node_int(x, "transB", 1);
	pb_add_node(g, x);
	pb_add_node(g, pb_node_new("Reshape", "", "r to", "flat"));
	x = pb_node_new("Constant", "", "", "to");
	pb_node_attribute(x, "value")->t = pb_tensor_raw("", 7, (int64_t[]){ -1, 4 }, 16, 1, (int64_t[]){ 2 });
	pb_add_node(g, x);
	pb_add_node(g, pb_node_new("Relu", "act", "c", "r"));
	pb_add_node(g, pb_node_new("Conv", "conv", "x conv.w", "c"));
	pb_add_tensor(g, pb_tensor_raw("conv.w", 1, w, 32, 4, (int64_t[]){ 2, 1, 2, 2 }));
	pb_add_tensor(g, pb_tensor_raw("fc.w", 1, w, 32, 2, (int64_t[]){ 2, 4 }));
	pb_tensor *t = pb_tensor_raw("fc.b", 1, NULL, 0, 1, (int64_t[]){ 2 });
	t->n_float_data = 2;
	t->float_data = made(sizeof b, 1);
	memcpy(t->float_data, b, sizeof b);
	pb_add_tensor(g, t);
	pb_add_tensor(g, pb_tensor_raw("yes", 9, &yes, 1, 0, NULL));
	pb_add_value(g, 0, "x", 4, (int64_t[]){ -1, 1, 3, 2 });
	pb_add_value(g, 1, "y", 2, (int64_t[]){ -1, 2 });
	return pb_model_new(g, 17);
}
