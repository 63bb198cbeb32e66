/* SPDX-License-Identifier: Apache-2.0
   Pictures of a network's nodes, as SVG in the page: errors along the depth, and channels that stand out. */
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <math.h>
#include <stdlib.h>

enum {
	WIDE = 900,
	HIGH = 260,
	LEFT = 64,
	RIGHT = 12,
	TOP = 12,
	BOTTOM = 30, /* of the curves, in units of the picture */
	ROWS = 12,   /* nodes of the map of channels */
	OCTAVES = 6  /* a channel 2^OCTAVES times the median one, and more, has the full colour */
};

static double
across(size_t i, size_t n)
{
	return LEFT + (n > 1 ? (double)i / (double)(n - 1) : 0.5) * (WIDE - LEFT - RIGHT);
}

static double
down(double x, double low, double high)
{
	return TOP + (high - log10(x)) / (high - low) * (HIGH - TOP - BOTTOM);
}

static void
curve(hu_str *b, json_t *const *node, size_t n, const char *key, double low, double high)
{
	hu_str_addf(b, "<polyline class=\"%s\" points=\"", key);
	for (size_t i = 0; i < n; i++) {
		double x = hu_model_number(node[i], key);
		if (x > 0 && isfinite(x))
			hu_str_addf(b, "%.1f,%.1f ", across(i, n), down(x, low, high));
	}
	hu_str_add(b, "\"/>\n");
}

/* Whole decades around every positive figure. */
static int
decades(json_t *const *node, size_t n, double *low, double *high)
{
	static const char *const keys[] = { "joint_rel_l2", "local_rel_l2" };

	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			double x = hu_model_number(node[i], keys[k]);
			if (!(x > 0) || isinf(x))
				continue;
			*low = fmin(*low, floor(log10(x)));
			*high = fmax(*high, ceil(log10(x)));
		}
	*high = fmax(*high, *low + 1);
	return isfinite(*low);
}

void
hu_model_depth(hu_str *b, json_t *const *node, size_t n)
{
	double low, high;

	if (!decades(node, n, &low, &high))
		return;
	hu_str_add(b,
		"<h3>How errors grow along the depth</h3>\n<figure><figcaption>The relative L2 error of each node’s "
		"result, in the order of the nodes: <b class=\"joint\">with all nodes low</b>, and <b "
		"class=\"local\">the node’s own</b>, on operands in float32.</figcaption>\n<div class=\"plot\">");
	hu_str_addf(b,
		"<svg class=\"depth\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"errors along the depth\">\n",
		WIDE, HIGH);
	for (double d = low; d <= high; d++) {
		double y = down(pow(10, d), low, high);
		hu_str_addf(b,
			"<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
			"text-anchor=\"end\">",
			LEFT, WIDE - RIGHT, y, y, LEFT - 8, y + 5);
		char *power = hu_xprintf("10^%.0f", d);
		hu_add_raised(b, power);
		free(power);
		hu_str_add(b, "</text>\n");
	}
	hu_str_addf(b,
		"<text x=\"%d\" y=\"%d\">first node</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">last</text>\n",
		LEFT, HIGH - 6, WIDE - RIGHT, HIGH - 6);
	curve(b, node, n, "local_rel_l2", low, high);
	curve(b, node, n, "joint_rel_l2", low, high);
	hu_str_add(b, "</svg></div></figure>\n");
}

static int
ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* A node's map of channels, its median, and how far its largest stands above that. */
typedef struct band {
	const json_t *node, *map;
	double median, stands;
	size_t at;
} band;

static int
by_stands(const void *x, const void *y)
{
	const band *a = x, *b = y;

	return a->stands > b->stands ? -1 : a->stands < b->stands ? 1 : (a->at > b->at) - (a->at < b->at);
}

static int
by_place(const void *x, const void *y)
{
	const band *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

static band
band_of(const json_t *node, size_t at)
{
	const json_t *map = json_object_get(node, "channel_amax");
	size_t n = json_array_size(map);
	band d = { node, map, 0, 0, at };
	double *sorted = hu_xcalloc(n + 1, sizeof *sorted);

	for (size_t i = 0; i < n; i++)
		sorted[i] = json_number_value(json_array_get(map, i));
	qsort(sorted, n, sizeof *sorted, ascending);
	d.median = sorted[n / 2];
	d.stands = n > 1 && d.median > 0 ? sorted[n - 1] / d.median : 0;
	free(sorted);
	return d;
}

static double
heat(double x, double median)
{
	double h = x > median ? 100 * log2(x / median) / OCTAVES : 0;

	return h > 100 ? 100 : h;
}

void
hu_model_outliers(hu_str *b, json_t *const *node, size_t n)
{
	band *d = hu_xcalloc(n + 1, sizeof *d);
	size_t rows = 0;

	for (size_t i = 0; i < n; i++) {
		d[rows] = band_of(node[i], i);
		rows += d[rows].stands > 2;
	}
	qsort(d, rows, sizeof *d, by_stands);
	rows = rows < ROWS ? rows : ROWS;
	qsort(d, rows, sizeof *d, by_place);
	if (rows) {
		hu_str_add(b, "<h3>Channels that stand out</h3>\n<figure><figcaption>Each channel’s largest magnitude "
			      "over the "
			      "median channel’s, of results in float32: no colour up to it, full colour from ");
		hu_model_figure(
			b, "%.0f times on. A scale for the whole tensor is set by the coloured ones.", 1 << OCTAVES);
		hu_str_add(b, "</figcaption>\n<div class=\"bands\">\n");
	}
	for (size_t i = 0; i < rows; i++) {
		hu_str_add(b, "<span>");
		hu_html_text(b, hu_model_text(d[i].node, "node"));
		hu_str_add(b, " <small>");
		hu_model_figure(b, "%.3g times", d[i].stands);
		hu_str_add(b, "</small></span><div>");
		for (size_t c = 0; c < json_array_size(d[i].map); c++)
			hu_str_addf(b, "<i style=\"--h:%.0f%%\"></i>",
				heat(json_number_value(json_array_get(d[i].map, c)), d[i].median));
		hu_str_add(b, "</div>\n");
	}
	if (rows)
		hu_str_add(b, "</div></figure>\n");
	free(d);
}
