/* SPDX-License-Identifier: Apache-2.0
   AffineGrid: a grid of places, which an affine transform of each image moves. */
#include "lib/import/importing.h"

#include "lib/number/round.h"

#include <stdlib.h>

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
