/* SPDX-License-Identifier: Apache-2.0
   Non-maximum suppression, which a detector ends with: of boxes that overlap, the one with the highest score is left.
   Overlaps are computed in float32, as ONNX Runtime has them. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The work at hand: boxes as min and max of both axes, what is left of a class, and thresholds. */
typedef struct search {
	float (*box)[4];
	size_t boxes, most;
	float overlap, score;
} search;

typedef struct candidate {
	float score;
	size_t at;
} candidate;

/* The highest score first, of equals the first box. */
static int
by_score(const void *a, const void *b)
{
	const candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The box of the file, as two corners in any order or (CENTRE) as a centre and sizes. */
static void
corners(float to[4], const double *x, int centre)
{
	for (int k = 0; k < 2; k++) {
		float a = (float)x[k], b = (float)x[k + 2], half = b / 2;
		to[k] = centre ? a - half : a < b ? a : b;
		to[k + 2] = centre ? a + half : a < b ? b : a;
	}
}

/* 1 where boxes A and B share more than SHARE of what they cover together. */
static int
overlaps(const float *a, const float *b, float share)
{
	float low[2], high[2];

	for (int k = 0; k < 2; k++) {
		low[k] = a[k] > b[k] ? a[k] : b[k];
		high[k] = a[k + 2] < b[k + 2] ? a[k + 2] : b[k + 2];
		if (!(high[k] > low[k]))
			return 0;
	}
	float both = (high[0] - low[0]) * (high[1] - low[1]), one = (a[2] - a[0]) * (a[3] - a[1]),
	      other = (b[2] - b[0]) * (b[3] - b[1]), all = one + other - both;
	return both > 0 && one > 0 && other > 0 && all > 0 && both / all > share;
}

/* Writes to LEFT the boxes of one class that are left, whose scores are X; returns how many there are. */
static size_t
suppress(size_t *left, const search *s, const double *x)
{
	candidate *all = hu_xcalloc(s->boxes + 1, sizeof *all);
	size_t n = 0, found = 0;

	for (size_t i = 0; i < s->boxes; i++)
		if ((float)x[i] > s->score)
			all[n++] = (candidate){ (float)x[i], i };
	qsort(all, n, sizeof *all, by_score);
	for (size_t i = 0; i < n && found < s->most; i++) {
		int apart = 1;
		for (size_t k = 0; k < found && apart; k++)
			apart = !overlaps(s->box[all[i].at], s->box[left[k]], s->overlap);
		if (apart)
			left[found++] = all[i].at;
	}
	free(all);
	return found;
}

/* Input I, one number; OTHERWISE where it is absent. */
static double
number(hu_importing *c, size_t i, double otherwise)
{
	hu_value *v = hu_import_in(c, i);
	double *x = v ? hu_import_constant(c, v) : NULL, is = x && v->n ? x[0] : otherwise;

	free(x);
	return is;
}

/* Batch, class and box of all that is left, a row each. */
static void
search_all(hu_importing *c, search *s, const hu_value *scores, const double *box, const double *score, int centre)
{
	size_t batches = scores->d[0], classes = scores->d[1], n = 0, cap = 0;
	size_t *left = hu_xcalloc(s->boxes + 1, sizeof *left);
	typedef struct row {
		double x[3];
	} row;
	row *found = NULL;

	s->box = hu_xcalloc(s->boxes + 1, sizeof *s->box);
	for (size_t b = 0; b < batches; b++) {
		for (size_t i = 0; i < s->boxes; i++)
			corners(s->box[i], box + (b * s->boxes + i) * 4, centre);
		for (size_t k = 0; k < classes; k++) {
			size_t some = suppress(left, s, score + (b * classes + k) * s->boxes);
			for (size_t i = 0; i < some; i++) {
				HU_GROW(found, n, cap);
				found[n++] = (row){ { (double)b, (double)k, (double)left[i] } };
			}
		}
	}
	hu_value y = { .type = HU_ONNX_INT64, .rank = 2, .d = { n, 3 }, .n = 3 * n, .last = -1 };
	y.plain = hu_import_numbers(c, HU_ONNX_INT64, 2, y.d, n ? found->x : NULL);
	hu_import_put(c, 0, &y);
	free(s->box);
	free(left);
	free(found);
}

void
hu_node_non_max_suppression(hu_importing *c)
{
	hu_value *boxes = hu_import_in(c, 0), *scores = hu_import_in(c, 1);
	int centre = hu_import_int(c, "center_point_box", 0) != 0;

	if (!boxes || !scores)
		return;
	if (boxes->rank != 3 || scores->rank != 3 || boxes->d[2] != 4 || boxes->d[0] != scores->d[0] ||
		boxes->d[1] != scores->d[2]) {
		hu_import_fail(c, HU_EFILE,
			"it needs boxes of the shape [batch, boxes, 4] and scores of the shape "
			"[batch, classes, boxes]");
		return;
	}
	double *box = hu_import_constant(c, boxes), *score = box ? hu_import_constant(c, scores) : NULL;
	double most = score ? number(c, 2, 0) : 0;
	search s = { .boxes = boxes->d[1], .most = most > 0 ? (size_t)most : 0 };
	s.overlap = (float)number(c, 3, 0);
	s.score = (float)number(c, 4, -__builtin_inf());
	if (score && c->st == HU_OK)
		search_all(c, &s, scores, box, score, centre);
	free(box);
	free(score);
}
