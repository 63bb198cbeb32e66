/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/conv.h"

#include "lib/op/contract/contract.h"

#include <string.h>

typedef struct keys { const char *stride, *dilation, *before, *after, *name; } keys;

static const keys axes[] = {
	{ "stride_h", "dilation_h", "padding_top", "padding_bottom", "height" },
	{ "stride_w", "dilation_w", "padding_left", "padding_right", "width" },
};

int
hu_conv_is_padded(const hu_call *c)
{
	for (int i = 0; i < c->nattr; i++)
		if (!strncmp(c->attr[i].key, "padding", 7))
			return 1;
	return 0;
}

hu_status
hu_conv_axis_of(hu_conv_axis *a, const hu_call *c, int axis, size_t n, size_t taps)
{
	const keys *k = &axes[axis];
	size_t all = hu_attr_count(c, "padding", 0), before = hu_attr_count(c, k->before, all),
	       after = hu_attr_count(c, k->after, all), reach;

	*a = (hu_conv_axis){ .n = n, .taps = taps };
	a->stride = hu_attr_count(c, k->stride, hu_attr_count(c, "stride", 1));
	a->dilation = hu_attr_count(c, k->dilation, hu_attr_count(c, "dilation", 1));
	if (!a->stride || !a->dilation || !n || !taps)
		return hu_fail(HU_EINVAL,
			"%s: stride and dilation must be 1 or more, and so must the %s of the image and of the kernel",
			c->op->name, k->name);
	reach = (taps - 1) * a->dilation + 1; /* below 2^62, because attributes and extents are below 2^31 */
	if (!hu_conv_is_padded(c)) {
		a->out = hu_same(n, reach, a->stride, &a->before);
		return HU_OK;
	}
	a->before = (ptrdiff_t)before;
	if (n + before + after < reach)
		return hu_fail(HU_EINVAL,
			"%s: the kernel's %zu taps reach over %zu pixels, the image's %s has %zu with padding: a "
			"larger padding or a smaller dilation is needed",
			c->op->name, taps, reach, k->name, n + before + after);
	a->out = (n + before + after - reach) / a->stride + 1;
	return HU_OK;
}

size_t
hu_conv_classes(const hu_conv_axis *a)
{
	return a->stride < a->n ? a->stride : a->n;
}

/* The distance between the taps of one class: the stride divides step times the dilation. */
static size_t
step_of(const hu_conv_axis *a)
{
	size_t common = a->stride;

	for (size_t b = a->dilation % a->stride, rest; b; b = rest) { /* Euclid's algorithm */
		rest = common % b;
		common = b;
	}
	return a->stride / common;
}

hu_conv_class
hu_conv_class_of(const hu_conv_axis *a, size_t i)
{
	size_t residue = (i + (size_t)a->before) % a->stride;
	hu_conv_class c = { .pixels = (a->n - i + a->stride - 1) / a->stride, .step = step_of(a) };

	for (c.tap0 = 0; c.tap0 < c.step && c.tap0 < a->taps; ++c.tap0)
		if (c.tap0 * a->dilation % a->stride == residue) {
			c.taps = (a->taps - c.tap0 + c.step - 1) / c.step;
			return c;
		}
	return c;
}

/* The first pixel that tap t meets where the stride divides the distance; it may lie beyond the image. */
static size_t
first_pixel(const hu_conv_axis *a, size_t t)
{
	return (t * a->dilation % a->stride + a->stride - (size_t)a->before % a->stride) % a->stride;
}

size_t
hu_conv_most_taps(const hu_conv_axis *a)
{
	size_t step = step_of(a);

	for (size_t t = 0; t < step && t < a->taps; t++) /* an earlier first tap has more taps after it */
		if (first_pixel(a, t) < a->n)
			return (a->taps - t + step - 1) / step;
	return 0;
}

double
hu_conv_pairs(const hu_conv_axis *a)
{
	double all = 0;

	for (size_t t = 0; t < a->taps; t++) {
		size_t first = first_pixel(a, t);
		all += first < a->n ? (double)((a->n - first + a->stride - 1) / a->stride) : 0;
	}
	return all;
}

hu_status
hu_conv_of(hu_contract *x, const hu_call *c, size_t h, size_t w, size_t kh, size_t kw)
{
	hu_conv_axis v, q;

	HU_TRY(hu_conv_axis_of(&v, c, HU_AXIS_HEIGHT, h, kh));
	HU_TRY(hu_conv_axis_of(&q, c, HU_AXIS_WIDTH, w, kw));
	x->h = h;
	x->w = w;
	x->kh = kh;
	x->kw = kw;
	x->ho = v.out;
	x->wo = q.out;
	x->sh = v.stride;
	x->sw = q.stride;
	x->dh = v.dilation;
	x->dw = q.dilation;
	x->pad_h = v.before;
	x->pad_w = q.before;
	x->batches = hu_attr_count(c, "groups", 1);
	return HU_OK;
}

/* The number of n pixels that some output's tap meets. */
static double
met(size_t n, size_t taps, size_t stride, size_t dilation, size_t out, ptrdiff_t before)
{
	double all = 0;

	for (size_t i = 0; i < n; i++) {
		int found = 0;
		for (size_t t = 0; t < taps && !found; t++) {
			ptrdiff_t at = (ptrdiff_t)i + before - (ptrdiff_t)(t * dilation);
			found = at >= 0 && at % (ptrdiff_t)stride == 0 && at / (ptrdiff_t)stride < (ptrdiff_t)out;
		}
		all += found;
	}
	return all;
}

double
hu_conv_unread(const hu_contract *x)
{
	double pixels = (double)x->h * (double)x->w,
	       seen = met(x->h, x->kh, x->sh, x->dh, x->ho, x->pad_h) * met(x->w, x->kw, x->sw, x->dw, x->wo, x->pad_w);

	return (pixels - seen) * (double)x->images * (double)x->cin;
}

hu_status
hu_conv_groups(hu_contract *x, const hu_call *c, size_t channels, size_t filters)
{
	size_t groups = x->batches;

	if (!groups || channels % groups || filters % groups)
		return hu_fail(HU_EINVAL, "%s: %zu input and %zu output channels are no multiples of groups=%zu",
			c->op->name, channels, filters, groups);
	x->cin = channels;
	x->cout = filters;
	x->ci = channels / groups;
	x->co = filters / groups;
	return HU_OK;
}

static size_t
filter_column(const hu_contract *c, size_t k)
{
	return k * c->cout + c->batch * c->co;
}

void
hu_conv_filters(hu_contract *x, size_t images)
{
	x->n = x->batch_step = x->co;
	x->row_step = x->cout;
	x->column = filter_column;
	x->column_stride = 1;
	x->images = images;
	x->unread = hu_conv_unread;
}
