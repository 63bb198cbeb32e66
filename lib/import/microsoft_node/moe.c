/* SPDX-License-Identifier: Apache-2.0
   A mixture of experts: each of them computes every row, and a row's sum has those of its K largest probabilities. */
#include "lib/import/microsoft_node/inner.h"

#include <stdlib.h>
#include <string.h>

/* The probabilities P of N experts for each row, 0 but for the K largest, which sum to 1 where NORMAL. */
static int
weights(hu_inner *x, int p, int type, size_t rows, size_t n, size_t k, int normal)
{
	hu_importing *c = x->c;
	size_t d[2] = { rows, n }, one[1] = { 1 };
	double most[1] = { (double)k };
	hu_value *in[2] = { hu_inner_value(x, type, 2, d, p),
		hu_inner_value(x, HU_ONNX_INT64, 1, one, hu_import_numbers(c, HU_ONNX_INT64, 1, one, most)) };
	hu_value *top = in[0] && in[1] ? hu_inner_node(x, hu_node_top_k, "TopK", in, 2, NULL, 0) : NULL;

	if (!top)
		return -1;
	int last = hu_import_part(c, hu_import_plain(c, top), 1, k - 1, 1),
	    is = hu_import_truth(c, "greater_equal", p, hu_import_expand(c, last, hu_shape2(rows, n)));
	int w = is < 0 ? -1 : hu_import_call(c, "where", HU_FP32, (int[]){ is, p, hu_import_like(c, p, type, 0) }, 3);
	if (!normal || w < 0)
		return w;
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 1);
	int sum = hu_import_call1(c, "reduce_sum", w);
	return hu_import_call2(c, "div", w, hu_import_expand(c, sum, hu_shape2(rows, n)));
}

/* Rows T of D elements times expert E's matrix of F x D in V, plus its row of BIAS (NULL: none). */
static int
expert(hu_importing *c, int t, hu_value *v, hu_value *bias, size_t e)
{
	int w = hu_import_flat(c, hu_import_part(c, hu_import_plain(c, v), 0, e, 1), hu_shape2(v->d[1], v->d[2]));

	hu_import_set(c, "tb", 1);
	t = hu_import_call2(c, "matmul", t, w);
	if (!bias)
		return t;
	int b = hu_import_flat(c, hu_import_part(c, hu_import_plain(c, bias), 0, e, 1), hu_shape1(v->d[1]));
	return hu_import_call2(c, "bias", t, b);
}

static int
activated(hu_importing *c, int t, const char *name)
{
	if (!strcmp(name, "identity"))
		return t;
	if (!strcmp(name, "gelu")) /* whose form is the one with tanh */
		hu_import_set_text(c, "approx", "tanh");
	else if (strcmp(name, "relu") && strcmp(name, "silu"))
		return hu_import_fail(c, HU_EUNABLE, "its activation '%.60s' is not known", name);
	return hu_import_call1(c, name, t);
}

/* 1 where V holds a matrix of A x B for each of N experts. */
static int
fits(const hu_value *v, size_t n, size_t a, size_t b)
{
	return v && v->rank == 3 && v->d[0] == n && v->d[1] == a && v->d[2] == b;
}

void
hu_node_moe(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *router = hu_import_in(c, 1), *w1 = hu_import_in(c, 2),
		 *b1 = hu_import_in(c, 3), *w2 = hu_import_in(c, 4), *b2 = hu_import_in(c, 5), *w3 = hu_import_in(c, 6),
		 *b3 = hu_import_in(c, 7);
	const char *name = hu_import_text(c, "activation_type", "relu");
	int64_t k = hu_import_int(c, "k", 1);
	int normal = hu_import_int(c, "normalize_routing_weights", 0) != 0, all = -1;
	hu_inner x;

	if (!v || !router || !w1 || !w2)
		return;
	size_t d = v->rank ? v->d[v->rank - 1] : 0, rows = d ? v->n / d : 0, n = w1->d[0], f = w1->d[1];
	if (!rows || router->rank != 2 || router->d[0] != rows || router->d[1] != n || !fits(w1, n, f, d) ||
		!fits(w2, n, d, f) || (w3 && !fits(w3, n, f, d)) || k < 1 || (size_t)k > n) {
		hu_import_fail(c, HU_EFILE, "its input, router and experts do not fit each other");
		return;
	}
	hu_inner_begin(&x, c);
	int t = hu_import_flat(c, hu_import_plain(c, v), hu_shape2(rows, d)), r = hu_import_plain(c, router);
	hu_import_set(c, "axis", 1);
	int w = weights(&x, hu_import_call1(c, "softmax", r), router->type, rows, n, (size_t)k, normal);
	for (size_t e = 0; e < n && c->st == HU_OK; e++) {
		int h = activated(c, expert(c, t, w1, b1, e), name);
		if (w3)
			h = hu_import_call2(c, "mul", h, expert(c, t, w3, b3, e));
		int y = expert(c, h, w2, b2, e),
		    share = hu_import_expand(c, hu_import_part(c, w, 1, e, 1), hu_shape2(rows, d));
		y = hu_import_call2(c, "mul", y, share);
		all = e ? hu_import_call2(c, "add", all, y) : y;
	}
	all = hu_import_flat(c, all, hu_import_shape(v->rank, v->d));
	hu_inner_put(&x, 0, hu_inner_value(&x, v->type, v->rank, v->d, all));
	hu_inner_end(&x);
}
