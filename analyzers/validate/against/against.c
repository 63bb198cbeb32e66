/* SPDX-License-Identifier: Apache-2.0
   The other file, and which of its values is the same as one of the float network's. */
#include "analyzers/validate/against/against_run.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/import/tool/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Puts the N ports of TO into the order of FROM's names. Returns the name that is missing, NULL for none. */
static const char *
order(hu_port *to, size_t n, const hu_port *from, size_t nfrom)
{
	for (size_t i = 0; i < nfrom; i++) {
		size_t k = i;
		while (k < n && strcmp(to[k].name, from[i].name))
			k++;
		if (k >= n)
			return from[i].name;
		hu_port was = to[i];
		to[i] = to[k];
		to[k] = was;
		to[i].axis = from[i].axis;
	}
	return NULL;
}

/* 1 where both ports have one shape. */
static int
alike(const hu_port *a, const hu_port *b)
{
	return a->rank == b->rank && !memcmp(a->d, b->d, (size_t)a->rank * sizeof *a->d);
}

int
hu_against_has_codes(const hu_onnx *m)
{
	/* What a runtime may fuse nodes between, and products, which a processor may compute in its own way. */
	static const char *const ops[] = { "QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger",
		"QLinearMatMul", "QLinearConv", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul",
		"DynamicQuantizeLSTM", "MatMulNBits", "GatherBlockQuantized", "QAttention" };

	for (size_t i = 0; i < m->graph->nnode; i++)
		for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
			if (!strcmp(m->graph->node[i].op, ops[k]))
				return 1;
	return 0;
}

/* Imports the file for N's batches, or for its first input where each has a program of its own. */
static hu_status
import(hu_against *a, const hu_network *n, hu_typing typing)
{
	hu_answers answers;
	hu_imported all;

	if (!n->each)
		return hu_network_typed(n, &a->m, &a->onnx, typing);
	hu_status st = hu_network_computed(n, &all, &answers, 0, &a->onnx, typing);
	if (st == HU_OK) {
		hu_imported_release(&all);
		st = hu_network_answered(n, &a->m, &answers, &a->onnx, typing);
	}
	hu_answers_release(&answers);
	if (st == HU_OK)
		hu_imported_asked_release(&a->m);
	return st;
}

/* Imports the file, and holds its inputs and outputs to N's. */
static hu_status
fits(hu_against *a, const hu_network *n, hu_typing typing)
{
	HU_TRY(import(a, n, typing));
	const char *in = order(a->m.in, a->m.nin, n->m.in, n->m.nin),
		   *out = in ? NULL : order(a->m.out, a->m.nout, n->m.out, n->m.nout);
	if (in || out)
		return hu_fail(HU_EFILE, "%s has no %s '%s', as %s has; only files of one network can be compared",
			hu_shown(a->path), in ? "input" : "output", hu_shown(in ? in : out), n->onnx.path);
	for (size_t i = 0; i < n->m.nout && !n->each; i++)
		if (!alike(&a->m.out[i], &n->m.out[i]))
			return hu_fail(HU_EFILE, "%s: output '%s' has another shape than in %s", hu_shown(a->path),
				hu_shown(a->m.out[i].name), n->onnx.path);
	a->m.nout = n->m.nout;
	return HU_OK;
}

hu_status
hu_against_open(
	hu_against *a, const char *path, const hu_network *n, hu_typing typing, int fused, int pairs16)
{
	*a = (hu_against){ .path = path };
	HU_TRY(hu_onnx_open(&a->file, path));
	a->codes = hu_against_has_codes(&a->file);
	if (fused && a->codes) {
		HU_TRY(hu_tool_fuse(&a->onnx, &a->file, fused > 1));
	} else {
		hu_onnx_release(&a->file);
		HU_TRY(hu_onnx_open(&a->onnx, path));
	}
	a->onnx.ort = typing == HU_TYPING_ORT_CPU;
	a->onnx.optimised = fused > 0;
	a->onnx.pairs16 = pairs16;
	return fits(a, n, typing);
}

hu_status
hu_against_tool(hu_against *a, const char *name, hu_network *n, const hu_tool *t)
{
	char *notes = NULL;

	*a = (hu_against){ .path = name };
	hu_status st = hu_tool_rewrite(&a->onnx, &notes, t, &n->onnx, &n->m, hu_calibrated_tool(&n->ranges));
	free(notes); /* the policy's row tells them */
	if (st != HU_OK) {
		*a = (hu_against){ .path = name };
		return st;
	}
	a->codes = hu_against_has_codes(&a->onnx);
	return fits(a, n, HU_TYPING_STRICT);
}

/* Value NAME of M that calls compute or are given; NULL where there is none. */
static const hu_imported_value *
value_of(const hu_imported *m, const char *name)
{
	for (size_t i = 0; i < m->nvalue; i++)
		if (!strcmp(m->value[i].name, name))
			return m->value[i].tensor >= 0 && !m->value[i].constant ? &m->value[i] : NULL;
	return NULL;
}

/* The same of NAME with END behind it. */
static const hu_imported_value *
derived(const hu_imported *m, const char *name, const char *end)
{
	char *all = hu_xprintf("%s%s", name, end);
	const hu_imported_value *v = value_of(m, all);

	free(all);
	return v;
}

static int
floats(const hu_imported_value *v)
{
	return v && !hu_import_whole(v->type);
}

/* The one number of initialiser NAME with END behind it; 0 where there is no such one. */
static int
number_of(const hu_against *a, const char *name, const char *end, double *x)
{
	char *all = hu_xprintf("%s%s", name, end);
	const hu_onnx_graph *g = a->onnx.graph;
	const hu_stensor *t = NULL;

	for (size_t i = 0; i < g->ninit && !t; i++)
		t = strcmp(g->init[i].name, all) ? NULL : &g->init[i];
	free(all);
	if (!t || t->count != 1)
		return 0;
	*x = !strcmp(t->dtype, "F32")  ? (double)*(const float *)t->data
	     : !strcmp(t->dtype, "U8") ? *(const uint8_t *)t->data
	     : !strcmp(t->dtype, "I8") ? *(const int8_t *)t->data
				       : NAN;
	return *x == *x;
}

/* What quantize_static's operators of codes pass on in place of NAME. */
static void
find_codes(const hu_against *a, hu_against_pair *p, const char *name)
{
	const hu_imported_value *v = derived(&a->m, name, "_quantized");
	double scale, zero;

	if (!v || (v->type != HU_ONNX_UINT8 && v->type != HU_ONNX_INT8) || !number_of(a, name, "_scale", &scale) ||
		!number_of(a, name, "_zero_point", &zero) || !(scale > 0))
		return;
	p->seen = v;
	p->scale = scale;
	p->zero = zero;
	p->low = v->type == HU_ONNX_INT8 ? -128 : 0;
	p->high = p->low + 255;
}

static int
is_output(const hu_network *n, const char *name)
{
	for (size_t i = 0; i < n->m.nout; i++)
		if (!strcmp(n->m.out[i].name, name))
			return 1;
	return 0;
}

/* Appends value NAME of the float network, where it is a number that calls compute. */
static void
add(hu_against *a, hu_against_pair **pair, size_t *cap, const hu_network *n, const char *name, const hu_onnx_node *x)
{
	const hu_imported_value *v = value_of(&n->m, name), *seen, *before;

	if (!floats(v))
		return;
	/* What quantize_static and its like call the value before and behind its codes; of an output the raw one has
	   the longer name. */
	seen = derived(&a->m, name, "_DequantizeLinear_Output");
	before = value_of(&a->m, name);
	if (!seen && (before = derived(&a->m, name, "_QuantizeLinear_Input")))
		seen = value_of(&a->m, name);
	hu_against_pair found = { .of = v };
	find_codes(a, &found, name);
	if (!seen && found.seen && !is_output(n, name)) {
		seen = found.seen;
	} else if (!seen) {
		seen = value_of(&a->m, name);
		before = NULL;
	}
	if (a->n == *cap) {
		size_t more = *cap ? 2 * *cap : 64;
		a->row = hu_xrealloc(a->row, more * sizeof *a->row);
		*pair = hu_xrealloc(*pair, more * sizeof **pair);
		*cap = more;
	}
	hu_against_pair *p = &(*pair)[a->n];
	*p = found;
	if (seen != found.seen)
		*p = (hu_against_pair){
			.of = v, .seen = floats(seen) ? seen : NULL, .before = floats(before) ? before : NULL
		};
	p->codes = derived(&a->m, name, "_QuantizeLinear_Output");
	a->row[a->n++] = (hu_against_row){ .value = v->name,
		.node = x ? x->name : "",
		.op = x ? x->op : "",
		.as = p->seen ? p->seen->name : "",
		.kind = p->seen ? HU_AGAINST_SAME : HU_AGAINST_NONE };
}

hu_status
hu_against_measure(hu_against *a, const hu_network *n, size_t inputs)
{
	const hu_onnx_graph *g = n->onnx.graph;
	hu_against_pair *pair = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < n->m.nin; i++)
		add(a, &pair, &cap, n, n->m.in[i].name, NULL);
	for (size_t i = 0; i < g->nnode; i++)
		for (size_t k = 0; k < g->node[i].nout; k++)
			if (*g->node[i].out[k])
				add(a, &pair, &cap, n, g->node[i].out[k], &g->node[i]);
	hu_status st = a->n ? hu_against_run(a, pair, n, inputs) : HU_OK;
	free(pair);
	return st;
}

void
hu_against_release(hu_against *a)
{
	free(a->row);
	hu_imported_release(&a->m);
	hu_onnx_release(&a->onnx);
	hu_onnx_release(&a->file);
	memset(a, 0, sizeof *a);
}
