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

/* Eigen's sums have two registers of four lanes, whose terms past the last eight are four at once; MLAS's pools have
   one. Where rows do not begin at multiples of a register, as those of other lengths, Eigen begins elsewhere. */
int
hu_ort_mean(hu_importing *c, int t, int type, int is_pool)
{
	if (t < 0)
		return -1;
	size_t n = c->p->t[t].shape.d[1];
	t = hu_ort_lanes(c, t, t, is_pool ? 4 : 8, !is_pool);
	return hu_import_by(c, "div", t, type, (double)n);
}

int
hu_ort_means(const hu_importing *c, int type, size_t n, int is_pool)
{
	return c->m->ort && type == HU_ONNX_FLOAT && (is_pool ? n >= 4 : n >= 8 && n % 4 == 0);
}
