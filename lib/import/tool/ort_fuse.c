/* SPDX-License-Identifier: Apache-2.0
   What onnxruntime 1.32's optimisations (ORT_ENABLE_EXTENDED and ORT_ENABLE_ALL, its default) make of QuantizeLinear
   and DequantizeLinear around nodes on an x86 processor: kernels of codes, which round otherwise than the nodes one by
   one. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct fusing {
	hu_onnx_rewrite *w;
	hu_onnx_graph *g;
	json_t *made, *readers, *zero; /* by name: the node that makes it, how often it is read, a constant's type */
	char *dropped;                 /* by node */
} fusing;

static int
number(const json_t *of, const char *name, int otherwise)
{
	const json_t *j = *name ? json_object_get(of, name) : NULL;

	return j ? (int)json_integer_value(j) : otherwise;
}

static int
is_op(const hu_onnx_node *node, const char *op)
{
	return !*node->domain && !strcmp(node->op, op) && (node->nin == 3 || strncmp(op, "De", 2));
}

/* What the file declares of NAME, or of the value whose codes it has; NULL: nothing. */
static const hu_onnx_value *
declared(const fusing *f, const char *name)
{
	const hu_onnx_graph *g = f->w->from->graph;
	const hu_onnx_value *v = NULL;
	int dq = number(f->made, name, -1),
	    q = dq >= 0 && is_op(&f->g->node[dq], "DequantizeLinear") ? number(f->made, f->g->node[dq].in[0], -1) : -1;

	if (q >= 0 && is_op(&f->g->node[q], "QuantizeLinear"))
		name = f->g->node[q].in[0];
	for (size_t i = 0; i < g->ninfo; i++)
		v = strcmp(g->info[i].name, name) ? v : &g->info[i];
	for (size_t i = 0; i < g->nin; i++)
		v = strcmp(g->in[i].name, name) ? v : &g->in[i];
	return v;
}

/* 1 where axis K of values A and B is known to have one length. */
static int
is_one_length(const fusing *f, const char *a, const char *b, int k)
{
	const hu_onnx_value *v = declared(f, a), *w = declared(f, b);

	if (!strcmp(a, b))
		return 1;
	return v && w && k < v->rank && k < w->rank && v->dim[k].n == w->dim[k].n &&
	       (v->dim[k].n >= 0 || (*v->dim[k].param && !strcmp(v->dim[k].param, w->dim[k].param)));
}

/* The whole numbers of constant NAME, NULL where it is none. */
static const hu_stensor *
whole_numbers(const fusing *f, const char *name)
{
	int i = number(f->made, name, -1);
	const hu_onnx_attr *a = i >= 0 && !strcmp(f->g->node[i].op, "Constant")
					? hu_onnx_attr_find(&f->g->node[i], "value")
					: NULL;
	const hu_stensor *t = a ? a->t : NULL;
	const hu_onnx_graph *file = f->w->from->graph; /* the new graph gets what it keeps of it later */

	for (size_t k = 0; k < file->ninit; k++)
		t = strcmp(file->init[k].name, name) ? t : &file->init[k];
	return t && hu_onnx_type_of(t->dtype) == HU_ONNX_INT64 ? t : NULL;
}

static const hu_onnx_node *
maker(const fusing *f, const char *name, const char *op)
{
	int i = number(f->made, name, -1);

	return i >= 0 && !strcmp(f->g->node[i].op, op) ? &f->g->node[i] : NULL;
}

/* 1 where NAME is the length of axis K of ROOT: Unsqueeze(Gather(Shape(a value of that length), K)). */
static int
keeps_axis(const fusing *f, const char *name, const char *root, size_t k)
{
	const hu_onnx_node *u = maker(f, name, "Unsqueeze"), *g = u ? maker(f, u->in[0], "Gather") : NULL,
			   *s = g ? maker(f, g->in[0], "Shape") : NULL;
	const hu_stensor *at = s ? whole_numbers(f, g->in[1]) : NULL;

	return at && at->count == 1 && *(const int64_t *)at->data == (int64_t)k &&
	       is_one_length(f, s->in[0], root, (int)k);
}

/* 1 where the runtime replaces the shape that Concat NODE makes for ROOT's Reshape by a constant: at most one of
   its numbers is neither a constant nor the length of ROOT's axis. */
static int
is_constant_shape(const fusing *f, const hu_onnx_node *node, const char *root)
{
	int free_axes = 0;

	for (size_t k = 0; k < node->nin; k++) {
		const hu_stensor *t = whole_numbers(f, node->in[k]);
		for (size_t i = 0; t && i < t->count; i++)
			free_axes += ((const int64_t *)t->data)[i] == -1;
		free_axes += !t && !keeps_axis(f, node->in[k], root, k);
	}
	return free_axes <= 1;
}

/* 1 where NODE computes shapes alone that the runtime replaces by constants, so that it goes. */
static int
goes(const fusing *f, const hu_onnx_node *node, int depth)
{
	int any = 0, is_shape = !strcmp(node->op, "Concat");

	for (size_t k = 0; k < f->g->nout; k++)
		if (!strcmp(f->g->out[k].name, node->out[0]))
			return 0;
	for (size_t i = 0; i < f->g->nnode; i++)
		for (size_t k = 0; k < f->g->node[i].nin; k++) {
			const hu_onnx_node *reader = &f->g->node[i];
			if (strcmp(reader->in[k], node->out[0]) != 0)
				continue;
			if (is_shape ? strcmp(reader->op, "Reshape") || k != 1 ||
					      !is_constant_shape(f, node, reader->in[0])
				     : depth > 8 || !goes(f, reader, depth + 1))
				return 0;
			any = 1;
		}
	return any;
}

static void
count(fusing *f)
{
	f->made = json_object();
	f->readers = json_object();
	f->zero = json_object();
	for (size_t i = 0; i < f->g->ninit; i++)
		json_object_set_new_nocheck(
			f->zero, f->g->init[i].name, json_integer(hu_onnx_type_of(f->g->init[i].dtype)));
	for (size_t i = 0; i < f->g->nnode; i++) {
		const hu_onnx_node *node = &f->g->node[i];
		for (size_t k = 0; k < node->nout; k++)
			if (*node->out[k])
				json_object_set_new_nocheck(f->made, node->out[k], json_integer((int)i));
	}
	for (size_t i = 0; i < f->g->nnode; i++) {
		const hu_onnx_node *node = &f->g->node[i];
		for (size_t k = 0; k < node->nin && (strcmp(node->op, "Shape") || !goes(f, node, 0)); k++)
			if (*node->in[k])
				json_object_set_new_nocheck(
					f->readers, node->in[k], json_integer(number(f->readers, node->in[k], 0) + 1));
	}
	for (size_t k = 0; k < f->g->nout; k++)
		json_object_set_new_nocheck(
			f->readers, f->g->out[k].name, json_integer(number(f->readers, f->g->out[k].name, 0) + 1));
}

/* The DequantizeLinear that makes NAME, NULL where there is none. */
static const hu_onnx_node *
source(const fusing *f, const char *name)
{
	int i = number(f->made, name, -1);

	return i >= 0 && is_op(&f->g->node[i], "DequantizeLinear") ? &f->g->node[i] : NULL;
}

/* The only reader of NAME, where that is a QuantizeLinear; -1: it is not. */
static int
sink(const fusing *f, const char *name)
{
	if (number(f->readers, name, 0) != 1)
		return -1;
	for (size_t i = 0; i < f->g->nnode; i++)
		if (f->g->node[i].nin == 3 && is_op(&f->g->node[i], "QuantizeLinear") &&
			!strcmp(f->g->node[i].in[0], name))
			return (int)i;
	return -1;
}

/* 1 where the file holds NAME: its codes are computed before the session runs. */
static int
is_held(const fusing *f, const char *name)
{
	int i = number(f->made, name, -1);

	return number(f->zero, name, -1) >= 0 || (i >= 0 && !strcmp(f->g->node[i].op, "Constant"));
}

/* Makes int8 codes between a QuantizeLinear and its only reader uint8, whose ties are others in float32. */
static void
make_unsigned(fusing *f)
{
	for (size_t i = 0; i < f->g->nnode; i++) {
		hu_onnx_node *dq = &f->g->node[i];
		int at = dq->nin == 3 && is_op(dq, "DequantizeLinear") ? number(f->made, dq->in[0], -1) : -1;
		hu_onnx_node *q = at < 0 ? NULL : &f->g->node[at];
		const int8_t *zero = NULL;
		if (!q || q->nin != 3 || !is_op(q, "QuantizeLinear") || number(f->zero, dq->in[2], 0) != HU_ONNX_INT8 ||
			number(f->readers, dq->in[0], 0) != 1 || number(f->readers, dq->out[0], 0) != 1 ||
			is_held(f, q->in[0]))
			continue;
		for (size_t k = 0; k < f->g->ninit; k++)
			if (!strcmp(f->g->init[k].name, dq->in[2]) && f->g->init[k].count == 1)
				zero = f->g->init[k].data;
		if (!zero)
			continue;
		const char *name = hu_onnx_rewrite_text(f->w, "%s_unsigned", q->out[0]);
		*(uint8_t *)hu_onnx_rewrite_constant(f->w, name, HU_ONNX_UINT8, 0, NULL) = (uint8_t)(*zero + 128);
		json_object_set_new_nocheck(f->zero, name, json_integer(HU_ONNX_UINT8));
		q->in[2] = dq->in[2] = name;
	}
}

static int
read_type(const fusing *f, const hu_onnx_node *dq)
{
	return number(f->zero, dq->in[2], 0);
}

/* The row of a kernel of codes: which node becomes which operator of which domain. */
static const struct kernel {
	const char *op, *to, *domain;
	int operands, is_product;
} kernels[] = {
	{ "Conv", "QLinearConv", "", 2, 1 },
	{ "MatMul", "QLinearMatMul", "", 2, 1 },
	{ "Gemm", "QGemm", "com.microsoft", 2, 1 },
	{ "Add", "QLinearAdd", "com.microsoft", 2, 0 },
	{ "Mul", "QLinearMul", "com.microsoft", 2, 0 },
	{ "Sigmoid", "QLinearSigmoid", "com.microsoft", 1, 0 },
	{ "LeakyRelu", "QLinearLeakyRelu", "com.microsoft", 1, 0 },
	{ "AveragePool", "QLinearAveragePool", "com.microsoft", 1, 0 },
	{ "GlobalAveragePool", "QLinearGlobalAveragePool", "com.microsoft", 1, 0 },
	{ "Softmax", "QLinearSoftmax", "com.microsoft", 1, 0 },
	{ "Concat", "QLinearConcat", "com.microsoft", 0, 0 },
};

static const struct kernel *
kernel_of(const hu_onnx_node *node)
{
	for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
		if (!*node->domain && !strcmp(kernels[k].op, node->op))
			return &kernels[k];
	return NULL;
}

static void
put(const char **in, size_t *n, const hu_onnx_node *dq)
{
	for (size_t k = 0; k < 3; k++)
		in[(*n)++] = dq->in[k];
}

/* NODE reads the N names IN, without attribute LEFT_OUT. */
static void
become(fusing *f, hu_onnx_node *node, const char *op, const char *domain, const char **in, size_t n,
	const char *left_out)
{
	hu_onnx_attr *all = hu_onnx_rewrite_room(f->w, node->nattr + 1, sizeof *all);
	size_t kept = 0;

	for (size_t k = 0; k < node->nattr; k++)
		if (strcmp(node->attr[k].name, left_out))
			all[kept++] = node->attr[k];
	node->attr = all;
	node->nattr = kept;
	node->op = op;
	node->domain = domain;
	node->in = in;
	node->nin = n;
	if (*domain)
		hu_onnx_rewrite_domain(f->w, domain, 1);
}

/* A product of codes without a QuantizeLinear behind it gives numbers. */
static int
to_float(fusing *f, hu_onnx_node *node, const hu_onnx_node *a, const hu_onnx_node *b)
{
	const char **in = hu_onnx_rewrite_room(f->w, 6, sizeof *in);

	if (strcmp(node->op, "MatMul") || read_type(f, a) != HU_ONNX_UINT8)
		return 0;
	for (size_t k = 0; k < 3; k++) {
		in[2 * k] = a->in[k];
		in[2 * k + 1] = b->in[k];
	}
	become(f, node, "MatMulIntegerToFloat", "com.microsoft", in, 6, "");
	return 1;
}

static void
fuse(fusing *f, size_t i)
{
	hu_onnx_node *node = &f->g->node[i];
	const struct kernel *k = kernel_of(node);
	int gemm = !strcmp(node->op, "Gemm");
	size_t operands = k && k->operands ? (size_t)k->operands : node->nin, n = 0;

	if (!k || node->nin < operands ||
		(gemm && node->nin > 2 && *node->in[2] &&
			(hu_onnx_float(node, "alpha", 1) != 1 || hu_onnx_float(node, "beta", 1) != 1)))
		return;
	for (size_t j = 0; j < node->nin; j++)
		if (*node->in[j] && !source(f, node->in[j]))
			return;
	int at = sink(f, node->out[0]);
	const hu_onnx_node *a = source(f, node->in[0]), *b = operands > 1 ? source(f, node->in[1]) : NULL;
	if (at < 0 && !(b && to_float(f, node, a, b)))
		return;
	if (at < 0)
		return;
	const hu_onnx_node *q = &f->g->node[at];
	int type = read_type(f, a);
	if (type != read_type(f, q) || (k->is_product && type == HU_ONNX_INT8))
		return;
	for (size_t j = 1; j < operands && !k->is_product; j++)
		if (read_type(f, source(f, node->in[j])) != type)
			return;
	const char **in = hu_onnx_rewrite_room(f->w, 3 * node->nin + 6, sizeof *in);
	if (!k->operands) {
		in[n++] = q->in[1];
		in[n++] = q->in[2];
	}
	for (size_t j = 0; j < operands; j++)
		put(in, &n, source(f, node->in[j]));
	if (gemm)
		in[n++] = node->nin > 2 && *node->in[2] ? source(f, node->in[2])->in[0] : "";
	if (k->operands) {
		in[n++] = q->in[1];
		in[n++] = q->in[2];
	}
	if (!gemm && k->is_product && node->nin > 2 && *node->in[2])
		in[n++] = source(f, node->in[2])->in[0];
	const char *was = node->op;
	become(f, node, k->to, k->domain, in, n, gemm ? "beta" : "");
	if (!strcmp(was, "Softmax"))
		hu_onnx_rewrite_attr(f->w, node, "opset", hu_onnx_version(f->w->from, ""));
	node->out[0] = q->out[0];
	f->dropped[at] = 1;
}

void
hu_ort_fuse(hu_onnx_rewrite *w)
{
	fusing f = { .w = w, .g = w->to->graph };
	size_t n = 0;

	hu_affine_pairs(w);
	f.dropped = hu_xcalloc(f.g->nnode + 1, 1);
	count(&f);
	make_unsigned(&f);
	for (size_t i = 0; i < f.g->nnode; i++)
		fuse(&f, i);
	for (size_t i = 0; i < f.g->nnode; i++)
		if (!f.dropped[i])
			f.g->node[n++] = f.g->node[i];
	f.g->nnode = n;
	hu_ort_fuse_nbits(w);
	free(f.dropped);
	json_decref(f.made);
	json_decref(f.readers);
	json_decref(f.zero);
}
