/* SPDX-License-Identifier: Apache-2.0
   The discrete Fourier transform, as products with matrices of cosines and sines. */
#include "lib/import/importing.h"
#include "lib/import/signal_node/turn.h"

#include <stdlib.h>

enum { MOST = 4096 }; /* samples of a transform: the matrices have their square */

/* Part K of the last axis of T, a value of rank R, with axis AXIS behind the others and N elements long, as a matrix;
   what lies behind its end is 0. Sets *rows to the axes before it. */
static int
samples(hu_importing *c, const hu_value *v, int t, int axis, size_t k, size_t n, hu_shape *rows)
{
	int r = v->rank - 1, at = 0;
	hu_shape s = hu_import_shape(v->rank, v->d);

	t = hu_import_part(c, t, r, k, 1);
	s.rank = r; /* the axis of one element is the last one */
	hu_axes x = hu_axes_same(s);
	rows->rank = r - 1;
	for (int i = 0; i < r; i++)
		if (i != axis) {
			x.s.d[at] = rows->d[at] = v->d[i];
			x.from[at++] = i;
		}
	x.s.d[r - 1] = n;
	x.from[r - 1] = axis;
	t = hu_import_move(c, hu_import_flat(c, t, s), &x);
	return hu_import_flat(c, t, hu_shape2(v->n / v->d[r] / v->d[axis], n));
}

int
hu_fourier_waves(hu_importing *c, int type, size_t n, size_t m, int sine, double factor)
{
	double *x = hu_import_room(c, n * m);

	for (size_t i = 0; x && i < n; i++)
		for (size_t j = 0; j < m; j++) {
			size_t turn = i * j % n;
			x[i * m + j] = factor * (sine ? hu_sin_turn(turn, n) : hu_cos_turn(turn, n));
		}
	int t = x ? hu_import_matrix(c, type, n, m, x) : -1;
	free(x);
	return t;
}

int
hu_fourier_times(hu_importing *c, int x, int waves)
{
	hu_import_set(c, "transform", 1);
	return hu_import_call2(c, "matmul", x, waves);
}

int
hu_fourier_pair(hu_importing *c, int a, int b)
{
	if (a < 0 || b < 0)
		return -1;
	size_t all = hu_count(c->p->t[a].shape);
	a = hu_import_flat(c, a, hu_shape2(all, 1));
	b = hu_import_flat(c, b, hu_shape2(all, 1));
	hu_import_set(c, "axis", 1);
	return hu_import_call2(c, "concat", a, b);
}

/* The N real samples whose one-sided transform of M values has the parts REAL and IMAGINARY, matrices of M columns:
   what the other side holds are the same values conjugated, so that all but the first and, of an even N, the one in the
   middle count twice. */
static int
way_back(hu_importing *c, int type, int real, int imaginary, size_t m, size_t n)
{
	double *x = hu_import_room(c, 2 * m * n), *y = x + m * n;

	for (size_t i = 0; x && i < m; i++)
		for (size_t j = 0; j < n; j++) {
			size_t turn = i * j % n;
			double one = 1 / (double)n;
			double times = i == 0 || 2 * i == n ? one : 2 * one;
			x[i * n + j] = times * hu_cos_turn(turn, n);
			y[i * n + j] = -times * hu_sin_turn(turn, n);
		}
	int cosine = x ? hu_import_matrix(c, type, m, n, x) : -1, sine = x ? hu_import_matrix(c, type, m, n, y) : -1;
	free(x);
	int a = hu_fourier_times(c, real, cosine), b = hu_fourier_times(c, imaginary, sine);
	return hu_import_call2(c, "add", a, b);
}

/* Output 0: T, whose rows have the M values of axis AXIS and PARTS parts behind them, as V's axes are. */
static void
turned_back(hu_importing *c, const hu_value *v, int t, hu_shape rows, int axis, size_t m, size_t parts)
{
	hu_shape s = rows, to = hu_import_shape(v->rank, v->d);

	s.rank = v->rank;
	s.d[v->rank - 2] = m;
	s.d[v->rank - 1] = parts;
	to.d[axis] = m;
	to.d[v->rank - 1] = parts;
	hu_axes x = hu_axes_same(to);
	for (int i = 0, at = 0; i < v->rank - 1; i++)
		x.from[i] = i == axis ? v->rank - 2 : at++;
	t = hu_import_move(c, hu_import_flat(c, t, s), &x);
	hu_import_out(c, 0, v->type, v->rank, to.d)->plain = t;
}

void
hu_node_dft(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[1];
	int back = hu_import_int(c, "inverse", 0) != 0, half = hu_import_int(c, "onesided", 0) != 0, axis;

	if (!v)
		return;
	int given = hu_import_list(c, NULL, 1, list, 1);
	double length = given > 0 ? list[0] : 0;
	if (c->version < 20)
		list[0] = (double)hu_import_int(c, "axis", 1);
	else if (hu_import_list(c, NULL, 2, list, 1) < 1)
		list[0] = -2;
	if (c->st != HU_OK || (axis = hu_import_axis(c, list[0], v->rank)) < 0)
		return;
	int to_real = back && half;
	size_t parts = v->rank ? v->d[v->rank - 1] : 0, n = length > 0 ? (size_t)length
							    : to_real  ? 2 * (v->d[axis] - 1)
								       : v->d[axis];
	if (v->rank < 2 || axis == v->rank - 1 || parts < 1 || parts > 2 || n < 1 || n > MOST) {
		hu_import_fail(c, HU_EUNABLE,
			"a transform of %zu samples along axis %d is not possible; at most %d are", n, axis, MOST);
		return;
	}
	if (to_real && parts != 2) {
		hu_import_fail(c, HU_EFILE, "a one-sided transform is turned back from complex numbers");
		return;
	}
	hu_shape rows = { .rank = 0 };
	size_t m = half ? n / 2 + 1 : n;
	int t = hu_import_plain(c, v), real = samples(c, v, t, axis, 0, to_real ? m : n, &rows), other = -1;
	if (parts == 2)
		other = samples(c, v, t, axis, 1, to_real ? m : n, &rows);
	if (to_real) {
		turned_back(c, v, way_back(c, v->type, real, other, m, n), rows, axis, n, 1);
		return;
	}
	double factor = back ? 1 / (double)n : 1;
	int cosine = hu_fourier_waves(c, v->type, n, m, 0, factor),
	    sine = hu_fourier_waves(c, v->type, n, m, 1, back ? factor : -factor);
	int a = hu_fourier_times(c, real, cosine), b = hu_fourier_times(c, real, sine);
	if (parts == 2) {
		a = hu_import_call2(c, "sub", a, hu_fourier_times(c, other, sine));
		b = hu_import_call2(c, "add", b, hu_fourier_times(c, other, cosine));
	}
	turned_back(c, v, hu_fourier_pair(c, a, b), rows, axis, m, 2);
}
