/* SPDX-License-Identifier: Apache-2.0
   The discrete Fourier transform, as products with matrices of cosines and sines. */
#include "lib/import/importing.h"

#include <math.h>
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

/* A matrix of N x M: the cosine or sine of 2 pi i j / n. */
static int
waves(hu_importing *c, int type, size_t n, size_t m, int sine, double factor)
{
	double *x = hu_import_room(c, n * m);

	for (size_t i = 0; x && i < n; i++)
		for (size_t j = 0; j < m; j++) {
			double angle = 2 * M_PI * (double)(i * j % n) / (double)n;
			x[i * m + j] = factor * (sine ? sin(angle) : cos(angle));
		}
	int t = x ? hu_import_matrix(c, type, n, m, x) : -1;
	free(x);
	return t;
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
	size_t n = length > 0 ? (size_t)length : v->d[axis], parts = v->rank ? v->d[v->rank - 1] : 0;
	if (v->rank < 2 || axis == v->rank - 1 || parts < 1 || parts > 2 || n < 1 || n > MOST || (back && half)) {
		hu_import_fail(c, HU_EUNABLE,
			"a transform of %zu samples along axis %d is not possible; at most %d are", n, axis, MOST);
		return;
	}
	size_t m = half ? n / 2 + 1 : n;
	double factor = back ? 1 / (double)n : 1;
	hu_shape rows = { .rank = 0 };
	int t = hu_import_plain(c, v), real = samples(c, v, t, axis, 0, n, &rows),
	    cosine = waves(c, v->type, n, m, 0, factor), sine = waves(c, v->type, n, m, 1, back ? factor : -factor);
	int a = hu_import_call2(c, "matmul", real, cosine), b = hu_import_call2(c, "matmul", real, sine);
	if (parts == 2) {
		int other = samples(c, v, t, axis, 1, n, &rows);
		a = hu_import_call2(c, "sub", a, hu_import_call2(c, "matmul", other, sine));
		b = hu_import_call2(c, "add", b, hu_import_call2(c, "matmul", other, cosine));
	}
	if (a < 0 || b < 0)
		return;
	/* Both parts side by side, and the axis back in its place. */
	size_t all = hu_count(c->p->t[a].shape), d[HU_RANK];
	a = hu_import_flat(c, a, hu_shape2(all, 1));
	b = hu_import_flat(c, b, hu_shape2(all, 1));
	hu_import_set(c, "axis", 1);
	t = hu_import_call2(c, "concat", a, b);
	hu_shape s = rows, to = hu_import_shape(v->rank, v->d);
	s.rank = v->rank;
	s.d[v->rank - 2] = m;
	s.d[v->rank - 1] = 2;
	to.d[axis] = m;
	to.d[v->rank - 1] = 2;
	hu_axes x = hu_axes_same(to);
	for (int i = 0, at = 0; i < v->rank - 1; i++)
		x.from[i] = i == axis ? v->rank - 2 : at++;
	t = hu_import_move(c, hu_import_flat(c, t, s), &x);
	for (int i = 0; i < v->rank; i++)
		d[i] = to.d[i];
	hu_import_out(c, 0, v->type, v->rank, d)->plain = t;
}
