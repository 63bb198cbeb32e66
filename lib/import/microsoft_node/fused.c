/* SPDX-License-Identifier: Apache-2.0
   ONNX Runtime's fused nodes: sums with norms, functions with biases, products with what follows them. */
#include "lib/import/microsoft_node/inner.h"

#include <string.h>

static hu_value *
add(hu_inner *x, hu_value *a, hu_value *b)
{
	return hu_inner_two(x, hu_node_binary, "Add", a, b);
}

/* The last axis of V less its mean and over its deviation, or SIMPLE: over its root mean square. */
static hu_value *
norm(hu_inner *x, hu_value *v, hu_value *scale, hu_value *bias, double epsilon, int simple)
{
	hu_onnx_attr attr[2] = { hu_inner_real("epsilon", epsilon), hu_inner_whole("axis", -1) };
	hu_value *in[3] = { v, scale, bias };

	if (!v || !scale)
		return NULL;
	return simple ? hu_inner_node(x, hu_node_rmsnorm, "RMSNormalization", in, 2, attr, 2)
		      : hu_inner_node(x, hu_node_layernorm, "LayerNormalization", in, bias ? 3 : 2, attr, 2);
}

/* Output 3 is the sum, in the order x + skip, + bias. */
void
hu_node_skip_norm(hu_importing *c)
{
	int simple = strstr(c->node->op, "Simplified") != NULL;
	hu_value *v = hu_import_in(c, 0), *skip = hu_import_in(c, 1), *scale = hu_import_in(c, 2),
		 *bias = simple ? NULL : hu_import_in(c, 3), *more = hu_import_in(c, simple ? 3 : 4);
	double epsilon = hu_import_real(c, "epsilon", (double)1e-12f);
	hu_inner x;

	if (!v || !skip || !scale)
		return;
	hu_inner_begin(&x, c);
	hu_value *sum = add(&x, v, skip);
	if (more)
		sum = add(&x, sum, more);
	hu_inner_put(&x, 0, norm(&x, sum, scale, bias, epsilon, simple));
	hu_inner_put(&x, 3, sum);
	hu_inner_end(&x);
}

void
hu_node_simple_norm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *scale = hu_import_in(c, 1);
	double epsilon = hu_import_real(c, "epsilon", (double)1e-5f);
	hu_inner x;

	if (!v || !scale)
		return;
	if (hu_import_axis(c, (double)hu_import_int(c, "axis", -1), v->rank) != v->rank - 1 ||
		hu_import_int(c, "stash_type", HU_ONNX_FLOAT) != HU_ONNX_FLOAT) {
		hu_import_fail(
			c, HU_EUNABLE, "only rows along the last axis, and statistics of type FLOAT, are possible");
		return;
	}
	hu_inner_begin(&x, c);
	hu_inner_put(&x, 0, norm(&x, v, scale, NULL, epsilon, 1));
	hu_inner_end(&x);
}

/* The number of ones in each row of the mask, input 7; 0 without one. */
static hu_value *
mask_index(hu_inner *x, hu_value *mask, size_t batch)
{
	hu_importing *c = x->c;

	if (!mask)
		return hu_inner_value(x, HU_ONNX_INT32, 1, &batch,
			hu_import_expand(c, hu_import_number(c, HU_ONNX_INT32, 0), hu_shape1(batch)));
	int t = hu_import_plain(c, mask);
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 0);
	return hu_inner_value(x, HU_ONNX_INT32, 1, &batch, hu_import_call1(c, "reduce_sum", t));
}

/* Rows of tables by token, place and segment, their sum, and its norm. */
void
hu_node_embed_norm(hu_importing *c)
{
	hu_value *ids = hu_import_in(c, 0), *segment = hu_import_in(c, 1), *word = hu_import_in(c, 2),
		 *place = hu_import_in(c, 3), *of = hu_import_in(c, 4), *scale = hu_import_in(c, 5),
		 *bias = hu_import_in(c, 6), *mask = hu_import_in(c, 7), *at = hu_import_in(c, 8);
	double epsilon = hu_import_real(c, "epsilon", (double)1e-12f);
	hu_inner x;

	if (!ids || !word || !place || !scale || !bias)
		return;
	if (ids->rank != 2 || place->rank != 2 || (!at && place->d[0] < ids->d[1])) {
		hu_import_fail(c, HU_EFILE, "its ids and its table of places do not fit each other");
		return;
	}
	hu_inner_begin(&x, c);
	hu_value *sum = hu_inner_two(&x, hu_node_gather, "Gather", word, ids), *p;
	if (at) {
		p = hu_inner_two(&x, hu_node_gather, "Gather", place, at);
	} else {
		size_t d[2] = { ids->d[1], place->d[1] };
		p = hu_inner_value(
			&x, place->type, 2, d, hu_import_part(c, hu_import_plain(c, place), 0, 0, ids->d[1]));
	}
	sum = add(&x, sum, p);
	if (segment && of)
		sum = add(&x, sum, hu_inner_two(&x, hu_node_gather, "Gather", of, segment));
	hu_inner_put(&x, 0, norm(&x, sum, scale, bias, epsilon, 0));
	hu_inner_put(&x, 1, mask_index(&x, mask, ids->d[0]));
	hu_inner_put(&x, 2, sum);
	hu_inner_end(&x);
}

/* BiasGelu and FastGelu, whose form is the one with tanh. */
void
hu_node_bias_gelu(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *bias = hu_import_in(c, 1);
	hu_onnx_attr form = { .name = "approximate", .s = strstr(c->node->op, "Fast") ? "tanh" : "none" };
	hu_inner x;

	if (!v)
		return;
	hu_inner_begin(&x, c);
	v = bias ? add(&x, v, bias) : v;
	hu_inner_put(&x, 0, hu_inner_node(&x, hu_node_gelu, "Gelu", &v, 1, &form, 1));
	hu_inner_end(&x);
}

/* x times the sigmoid of alpha x. */
void
hu_node_quick_gelu(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double alpha = hu_import_real(c, "alpha", (double)1.702f);
	hu_inner x;

	if (!v)
		return;
	hu_inner_begin(&x, c);
	hu_value *k = hu_inner_two(&x, hu_node_binary, "Mul", v, hu_inner_number(&x, v->type, alpha));
	k = hu_inner_one(&x, hu_node_unary, "Sigmoid", k);
	hu_inner_put(&x, 0, hu_inner_two(&x, hu_node_binary, "Mul", v, k));
	hu_inner_end(&x);
}

/* V with its last two axes exchanged (TURN), once its first axis stands before the last one (BATCH). */
static hu_value *
turned(hu_inner *x, hu_value *v, int turn, int batch)
{
	int64_t perm[HU_RANK];
	int n = v ? v->rank : 0;

	if (!v || (!turn && !batch))
		return v;
	for (int i = 0; i < n; i++)
		perm[i] = i;
	for (int i = 0; i < n - 1 && batch; i++)
		perm[i] = i < n - 2 ? i + 1 : 0;
	if (turn && n > 1) {
		int64_t was = perm[n - 1];
		perm[n - 1] = perm[n - 2];
		perm[n - 2] = was;
	}
	hu_onnx_attr attr = { .name = "perm", .nints = (size_t)n, .ints = perm };
	return hu_inner_node(x, hu_node_transpose, "Transpose", &v, 1, &attr, 1);
}

void
hu_node_fused_matmul(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1);
	double alpha = hu_import_real(c, "alpha", 1);
	int ta = hu_import_int(c, "transA", 0) != 0, tb = hu_import_int(c, "transB", 0) != 0,
	    ba = hu_import_int(c, "transBatchA", 0) != 0, bb = hu_import_int(c, "transBatchB", 0) != 0;
	hu_inner x;

	hu_inner_begin(&x, c);
	a = turned(&x, a, ta, ba);
	b = turned(&x, b, tb, bb);
	hu_value *y = hu_inner_two(&x, hu_node_matmul, "MatMul", a, b);
	if (y && alpha != 1) {
		hu_import_set(c, "factor", alpha);
		y = hu_inner_value(&x, y->type, y->rank, y->d, hu_import_call1(c, "scale", hu_import_plain(c, y)));
	}
	hu_inner_put(&x, 0, y);
	hu_inner_end(&x);
}

/* V under the activation that the node names, whose parameters are P. */
static hu_value *
activated(hu_inner *x, hu_value *v, const char *name, const float *p, size_t n)
{
	hu_onnx_attr attr[2] = { hu_inner_real("alpha", n > 0 ? (double)p[0] : 0),
		hu_inner_real("beta", n > 1 ? (double)p[1] : 0) };

	if (!*name || !v)
		return v;
	if (!strcmp(name, "Relu") || !strcmp(name, "Sigmoid") || !strcmp(name, "Tanh"))
		return hu_inner_one(x, hu_node_unary, name, v);
	if (!strcmp(name, "LeakyRelu"))
		return hu_inner_node(x, hu_node_leaky_relu, name, &v, 1, attr, n > 0);
	if (!strcmp(name, "HardSigmoid"))
		return hu_inner_node(x, hu_node_hardsigmoid, name, &v, 1, attr, n > 1 ? 2 : n);
	if (!strcmp(name, "Clip") && n > 1) {
		hu_value *in[3] = { v, hu_inner_number(x, v->type, (double)p[0]),
			hu_inner_number(x, v->type, (double)p[1]) };
		return hu_inner_node(x, hu_node_clip, name, in, 3, NULL, 0);
	}
	hu_import_fail(x->c, HU_EUNABLE, "its activation '%.60s' is not known", name);
	return NULL;
}

/* Gemm and then an activation. */
void
hu_node_fused_gemm(hu_importing *c)
{
	hu_value *in[3] = { hu_import_in(c, 0), hu_import_in(c, 1), hu_import_in(c, 2) };
	float p[2] = { (float)hu_import_real(c, "activation_alpha", 0),
		(float)hu_import_real(c, "activation_beta", 0) };
	const char *name = hu_import_text(c, "activation", "");
	size_t n = hu_import_attr(c, "activation_beta") ? 2 : hu_import_attr(c, "activation_alpha") ? 1 : 0;
	hu_inner x;

	if (!in[0] || !in[1])
		return;
	hu_inner_begin(&x, c);
	hu_value *y = hu_inner_node(&x, hu_node_gemm, "Gemm", in, in[2] ? 3 : 2, c->node->attr, c->node->nattr);
	hu_inner_put(&x, 0, activated(&x, y, name, p, n));
	hu_inner_end(&x);
}

/* Conv, plus input 3, and then an activation. */
void
hu_node_fused_conv(hu_importing *c)
{
	hu_value *in[3] = { hu_import_in(c, 0), hu_import_in(c, 1), hu_import_in(c, 2) }, *more = hu_import_in(c, 3);
	const hu_onnx_attr *p = hu_import_attr(c, "activation_params");
	const char *name = hu_import_text(c, "activation", "");
	hu_inner x;

	if (!in[0] || !in[1])
		return;
	hu_inner_begin(&x, c);
	hu_value *y = hu_inner_node(&x, hu_node_conv, "Conv", in, in[2] ? 3 : 2, c->node->attr, c->node->nattr);
	y = more ? add(&x, y, more) : y;
	hu_inner_put(&x, 0, activated(&x, y, name, p ? p->floats : NULL, p ? p->nfloats : 0));
	hu_inner_end(&x);
}
