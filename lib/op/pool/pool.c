/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/pool/pool.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/contract/contract.h"
#include "lib/op/performed.h"

#include <stdlib.h>

/* Sets up one axis of n elements; *end is the first coordinate behind its padding. */
static hu_status
axis_of(hu_conv_axis *a, ptrdiff_t *end, const hu_call *c, int axis, size_t n)
{
	static const char *const keys[][5] = {
		{ "size_h", "stride_h", "padding_bottom", "padding_top", "rows" },
		{ "size_w", "stride_w", "padding_right", "padding_left", "columns" },
	};
	const char *const *key = keys[axis];
	size_t size = hu_attr_count(c, key[0], hu_attr_count(c, "size", 2)), reach, all,
	       stride = hu_attr_count(c, key[1], hu_attr_count(c, "stride", size));
	int padded = hu_conv_is_padded(c), ceil = hu_attr_num(c, "ceil", 0) != 0;
	hu_call strided = *c;

	if (!size || !stride)
		return hu_fail(HU_EINVAL, "%s: size and stride must be 1 or more", c->op->name);
	hu_attr_set(&strided, key[1], (double)stride);
	HU_TRY(hu_conv_axis_of(a, &strided, axis, n, size));
	reach = (size - 1) * a->dilation + 1;
	all = (a->out - 1) * a->stride + reach;
	*end = (ptrdiff_t)(all > n ? all : n) - a->before;
	if (ceil && !padded)
		return hu_fail(HU_EINVAL, "%s: ceil=1 has an effect only beside an attribute padding", c->op->name);
	if (!padded)
		return HU_OK;
	*end = (ptrdiff_t)(n + hu_attr_count(c, key[2], hu_attr_count(c, "padding", 0)));
	if ((size_t)a->before >= reach || (size_t)*end - n >= reach)
		return hu_fail(HU_EINVAL, "%s: %s and %s must be smaller than the %zu %s that a window reaches over",
			c->op->name, key[3], key[2], reach, key[4]);
	if (ceil) {
		a->out = ((size_t)(*end + a->before) - reach + a->stride - 1) / a->stride + 1;
		a->out -= (a->out - 1) * a->stride >= n + (size_t)a->before;
	}
	return HU_OK;
}

/* Only a window that begins or ends in the padding can cover no element. */
static hu_status
nonempty(const hu_call *c, const hu_conv_axis *a)
{
	size_t from, to, edge = (size_t)a->before / a->stride + 1, first = a->n + (size_t)a->before;

	for (size_t o = 0; o < a->out; o++) {
		if (o == edge && o < (first - 1) / a->stride) /* those between begin inside */
			o = (first - 1) / a->stride;
		if (o >= a->out)
			break;
		hu_window_span(a, o, &from, &to);
		if (from >= to)
			return hu_fail(HU_EINVAL,
				"%s: window %zu lies in the padding alone: a smaller padding or dilation is needed",
				c->op->name, o);
	}
	return HU_OK;
}

hu_status
hu_pool_of(hu_pool *p, const hu_call *c, hu_shape x)
{
	if (x.rank != 4 || !hu_count(x))
		return hu_fail(
			HU_EINVAL, "%s: the image must have rank 4: images, rows, columns, channels", c->op->name);
	p->n = x.d[0];
	p->c = x.d[3];
	HU_TRY(axis_of(&p->row, &p->end_h, c, HU_AXIS_HEIGHT, x.d[1]));
	HU_TRY(axis_of(&p->col, &p->end_w, c, HU_AXIS_WIDTH, x.d[2]));
	HU_TRY(nonempty(c, &p->row));
	return nonempty(c, &p->col);
}

/* Along one axis. */
static double
covered(const hu_conv_axis *a)
{
	double sum = 0;

	for (size_t o = 0; o < a->out; o++)
		sum += (double)hu_window_taps(a, o, (ptrdiff_t)a->n, 0);
	return sum;
}

double
hu_pool_covered(const hu_pool *p)
{
	return (double)p->n * (double)p->c * covered(&p->row) * covered(&p->col);
}

size_t
hu_pool_winner(const hu_pool *p, const hu_tensor *x, size_t o)
{
	size_t c = o % p->c, col = o / p->c % p->col.out, row = o / p->c / p->col.out % p->row.out,
	       n = o / p->c / p->col.out / p->row.out;
	size_t r0, r1, c0, c1, best = (size_t)-1, seen = 0;
	double top = 0;

	hu_window_span(&p->row, row, &r0, &r1);
	hu_window_span(&p->col, col, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			size_t i = ((n * p->row.n + r) * p->col.n + k) * p->c + c;
			double v = hu_get(x, i);
			seen++;
			if (v != v)
				return i;
			if (best == (size_t)-1 || v > top) {
				best = i;
				top = v;
			}
		}
	hu_performed_operations(seen);
	return best;
}

hu_status
hu_pool_enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink,
	hu_pool_value *one)
{
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);
	hu_pool p;
	hu_status st = hu_pool_of(&p, c, in[0]->shape);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 1024)
	for (size_t i = 0; i < (st == HU_OK ? n : 0); i++)
		v[i] = one(&p, in, sink, element ? element[i] : i);
	if (st == HU_OK)
		st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}
