/* SPDX-License-Identifier: Apache-2.0
   Attention and rotary embeddings of opset 23 and later: products, a softmax and moves. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The operands as batch x heads x rows x columns, and what the node asks for. */
typedef struct heads {
	int t;
	size_t batch, heads, rows, columns;
} heads;

static hu_shape
shape_of(const heads *h)
{
	return hu_shape4(h->batch, h->heads, h->rows, h->columns);
}

/* T of shape S with its axes 1 and 2 exchanged. */
static int
exchange(hu_importing *c, int t, hu_shape s)
{
	hu_axes x = hu_axes_same(hu_shape4(s.d[0], s.d[2], s.d[1], s.d[3]));

	x.from[1] = 2;
	x.from[2] = 1;
	return hu_import_move(c, t, &x);
}

/* V by heads: batch x heads x rows x columns, or batch x rows x (heads * columns), whose heads are attribute NAME. */
static int
by_heads(hu_importing *c, hu_value *v, const char *name, heads *h)
{
	int64_t n = hu_import_int(c, name, 0);

	if (!v || (v->rank != 3 && v->rank != 4))
		return hu_import_fail(c, HU_EFILE, "it needs values of three or four axes");
	if (v->rank == 4) {
		*h = (heads){ hu_import_plain(c, v), v->d[0], v->d[1], v->d[2], v->d[3] };
		return 0;
	}
	if (n < 1 || v->d[2] % (size_t)n)
		return hu_import_fail(
			c, HU_EFILE, "'%.120s' does not divide into %lld heads (%s)", v->name, (long long)n, name);
	*h = (heads){ -1, v->d[0], (size_t)n, v->d[1], v->d[2] / (size_t)n };
	int t = hu_import_flat(c, hu_import_plain(c, v), hu_shape4(h->batch, h->rows, h->heads, h->columns));
	h->t = exchange(c, t, hu_shape4(h->batch, h->rows, h->heads, h->columns));
	return h->t < 0 ? -1 : 0;
}

/* Rows of input I before those of H. */
static void
put_past(hu_importing *c, size_t i, heads *h)
{
	hu_value *past = hu_import_in(c, i);

	if (!past)
		return;
	if (past->rank != 4 || past->d[0] != h->batch || past->d[1] != h->heads || past->d[3] != h->columns) {
		hu_import_fail(c, HU_EFILE, "'%.120s' does not fit the present values", past->name);
		return;
	}
	int both[2] = { hu_import_plain(c, past), h->t };
	hu_import_set(c, "axis", 2);
	h->t = hu_import_call(c, "concat", HU_NO_FORMAT, both, 2);
	h->rows += past->d[2];
}

/* Each head N times, one after another. */
static void
repeat(hu_importing *c, heads *h, size_t n)
{
	if (n == 1 || h->t < 0)
		return;
	int t = hu_import_flat(c, h->t, hu_shape4(h->batch * h->heads, 1, h->rows, h->columns));
	t = hu_import_expand(c, t, hu_shape4(h->batch * h->heads, n, h->rows, h->columns));
	h->heads *= n;
	h->t = hu_import_flat(c, t, shape_of(h));
}

static int
times(hu_importing *c, int t, double x)
{
	hu_import_set(c, "factor", x);
	return hu_import_call1(c, "scale", t);
}

/* A x B, or A x B' where TB, for each head. */
static int
product(hu_importing *c, const heads *a, const heads *b, int tb)
{
	size_t n = a->batch * a->heads;
	int x = hu_import_flat(c, a->t, hu_shape3(n, a->rows, a->columns)),
	    y = hu_import_flat(c, b->t, hu_shape3(n, b->rows, b->columns));

	hu_import_set(c, "batch", 1);
	hu_import_set(c, "tb", tb);
	return hu_import_call2(c, "matmul", x, y);
}

static void
put_out(hu_importing *c, size_t i, int type, const heads *h)
{
	size_t d[4] = { h->batch, h->heads, h->rows, h->columns };

	hu_import_out(c, i, type, 4, d)->plain = h->t;
}

void
hu_node_attention(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *past = hu_import_in(c, 4);
	heads q, k, w;
	int64_t mode = hu_import_int(c, "qk_matmul_output_mode", 0),
		precision = hu_import_int(c, "softmax_precision", HU_ONNX_FLOAT);
	double cap = hu_import_real(c, "softcap", 0);

	if (by_heads(c, v, "q_num_heads", &q) < 0 || by_heads(c, hu_import_in(c, 1), "kv_num_heads", &k) < 0 ||
		by_heads(c, hu_import_in(c, 2), "kv_num_heads", &w) < 0)
		return;
	put_past(c, 4, &k);
	put_past(c, 5, &w);
	put_out(c, 1, v->type, &k);
	put_out(c, 2, v->type, &w);
	if (precision != HU_ONNX_FLOAT && precision != HU_ONNX_DOUBLE && precision != v->type) {
		hu_import_fail(c, HU_EUNABLE, "its softmax in type %s is not possible; FLOAT is",
			hu_onnx_type_name((int)precision));
		return;
	}
	if (k.rows != w.rows || k.heads != w.heads || q.heads % k.heads || q.columns != k.columns ||
		k.batch != q.batch || w.batch != q.batch) {
		hu_import_fail(c, HU_EFILE, "queries, keys and values do not fit each other");
		return;
	}
	double scale = sqrt(hu_import_real(c, "scale", 1 / sqrt((double)q.columns)));
	repeat(c, &k, q.heads / k.heads);
	repeat(c, &w, q.heads / w.heads);
	hu_shape s = hu_shape4(q.batch, q.heads, q.rows, k.rows);
	q.t = times(c, q.t, scale);
	k.t = times(c, k.t, scale);
	int t = hu_import_flat(c, product(c, &q, &k, 1), s), returned = t;
	if (cap > 0)
		t = returned = times(c, hu_import_call1(c, "tanh", times(c, t, 1 / cap)), cap);
	int empty = -1, bias = hu_attention_bias(c, v->type, s, past ? past->d[2] : 0, &empty);
	returned = bias >= 0 && mode == 2 ? hu_import_call2(c, "add", t, bias) : returned;
	heads p = { hu_attention_softmax(c, v->type, t, bias, empty), q.batch, q.heads, q.rows, k.rows };
	heads y = { returned, q.batch, q.heads, q.rows, k.rows };
	if (mode == 3)
		y.t = p.t;
	put_out(c, 3, v->type, &y);
	y.columns = w.columns;
	y.t = hu_import_flat(c, product(c, &p, &w, 0), shape_of(&y));
	if (v->rank == 4) {
		put_out(c, 0, v->type, &y);
		return;
	}
	size_t d[3] = { y.batch, y.rows, y.heads * y.columns };
	t = hu_import_flat(c, exchange(c, y.t, shape_of(&y)), hu_shape3(d[0], d[1], d[2]));
	hu_import_out(c, 0, v->type, 3, d)->plain = t;
}

/* Part I of N of the last axis of T, whose elements lie N apart where the parts are interleaved. */
static int
part(hu_importing *c, int t, size_t i, size_t n, size_t length, int interleaved)
{
	if (t < 0)
		return -1;
	hu_axes x = hu_axes_same(c->p->t[t].shape);
	int last = x.s.rank - 1;
	x.s.d[last] = length;
	x.start[last] = (double)(interleaved ? i : i * length);
	x.step[last] = interleaved ? (double)n : 1;
	return hu_import_move(c, t, &x);
}

/* Input I, a row of N numbers a position, for all heads: of the positions that input 3 names, or in their order. */
static int
angles(hu_importing *c, size_t i, const heads *h, size_t n)
{
	hu_value *v = hu_import_in(c, i), *at = hu_import_in(c, 3);

	if (!v || !v->n || v->d[v->rank - 1] != n)
		return hu_import_fail(c, HU_EFILE, "its caches need %zu columns", n);
	int t = hu_import_plain(c, v);
	if (at) {
		int place = hu_import_flat(c, hu_import_plain(c, at), hu_shape1(at->n));
		t = hu_import_flat(c, t, hu_shape2(v->n / n, n));
		hu_import_set(c, "axis", 0);
		t = hu_import_call2(c, "gather", t, place);
	}
	if (t < 0 || hu_count(c->p->t[t].shape) != h->batch * h->rows * n)
		return hu_import_fail(c, HU_EFILE, "its caches have no row for each position");
	t = hu_import_flat(c, t, hu_shape4(h->batch, 1, h->rows, n));
	return hu_import_expand(c, t, hu_shape4(h->batch, h->heads, h->rows, n));
}

void
hu_node_rotary(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int64_t some = hu_import_int(c, "rotary_embedding_dim", 0);
	int apart = hu_import_int(c, "interleaved", 0) != 0;
	heads h;

	if (by_heads(c, v, "num_heads", &h) < 0)
		return;
	size_t all = some > 0 ? (size_t)some : h.columns, n = all / 2;
	if (all > h.columns || all % 2) {
		hu_import_fail(c, HU_EFILE, "%zu of %zu columns cannot be rotated", all, h.columns);
		return;
	}
	int x = hu_import_part(c, h.t, 3, 0, all), a = part(c, x, 0, 2, n, apart), b = part(c, x, 1, 2, n, apart),
	    cosine = angles(c, 1, &h, n), sine = angles(c, 2, &h, n);
	int real = hu_import_call2(c, "sub", hu_import_call2(c, "mul", cosine, a), hu_import_call2(c, "mul", sine, b));
	int imaginary =
		hu_import_call2(c, "add", hu_import_call2(c, "mul", sine, a), hu_import_call2(c, "mul", cosine, b));
	if (apart) { /* one of either in turn */
		size_t rows = h.batch * h.heads * h.rows * n;
		real = hu_import_flat(c, real, hu_shape2(rows, 1));
		imaginary = hu_import_flat(c, imaginary, hu_shape2(rows, 1));
	}
	hu_import_set(c, "axis", apart ? 1 : 3);
	int t = hu_import_call2(c, "concat", real, imaginary);
	t = hu_import_flat(c, t, hu_shape4(h.batch, h.heads, h.rows, all));
	if (all < h.columns) {
		int rest = hu_import_part(c, h.t, 3, all, h.columns - all);
		hu_import_set(c, "axis", 3);
		t = hu_import_call2(c, "concat", t, rest);
	}
	if (v->rank == 3)
		t = hu_import_flat(c, exchange(c, t, shape_of(&h)), hu_shape3(v->d[0], v->d[1], v->d[2]));
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}
