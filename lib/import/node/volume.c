/* SPDX-License-Identifier: Apache-2.0
   Windows over volumes, made of windows over images. A convolution, transposed or not, reads the slices under a
   window's depth as further channels, so that each output remains one sum. Pools go over height and width first and
   over the depth then. */
#include "lib/import/importing.h"

#include <string.h>

/* The window of W over the last two axes, or over the first alone as one over height. */
static hu_window
flat_window(const hu_window *w, int depth)
{
	hu_window y = { .n = 2 };

	for (int i = 0; i < 2; i++) {
		int from = depth ? 0 : i + 1, one = depth && i;
		y.kernel[i] = one ? 1 : w->kernel[from];
		y.stride[i] = one ? 1 : w->stride[from];
		y.dilation[i] = one ? 1 : w->dilation[from];
		y.before[i] = one ? 0 : w->before[from];
		y.after[i] = one ? 0 : w->after[from];
		y.out[i] = one ? 1 : w->out[from];
	}
	return y;
}

/* Slice K under each window: N x OUT x H x W x GROUPS x C, zeros outside. */
static int
slice(hu_importing *c, int t, const hu_value *v, const hu_window *w, size_t k, size_t groups)
{
	hu_axes x = hu_axes_same(hu_import_shape_last(v));

	x.s.d[1] = w->out[0];
	x.start[1] = (double)(k * w->dilation[0]) - (double)w->before[0];
	x.step[1] = (double)w->stride[0];
	hu_shape s = x.s;
	s.rank = 6;
	s.d[4] = groups;
	s.d[5] = v->d[1] / groups;
	return hu_import_flat(c, hu_import_move(c, t, &x), s);
}

int
hu_volume_conv(hu_importing *c, hu_value *v, hu_value *w, const hu_window *win, size_t groups)
{
	enum { MOST = 256 };
	int t = hu_import_last(c, v), part[MOST];
	size_t depth = win->kernel[0], rows = v->d[0] * win->out[0];
	hu_window flat = flat_window(win, 0);

	if (depth > MOST)
		return hu_import_fail(c, HU_EUNABLE, "its kernel is %zu deep; at most %d are possible", depth, MOST);
	for (size_t k = 0; k < depth; k++)
		part[k] = slice(c, t, v, win, k, groups);
	if (depth > 1) {
		hu_import_set(c, "axis", 5);
		part[0] = hu_import_call(c, "concat", HU_NO_FORMAT, part, (int)depth);
	}
	/* OIDHW to kernel row and column, slice, channel in, channel out */
	hu_axes x = hu_axes_same((hu_shape){ 5, { w->d[3], w->d[4], depth, w->d[1], w->d[0] } });
	static const int from[] = { 3, 4, 2, 1, 0 };
	memcpy(x.from, from, sizeof from);
	int image = hu_import_flat(c, part[0], hu_shape4(rows, v->d[3], v->d[4], v->d[1] * depth)),
	    kernel = hu_import_move(c, hu_import_plain(c, w), &x);
	kernel = hu_import_flat(c, kernel, hu_shape4(w->d[3], w->d[4], depth * w->d[1], w->d[0]));
	hu_import_window_set(c, &flat);
	if (groups > 1)
		hu_import_set(c, "groups", (double)groups);
	return hu_import_call2(c, "conv2d", image, kernel);
}

/* V with channels last and STRIDE - 1 slices of zeros behind each of its slices, whose number becomes *DEPTH. */
static int
stuffed(hu_importing *c, hu_value *v, size_t stride, size_t *depth)
{
	size_t rest = v->n / v->d[0] / v->d[2];
	hu_shape s = { 4, { v->d[0], v->d[2], 1, rest } };
	int t = hu_import_flat(c, hu_import_last(c, v), s);
	hu_axes x = hu_axes_same(s);

	x.s.d[2] = stride;
	*depth = v->d[2] * stride;
	t = stride > 1 ? hu_import_move(c, t, &x) : t;
	return hu_import_flat(c, t, (hu_shape){ 5, { v->d[0], *depth, v->d[3], v->d[4], v->d[1] } });
}

int
hu_volume_transposed(hu_importing *c, hu_value *v, hu_value *w, const hu_window *win, size_t groups)
{
	enum { MOST = 256 };
	int part[MOST];
	size_t depth = win->kernel[0], rows = v->d[0] * win->out[0], slices, in = v->d[1] / groups;
	int t = stuffed(c, v, win->stride[0], &slices);
	hu_window flat = flat_window(win, 0);

	if (depth > MOST)
		return hu_import_fail(c, HU_EUNABLE, "its kernel is %zu deep; at most %d are possible", depth, MOST);
	for (size_t k = 0; k < depth; k++) {
		hu_axes x = hu_axes_same((hu_shape){ 5, { v->d[0], slices, v->d[3], v->d[4], v->d[1] } });
		x.s.d[1] = win->out[0];
		x.start[1] = (double)win->before[0] - (double)(k * win->dilation[0]);
		part[k] = hu_import_flat(c, hu_import_move(c, t, &x),
			(hu_shape){ 6, { v->d[0], win->out[0], v->d[3], v->d[4], groups, in } });
	}
	if (depth > 1) {
		hu_import_set(c, "axis", 5);
		part[0] = hu_import_call(c, "concat", HU_NO_FORMAT, part, (int)depth);
	}
	/* (group, channel in), channel out, DHW to kernel row and column, channel out, group, slice, channel in */
	hu_axes x = hu_axes_same((hu_shape){ 6, { w->d[3], w->d[4], w->d[1], groups, depth, in } });
	static const int from[] = { 4, 5, 2, 0, 3, 1 };
	memcpy(x.from, from, sizeof from);
	int image = hu_import_flat(c, part[0], hu_shape4(rows, v->d[3], v->d[4], v->d[1] * depth)),
	    kernel = hu_import_flat(c, hu_import_plain(c, w),
		    (hu_shape){ 6, { groups, in, w->d[1], w->d[2], w->d[3], w->d[4] } });
	kernel = hu_import_flat(
		c, hu_import_move(c, kernel, &x), hu_shape4(w->d[3], w->d[4], w->d[1], v->d[1] * depth));
	hu_import_window_set(c, &flat);
	hu_import_set(c, "height", (double)win->out[1]);
	hu_import_set(c, "width", (double)win->out[2]);
	if (groups > 1)
		hu_import_set(c, "groups", (double)groups);
	return hu_import_call2(c, "conv2d_dx", image, kernel);
}

/* OP over windows of WIN on T, images. */
static int
pool(hu_importing *c, const char *op, int t, const hu_window *win)
{
	hu_import_window_set(c, win);
	hu_import_set(c, "size_h", (double)win->kernel[0]);
	hu_import_set(c, "size_w", (double)win->kernel[1]);
	if (hu_import_int(c, "ceil_mode", 0) && !strcmp(hu_import_text(c, "auto_pad", "NOTSET"), "NOTSET"))
		hu_import_set(c, "ceil", 1);
	if (!strcmp(op, "avgpool2d") && hu_import_int(c, "count_include_pad", 0))
		hu_import_set(c, "include_padding", 1);
	return hu_import_call1(c, op, t);
}

int
hu_volume_pool(hu_importing *c, const char *op, hu_value *v, const hu_window *win, size_t *d)
{
	hu_window flat = flat_window(win, 0), deep = flat_window(win, 1);
	int t = hu_import_flat(
		c, hu_import_last(c, v), hu_shape4(v->d[0] * v->d[2], v->d[3], v->d[4], v->d[1]));

	t = pool(c, op, t, &flat);
	if (t < 0)
		return -1;
	d[0] = v->d[0];
	d[1] = v->d[1];
	d[3] = c->p->t[t].shape.d[1];
	d[4] = c->p->t[t].shape.d[2];
	t = pool(c, op, hu_import_flat(c, t, hu_shape4(d[0], v->d[2], d[3] * d[4], d[1])), &deep);
	d[2] = t < 0 ? 1 : c->p->t[t].shape.d[1];
	return hu_import_flat(c, t, (hu_shape){ 5, { d[0], d[2], d[3], d[4], d[1] } });
}
