/* SPDX-License-Identifier: Apache-2.0
   GridSample over images: places come from the grid, and each output pixel is a pixel of the image or a weighted mean
   of four. And AffineGrid, which makes grids of places. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <stdlib.h>
#include <string.h>

/* The sampling of one image value: the grid has POINTS places in each image. */
typedef struct grid {
	hu_grid_sampling s;
	size_t points;
	int aligned, reflected, nearest;
} grid;

static int
by(const hu_grid_sampling *g, const char *op, int t, double x)
{
	return hu_import_by(g->c, op, t, g->type, x);
}

static int
clipped(const hu_grid_sampling *g, int t, double low, double high)
{
	return by(g, "min", by(g, "max", t, low), high);
}

/* X folded into the range from LOW on of LENGTH, as in a row of mirrors. */
static int
mirrored(const hu_grid_sampling *g, int x, double low, double length)
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
coordinate(const grid *samples, int all, int k)
{
	const hu_grid_sampling *g = &samples->s;
	double size = (double)g->size[k];
	int x = hu_import_flat(g->c, hu_import_part(g->c, all, 3, (size_t)k, 1), hu_shape2(g->samples, 1));

	x = by(g, "add", x, 1);
	x = samples->aligned ? by(g, "mul", x, (size - 1) / 2)
			     : by(g, "div", by(g, "sub", by(g, "mul", x, size), 1), 2);
	if (samples->nearest) /* before it is brought into the image: a place between two pixels is one of them first */
		x = hu_import_call1(g->c, "round", x);
	if (samples->reflected && (!samples->aligned || size > 1))
		return mirrored(g, x, samples->aligned ? 0 : -0.5, samples->aligned ? size - 1 : size);
	return g->zeros ? x : clipped(g, x, 0, size - 1);
}

/* WEIGHT where MASK is true, else 0. */
static int
masked(const hu_grid_sampling *g, int mask, int weight)
{
	hu_format_id f = g->c->p->t[weight < 0 ? 0 : weight].format;

	return hu_import_call(g->c, "mask", f, (int[]){ mask, weight }, 2);
}

/* WEIGHT where whole number AT lies within 0 … SIZE - 1, else 0; *inside gets AT kept within. */
static int
weighed(const hu_grid_sampling *g, int weight, int at, size_t size, int *inside)
{
	*inside = clipped(g, at, 0, (double)size - 1);
	return g->zeros ? masked(g, hu_import_truth(g->c, "equal", at, *inside), weight) : weight;
}

/* The pixels at X and Y, times WEIGHT. */
static int
pixels(const hu_grid_sampling *g, int x, int y, int weight)
{
	int ix, iy;

	weight = weighed(g, weight, x, g->size[0], &ix);
	weight = weighed(g, weight, y, g->size[1], &iy);
	if (g->valid >= 0)
		weight = masked(g, g->valid, weight);
	ix = hu_import_call(g->c, "cast", HU_FP64, &ix, 1);
	iy = hu_import_call(g->c, "cast", HU_FP64, &iy, 1);
	int at = hu_import_call2(g->c, "add", by(g, "mul", iy, (double)g->size[0]), ix);
	at = hu_import_flat(g->c, hu_import_call2(g->c, "add", at, g->first), hu_shape1(g->samples));
	hu_import_set(g->c, "axis", 0);
	int t = hu_import_call2(g->c, "gather", g->pixels, at);
	weight = hu_import_expand(g->c, weight, hu_shape2(g->samples, g->channels));
	return hu_import_call2(g->c, "mul", t, weight);
}

int
hu_grid_bilinear(const hu_grid_sampling *g, int x, int y, const char *join)
{
	int low[2] = { hu_import_call1(g->c, "floor", x), hu_import_call1(g->c, "floor", y) }, high[2], sum = -1;
	int part[2][2];

	part[0][1] = hu_import_call2(g->c, "sub", x, low[0]);
	part[1][1] = hu_import_call2(g->c, "sub", y, low[1]);
	for (int k = 0; k < 2; k++) {
		int one = hu_import_like(g->c, part[k][1], g->type, 1);
		part[k][0] = hu_import_call2(g->c, "sub", one, part[k][1]);
		high[k] = by(g, "add", low[k], 1);
	}
	for (int i = 0; i < 4; i++) {
		int w = hu_import_call2(g->c, "mul", part[0][i % 2], part[1][i / 2]),
		    t = pixels(g, i % 2 ? high[0] : low[0], i / 2 ? high[1] : low[1], w);
		sum = i ? hu_import_call2(g->c, join, sum, t) : t;
	}
	return sum;
}

/* The number of the first pixel of each sample's image. */
static int
first_pixels(const grid *g)
{
	double *first = hu_import_room(g->s.c, g->s.samples);
	int t = -1;

	for (size_t i = 0; first && i < g->s.samples; i++)
		first[i] = (double)(i / g->points * g->s.size[0] * g->s.size[1]);
	if (first)
		t = hu_import_numbers(g->s.c, HU_ONNX_INT64, 2, (size_t[]){ g->s.samples, 1 }, first);
	free(first);
	return t;
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
	grid g = { .s = { c, v->type, -1, -1, -1, at->n / 2, { v->d[3], v->d[2] }, v->d[1], !strcmp(padding, "zeros") },
		at->d[1] * at->d[2],
		hu_import_int(c, "align_corners", 0) != 0,
		!strcmp(padding, "reflection"),
		nearest };
	g.s.pixels = hu_import_flat(c, hu_import_last(c, v), hu_shape2(v->n / v->d[1], v->d[1]));
	g.s.first = first_pixels(&g);
	int all = hu_import_plain(c, at), x = coordinate(&g, all, 0), y = coordinate(&g, all, 1), t;
	if (nearest) {
		int one = hu_import_like(c, x, v->type, 1);
		t = pixels(&g.s, x, y, one);
	} else {
		t = hu_grid_bilinear(&g.s, x, y, "add");
	}
	size_t d[4] = { v->d[0], v->d[1], at->d[1], at->d[2] };
	t = hu_import_flat(c, t, hu_shape4(d[0], d[2], d[3], d[1]));
	hu_import_out(c, 0, v->type, 4, d)->last = t;
}

/* The type that places have: that of the transforms where the file's types are computed in, or what a converter's
   emulation says in attribute `places`. */
static int
affine_type(hu_importing *c, int type)
{
	int narrow = c->typing == HU_TYPING_STRICT || c->typing == HU_TYPING_ORT_CPU;

	return (int)hu_import_int(c, "places", narrow ? type : HU_ONNX_FLOAT);
}

static double
affine_typed(int type, double x)
{
	hu_format_id f = type == HU_ONNX_FLOAT16 ? HU_FP16 : type == HU_ONNX_BFLOAT16 ? HU_BF16 : HU_NO_FORMAT;

	return f == HU_NO_FORMAT ? x : hu_round(x, hu_format_of(f), HU_RNE, 0, 0);
}

/* Place I of N along an axis that goes from -1 to 1: between the pixels in the corners, or between the outer edges of
   pixels. The step, the first place and each place are rounded to TYPE, as onnxruntime has them in float16. A single
   place is the middle or, between corners, the far one, as there. */
static double
affine_place(int type, size_t i, size_t n, int aligned)
{
	if (n == 1)
		return aligned ? 1 : 0;
	double step = affine_typed(type, 2 / (double)(aligned ? n - 1 : n)),
	       start = aligned ? -1 : affine_typed(type, -1 + 1 / (double)n);
	return affine_typed(type, start + (double)i * step);
}

/* The places of a grid of size D, N axes of it, as a matrix: a row for each coordinate, the last axis first. */
static int
affine_places(hu_importing *c, int type, int n, const size_t *d, int aligned)
{
	size_t all = 1, inner = 1;
	int places = affine_type(c, type);

	for (int k = 0; k < n; k++)
		all *= d[k];
	double *x = hu_import_room(c, (size_t)n * all);
	for (int k = 0; x && k < n; inner *= d[n - 1 - k++])
		for (size_t i = 0; i < all; i++)
			x[(size_t)k * all + i] = affine_place(places, i / inner % d[n - 1 - k], d[n - 1 - k], aligned);
	int t = x ? hu_import_matrix(c, type, (size_t)n, all, x) : -1;
	free(x);
	return t;
}

void
hu_node_affine_grid(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double size[5];
	size_t d[5] = { 0 }, all = 1;
	int aligned = hu_import_int(c, "align_corners", 0) != 0, fits = 1;

	if (!v)
		return;
	int rank = hu_import_list(c, NULL, 1, size, 5), n = rank - 2;
	for (int k = 0; k < rank; k++)
		fits &= size[k] >= 1 && size[k] < HU_IMPORT_COMPUTED;
	if (c->st != HU_OK)
		return;
	if (n < 2 || !fits || v->rank != 3 || (double)v->d[0] != size[0] || v->d[1] != (size_t)n ||
		v->d[2] != (size_t)n + 1) {
		hu_import_fail(c, HU_EFILE, "its transforms do not fit the size of the images");
		return;
	}
	d[0] = v->d[0];
	for (int k = 1; k <= n; all *= d[k++])
		d[k] = (size_t)size[k + 1];
	d[n + 1] = (size_t)n;
	/* Rows of transforms times places, and what moves them: images x coordinates x places, which turn to the
	   grid's order. */
	hu_shape rows = hu_shape2(d[0] * (size_t)n, all);
	int t = hu_import_plain(c, v), turn = hu_import_part(c, t, 2, 0, (size_t)n), move = hu_import_part(c, t, 2,
		(size_t)n, 1);
	turn = hu_import_flat(c, turn, hu_shape2(rows.d[0], (size_t)n));
	t = hu_import_call2(c, "matmul", turn, affine_places(c, v->type, n, d + 1, aligned));
	move = hu_import_expand(c, hu_import_flat(c, move, hu_shape2(rows.d[0], 1)), rows);
	t = hu_import_flat(c, hu_import_call2(c, "add", t, move), hu_shape3(d[0], (size_t)n, all));
	hu_axes turned = { .s = hu_shape3(d[0], all, (size_t)n), .from = { 0, 2, 1 }, .step = { 1, 1, 1 } };
	t = hu_import_flat(c, hu_import_move(c, t, &turned), hu_import_shape(rank, d));
	hu_import_out(c, 0, v->type, rank, d)->plain = t;
}
