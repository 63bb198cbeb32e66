/* SPDX-License-Identifier: Apache-2.0
   GridSample: places come from the grid, and each output pixel is a pixel of the image or volume, or a weighted mean of
   those around it: 4 or 8, or of an image 16. */
#include "lib/import/importing.h"

#include <stdlib.h>
#include <string.h>

/* The sampling of one image value: the grid has POINTS places in each image. */
typedef struct grid {
	hu_grid_sampling s;
	size_t points;
	int aligned, reflected, nearest, cubic;
} grid;

static int
by(const grid *g, const char *op, int t, double x)
{
	return hu_import_by(g->s.c, op, t, g->s.type, x);
}

/* X folded into the range from LOW on of LENGTH, as in a row of mirrors. */
static int
mirrored(const grid *g, int x, double low, double length)
{
	hu_importing *c = g->s.c;
	int off = hu_import_call1(c, "abs", by(g, "sub", x, low)),
	    times = hu_import_call1(c, "floor", by(g, "div", off, length)),
	    rest = hu_import_call2(c, "sub", off, by(g, "mul", times, length)),
	    half = hu_import_call1(c, "floor", by(g, "div", times, 2)),
	    odd = hu_import_call2(c, "sub", times, by(g, "mul", half, 2));
	/* low + rest, or high - rest: low + rest + odd (length - 2 rest) */
	int turn = hu_import_call2(c, "mul", odd, by(g, "add", by(g, "mul", rest, -2), length));
	return by(g, "add", hu_import_call2(c, "add", rest, turn), low);
}

/* Place X along axis K brought into the image as its padding says; what zeros surround stays. */
static int
brought(const grid *g, int x, int k)
{
	double size = (double)g->s.size[k];

	if (g->reflected && (!g->aligned || size > 1))
		return mirrored(g, x, g->aligned ? 0 : -0.5, g->aligned ? size - 1 : size);
	return g->s.zeros ? x : by(g, "min", by(g, "max", x, 0), size - 1);
}

/* Coordinate K of the grid in pixels. */
static int
coordinate(const grid *g, int all, int k)
{
	double size = (double)g->s.size[k];
	int x = hu_import_flat(g->s.c, hu_import_part(g->s.c, all, 1, (size_t)k, 1), hu_shape2(g->s.samples, 1));

	x = by(g, "add", x, 1);
	x = g->aligned ? by(g, "mul", x, (size - 1) / 2) : by(g, "div", by(g, "sub", by(g, "mul", x, size), 1), 2);
	if (g->nearest) /* before it is brought into the image: a place between two pixels is one of them first */
		x = hu_import_call1(g->s.c, "round", x);
	return g->cubic ? x : brought(g, x, k); /* of a cubic mean each of the pixels is brought in by itself */
}

/* What a pixel counts whose distance D is below 1 (NEAR), or between 1 and 2: Keys's cubic convolution with -3/4 (IEEE
   Trans. ASSP 29(6), 1981), as the operator has it. */
static int
cubic(const grid *g, int d, int near)
{
	hu_importing *c = g->s.c;
	const double a = -0.75;
	const double next = near ? -(a + 3) : -5 * a, last = near ? 0 : 8 * a, end = near ? 1 : -4 * a;
	int t = by(g, "add", by(g, "mul", d, near ? a + 2 : a), next);

	t = hu_import_call2(c, "mul", t, d);
	t = hu_import_call2(c, "mul", near ? t : by(g, "add", t, last), d);
	return by(g, "add", t, end);
}

/* The sixteen pixels around places AT of an image, times their weights. */
static int
sixteen(const grid *g, const int *at)
{
	hu_importing *c = g->s.c;
	int place[2][4], weight[2][4], sum = -1;

	for (int k = 0; k < 2; k++) {
		int low = hu_import_call1(c, "floor", at[k]), past = hu_import_call2(c, "sub", at[k], low);
		int rest = hu_import_call2(c, "sub", hu_import_like(c, past, g->s.type, 1), past);
		for (int i = 0; i < 4; i++) {
			int d = i < 2 ? past : rest, near = i == 1 || i == 2;
			weight[k][i] = cubic(g, near ? d : by(g, "add", d, 1), near);
			place[k][i] = brought(g, by(g, "add", low, i - 1), k);
		}
	}
	for (int i = 0; i < 16; i++) {
		int w = hu_import_call2(c, "mul", weight[0][i % 4], weight[1][i / 4]),
		    t = hu_grid_pixels(&g->s, (int[]){ place[0][i % 4], place[1][i / 4] }, w);
		sum = i ? hu_import_call2(c, "add", sum, t) : t;
	}
	return sum;
}

/* The number of the first pixel of each sample's image. */
static int
first_pixels(const grid *g, size_t image)
{
	double *first = hu_import_room(g->s.c, g->s.samples);
	int t = -1;

	for (size_t i = 0; first && i < g->s.samples; i++)
		first[i] = (double)(i / g->points * image);
	if (first)
		t = hu_import_numbers(g->s.c, HU_ONNX_INT64, 2, (size_t[]){ g->s.samples, 1 }, first);
	free(first);
	return t;
}

void
hu_node_grid_sample(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *grids = hu_import_in(c, 1);
	const char *mode = hu_import_text(c, "mode", "linear"), *padding = hu_import_text(c, "padding_mode", "zeros");
	int is_nearest = !strcmp(mode, "nearest"), is_cubic = !strcmp(mode, "cubic") || !strcmp(mode, "bicubic"), at[3];

	if (!v || !grids)
		return;
	int n = v->rank - 2;
	if (n < 2 || n > HU_GRID_AXES || (is_cubic && n > 2) ||
		(!is_nearest && !is_cubic && strcmp(mode, "linear") && strcmp(mode, "bilinear"))) {
		hu_import_fail(c, HU_EUNABLE,
			"mode %.40s of %d axes; nearest and linear of images and volumes and cubic of images are "
			"possible",
			mode, n);
		return;
	}
	if (grids->rank != v->rank || grids->d[n + 1] != (size_t)n || grids->d[0] != v->d[0]) {
		hu_import_fail(c, HU_EFILE, "its grid does not fit the images");
		return;
	}
	size_t samples = grids->n / (size_t)n, d[5] = { v->d[0], v->d[1] };
	grid g = { .s = { c, v->type, -1, -1, -1, samples, v->d[1], { 0 }, n, !strcmp(padding, "zeros") },
		.points = samples / v->d[0],
		.aligned = hu_import_int(c, "align_corners", 0) != 0,
		.reflected = !strcmp(padding, "reflection"),
		.nearest = is_nearest,
		.cubic = is_cubic };
	for (int k = 0; k < n; k++) {
		g.s.size[k] = v->d[n + 1 - k];
		d[k + 2] = grids->d[k + 1];
	}
	g.s.pixels = hu_import_flat(c, hu_import_last(c, v), hu_shape2(v->n / v->d[1], v->d[1]));
	g.s.first = first_pixels(&g, v->n / v->d[0] / v->d[1]);
	int all = hu_import_flat(c, hu_import_plain(c, grids), hu_shape2(samples, (size_t)n)), t;
	for (int k = 0; k < n; k++)
		at[k] = coordinate(&g, all, k);
	t = is_cubic     ? sixteen(&g, at)
	    : is_nearest ? hu_grid_pixels(&g.s, at, hu_import_like(c, at[0], v->type, 1))
			 : hu_grid_linear(&g.s, at, "add");
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, d);
	to->last = hu_import_flat(c, t, hu_import_shape_last(to));
}
