/* SPDX-License-Identifier: Apache-2.0
   Products: Gemm, MatMul, and convolutions of images and of sequences. */
#include "lib/import/importing.h"

#include <string.h>

void
hu_node_gemm(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), *add = hu_import_in(c, 2);
	int ta = hu_import_int(c, "transA", 0) != 0, tb = hu_import_int(c, "transB", 0) != 0;
	double alpha = hu_import_real(c, "alpha", 1), beta = hu_import_real(c, "beta", 1);

	if (!a || !b)
		return;
	if (a->rank != 2 || b->rank != 2 || a->d[!ta] != b->d[tb]) {
		hu_import_fail(c, HU_EFILE, "its operands must be matrices with as many columns as rows");
		return;
	}
	size_t d[2] = { a->d[ta], b->d[!tb] };
	hu_value all = { .rank = 2, .d = { d[0], d[1] }, .n = d[0] * d[1] };
	int x = hu_import_plain(c, a), y = hu_import_plain(c, b);
	hu_import_set(c, "ta", ta);
	hu_import_set(c, "tb", tb);
	int t = hu_ort_product(c, hu_import_call2(c, "matmul", x, y), d[0], d[1], a->d[!ta]);
	if (alpha != 1) {
		hu_import_set(c, "factor", alpha);
		t = hu_import_call1(c, "scale", t);
	}
	if (add && beta != 0) {
		int z = hu_import_plain(c, add), row = add->n == d[1] && (!add->rank || add->d[add->rank - 1] == d[1]);
		if (beta != 1) {
			hu_import_set(c, "factor", beta);
			z = hu_import_call1(c, "scale", z);
		}
		if (row && d[1] > 1)
			t = hu_import_call2(c, "bias", t, hu_import_flat(c, z, hu_shape1(d[1])));
		else
			t = hu_import_call2(c, "add", t, hu_import_expand(c, z, hu_import_shape(2, all.d)));
	}
	hu_import_out(c, 0, a->type, 2, d)->plain = t;
}

/* V as ROWS x COLUMNS matrices, one for each of the batches that the product has. */
static int
matrices(hu_importing *c, hu_value *v, int rank, const size_t *batch, size_t n, size_t rows, size_t columns)
{
	size_t d[HU_RANK];

	memcpy(d, batch, sizeof d);
	d[rank - 2] = rows;
	d[rank - 1] = columns;
	int t = hu_import_expand(c, hu_import_plain(c, v), hu_import_shape(rank, d));
	return hu_import_flat(c, t, hu_shape3(n, rows, columns));
}

void
hu_node_matmul(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), x, y;
	size_t d[HU_RANK] = { 0 }, out[HU_RANK] = { 0 }, n = 1;
	int rank, t, k = 0;

	if (!a || !b)
		return;
	x = *a;
	y = *b;
	if (!x.rank || !y.rank) {
		hu_import_fail(c, HU_EFILE, "its operands must have one dimension or more");
		return;
	}
	if (x.rank == 1) { /* a row */
		x.plain = hu_import_flat(c, hu_import_plain(c, a), hu_shape2(1, x.n));
		x.d[1] = x.d[0];
		x.d[0] = 1;
		x.rank = 2;
	}
	if (y.rank == 1) { /* a column */
		y.plain = hu_import_flat(c, hu_import_plain(c, b), hu_shape2(y.n, 1));
		y.d[1] = 1;
		y.rank = 2;
	}
	size_t rows = x.d[x.rank - 2], inner = x.d[x.rank - 1], columns = y.d[y.rank - 1];
	if (inner != y.d[y.rank - 2]) {
		hu_import_fail(c, HU_EFILE, "its operands have %zu columns and %zu rows", inner, y.d[y.rank - 2]);
		return;
	}
	hu_value p = x, q = y; /* the batches alone */
	p.d[p.rank - 1] = p.d[p.rank - 2] = q.d[q.rank - 1] = q.d[q.rank - 2] = 1;
	if (!hu_import_broadcast(&p, &q, &rank, d)) {
		hu_import_fail(c, HU_EFILE, "the batches of its operands do not broadcast");
		return;
	}
	for (int i = 0; i < rank - 2; i++)
		n *= d[i];
	if (y.rank == 2 || n == 1) {
		/* One matrix on the right: all rows on the left belong to one product. */
		int left = hu_import_flat(c, hu_import_plain(c, &x), hu_shape2(x.n / inner, inner)),
		    right = hu_import_flat(c, hu_import_plain(c, &y), hu_shape2(inner, columns));
		t = hu_import_product(c, "matmul", left, right);
		t = hu_ort_product(c, t, x.n / inner, columns, inner);
	} else {
		int left = matrices(c, &x, rank, d, n, rows, inner),
		    right = matrices(c, &y, rank, d, n, inner, columns);
		hu_import_set(c, "batch", 1);
		t = hu_import_product(c, "matmul", left, right);
		t = hu_ort_product(c, t, rows, columns, inner);
	}
	for (int i = 0; i < rank - 2; i++)
		out[k++] = d[i];
	if (a->rank > 1)
		out[k++] = rows;
	if (b->rank > 1)
		out[k++] = columns;
	t = hu_import_flat(c, t, hu_import_shape(k, out));
	hu_import_out(c, 0, a->type, k, out)->plain = t;
}

void
hu_node_conv(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *w = hu_import_in(c, 1), *b = hu_import_in(c, 2);
	int64_t groups = hu_import_int(c, "group", 1);
	hu_window win;

	if (!v || !w)
		return;
	if (v->rank < 3 || w->rank != v->rank || groups < 1 || w->d[1] * (size_t)groups != v->d[1] ||
		w->d[0] % (size_t)groups) {
		hu_import_fail(c, HU_EFILE, "the channels of its image and kernel do not fit");
		return;
	}
	if (hu_import_window(c, &win, v, w->d + 2) < 0)
		return;
	size_t d[HU_RANK] = { v->d[0], w->d[0], win.out[0], win.out[win.n - 1] };
	if (v->rank == 5) {
		d[3] = win.out[1];
		d[4] = win.out[2];
		int volume = hu_volume_conv(c, v, w, &win, (size_t)groups);
		if (b)
			volume = hu_import_call2(c, "bias", volume, hu_import_plain(c, b));
		hu_shape s = { 5, { d[0], d[2], d[3], d[4], d[1] } };
		hu_import_out(c, 0, v->type, 5, d)->last = hu_import_flat(c, volume, s);
		return;
	}
	/* OIHW to the order of lib/op: kernel row and column, channel in, channel out. */
	hu_axes x = hu_axes_same(hu_shape4(v->rank == 4 ? w->d[2] : 1, w->d[v->rank - 1], w->d[1], w->d[0]));
	x.from[0] = v->rank == 4 ? 2 : -1;
	x.from[1] = v->rank - 1;
	x.from[2] = 1;
	x.from[3] = 0;
	int image = hu_import_image(c, v), kernel = hu_import_move(c, hu_import_plain(c, w), &x);
	hu_import_window_set(c, &win);
	if (groups > 1)
		hu_import_set(c, "groups", (double)groups);
	hu_ort_conv_order(c, v, w, &win, (size_t)groups);
	int t = hu_ort_conv(c, hu_import_product(c, "conv2d", image, kernel), w, &win, (size_t)groups);
	if (b)
		t = hu_import_call2(c, "bias", t, hu_import_plain(c, b));
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, d);
	to->last = v->rank == 4 || t < 0 ? t : hu_import_flat(c, t, hu_shape3(d[0], d[2], d[1]));
}

/* A transposed convolution is the gradient of a convolution for its image. */
void
hu_node_conv_transpose(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *w = hu_import_in(c, 1), *b = hu_import_in(c, 2);
	int64_t groups = hu_import_int(c, "group", 1);
	const hu_onnx_attr *shape = hu_import_attr(c, "output_shape"), *more = hu_import_attr(c, "output_padding"),
			   *pads = hu_import_attr(c, "pads"), *strides = hu_import_attr(c, "strides"),
			   *dilations = hu_import_attr(c, "dilations");
	const char *how = hu_import_text(c, "auto_pad", "NOTSET");
	hu_window win = { .n = 0 };
	size_t d[HU_RANK];

	if (!v || !w)
		return;
	int n = v->rank - 2;
	if (n < 1 || n > 3 || w->rank != v->rank || groups < 1 || w->d[0] != v->d[1] || v->d[1] % (size_t)groups ||
		(pads && pads->nints != 2 * (size_t)n) || (strides && strides->nints != (size_t)n) ||
		(dilations && dilations->nints != (size_t)n) || (more && more->nints != (size_t)n) ||
		(shape && shape->nints < (size_t)n)) {
		hu_import_fail(c, HU_EFILE, "the channels or axes of its image and kernel do not fit");
		return;
	}
	win.n = n;
	d[0] = v->d[0];
	d[1] = w->d[1] * (size_t)groups;
	if (hu_import_kernel_shape(c, w->d + 2, n) < 0 || hu_import_pads_fit(c) < 0)
		return;
	for (int i = 0; i < n; i++) {
		int64_t stride = strides ? strides->ints[i] : 1, dilation = dilations ? dilations->ints[i] : 1,
			extra = more ? more->ints[i] : 0, size = (int64_t)v->d[i + 2],
			full = stride * (size - 1) + extra + ((int64_t)w->d[i + 2] - 1) * dilation + 1,
			before = pads ? pads->ints[i] : 0, after = pads ? pads->ints[i + n] : 0,
			out = full - before - after;
		if (shape || !strncmp(how, "SAME", 4)) {
			out = shape ? shape->ints[shape->nints - (size_t)n + (size_t)i] : size * stride;
			int64_t total = full > out ? full - out : 0;
			before = !strcmp(how, "SAME_UPPER") ? total / 2 : total - total / 2;
			after = total - before;
		}
		if (stride < 1 || dilation < 1 || out < 1 || out > 1 << 24 || before < 0 || after < 0 || extra < 0) {
			hu_import_fail(c, HU_EUNABLE, "axis %d would have %lld elements", i + 2, (long long)out);
			return;
		}
		win.stride[i] = (size_t)stride;
		win.dilation[i] = (size_t)dilation;
		win.before[i] = (size_t)before;
		win.after[i] = (size_t)after;
		win.out[i] = d[i + 2] = (size_t)out;
		win.kernel[i] = w->d[i + 2];
	}
	if (n == 3) {
		int volume = hu_volume_transposed(c, v, w, &win, (size_t)groups);
		if (b)
			volume = hu_import_call2(c, "bias", volume, hu_import_plain(c, b));
		hu_value *y = hu_import_out(c, 0, v->type, v->rank, d);
		y->last = hu_import_flat(c, volume, (hu_shape){ 5, { d[0], d[2], d[3], d[4], d[1] } });
		return;
	}
	hu_axes x = hu_axes_same(hu_shape4(n == 2 ? w->d[2] : 1, w->d[v->rank - 1], w->d[1], w->d[0]));
	x.from[0] = n == 2 ? 2 : -1;
	x.from[1] = v->rank - 1;
	x.from[2] = 1;
	x.from[3] = 0;
	int image = hu_import_image(c, v), kernel = hu_import_move(c, hu_import_plain(c, w), &x);
	hu_import_window_set(c, &win);
	hu_import_set(c, "height", n == 2 ? (double)d[2] : 1);
	hu_import_set(c, "width", (double)d[n + 1]);
	if (groups > 1)
		hu_import_set(c, "groups", (double)groups);
	int t = hu_import_call2(c, "conv2d_dx", image, kernel);
	if (b)
		t = hu_import_call2(c, "bias", t, hu_import_plain(c, b));
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, d);
	to->last = n == 2 || t < 0 ? t : hu_import_flat(c, t, hu_shape3(d[0], d[2], d[1]));
}
