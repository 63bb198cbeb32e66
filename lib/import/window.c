/* SPDX-License-Identifier: Apache-2.0
   Windows over the axes behind channels, as convolutions and pools have them, and values as images. */
#include "lib/import/importing.h"

#include <string.h>

int
hu_import_kernel_shape(hu_importing *c, const size_t *kernel, int n)
{
	const hu_onnx_attr *shape = hu_import_attr(c, "kernel_shape");

	for (int i = 0; i < n && shape; i++)
		if (shape->nints != (size_t)n || shape->ints[i] != (int64_t)kernel[i])
			return hu_import_fail(c, HU_EFILE, "its kernel_shape is not that of its weights");
	return 0;
}

int
hu_import_pads_fit(hu_importing *c)
{
	const hu_onnx_attr *pads = hu_import_attr(c, "pads");

	for (size_t i = 0; pads && i < pads->nints; i++)
		if (pads->ints[i] && strcmp(hu_import_text(c, "auto_pad", "NOTSET"), "NOTSET"))
			return hu_import_fail(c, HU_EFILE, "it has both pads and auto_pad; one of them is possible");
	return 0;
}

/* The padding of a window along each of N axes: before[i], after[i]. OUT gets the number of windows. */
int
hu_import_window(hu_importing *c, hu_window *w, const hu_value *v, const size_t *kernel)
{
	const hu_onnx_attr *pads = hu_import_attr(c, "pads"), *strides = hu_import_attr(c, "strides"),
			   *dilations = hu_import_attr(c, "dilations");
	const char *how = hu_import_text(c, "auto_pad", "NOTSET");
	int n = v->rank - 2, pools = strstr(c->own->op, "Pool") != NULL;

	w->n = n;
	if (n < 1 || n > 3)
		return hu_import_fail(c, HU_EUNABLE, "windows over %d axes; one to three are possible", n);
	if ((pads && pads->nints != 2 * (size_t)n) || (strides && strides->nints != (size_t)n) ||
		(dilations && dilations->nints != (size_t)n))
		return hu_import_fail(
			c, HU_EFILE, "its pads, strides or dilations do not fit a window over %d axes", n);
	if (hu_import_kernel_shape(c, kernel, n) < 0 || hu_import_pads_fit(c) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		int64_t stride = strides ? strides->ints[i] : 1, dilation = dilations ? dilations->ints[i] : 1,
			before = pads ? pads->ints[i] : 0, after = pads ? pads->ints[i + n] : 0;
		int64_t size = (int64_t)v->d[i + 2], span = ((int64_t)kernel[i] - 1) * dilation + 1;
		if (stride < 1 || dilation < 1 || stride > 1 << 20 || dilation > 1 << 20 || kernel[i] > 1 << 20)
			return hu_import_fail(c, HU_EFILE, "a stride, dilation or kernel is out of range");
		if (!strcmp(how, "VALID"))
			before = after = 0;
		if (!strncmp(how, "SAME", 4)) {
			int64_t total = ((size + stride - 1) / stride - 1) * stride + span - size;
			if (pools && (dilation > 1 || total < 0))
				return hu_import_fail(c, HU_EUNABLE,
					"its auto_pad is %s beside %s, where runtimes disagree on what is padded; "
					"give it pads",
					how, dilation > 1 ? "dilations" : "strides larger than its kernel");
			total = total > 0 ? total : 0;
			before = !strcmp(how, "SAME_LOWER") ? total - total / 2 : total / 2;
			after = total - before;
		}
		if (before < 0 || after < 0 || before > 1 << 20 || after > 1 << 20 || size + before + after < span)
			return hu_import_fail(c, HU_EFILE, "the window does not fit along axis %d", i + 2);
		w->stride[i] = (size_t)stride;
		w->dilation[i] = (size_t)dilation;
		w->before[i] = (size_t)before;
		w->after[i] = (size_t)after;
		w->kernel[i] = kernel[i];
		w->out[i] = (size_t)((size + before + after - span) / stride) + 1;
	}
	return 0;
}

/* A sequence [N,L,C] is an image of one row. */
int
hu_import_image(hu_importing *c, hu_value *v)
{
	int t = hu_import_last(c, v);

	if (t < 0 || v->rank == 4)
		return t;
	return hu_import_flat(c, t, hu_shape4(v->d[0], 1, v->d[2], v->d[1]));
}

void
hu_import_window_set(hu_importing *c, const hu_window *w)
{
	int h = w->n == 2 ? 0 : -1, x = w->n - 1;

	hu_import_set(c, "stride_h", h < 0 ? 1 : (double)w->stride[h]);
	hu_import_set(c, "stride_w", (double)w->stride[x]);
	hu_import_set(c, "padding_top", h < 0 ? 0 : (double)w->before[h]);
	hu_import_set(c, "padding_bottom", h < 0 ? 0 : (double)w->after[h]);
	hu_import_set(c, "padding_left", (double)w->before[x]);
	hu_import_set(c, "padding_right", (double)w->after[x]);
	if ((h >= 0 && w->dilation[h] > 1) || w->dilation[x] > 1) {
		hu_import_set(c, "dilation_h", h < 0 ? 1 : (double)w->dilation[h]);
		hu_import_set(c, "dilation_w", (double)w->dilation[x]);
	}
}
