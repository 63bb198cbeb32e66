/* SPDX-License-Identifier: Apache-2.0
   Mistakes that a result shows without another run: elements that were not written, that are constant, exchanged,
   shifted or scaled, or that another format has rounded first. */
#include "analyzers/judge/kernel/culprit.h"

#include <stdio.h>

static int
fits(const hu_judge_result *r, const hu_balls *x, size_t got, size_t at)
{
	double b = hu_kernel_bound(x->b[at], r->f);

	return !(b < INFINITY) || fabs(r->got[got] - x->b[at].x) <= b;
}

/* Whether row i of the result is row k of the exact values. */
static int
row_fits(const hu_judge_result *r, const hu_balls *x, size_t w, size_t i, size_t k)
{
	for (size_t j = 0; j < w; j++)
		if (!fits(r, x, i * w + j, k * w + j))
			return 0;
	return 1;
}

static size_t
zero_rows(const hu_judge_result *r, size_t w, size_t rows)
{
	size_t n = 0;

	for (; n < rows; n++)
		for (size_t j = 0; j < w; j++)
			if (r->got[(rows - 1 - n) * w + j] != 0)
				return n;
	return n;
}

/* Two rows that have changed places, in all matrices alike, or rows that all moved by a few. */
static int
exchanged(hu_judge_result *r, const hu_balls *x, size_t w, size_t rows)
{
	size_t period = x->rank > 1 ? hu_balls_dim(x, -2) : rows, bad[2] = { 0, 0 }, kinds = 0, n = 0;

	for (size_t i = 0; i < rows; i++) {
		if (row_fits(r, x, w, i, i))
			continue;
		n++;
		if ((kinds > 0 && bad[0] == i % period) || (kinds > 1 && bad[1] == i % period))
			continue;
		if (kinds < 2)
			bad[kinds] = i % period;
		kinds++;
	}
	int swapped = kinds == 2;
	for (size_t i = 0; i < rows && swapped; i += period)
		swapped = row_fits(r, x, w, i + bad[0], i + bad[1]) && row_fits(r, x, w, i + bad[1], i + bad[0]);
	if (swapped) {
		snprintf(r->as_if, sizeof r->as_if, "rows %zu and %zu are exchanged", bad[0], bad[1]);
		return 1;
	}
	for (size_t by = 1; by <= 4 && by < rows && n > rows / 2; by++)
		for (int back = 0; back < 2; back++) {
			size_t same = 0, off = back ? rows - by : by;
			for (size_t i = 0; i < rows; i++)
				same += (size_t)row_fits(r, x, w, i, (i + off) % rows);
			if (same + by >= rows) {
				snprintf(r->as_if, sizeof r->as_if, "rows are shifted by %zu", by);
				return 1;
			}
		}
	return 0;
}

/* The one factor that makes all elements right. */
static int
scaled(hu_judge_result *r, const hu_balls *x)
{
	double xy = 0, xx = 0, a;

	for (size_t i = 0; i < x->n; i++) {
		double h = hu_ball_half_ulp(x->b[i].x, r->f), y = r->got[i] / h, z = x->b[i].x / h;
		if (!hu_isfinite(y) || !hu_isfinite(z))
			continue;
		xy += y * z;
		xx += z * z;
	}
	a = xx > 0 ? xy / xx : 1;
	for (size_t i = 0; i < x->n; i++) {
		hu_ball b = x->b[i];
		b.x *= a;
		b.r = (b.r + hu_ball_half_ulp(b.x, r->f)) * fabs(a);
		double most = hu_kernel_bound(b, r->f);
		if (most < INFINITY && !(fabs(r->got[i] - b.x) <= 1.5 * most))
			return 0;
	}
	if (x->n < 8 || fabs(a - 1) < 6 * hu_unit(r->f))
		return 0;
	snprintf(r->as_if, sizeof r->as_if, "the result is %.6g times what it is", a);
	return 1;
}

/* Results that are all rounded toward zero. */
static int
chopped(hu_judge_result *r, const hu_balls *x)
{
	size_t same = 0, nearest = 0;

	for (size_t i = 0; i < x->n; i++) {
		same += r->got[i] == hu_round(x->b[i].x, r->f, HU_RZ, 0, 0);
		nearest += r->got[i] == hu_round(x->b[i].x, r->f, HU_RNE, 0, 0);
	}
	if (x->n < 64 || same * 100 < x->n * 97 || nearest * 100 > x->n * 80)
		return 0;
	snprintf(r->as_if, sizeof r->as_if, "the result was rounded toward zero");
	return 1;
}

/* A narrower format that all values are numbers of. */
static int
narrower(hu_judge_result *r, const hu_balls *x)
{
	static const hu_format_id narrow[] = { HU_E2M1, HU_E4M3, HU_E5M2, HU_BF16, HU_FP16 };

	if (x->n < 64)
		return 0;
	for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) {
		hu_format f = hu_format_of(narrow[k]);
		size_t i = 0, off = 0;
		if (f.p >= r->f.p)
			continue;
		for (; i < x->n && hu_round(r->got[i], f, HU_RNE, 0, 0) == r->got[i]; i++)
			off += hu_round(x->b[i].x, f, HU_RNE, 0, 0) == r->got[i];
		if (i == x->n && off * 10 >= i * 9) {
			snprintf(r->as_if, sizeof r->as_if, "the result was rounded to %s first", hu_format_name(f.id));
			return 1;
		}
	}
	return 0;
}

int
hu_kernel_layout(hu_judge_result *r, const hu_balls *x)
{
	size_t w = hu_balls_dim(x, -1), rows = w ? x->n / w : 0, zeros = zero_rows(r, w, rows), constant = 1;

	for (size_t i = 1; i < x->n; i++)
		constant += r->got[i] == r->got[0];
	if (zeros == rows && rows)
		snprintf(r->as_if, sizeof r->as_if, "all elements are zero");
	else if (constant == x->n && x->n > 2)
		snprintf(r->as_if, sizeof r->as_if, "all elements are %.9g", r->got[0]);
	else if (zeros)
		snprintf(r->as_if, sizeof r->as_if,
			zeros == 1 ? "the last row was not written: it is zero"
				   : "the last %zu rows were not written: they are zero",
			zeros);
	else
		return exchanged(r, x, w, rows) || chopped(r, x) || narrower(r, x) || scaled(r, x);
	return 1;
}
