/* SPDX-License-Identifier: Apache-2.0
   Pools over windows of images and sequences, and over whole images. */
#include "lib/import/importing.h"

#include <string.h>

/* In which order ONNX Runtime's CPU adds up windows of W over V, images or sequences: where the image is not wide, and
   windows are small and near each other, each column first; its kernels of codes, and those since version 19 of the
   operators, which know dilations, row by row. */
static int
order(hu_importing *c, const hu_window *w, const hu_value *v)
{
	enum { ROWS = 1, COLUMNS = 2, BUFFER = 2045, SMALL = 32 };
	int last = w->n - 1, by_columns = w->n == 2 && c->version < 19 && strcmp(c->own->op, "QLinearAveragePool") &&
					  w->stride[last] <= 2 &&
					  v->d[v->rank - 1] + w->before[last] + w->after[last] <= BUFFER;

	for (int i = 0; i < w->n; i++)
		by_columns &= w->kernel[i] <= SMALL;
	return by_columns ? COLUMNS : ROWS;
}

void
hu_node_pool(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	const hu_onnx_attr *k = hu_import_attr(c, "kernel_shape");
	int mean = !strcmp(c->node->op, "AveragePool");
	size_t kernel[3] = { 1, 1, 1 };
	hu_window w;

	if (!v)
		return;
	if (!k || v->rank < 3 || k->nints != (size_t)v->rank - 2) {
		hu_import_fail(c, HU_EFILE, "its kernel and its image have different numbers of axes");
		return;
	}
	if (c->node->nout > 1 && *c->node->out[1]) {
		hu_import_fail(c, HU_EUNABLE, "the places of its maxima are not computed");
		return;
	}
	for (size_t i = 0; i < k->nints && i < 3; i++)
		kernel[i] = k->ints[i] > 0 ? (size_t)k->ints[i] : 0;
	if (!kernel[0] || !kernel[1] || !kernel[2]) {
		hu_import_fail(c, HU_EFILE, "its kernel has no elements");
		return;
	}
	if (hu_import_window(c, &w, v, kernel) < 0)
		return;
	if (v->rank == 5) {
		size_t all[HU_RANK];
		int volume = hu_volume_pool(c, mean ? "avgpool2d" : "maxpool", v, &w, all);
		if (volume >= 0)
			hu_import_out(c, 0, v->type, 5, all)->last = volume;
		return;
	}
	int t = hu_import_image(c, v);
	hu_import_window_set(c, &w);
	hu_import_set(c, "size_h", w.n == 2 ? (double)kernel[0] : 1);
	hu_import_set(c, "size_w", (double)kernel[w.n - 1]);
	if (hu_import_int(c, "ceil_mode", 0) && !strcmp(hu_import_text(c, "auto_pad", "NOTSET"), "NOTSET"))
		hu_import_set(c, "ceil", 1);
	if (mean && hu_import_int(c, "count_include_pad", 0))
		hu_import_set(c, "include_padding", 1);
	if (mean)
		hu_import_set(c, "order", order(c, &w, v));
	t = hu_import_call1(c, mean ? "avgpool2d" : "maxpool", t);
	if (t < 0)
		return;
	hu_shape s = c->p->t[t].shape;
	size_t d[HU_RANK] = { s.d[0], s.d[3], w.n == 2 ? s.d[1] : s.d[2], s.d[2] };
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, d);
	to->last = v->rank == 4 ? t : hu_import_flat(c, t, hu_shape3(d[0], d[2], d[1]));
}

/* The mean or the largest of each channel's whole image. */
void
hu_node_global(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	int mean = !strcmp(c->node->op, "GlobalAveragePool");
	size_t d[HU_RANK];

	if (!v)
		return;
	if (v->rank < 3) {
		hu_import_fail(c, HU_EFILE, "its image must have three dimensions or more");
		return;
	}
	for (int i = 0; i < v->rank; i++)
		d[i] = i < 2 ? v->d[i] : 1;
	int t = hu_import_last(c, v);
	size_t pixels = v->n / d[0] / d[1];
	if (mean && hu_ort_pools(c, v->type, pixels)) {
		t = hu_ort_pool_mean(c, hu_import_flat(c, t, hu_shape3(d[0], pixels, d[1])), v->type);
	} else {
		t = hu_import_flat(c, t, hu_shape4(d[0], 1, pixels, d[1]));
		if (!mean) {
			hu_import_set(c, "axis", 1);
			hu_import_set(c, "axes", 2);
		}
		t = hu_import_call1(c, mean ? "avgpool" : "reduce_max", t);
	}
	t = hu_import_flat(c, t, hu_import_shape(v->rank, d));
	hu_import_out(c, 0, v->type, v->rank, d)->plain = t;
}
