/* SPDX-License-Identifier: Apache-2.0
   The picture of one quantity over the commits: its values in a line, the limits dashed, and where it moved. */
#include "reports/history/history_parts.h"

#include "reports/human.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the picture, in its own units. */
enum { WIDE = 420, HIGH = 170, LEFT = 84, RIGHT = 14, TOP = 22, BOTTOM = 26 };

/* What is drawn of a value: of a cosine near 1 what it lacks, which an axis can tell apart. */
typedef struct view {
	const hu_course *c;
	int cosine;
	double low, high;
} view;

void
hu_history_apart(char x[HU_HISTORY_TEXT], char y[HU_HISTORY_TEXT], double first, double second)
{
	int digits = 4;

	do {
		snprintf(x, HU_HISTORY_TEXT, "%.*g", digits, first);
		snprintf(y, HU_HISTORY_TEXT, "%.*g", digits, second);
	} while (!strcmp(x, y) && ++digits <= 17);
}

int
hu_history_beyond(const hu_course *c, size_t k)
{
	return c->value[k] < c->low[k] || c->value[k] > c->high[k];
}

static double
drawn(const view *v, double x)
{
	return v->cosine ? 1 - x : x;
}

static void
widen(view *v, double x)
{
	if (!isfinite(x))
		return;
	v->low = fmin(v->low, drawn(v, x));
	v->high = fmax(v->high, drawn(v, x));
}

/* The ends of the axis: all values and finite limits, and 8 % of their span beyond. */
static view
view_of(const hu_course *c)
{
	view v = { c, !fnmatch("*cosine", c->key, 0), INFINITY, -INFINITY };

	for (size_t k = 0; k < c->n; k++) {
		widen(&v, c->value[k]);
		widen(&v, c->low[k]);
		widen(&v, c->high[k]);
	}
	double span = v.high - v.low, room = span > 0 ? 0.08 * span : v.high ? 0.1 * fabs(v.high) : 1;
	v.low -= room;
	v.high += room;
	return v;
}

static double
across(const view *v, double k)
{
	return LEFT + (v->c->n > 1 ? k / (double)(v->c->n - 1) : 0.5) * (WIDE - LEFT - RIGHT);
}

static double
down(const view *v, double x)
{
	return TOP + (v->high - drawn(v, x)) / (v->high - v->low) * (HIGH - TOP - BOTTOM);
}

static void
draw_limit(hu_str *b, const view *v, const double *limit)
{
	int open = 0;

	hu_str_add(b, "<path class=\"limit\" d=\"");
	for (size_t k = 0; k < v->c->n; k++) {
		if (!isfinite(limit[k])) {
			open = 0;
			continue;
		}
		/* each commit's own limit reaches half way to its neighbours */
		hu_str_addf(b, "%s%.1f %.1fH%.1f", open ? "L" : "M", across(v, k ? (double)k - 0.5 : 0),
			down(v, limit[k]), across(v, k + 1 < v->c->n ? (double)k + 0.5 : (double)k));
		open = 1;
	}
	hu_str_add(b, "\"/>\n");
}

/* Both ends of the axis. */
static void
draw_ends(hu_str *b, const view *v)
{
	char high[HU_HISTORY_TEXT], low[HU_HISTORY_TEXT];

	hu_history_apart(high, low, v->high, v->low);
	const char *text[] = { high, low };
	const int at[] = { TOP, HIGH - BOTTOM };
	for (int i = 0; i < 2; i++) {
		hu_str_addf(b,
			"<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
			LEFT, WIDE - RIGHT, at[i], at[i], LEFT - 6, at[i] + 4);
		hu_html_number(b, text[i]);
		hu_str_add(b, "</text>\n");
	}
}

void
hu_history_commit(hu_str *b, const char *commit, int plain)
{
	char hash[HU_HISTORY_HASH + 1];

	if (strlen(commit) < 40 || strspn(commit, "0123456789abcdef") != strlen(commit)) {
		hu_html_text(b, commit);
		return;
	}
	snprintf(hash, sizeof hash, "%.*s", HU_HISTORY_HASH, commit);
	if (plain)
		hu_str_add(b, hash);
	else
		hu_str_addf(b, "<abbr title=\"%s\">%s</abbr>", commit, hash);
}

static void
draw_commit(hu_str *b, const view *v, size_t k, const char *anchor, double y)
{
	hu_str_addf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", across(v, (double)k), y, anchor);
	hu_history_commit(b, v->c->commit[k], 1);
	hu_str_add(b, "</text>\n");
}

static void
draw_points(hu_str *b, const view *v)
{
	const hu_course *c = v->c;

	hu_str_add(b, "<polyline class=\"value\" points=\"");
	for (size_t k = 0; k < c->n; k++)
		hu_str_addf(b, "%.1f,%.1f ", across(v, (double)k), down(v, c->value[k]));
	hu_str_add(b, "\"/>\n");
	for (size_t k = 0; k < c->n; k++) {
		double x = across(v, (double)k), y = down(v, c->value[k]);
		int beyond = hu_history_beyond(c, k);
		/* what is beyond its limits has another shape too, for those who do not see the colour */
		if (beyond)
			hu_str_addf(b, "<rect class=\"beyond\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\">", x - 4,
				y - 4);
		else
			hu_str_addf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\">", x, y);
		hu_str_add(b, "<title>");
		hu_html_text(b, c->commit[k]);
		hu_str_addf(b, ": %.9g</title></%s>\n", c->value[k], beyond ? "rect" : "circle");
	}
}

void
hu_history_draw(hu_str *b, const hu_course *c)
{
	view v = view_of(c);

	hu_str_addf(b, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDE, HIGH);
	hu_html_text(b, c->key);
	hu_str_add(b, " over the commits\">\n");
	draw_ends(b, &v);
	if (v.cosine)
		hu_str_addf(b, "<text x=\"%d\" y=\"13\">1 − value</text>\n", LEFT);
	draw_limit(b, &v, c->low);
	draw_limit(b, &v, c->high);
	if (c->split) {
		double x = across(&v, (double)c->split - 0.5);
		hu_str_addf(b, "<line class=\"moved\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x, x, TOP,
			HIGH - BOTTOM);
		draw_commit(b, &v, c->split, 2 * c->split > c->n ? "end" : "start", 13);
	}
	draw_points(b, &v);
	draw_commit(b, &v, 0, c->n > 1 ? "start" : "middle", HIGH - 8);
	if (c->n > 1)
		draw_commit(b, &v, c->n - 1, "end", HIGH - 8);
	hu_str_add(b, "</svg>\n");
}
