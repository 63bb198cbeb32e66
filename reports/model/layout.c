/* SPDX-License-Identifier: Apache-2.0
   Plain layers: a node stands one layer below the lowest of those that it reads, and nodes of a layer side by side. */
#include "reports/model/layout.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { ACROSS = 18, DOWN = 34, ARROW = 10 }; /* gaps between neighbours and layers, and the arrowhead's length */

/* The layer of each node; returns how many there are. Edges go to later nodes, so that one pass is enough. */
static size_t
find_layers(size_t *layer, const hu_layout *l)
{
	size_t layers = 0;

	for (size_t i = 0; i < l->n; i++) {
		layer[i] = 0;
		for (size_t e = 0; e < l->nedge; e++)
			if (l->edge[e].to == i && layer[l->edge[e].from] + 1 > layer[i])
				layer[i] = layer[l->edge[e].from] + 1;
		layers = layer[i] + 1 > layers ? layer[i] + 1 : layers;
	}
	return layers;
}

/* Puts the nodes of layer K side by side from y = TOP on; returns the layer's lower end. */
static double
place_layer(hu_layout *l, const size_t *layer, size_t k, double top)
{
	double wide = 0, high = 0;

	for (size_t i = 0; i < l->n; i++)
		if (layer[i] == k) {
			l->x[i] = wide + l->wide[i] / 2;
			wide += l->wide[i] + ACROSS;
			high = fmax(high, l->high[i]);
		}
	for (size_t i = 0; i < l->n; i++)
		if (layer[i] == k)
			l->y[i] = top + high / 2;
	l->width = fmax(l->width, wide - ACROSS);
	return top + high;
}

/* An edge leaves its node downwards and enters the other one from above. */
static void
bend(hu_layout *l, hu_layout_edge *e)
{
	double x0 = l->x[e->from], y0 = l->y[e->from] + l->high[e->from] / 2, x1 = l->x[e->to],
	       y1 = l->y[e->to] - l->high[e->to] / 2 - ARROW, half = (y1 - y0) / 2;
	const double xy[] = { x0, y0, x0, y0 + half, x1, y1 - half, x1, y1 };

	e->points = 4;
	e->xy = hu_xcalloc(8, sizeof *e->xy);
	for (int i = 0; i < 8; i++)
		e->xy[i] = xy[i];
}

static void
in_layers(hu_layout *l)
{
	size_t *layer = hu_xcalloc(l->n + 1, sizeof *layer), layers = find_layers(layer, l);
	double top = 0, *shift = hu_xcalloc(layers + 1, sizeof *shift);

	for (size_t k = 0; k < layers; k++)
		top = place_layer(l, layer, k, top + (k ? DOWN : 0));
	l->height = top;
	for (size_t i = 0; i < l->n; i++)
		shift[layer[i]] = fmax(shift[layer[i]], l->x[i] + l->wide[i] / 2);
	for (size_t i = 0; i < l->n; i++) /* layers stand one above the other's middle */
		l->x[i] += (l->width - shift[layer[i]]) / 2;
	for (size_t e = 0; e < l->nedge; e++)
		bend(l, &l->edge[e]);
	free(shift);
	free(layer);
}

hu_status
hu_layout_make(hu_layout *l)
{
	l->x = hu_xcalloc(l->n + 1, sizeof *l->x);
	l->y = hu_xcalloc(l->n + 1, sizeof *l->y);
	HU_TRY(hu_layout_dot(l));
	if (l->why)
		in_layers(l);
	return HU_OK;
}

void
hu_layout_release(hu_layout *l)
{
	for (size_t e = 0; e < l->nedge; e++)
		free(l->edge[e].xy);
	free(l->edge);
	free(l->x);
	free(l->y);
	free(l->why);
}
