/* SPDX-License-Identifier: Apache-2.0
   Samples of images and volumes at places that the model computes: pixels times weights. */
#include "lib/import/importing.h"

static int
by(const hu_grid_sampling *g, const char *op, int t, double x)
{
	return hu_import_by(g->c, op, t, g->type, x);
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
	*inside = by(g, "min", by(g, "max", at, 0), (double)size - 1);
	return g->zeros ? masked(g, hu_import_truth(g->c, "equal", at, *inside), weight) : weight;
}

int
hu_grid_pixels(const hu_grid_sampling *g, const int *at, int weight)
{
	int in[HU_GRID_AXES], place = -1;

	for (int k = 0; k < g->axes; k++)
		weight = weighed(g, weight, at[k], g->size[k], &in[k]);
	if (g->valid >= 0)
		weight = masked(g, g->valid, weight);
	for (int k = g->axes - 1; k >= 0; k--) { /* the last axis is the outermost one */
		int whole = hu_import_call(g->c, "cast", HU_FP64, &in[k], 1),
		    row = k + 1 < g->axes ? by(g, "mul", place, (double)g->size[k]) : -1;
		place = k + 1 < g->axes ? hu_import_call2(g->c, "add", row, whole) : whole;
	}
	place = hu_import_flat(g->c, hu_import_call2(g->c, "add", place, g->first), hu_shape1(g->samples));
	hu_import_set(g->c, "axis", 0);
	int t = hu_import_call2(g->c, "gather", g->pixels, place);
	weight = hu_import_expand(g->c, weight, hu_shape2(g->samples, g->channels));
	return hu_import_call2(g->c, "mul", t, weight);
}

int
hu_grid_linear(const hu_grid_sampling *g, const int *at, const char *join)
{
	int near[HU_GRID_AXES][2], part[HU_GRID_AXES][2], sum = -1;

	for (int k = 0; k < g->axes; k++) {
		near[k][0] = hu_import_call1(g->c, "floor", at[k]);
		near[k][1] = by(g, "add", near[k][0], 1);
		part[k][1] = hu_import_call2(g->c, "sub", at[k], near[k][0]);
		part[k][0] = hu_import_call2(
			g->c, "sub", hu_import_like(g->c, part[k][1], g->type, 1), part[k][1]);
	}
	for (int i = 0; i < 1 << g->axes; i++) {
		int corner[HU_GRID_AXES], w = part[0][i & 1];
		for (int k = 0; k < g->axes; k++) {
			corner[k] = near[k][i >> k & 1];
			w = k ? hu_import_call2(g->c, "mul", w, part[k][i >> k & 1]) : w;
		}
		int t = hu_grid_pixels(g, corner, w);
		sum = i ? hu_import_call2(g->c, join, sum, t) : t;
	}
	return sum;
}
