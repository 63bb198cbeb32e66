/* SPDX-License-Identifier: Apache-2.0
   GridSample over images: places come from the grid, and each output pixel is a pixel of the image or a weighted mean
   of four. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The sampling of one image value: the grid has POINTS places in each of N images of H x W pixels. */
typedef struct grid {
	hu_importing *c;
	int type, pixels;          /* the image as rows of channels */
	size_t n, points, size[2], channels; /* size: width, height */
	int aligned, zeros, reflected;
} grid;

static int
like(const grid *g, int t, double x)
{
	int whole = t >= 0 && g->c->p->t[t].format == HU_FP64;

	return hu_import_like(g->c, t, whole ? HU_ONNX_INT64 : g->type, x);
}

static int
by(const grid *g, const char *op, int t, double x)
{
	int k = like(g, t, x);

	return hu_import_call2(g->c, op, t, k);
}

static int
clipped(const grid *g, int t, double low, double high)
{
	return by(g, "min", by(g, "max", t, low), high);
}

/* X folded into the range from LOW on of LENGTH, as in a row of mirrors. */
static int
mirrored(const grid *g, int x, double low, double length)
{
	int off = hu_import_call1(g->c, "abs", by(g, "sub", x, low)),
	    times = hu_import_call1(g->c, "floor", by(g, "div", off, length)),
	    rest = hu_import_call2(g->c, "sub", off, by(g, "mul", times, length)),
	    half = hu_import_call1(g->c, "floor", by(g, "div", times, 2)),
	    odd = hu_import_call2(g->c, "sub", times, by(g, "mul", half, 2));
	/* low + rest, or high - rest: low + rest + odd (length - 2 rest) */
	int turn = hu_import_call2(g->c, "mul", odd, by(g, "add", by(g, "mul", rest, -2), length));
	return by(g, "add", hu_import_call2(g->c, "add", rest, turn), low);
}

/* Coordinate K of the grid in pixels. */
static int
coordinate(const grid *g, int all, int k)
{
	double size = (double)g->size[k];
	int x = hu_import_flat(g->c, hu_import_part(g->c, all, 3, (size_t)k, 1), hu_shape2(g->n * g->points, 1));

	x = by(g, "add", x, 1);
	x = g->aligned ? by(g, "mul", x, (size - 1) / 2) : by(g, "div", by(g, "sub", by(g, "mul", x, size), 1), 2);
	if (g->reflected && (!g->aligned || size > 1))
		return mirrored(g, x, g->aligned ? 0 : -0.5, g->aligned ? size - 1 : size);
	return g->zeros ? x : clipped(g, x, 0, size - 1);
}

/* WEIGHT where whole number AT lies within 0 … SIZE - 1, else 0; *inside gets AT kept within. */
static int
weighed(const grid *g, int weight, int at, size_t size, int *inside)
{
	*inside = clipped(g, at, 0, (double)size - 1);
	if (!g->zeros)
		return weight;
	int mask = hu_import_call(g->c, "equal", HU_FP32, (int[]){ at, *inside }, 2);
	if (mask >= 0)
		g->c->p->t[mask].cls = HU_OTHER;
	return hu_import_call(g->c, "mask", g->c->p->t[weight < 0 ? 0 : weight].format, (int[]){ mask, weight }, 2);
}

/* The pixels at X and Y, times WEIGHT. */
static int
pixels(const grid *g, int x, int y, int weight)
{
	size_t all = g->n * g->points;
	double *first = hu_import_room(g->c, all);
	int ix, iy;

	weight = weighed(g, weight, x, g->size[0], &ix);
	weight = weighed(g, weight, y, g->size[1], &iy);
	for (size_t i = 0; first && i < all; i++)
		first[i] = (double)(i / g->points * g->size[0] * g->size[1]);
	ix = hu_import_call(g->c, "cast", HU_FP64, &ix, 1);
	iy = hu_import_call(g->c, "cast", HU_FP64, &iy, 1);
	int at = hu_import_call2(g->c, "add", by(g, "mul", iy, (double)g->size[0]), ix);
	at = hu_import_flat(g->c, at, hu_shape1(all));
	if (first)
		at = hu_import_call2(g->c, "add", at, hu_import_numbers(g->c, HU_ONNX_INT64, 1, &all, first));
	free(first);
	hu_import_set(g->c, "axis", 0);
	int t = hu_import_call2(g->c, "gather", g->pixels, at);
	return hu_import_call2(g->c, "mul", t, hu_import_expand(g->c, weight, hu_shape2(all, g->channels)));
}

static int
bilinear(const grid *g, int x, int y)
{
	int low[2] = { hu_import_call1(g->c, "floor", x), hu_import_call1(g->c, "floor", y) }, high[2], sum = -1;
	int part[2][2];

	part[0][1] = hu_import_call2(g->c, "sub", x, low[0]);
	part[1][1] = hu_import_call2(g->c, "sub", y, low[1]);
	for (int k = 0; k < 2; k++) {
		part[k][0] = hu_import_call2(g->c, "sub", like(g, part[k][1], 1), part[k][1]);
		high[k] = by(g, "add", low[k], 1);
	}
	for (int i = 0; i < 4; i++) {
		int w = hu_import_call2(g->c, "mul", part[0][i % 2], part[1][i / 2]),
		    t = pixels(g, i % 2 ? high[0] : low[0], i / 2 ? high[1] : low[1], w);
		sum = i ? hu_import_call2(g->c, "add", sum, t) : t;
	}
	return sum;
}

void
hu_node_grid_sample(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1);
	const char *mode = hu_import_text(c, "mode", "linear"), *padding = hu_import_text(c, "padding_mode", "zeros");
	int nearest = !strcmp(mode, "nearest");

	if (!v || !at)
		return;
	if (v->rank != 4 || (!nearest && strcmp(mode, "linear") && strcmp(mode, "bilinear"))) {
		hu_import_fail(c, HU_EUNABLE, "mode %.40s of %d axes; nearest and linear of images are possible", mode,
			v->rank - 2);
		return;
	}
	if (at->rank != 4 || at->d[3] != 2 || at->d[0] != v->d[0]) {
		hu_import_fail(c, HU_EFILE, "its grid does not fit the images");
		return;
	}
	grid g = { c, v->type, -1, v->d[0], at->d[1] * at->d[2], { v->d[3], v->d[2] }, v->d[1],
		hu_import_int(c, "align_corners", 0) != 0, !strcmp(padding, "zeros"), !strcmp(padding, "reflection") };
	g.pixels = hu_import_flat(c, hu_import_last(c, v), hu_shape2(v->n / v->d[1], v->d[1]));
	int all = hu_import_plain(c, at), x = coordinate(&g, all, 0), y = coordinate(&g, all, 1), t;
	if (nearest) {
		x = hu_import_call1(c, "round", x);
		y = hu_import_call1(c, "round", y);
		t = pixels(&g, x, y, like(&g, x, 1));
	} else {
		t = bilinear(&g, x, y);
	}
	size_t d[4] = { v->d[0], v->d[1], at->d[1], at->d[2] };
	t = hu_import_flat(c, t, hu_shape4(d[0], d[2], d[3], d[1]));
	hu_import_out(c, 0, v->type, 4, d)->last = t;
}
