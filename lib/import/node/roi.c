/* SPDX-License-Identifier: Apache-2.0
   RoiAlign: each region of an image becomes a grid of cells, each the mean or the largest of a few bilinear samples. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The samples along one axis: CELLS of EACH samples in each of N regions. */
typedef struct along {
	hu_importing *c;
	int type;
	size_t n, cells, each;
	double scale, offset;
	int shortest; /* regions are one pixel long at least */
} along;

static int
by(const along *a, const char *op, int t, double x)
{
	return hu_import_by(a->c, op, t, a->type, x);
}

/* A row of the samples' cells, or of their places in their cells. */
static int
row(const along *a, int cell)
{
	size_t n = a->cells * a->each;
	double *x = hu_import_room(a->c, n);
	int t = -1;

	for (size_t i = 0; x && i < n; i++)
		x[i] = cell ? (double)(i / a->each) : (double)(i % a->each) + 0.5;
	if (x)
		t = hu_import_matrix(a->c, a->type, 1, n, x);
	free(x);
	return hu_import_expand(a->c, t, hu_shape2(a->n, n));
}

/* Where the samples lie, in pixels: regions x samples. ROIS are x, y of one corner, then of the other. */
static int
places(const along *a, int rois, int axis)
{
	hu_shape all = hu_shape2(a->n, a->cells * a->each);
	int from = by(a, "mul", hu_import_part(a->c, rois, 1, (size_t)axis, 1), a->scale),
	    to = by(a, "mul", hu_import_part(a->c, rois, 1, (size_t)axis + 2, 1), a->scale);

	if (a->offset != 0) {
		from = by(a, "sub", from, a->offset);
		to = by(a, "sub", to, a->offset);
	}
	int length = hu_import_call2(a->c, "sub", to, from);
	if (a->shortest)
		length = by(a, "max", length, 1);
	int cell = hu_import_expand(a->c, by(a, "div", length, (double)a->cells), all);
	from = hu_import_expand(a->c, from, all);
	from = hu_import_call2(a->c, "add", from, hu_import_call2(a->c, "mul", row(a, 1), cell));
	cell = hu_import_call2(a->c, "mul", row(a, 0), cell);
	return hu_import_call2(a->c, "add", from, by(a, "div", cell, (double)a->each));
}

/* T, regions x samples along one axis, repeated along the other: one column. */
static int
spread(const along *y, const along *x, int t, int is_x)
{
	size_t ny = y->cells * y->each, nx = x->cells * x->each;

	t = hu_import_flat(y->c, t, hu_shape3(y->n, is_x ? 1 : ny, is_x ? nx : 1));
	t = hu_import_expand(y->c, t, hu_shape3(y->n, ny, nx));
	return hu_import_flat(y->c, t, hu_shape2(y->n * ny * nx, 1));
}

/* Samples further than a pixel outside of the image are 0, others are moved inside. */
static int
inside(const along *a, int t, size_t size, int *valid)
{
	int low = hu_import_truth(a->c, "greater_equal", t, hu_import_like(a->c, t, a->type, -1)),
	    high = hu_import_truth(a->c, "less_equal", t, hu_import_like(a->c, t, a->type, (double)size));

	*valid = hu_import_truth(a->c, "logical_and", low, high);
	return by(a, "min", by(a, "max", t, 0), (double)size - 1);
}

/* The number of the first pixel of each sample's image. */
static int
first_pixels(hu_importing *c, hu_value *images, size_t n, size_t each, size_t pixels)
{
	int t = hu_import_flat(c, hu_import_plain(c, images), hu_shape2(n, 1));

	t = hu_import_call(c, "cast", HU_FP64, &t, 1);
	t = hu_import_by(c, "mul", t, HU_ONNX_INT64, (double)pixels);
	return hu_import_flat(c, hu_import_expand(c, t, hu_shape2(n, each)), hu_shape2(n * each, 1));
}

/* T, rows of channels, with the samples of a cell as axis 1. */
static int
gathered(hu_importing *c, int t, const along *y, const along *x, size_t channels)
{
	static const int from[] = { 0, 2, 1, 3 };
	hu_shape s = { 4, { y->n * y->cells, y->each, x->cells, x->each * channels } };

	t = hu_import_flat(c, t, s);
	hu_axes order = hu_axes_same(s);
	for (int i = 0; i < 4; i++) {
		order.from[i] = from[i];
		order.s.d[i] = s.d[from[i]];
	}
	t = hu_import_move(c, t, &order);
	return hu_import_flat(c, t, hu_shape3(y->n * y->cells * x->cells, y->each * x->each, channels));
}

/* 1 where N regions of ROWS x COLUMNS cells have more than 2^32 samples, EACH x EACH a cell. */
static int
too_many(uint64_t n, uint64_t rows, uint64_t columns, uint64_t each)
{
	uint64_t all = n;

	for (int i = 0; i < 4; i++)
		if (__builtin_mul_overflow(all, i == 0 ? rows : i == 1 ? columns : each, &all))
			return 1;
	return all > (uint64_t)1 << 32;
}

void
hu_node_roi_align(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *regions = hu_import_in(c, 1), *images = hu_import_in(c, 2);
	const char *mode = hu_import_text(c, "mode", "avg");
	int half = !strcmp(hu_import_text(c, "coordinate_transformation_mode",
				   c->version < 16 ? "output_half_pixel" : "half_pixel"),
		"half_pixel");
	int64_t rows = hu_import_int(c, "output_height", 1), columns = hu_import_int(c, "output_width", 1),
		each = hu_import_int(c, "sampling_ratio", 0);

	if (!v || !regions || !images)
		return;
	if (each < 1) {
		hu_import_fail(c, HU_EUNABLE,
			"sampling_ratio 0 lets each region choose its number of samples; a number of 1 or more is "
			"possible");
		return;
	}
	if (v->rank != 4 || regions->rank != 2 || regions->d[1] != 4 || images->n != regions->d[0] || rows < 1 ||
		columns < 1) {
		hu_import_fail(c, HU_EFILE, "its regions do not fit the images");
		return;
	}
	if (too_many(regions->d[0], (uint64_t)rows, (uint64_t)columns, (uint64_t)each)) {
		hu_import_fail(c, HU_EUNABLE, "it takes too many samples");
		return;
	}
	along y = { c, v->type, regions->d[0], (size_t)rows, (size_t)each, hu_import_real(c, "spatial_scale", 1),
		half ? 0.5 : 0, !half },
	      x = y;
	x.cells = (size_t)columns;
	int rois = hu_import_plain(c, regions), valid_x, valid_y, t;
	int at_y = inside(&y, spread(&y, &x, places(&y, rois, 1), 0), v->d[2], &valid_y),
	    at_x = inside(&x, spread(&y, &x, places(&x, rois, 0), 1), v->d[3], &valid_x);
	size_t samples = y.cells * y.each * x.cells * x.each;
	hu_grid_sampling g = { c, v->type, hu_import_flat(c, hu_import_last(c, v), hu_shape2(v->n / v->d[1], v->d[1])),
		first_pixels(c, images, y.n, samples, v->d[2] * v->d[3]),
		hu_import_truth(c, "logical_and", valid_x, valid_y), y.n * samples, v->d[1],
		{ v->d[3], v->d[2] }, 2, 0 };
	t = hu_grid_linear(&g, (int[]){ at_x, at_y }, strcmp(mode, "max") ? "add" : "max");
	t = gathered(c, t, &y, &x, v->d[1]);
	hu_import_set(c, "axis", 1);
	t = hu_import_call1(c, strcmp(mode, "max") ? "reduce_mean" : "reduce_max", t);
	size_t d[4] = { y.n, v->d[1], y.cells, x.cells };
	t = hu_import_flat(c, t, hu_shape4(d[0], d[2], d[3], d[1]));
	hu_import_out(c, 0, v->type, 4, d)->last = t;
}
