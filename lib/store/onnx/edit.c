/* SPDX-License-Identifier: Apache-2.0
   All parts of the changed message are malloc's, as those are that protobuf-c unpacked, so that it frees them. */
#include "lib/store/onnx/edit.h"

#include "lib/base/file.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/mem.h"
#include "lib/store/onnx/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef Hu__Onnx__Pb__Node pb_node;
typedef Hu__Onnx__Pb__Attribute pb_attribute;
typedef Hu__Onnx__Pb__Tensor pb_tensor;

/* The nodes that stand before and behind one of the file's. */
typedef struct around {
	pb_node **before, **behind;
	size_t nbefore, nbehind, before_cap, behind_cap;
	int dropped; /* the file's node itself */
} around;

struct hu_onnx_edit {
	Hu__Onnx__Pb__Model *pb;
	around *at; /* by the file's node */
	size_t n;   /* of the file's nodes */
	char **name;
	size_t names, namecap, made;
};

hu_status
hu_onnx_edit_open(hu_onnx_edit **to, const hu_onnx *m)
{
	const Hu__Onnx__Pb__Model *from = m->message;
	hu_onnx_edit *e = hu_xcalloc(1, sizeof *e);

	hu_onnx_inner(m, 1);
	size_t n = hu__onnx__pb__model__get_packed_size(from);
	uint8_t *bytes = hu_xmalloc(n + 1);

	*to = NULL;
	hu__onnx__pb__model__pack(from, bytes);
	hu_onnx_inner(m, 0);
	e->pb = hu__onnx__pb__model__unpack(&hu_allocators_protobuf, n, bytes);
	free(bytes);
	HU_ASSERT(e->pb && e->pb->graph);
	size_t all = n;
	for (size_t i = 0; i < e->pb->graph->n_initializer; i++)
		all += hu_onnx_inner_embed(e->pb->graph->initializer[i], &m->graph->init[i]);
	if (all >= (size_t)1 << 31) {
		hu_onnx_edit_free(e);
		return hu_fail(HU_EUNABLE,
			"%s: with its constants it has %zu bytes, and a file of ONNX holds 2 GB; no copy of it "
			"is written",
			m->path, all);
	}
	e->n = e->pb->graph->n_node;
	e->at = hu_xcalloc(e->n + 1, sizeof *e->at);
	*to = e;
	return HU_OK;
}

void
hu_onnx_edit_free(hu_onnx_edit *e)
{
	if (!e)
		return;
	for (size_t i = 0; e->at && i < e->n; i++) {
		for (size_t k = 0; k < e->at[i].nbefore; k++)
			protobuf_c_message_free_unpacked(&e->at[i].before[k]->base, &hu_allocators_protobuf);
		for (size_t k = 0; k < e->at[i].nbehind; k++)
			protobuf_c_message_free_unpacked(&e->at[i].behind[k]->base, &hu_allocators_protobuf);
		free(e->at[i].before);
		free(e->at[i].behind);
	}
	for (size_t i = 0; i < e->names; i++)
		free(e->name[i]);
	free(e->name);
	free(e->at);
	hu__onnx__pb__model__free_unpacked(e->pb, &hu_allocators_protobuf);
	free(e);
}

/* The node's name; of one without a name that of its first output, as the reader has it. */
static const char *
name_of(const pb_node *x)
{
	return x->name && *x->name ? x->name : x->n_output ? x->output[0] : "";
}

int
hu_onnx_edit_find(const hu_onnx_edit *e, const char *name)
{
	int found = -1;

	for (size_t i = 0; i < e->n; i++) {
		if (strcmp(name_of(e->pb->graph->node[i]), name))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return *name ? found : -1;
}

size_t
hu_onnx_edit_inputs(const hu_onnx_edit *e, int node)
{
	return e->pb->graph->node[node]->n_input;
}

const char *
hu_onnx_edit_input(const hu_onnx_edit *e, int node, size_t k)
{
	return e->pb->graph->node[node]->input[k];
}

static void
replace(char **s, const char *text)
{
	if (*s && *s != protobuf_c_empty_string)
		free(*s);
	*s = hu_xstrdup(text);
}

void
hu_onnx_edit_read(hu_onnx_edit *e, int node, size_t k, const char *value)
{
	replace(&e->pb->graph->node[node]->input[k], value);
}

static int
is_taken(const hu_onnx_edit *e, const char *name)
{
	const Hu__Onnx__Pb__Graph *g = e->pb->graph;
	int is = 0;

	for (size_t i = 0; i < e->n; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			is |= !strcmp(g->node[i]->output[k], name);
	for (size_t i = 0; i < g->n_initializer; i++)
		is |= g->initializer[i]->name && !strcmp(g->initializer[i]->name, name);
	return is;
}

/* A name that no value has. */
static const char *
fresh(hu_onnx_edit *e, const char *stem)
{
	char *name = hu_xprintf("%s@%zu", stem, ++e->made);

	while (is_taken(e, name)) {
		free(name);
		name = hu_xprintf("%s@%zu", stem, ++e->made);
	}
	HU_GROW(e->name, e->names, e->namecap);
	e->name[e->names] = name;
	return e->name[e->names++];
}

static pb_attribute *
whole(const char *key, int64_t value)
{
	pb_attribute *a = hu_xmalloc(sizeof *a);

	hu__onnx__pb__attribute__init(a);
	a->name = hu_xstrdup(key);
	a->has_i = 1;
	a->i = value;
	a->has_type = 1;
	a->type = 2; /* INT */
	return a;
}

static pb_node *
make(const char *op, const char *const *in, size_t n, const char *out, const char *key, int64_t value)
{
	pb_node *x = hu_xmalloc(sizeof *x);

	hu__onnx__pb__node__init(x);
	x->op_type = hu_xstrdup(op);
	x->name = hu_xstrdup(out);
	x->input = hu_xmalloc((n + 1) * sizeof *x->input);
	x->n_input = n;
	for (size_t i = 0; i < n; i++)
		x->input[i] = hu_xstrdup(in[i]);
	x->output = hu_xmalloc(sizeof *x->output);
	x->n_output = 1;
	x->output[0] = hu_xstrdup(out);
	if (key) {
		x->attribute = hu_xmalloc(sizeof *x->attribute);
		x->n_attribute = 1;
		x->attribute[0] = whole(key, value);
	}
	return x;
}

const char *
hu_onnx_edit_before(hu_onnx_edit *e, int node, const char *op, const char *const *in, size_t n, const char *stem,
	const char *key, int64_t value)
{
	const char *out = fresh(e, stem);
	around *a = &e->at[node];

	HU_GROW(a->before, a->nbefore, a->before_cap);
	a->before[a->nbefore++] = make(op, in, n, out, key, value);
	return out;
}

const char *
hu_onnx_edit_twin(hu_onnx_edit *e, int node, const char *const *in, size_t n, const char *stem)
{
	const char *out = fresh(e, stem);
	pb_node *from = e->pb->graph->node[node], *x = make(from->op_type, in, n, out, NULL, 0);
	around *a = &e->at[node];

	x->domain = from->domain && *from->domain ? hu_xstrdup(from->domain) : x->domain;
	x->attribute = hu_xmalloc((from->n_attribute + 1) * sizeof *x->attribute);
	for (; x->n_attribute < from->n_attribute; x->n_attribute++) {
		const pb_attribute *k = from->attribute[x->n_attribute];
		size_t bytes = hu__onnx__pb__attribute__get_packed_size(k);
		uint8_t *packed = hu_xmalloc(bytes + 1);
		hu__onnx__pb__attribute__pack(k, packed);
		x->attribute[x->n_attribute] =
			hu__onnx__pb__attribute__unpack(&hu_allocators_protobuf, bytes, packed);
		free(packed);
	}
	HU_GROW(a->before, a->nbefore, a->before_cap);
	a->before[a->nbefore++] = x;
	return out;
}

void
hu_onnx_edit_round_output(hu_onnx_edit *e, int node, size_t k, int type)
{
	pb_node *x = e->pb->graph->node[node];
	around *a = &e->at[node];
	char *was = hu_xstrdup(x->output[k]);
	const char *raw = fresh(e, was), *low = fresh(e, was);

	replace(&x->output[k], raw);
	HU_GROW(a->behind, a->nbehind, a->behind_cap);
	a->behind[a->nbehind++] = make("Cast", &raw, 1, low, "to", type);
	HU_GROW(a->behind, a->nbehind, a->behind_cap);
	a->behind[a->nbehind] = make("Cast", &low, 1, was, "to", HU_ONNX_FLOAT);
	replace(&a->behind[a->nbehind++]->name, raw);
	free(was);
}

void
hu_onnx_edit_behind(hu_onnx_edit *e, int node, size_t k, const char *op, const char *other)
{
	pb_node *x = e->pb->graph->node[node];
	around *a = &e->at[node];
	char *was = hu_xstrdup(x->output[k]);
	const char *in[2] = { fresh(e, was), other };

	replace(&x->output[k], in[0]);
	HU_GROW(a->behind, a->nbehind, a->behind_cap);
	a->behind[a->nbehind] = make(op, in, 2, was, NULL, 0);
	replace(&a->behind[a->nbehind++]->name, in[0]);
	free(was);
}

void
hu_onnx_edit_drop(hu_onnx_edit *e, int node)
{
	e->at[node].dropped = 1;
}

void
hu_onnx_edit_real(hu_onnx_edit *e, int node, const char *key, float value)
{
	pb_node *x = e->pb->graph->node[node];
	pb_attribute *a = NULL;

	for (size_t i = 0; i < x->n_attribute && !a; i++)
		a = x->attribute[i]->name && !strcmp(x->attribute[i]->name, key) ? x->attribute[i] : NULL;
	if (!a) {
		x->attribute = hu_xrealloc(x->attribute, (x->n_attribute + 1) * sizeof *x->attribute);
		a = x->attribute[x->n_attribute++] = whole(key, 0);
		a->has_i = 0;
	}
	a->has_f = a->has_type = 1;
	a->f = value;
	a->type = 1; /* FLOAT */
}

const char *
hu_onnx_edit_constant(
	hu_onnx_edit *e, const char *stem, int type, int rank, const size_t *d, const void *bytes, size_t n)
{
	Hu__Onnx__Pb__Graph *g = e->pb->graph;
	const char *name = fresh(e, stem);
	pb_tensor *t = hu_xmalloc(sizeof *t);

	hu__onnx__pb__tensor__init(t);
	t->name = hu_xstrdup(name);
	t->has_data_type = t->has_raw_data = 1;
	t->data_type = type;
	t->n_dims = (size_t)rank;
	t->dims = hu_xmalloc(((size_t)rank + 1) * sizeof *t->dims);
	for (int i = 0; i < rank; i++)
		t->dims[i] = (int64_t)d[i];
	t->raw_data.len = n;
	t->raw_data.data = hu_xmalloc(n + 1);
	memcpy(t->raw_data.data, bytes, n);
	g->initializer = hu_xrealloc(g->initializer, (g->n_initializer + 1) * sizeof *g->initializer);
	g->initializer[g->n_initializer++] = t;
	return name;
}

/* The nodes of the file with those around them, in one list. */
static void
join(hu_onnx_edit *e)
{
	Hu__Onnx__Pb__Graph *g = e->pb->graph;
	size_t all = e->n, n = 0;

	for (size_t i = 0; i < e->n; i++)
		all += e->at[i].nbefore + e->at[i].nbehind;
	pb_node **node = hu_xmalloc((all + 1) * sizeof *node);
	for (size_t i = 0; i < e->n; i++) {
		around *a = &e->at[i];
		for (size_t k = 0; k < a->nbefore; k++)
			node[n++] = a->before[k];
		if (a->dropped)
			hu__onnx__pb__node__free_unpacked(g->node[i], &hu_allocators_protobuf);
		else
			node[n++] = g->node[i];
		for (size_t k = 0; k < a->nbehind; k++)
			node[n++] = a->behind[k];
		a->nbefore = a->nbehind = 0;
	}
	free(g->node);
	g->node = node;
	g->n_node = n;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Drops initialisers that neither a node nor an output names. A graph inside a node may read any: then all stay. */
static void
drop_unread(hu_onnx_edit *e)
{
	Hu__Onnx__Pb__Graph *g = e->pb->graph;
	size_t n = 0, cap = 0, kept = 0;
	const char **read = NULL;

	for (size_t i = 0; i < g->n_node; i++) {
		for (size_t k = 0; k < g->node[i]->n_attribute; k++)
			if (g->node[i]->attribute[k]->has_g || g->node[i]->attribute[k]->n_graphs) {
				free(read);
				return;
			}
		for (size_t k = 0; k < g->node[i]->n_input; k++) {
			HU_GROW(read, n, cap);
			read[n++] = g->node[i]->input[k];
		}
	}
	for (size_t i = 0; i < g->n_output + g->n_input; i++) {
		HU_GROW(read, n, cap);
		read[n++] = i < g->n_output ? g->output[i]->name : g->input[i - g->n_output]->name;
	}
	qsort(read, n, sizeof *read, by_text);
	for (size_t i = 0; i < g->n_initializer; i++) {
		const char *name = g->initializer[i]->name;
		if (bsearch(&name, read, n, sizeof *read, by_text))
			g->initializer[kept++] = g->initializer[i];
		else
			hu__onnx__pb__tensor__free_unpacked(g->initializer[i], &hu_allocators_protobuf);
	}
	g->n_initializer = kept;
	free(read);
}

hu_status
hu_onnx_edit_write(hu_onnx_edit *e, const char *path)
{
	join(e);
	drop_unread(e);
	if (e->pb->ir_version < 10) {
		e->pb->ir_version = 10; /* what the types of 8 bits need; earlier readers of today's files take 10 */
		e->pb->has_ir_version = 1;
	}
	size_t n = hu__onnx__pb__model__get_packed_size(e->pb);
	uint8_t *bytes = hu_xmalloc(n + 1);
	hu__onnx__pb__model__pack(e->pb, bytes);
	hu_status st = hu_file_write(path, bytes, n);
	free(bytes);
	return st;
}
