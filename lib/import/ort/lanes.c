/* SPDX-License-Identifier: Apache-2.0
   Sums of float32 in the lanes of a vector register, as ONNX Runtime's CPU forms them: term k goes to lane k mod
   LANES; lanes fold to half of them, and so on; and terms that fill no register are added behind, one by one. */
#include "lib/import/importing.h"

#include "lib/op/reduce/summed.h"

/* Terms FROM to before FROM + N of T. */
static int
part(hu_importing *c, int t, size_t from, size_t n)
{
	return hu_import_part(c, t, 1, from, n);
}

static int
plus(hu_importing *c, int a, int b)
{
	return hu_import_call2(c, "add", a, b);
}

/* Lane j of LANES: the sum, by fma, of every LANES-th of the first WHOLE terms. */
static int
in_lanes(hu_importing *c, int t, size_t whole, size_t lanes)
{
	hu_shape s = c->p->t[t].shape;

	t = hu_import_flat(c, whole < s.d[1] ? part(c, t, 0, whole) : t,
		hu_shape4(s.d[0], whole / lanes, lanes, s.d[2]));
	hu_import_set(c, "axis", 1);
	t = hu_import_call1(c, "reduce_sum", t);
	if (t >= 0 && !c->constant[t].data) {
		hu_status st = hu_summed_set(&c->p->c[c->p->nc - 1], hu_sum_default());
		if (st != HU_OK)
			return hu_import_fail(c, st, "%s", hu_reason());
	}
	return t < 0 || c->p->t[t].format == HU_FP32 ? t : hu_import_call(c, "cast", HU_FP32, &t, 1);
}

int
hu_ort_lanes(hu_importing *c, int t, int rest, size_t lanes, int halves)
{
	if (t < 0 || c->st != HU_OK)
		return -1;
	size_t n = c->p->t[t].shape.d[1], at = n / lanes * lanes;
	t = in_lanes(c, t, at, lanes);
	for (size_t half = lanes / 2; half; half /= 2) {
		t = plus(c, part(c, t, 0, half), part(c, t, half, half));
		if (halves && half == lanes / 2 && at + half <= n) {
			t = plus(c, t, part(c, rest, at, half));
			at += half;
		}
	}
	for (; at < n; at++)
		t = plus(c, t, part(c, rest, at, 1));
	return t;
}

/* What fills no register is added as if +0 came behind it, two halves of sixteen lanes to each other, and of eight each
   lane to its neighbour. */
int
hu_ort_neighbours(hu_importing *c, int t, size_t lanes)
{
	if (t < 0 || c->st != HU_OK)
		return -1;
	hu_axes x = hu_axes_same(c->p->t[t].shape);
	size_t rows = x.s.d[0];
	x.s.d[1] = (x.s.d[1] + lanes - 1) / lanes * lanes;
	t = in_lanes(c, hu_import_move(c, t, &x), x.s.d[1], lanes);
	for (size_t half = lanes / 2; half >= 8; half /= 2)
		t = plus(c, part(c, t, 0, half), part(c, t, half, half));
	for (size_t half = lanes < 8 ? lanes / 2 : 4; half; half /= 2) {
		t = hu_import_flat(c, t, hu_shape3(rows, half, 2));
		t = plus(c, hu_import_part(c, t, 2, 0, 1), hu_import_part(c, t, 2, 1, 1));
	}
	return t;
}

int
hu_ort_pool_mean(hu_importing *c, int t, int type)
{
	if (t < 0)
		return -1;
	size_t n = c->p->t[t].shape.d[1];
	t = hu_ort_lanes(c, t, t, 4, 0);
	return hu_import_by(c, "div", t, type, (double)n);
}

int
hu_ort_pools(const hu_importing *c, int type, size_t n)
{
	return c->m->ort && type == HU_ONNX_FLOAT && n >= 4;
}

/* Eigen's sum of T's rows of N terms, the first START of which come before the first multiple of a register of four
   lanes in memory: two registers side by side, four further terms at once, and then what lies before and behind, one by
   one. */
static int
of_rows(hu_importing *c, int t, size_t n, size_t start)
{
	start = start < n ? start : n;
	size_t four = start + (n - start) / 4 * 4, eight = start + (n - start) / 8 * 8;
	if (four == start)
		return in_lanes(c, t, n, 1);
	int all = t;
	if (eight > start) {
		t = in_lanes(c, part(c, all, start, eight - start), eight - start, 8);
		t = plus(c, part(c, t, 0, 4), part(c, t, 4, 4));
	} else {
		t = part(c, all, start, 4);
	}
	if (eight > start && four > eight)
		t = plus(c, t, part(c, all, eight, 4));
	t = plus(c, part(c, t, 0, 2), part(c, t, 2, 2));
	t = plus(c, part(c, t, 0, 1), part(c, t, 1, 1));
	for (size_t i = 0; i < n; i++)
		if (i < start || i >= four)
			t = plus(c, t, part(c, all, i, 1));
	return t;
}

/* Rows of N terms lie one behind the other, so that four of them, two or each begin alike. */
static int
rows(hu_importing *c, int t, size_t count, size_t n)
{
	size_t period = n % 4 == 0 ? 1 : n % 2 == 0 ? 2 : 4, groups = (count + period - 1) / period;
	int sum[4];

	if (groups * period > count) {
		hu_axes x = hu_axes_same(hu_shape2(count, n));
		x.s.d[0] = groups * period;
		t = hu_import_move(c, t, &x);
	}
	t = hu_import_flat(c, t, hu_shape3(groups, period, n));
	for (size_t k = 0; k < period; k++) {
		int own = hu_import_flat(c, part(c, t, k, 1), hu_shape3(groups, n, 1));
		sum[k] = own < 0 ? -1 : of_rows(c, own, n, (4 - k * n % 4) % 4);
		if (sum[k] < 0)
			return -1;
	}
	if (period > 1)
		hu_import_set(c, "axis", 1);
	t = period > 1 ? hu_import_call(c, "concat", HU_NO_FORMAT, sum, (int)period) : sum[0];
	t = hu_import_flat(c, t, hu_shape1(groups * period));
	return groups * period > count ? hu_import_part(c, t, 0, 0, count) : t;
}

/* A product with a row of ones, whose kernel adds four terms, then perhaps two, then perhaps one, and these sums. */
static int
columns(hu_importing *c, int t, size_t count, size_t n, size_t inner)
{
	size_t fours = n / 4, at = fours * 4;
	int sum[3], k = 0;

	t = hu_import_flat(c, t, hu_shape3(count, n, inner));
	if (fours) {
		int four = hu_import_flat(c, part(c, t, 0, at), hu_shape3(count * fours, 4, inner));
		sum[k++] = hu_import_flat(c, in_lanes(c, four, 4, 1), hu_shape3(count, fours, inner));
	}
	if (n % 4 > 1) {
		sum[k++] = plus(c, part(c, t, at, 1), part(c, t, at + 1, 1));
		at += 2;
	}
	if (at < n)
		sum[k++] = part(c, t, at, 1);
	if (k > 1)
		hu_import_set(c, "axis", 1);
	t = k > 1 ? hu_import_call(c, "concat", HU_NO_FORMAT, sum, k) : sum[0];
	return t < 0 ? -1 : in_lanes(c, t, c->p->t[t].shape.d[1], 1);
}

int
hu_ort_sum(hu_importing *c, int t, size_t outer, size_t n, size_t inner)
{
	if (t < 0 || c->st != HU_OK)
		return -1;
	return inner == 1 ? rows(c, hu_import_flat(c, t, hu_shape2(outer, n)), outer, n)
			  : columns(c, t, outer, n, inner);
}

int
hu_ort_sums(const hu_importing *c, int type, size_t outer, size_t n, size_t inner)
{
	return c->m->ort && type == HU_ONNX_FLOAT && n > 1 && (inner == 1 || outer > 1);
}
