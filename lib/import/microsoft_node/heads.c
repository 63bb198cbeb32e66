/* SPDX-License-Identifier: Apache-2.0
   ONNX Runtime's attention: Attention with its projection, MultiHeadAttention and GroupQueryAttention become ONNX's
   Attention with a mask that is added; RotaryEmbedding becomes ONNX's. */
#include "lib/import/microsoft_node/inner.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* V of batch x rows x (heads * columns) as batch x heads x rows x columns; of four axes it is that already. */
static hu_value *
by_heads(hu_inner *x, hu_value *v, size_t heads)
{
	static const int64_t perm[] = { 0, 2, 1, 3 };
	hu_onnx_attr attr = { .name = "perm", .nints = 4, .ints = perm };

	if (!v || v->rank == 4)
		return v;
	if (v->rank != 3 || !heads || v->d[2] % heads) {
		hu_import_fail(x->c, HU_EFILE, "its operands do not divide into %zu heads", heads);
		return NULL;
	}
	size_t d[4] = { v->d[0], v->d[1], heads, v->d[2] / heads };
	int t = hu_import_flat(x->c, hu_import_plain(x->c, v), hu_import_shape(4, d));
	hu_value *y = hu_inner_value(x, v->type, 4, d, t);
	return y ? hu_inner_node(x, hu_node_transpose, "Transpose", &y, 1, &attr, 1) : NULL;
}

/* A before B along axis 2; B where A is NULL. */
static hu_value *
behind(hu_inner *x, hu_value *a, hu_value *b)
{
	hu_onnx_attr attr = hu_inner_whole("axis", 2);
	hu_value *in[2] = { a, b };

	if (!a || !b || !a->n)
		return b;
	return hu_inner_node(x, hu_node_concat, "Concat", in, 2, &attr, 1);
}

/* Elements FROM … FROM + N - 1 of the last axis of V. */
static hu_value *
part(hu_inner *x, hu_value *v, size_t from, size_t n)
{
	size_t d[HU_RANK];

	if (!v || from + n > v->d[v->rank - 1]) {
		hu_import_fail(x->c, HU_EFILE, "its operands do not hold queries, keys and values");
		return NULL;
	}
	memcpy(d, v->d, sizeof d);
	d[v->rank - 1] = n;
	return hu_inner_value(
		x, v->type, v->rank, d, hu_import_part(x->c, hu_import_plain(x->c, v), v->rank - 1, from, n));
}

static hu_value *
sum(hu_inner *x, hu_value *a, hu_value *b)
{
	return !a ? b : !b ? a : hu_inner_two(x, hu_node_binary, "Add", a, b);
}

/* FILTER where truth value T is false, else 0. */
static int
filtered(hu_importing *c, int t, double filter)
{
	if (t < 0)
		return -1;
	hu_shape s = c->p->t[t].shape;
	int no = hu_import_expand(c, hu_import_number(c, HU_ONNX_FLOAT, filter), s),
	    yes = hu_import_expand(c, hu_import_number(c, HU_ONNX_FLOAT, 0), s);
	return hu_import_call(c, "where", HU_FP32, (int[]){ t, yes, no }, 3);
}

/* The mask V of keys as numbers to add: a number of keys for each batch, or a truth value for each key, perhaps of each
   row. NULL: there is none. */
static hu_value *
key_mask(hu_inner *x, hu_value *v, size_t batch, size_t rows, size_t keys, double filter)
{
	hu_importing *c = x->c;
	size_t d[4] = { batch, 1, 1, keys };
	int t;

	if (!v)
		return NULL;
	if (v->rank == 1 && v->n == batch) {
		double *at = hu_import_room(c, keys);
		for (size_t i = 0; at && i < keys; i++)
			at[i] = (double)i;
		int place = at ? hu_import_numbers(c, HU_ONNX_INT64, 1, &keys, at) : -1,
		    n = hu_import_flat(c, hu_import_plain(c, v), hu_shape4(batch, 1, 1, 1));
		free(at);
		place = hu_import_expand(c, place, hu_import_shape(4, d));
		n = hu_import_expand(c, n, hu_import_shape(4, d));
		t = hu_import_truth(c, "less", place, n);
	} else if ((v->rank == 2 && v->n == batch * keys) || (v->rank == 3 && v->n == batch * rows * keys)) {
		d[2] = v->rank == 3 ? rows : 1;
		t = hu_import_flat(c, hu_import_plain(c, v), hu_import_shape(4, d));
	} else {
		hu_import_fail(c, HU_EUNABLE, "a mask of this shape is not known");
		return NULL;
	}
	return hu_inner_value(x, HU_ONNX_FLOAT, 4, d, filtered(c, t, filter));
}

/* -inf for the keys after each row, the last of which is the last key, and for those that are WINDOW or more before it
   (0: none are); the key in front of all (SINK) is always there. */
static hu_value *
causal(hu_inner *x, size_t rows, size_t keys, size_t window, size_t sink)
{
	size_t d[4] = { 1, 1, rows, keys }, past = keys - sink - rows;
	double *at = hu_import_room(x->c, rows * keys);

	for (size_t i = 0; at && i < rows; i++)
		for (size_t j = 0; j < keys; j++) {
			int64_t back = (int64_t)(past + i) - (int64_t)(j - sink);
			int seen = (sink && !j) || (back >= 0 && (!window || back < (int64_t)window));
			at[i * keys + j] = seen ? 0 : -INFINITY;
		}
	hu_value *v =
		hu_inner_value(x, HU_ONNX_FLOAT, 4, d, at ? hu_import_numbers(x->c, HU_ONNX_FLOAT, 4, d, at) : -1);
	free(at);
	return v;
}

/* ONNX's Attention of queries of three axes, and keys and values by heads. */
static hu_value *
attention(hu_inner *x, hu_value *q, hu_value *k, hu_value *v, hu_value *mask, size_t heads, double scale, double cap)
{
	hu_onnx_attr attr[4] = { hu_inner_whole("q_num_heads", (int64_t)heads),
		hu_inner_whole("kv_num_heads", k ? (int64_t)k->d[1] : 1), hu_inner_real("scale", scale),
		hu_inner_real("softcap", cap) };
	hu_value *in[4] = { q, k, v, mask };

	if (!q || !k || !v)
		return NULL;
	return hu_inner_node(x, hu_node_attention, "Attention", in, mask ? 4 : 3, attr, scale > 0 ? 4 : 2);
}

/* The node's scale; by default that of queries Q of HEADS heads. */
static double
scale_of(hu_importing *c, const hu_value *q, size_t heads)
{
	double scale = hu_import_real(c, "scale", 0);

	return scale > 0 ? scale : 1 / sqrt((double)q->d[2] / (double)heads);
}

void
hu_node_multi_head(hu_importing *c)
{
	hu_value *q = hu_import_in(c, 0), *k = hu_import_in(c, 1), *v = hu_import_in(c, 2), *bias = hu_import_in(c, 3),
		 *mask = hu_import_in(c, 4), *more = hu_import_in(c, 5), *past_k = hu_import_in(c, 6),
		 *past_v = hu_import_in(c, 7);
	size_t heads = (size_t)hu_import_int(c, "num_heads", 0);
	double filter = hu_import_real(c, "mask_filter_value", -10000);
	hu_inner x;

	if (!q)
		return;
	if (q->rank != 3 || !k || !v || heads < 1 || q->d[2] % heads) {
		hu_import_fail(c, HU_EUNABLE, "queries, keys and values must be apart, and divide into its heads");
		return;
	}
	hu_inner_begin(&x, c);
	double scale = scale_of(c, q, heads);
	if (bias) {
		size_t n = q->d[2], values = bias->n - 2 * n;
		q = sum(&x, q, part(&x, bias, 0, n));
		k = k->rank == 3 ? sum(&x, k, part(&x, bias, n, n)) : k;
		v = v->rank == 3 ? sum(&x, v, part(&x, bias, 2 * n, values)) : v;
	}
	k = behind(&x, past_k, by_heads(&x, k, heads));
	v = behind(&x, past_v, by_heads(&x, v, heads));
	if (q && k && v) {
		hu_value *add = key_mask(&x, mask, q->d[0], q->d[1], k->d[2], filter);
		if (hu_import_int(c, "unidirectional", 0))
			add = sum(&x, add, causal(&x, q->d[1], k->d[2], 0, 0));
		hu_inner_put(&x, 0, attention(&x, q, k, v, sum(&x, add, more), heads, scale, 0));
		hu_inner_put(&x, 1, k);
		hu_inner_put(&x, 2, v);
	}
	hu_inner_end(&x);
}

/* Half I of the past, which holds keys and then values. */
static hu_value *
half(hu_inner *x, hu_value *past, size_t i)
{
	if (!past)
		return NULL;
	if (past->rank != 5 || past->d[0] != 2) {
		hu_import_fail(x->c, HU_EFILE, "its past must hold keys and values");
		return NULL;
	}
	int t = hu_import_part(x->c, hu_import_plain(x->c, past), 0, i, 1);
	t = hu_import_flat(x->c, t, hu_import_shape(4, past->d + 1));
	return hu_inner_value(x, past->type, 4, past->d + 1, t);
}

/* K and V as one value of a new first axis. */
static hu_value *
present(hu_inner *x, hu_value *k, hu_value *v)
{
	hu_importing *c = x->c;
	size_t d[5] = { 2, k->d[0], k->d[1], k->d[2], k->d[3] };
	hu_shape one = { 5, { 1, d[1], d[2], d[3], d[4] } };
	int a = hu_import_flat(c, hu_import_plain(c, k), one), b = hu_import_flat(c, hu_import_plain(c, v), one);

	hu_import_set(c, "axis", 0);
	return hu_inner_value(x, k->type, 5, d, hu_import_call2(c, "concat", a, b));
}

void
hu_node_attention_projected(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *w = hu_import_in(c, 1), *bias = hu_import_in(c, 2),
		 *mask = hu_import_in(c, 3), *past = hu_import_in(c, 4), *more = hu_import_in(c, 5);
	size_t heads = (size_t)hu_import_int(c, "num_heads", 0);
	const hu_onnx_attr *sizes = hu_import_attr(c, "qkv_hidden_sizes");
	double filter = hu_import_real(c, "mask_filter_value", -10000);
	hu_inner x;

	if (!v || !w)
		return;
	if (v->rank != 3 || w->rank != 2 || heads < 1 || (sizes && sizes->nints != 3)) {
		hu_import_fail(c, HU_EFILE, "its input and weights do not fit");
		return;
	}
	size_t n[3] = { w->d[1] / 3, w->d[1] / 3, w->d[1] / 3 };
	for (int i = 0; sizes && i < 3; i++)
		n[i] = (size_t)sizes->ints[i];
	hu_inner_begin(&x, c);
	hu_value *all = sum(&x, hu_inner_two(&x, hu_node_matmul, "MatMul", v, w), bias);
	hu_value *q = part(&x, all, 0, n[0]), *k = by_heads(&x, part(&x, all, n[0], n[1]), heads),
		 *y = by_heads(&x, part(&x, all, n[0] + n[1], n[2]), heads);
	k = behind(&x, half(&x, past, 0), k);
	y = behind(&x, half(&x, past, 1), y);
	if (q && k && y) {
		hu_value *add = key_mask(&x, mask, q->d[0], q->d[1], k->d[2], filter);
		if (hu_import_int(c, "unidirectional", 0))
			add = sum(&x, add, causal(&x, q->d[1], k->d[2], 0, 0));
		hu_inner_put(&x, 0, attention(&x, q, k, y, sum(&x, add, more), heads, scale_of(c, q, heads), 0));
		if (c->node->nout > 1 && *c->node->out[1])
			hu_inner_put(&x, 1, present(&x, k, y));
	}
	hu_inner_end(&x);
}

/* V with rotated pairs of columns, of the positions AT. */
static hu_value *
rotated(hu_inner *x, hu_value *v, hu_value *at, hu_value *cosine, hu_value *sine, int64_t heads, int64_t some,
	int apart)
{
	hu_onnx_attr attr[3] = { hu_inner_whole("num_heads", heads), hu_inner_whole("interleaved", apart),
		hu_inner_whole("rotary_embedding_dim", some) };
	hu_value *in[4] = { v, cosine, sine, at };

	return v && at ? hu_inner_node(x, hu_node_rotary, "RotaryEmbedding", in, 4, attr, 3) : NULL;
}

/* Positions FROM … FROM + ROWS - 1, for each batch. */
static hu_value *
positions(hu_inner *x, size_t batch, size_t rows, double from)
{
	size_t d[2] = { batch, rows };
	double *at = hu_import_room(x->c, batch * rows);

	for (size_t i = 0; at && i < batch * rows; i++)
		at[i] = from + (double)(i % rows);
	hu_value *v =
		hu_inner_value(x, HU_ONNX_INT64, 2, d, at ? hu_import_numbers(x->c, HU_ONNX_INT64, 2, d, at) : -1);
	free(at);
	return v;
}

void
hu_node_rotary_pairs(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1), *cosine = hu_import_in(c, 2),
		 *sine = hu_import_in(c, 3);
	int64_t heads = hu_import_int(c, "num_heads", 0), some = hu_import_int(c, "rotary_embedding_dim", 0);
	int apart = hu_import_int(c, "interleaved", 0) != 0;
	hu_inner x;

	if (!v || !at || !cosine || !sine)
		return;
	if (v->rank < 3 || cosine->rank != 2) {
		hu_import_fail(c, HU_EFILE, "its input and tables do not fit");
		return;
	}
	if (v->rank == 3 && heads < 1)
		heads = (int64_t)(v->d[2] / (2 * cosine->d[1]));
	size_t batch = v->d[0], rows = v->rank == 3 ? v->d[1] : v->d[2];
	hu_inner_begin(&x, c);
	if (at->n == 1 && batch * rows > 1) { /* where the first row stands */
		double *from = hu_import_constant(c, at);
		at = from ? positions(&x, batch, rows, from[0]) : NULL;
		free(from);
	}
	hu_inner_put(&x, 0, rotated(&x, v, at, cosine, sine, heads, some, apart));
	hu_inner_end(&x);
}

/* A row of zeros in front of the keys or values V: e^0 is added to the softmax's denominator. */
static hu_value *
with_sink(hu_inner *x, hu_value *v)
{
	if (!v)
		return NULL;
	size_t d[4] = { v->d[0], v->d[1], 1, v->d[3] };
	int t = hu_import_expand(x->c, hu_import_number(x->c, v->type, 0), hu_import_shape(4, d));
	return behind(x, hu_inner_value(x, v->type, 4, d, t), v);
}

/* HU_EUNABLE where the past's buffer is longer than what it holds: seqlens_k, the keys of each batch less 1, says so.
 */
static int
fills_past(hu_importing *c, hu_value *lengths, size_t keys)
{
	double *n = lengths && hu_import_is_constant(c, lengths) ? hu_import_constant(c, lengths) : NULL;

	for (size_t i = 0; n && i < lengths->n; i++)
		if (n[i] + 1 != (double)keys)
			hu_import_fail(c, HU_EUNABLE,
				"its past has room for %zu keys with the present ones, and holds %.0f: buffers that "
				"are filled in part are not known",
				keys, n[i] + 1);
	free(n);
	return c->st == HU_OK;
}

void
hu_node_group_query(hu_importing *c)
{
	hu_value *q = hu_import_in(c, 0), *k = hu_import_in(c, 1), *v = hu_import_in(c, 2),
		 *past_k = hu_import_in(c, 3), *past_v = hu_import_in(c, 4), *lengths = hu_import_in(c, 5),
		 *cosine = hu_import_in(c, 7), *sine = hu_import_in(c, 8), *at = hu_import_in(c, 9),
		 *more = hu_import_in(c, 10);
	size_t heads = (size_t)hu_import_int(c, "num_heads", 0), groups = (size_t)hu_import_int(c, "kv_num_heads", 0);
	int64_t window = hu_import_int(c, "local_window_size", -1);
	int rotary = hu_import_int(c, "do_rotary", 0) != 0, apart = hu_import_int(c, "rotary_interleaved", 0) != 0,
	    smooth = hu_import_int(c, "smooth_softmax", 0) > 0;
	double cap = hu_import_real(c, "softcap", 0);
	hu_inner x;

	if (!q)
		return;
	if (q->rank != 3 || heads < 1 || groups < 1 || heads % groups || !k != !v || (rotary && (!cosine || !sine))) {
		hu_import_fail(c, HU_EFILE, "its queries, keys and values do not divide into its heads");
		return;
	}
	hu_inner_begin(&x, c);
	if (!k) { /* all in one */
		size_t each = q->d[2] / (heads + 2 * groups);
		hu_value *all = q;
		q = part(&x, all, 0, heads * each);
		k = part(&x, all, heads * each, groups * each);
		v = part(&x, all, (heads + groups) * each, groups * each);
	}
	size_t past = past_k && past_k->n ? past_k->d[2] : 0, rows = q ? q->d[1] : 0;
	if (rotary && q) {
		at = at ? at : positions(&x, q->d[0], rows, (double)past);
		q = rotated(&x, q, at, cosine, sine, (int64_t)heads, 0, apart);
		k = rotated(&x, k, at, cosine, sine, (int64_t)groups, 0, apart);
	}
	k = behind(&x, past_k, by_heads(&x, k, groups));
	v = behind(&x, past_v, by_heads(&x, v, groups));
	hu_inner_put(&x, 1, k);
	hu_inner_put(&x, 2, v);
	if (q && k && v && fills_past(c, lengths, past + rows)) {
		double scale = scale_of(c, q, heads);
		k = smooth ? with_sink(&x, k) : k;
		v = smooth ? with_sink(&x, v) : v;
		hu_value *mask = k ? causal(&x, rows, k->d[2], window > 0 ? (size_t)window : 0, (size_t)smooth) : NULL;
		hu_inner_put(&x, 0, attention(&x, q, k, v, sum(&x, mask, more), heads, scale, cap));
	}
	hu_inner_end(&x);
}
