/* SPDX-License-Identifier: Apache-2.0
   Scatters to places that the model computes: one update after another takes its place, or is joined to what is there,
   wherever its index is the element's own. Nothing is rounded but by a reduction. */
#include "lib/import/importing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UPDATES = 1024 }; /* along the axis, or of rows: each is a pass over the whole value */

const char *
hu_scatter_reduction(hu_importing *c, double *none)
{
	static const struct {
		const char *name, *op;
		double none;
	} known[] = { { "none", NULL, 0 }, { "add", "add", 0 }, { "mul", "mul", 1 }, { "max", "max", -INFINITY },
		{ "min", "min", INFINITY } };
	const char *name = hu_import_text(c, "reduction", "none");

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].name, name)) {
			*none = known[i].none;
			return known[i].op;
		}
	hu_import_fail(c, HU_EUNABLE, "the reduction %.40s is not possible", name);
	return NULL;
}

/* 0 … N - 1 along axis AXIS of shape S. */
static int
counted(hu_importing *c, hu_shape s, int axis)
{
	size_t n = s.d[axis];
	double *x = hu_import_room(c, n);

	for (size_t i = 0; x && i < n; i++)
		x[i] = (double)i;
	hu_shape one = s;
	for (int j = 0; j < s.rank; j++)
		one.d[j] = j == axis ? n : 1;
	int t = x ? hu_import_numbers(c, HU_ONNX_INT64, one.rank, one.d, x) : -1;
	free(x);
	return hu_import_expand(c, t, s);
}

/* T with update U wherever place AT is that of OWN; all have T's shape. */
static int
update(hu_importing *c, int t, int u, int at, int own, const char *op, int type, double none)
{
	int here = hu_import_truth(c, "equal", at, own);

	if (!op)
		return hu_import_call(c, "where", hu_import_format(c, type), (int[]){ here, u, t }, 3);
	int rest = hu_import_like(c, u, type, none),
	    more = hu_import_call(c, "where", hu_import_format(c, type), (int[]){ here, u, rest }, 3);
	return hu_import_call2(c, op, t, more);
}

static void
finish(hu_importing *c, const hu_value *v, int t)
{
	if (t >= 0 && hu_import_whole(v->type))
		c->p->t[t].cls = HU_OTHER;
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}

static int
too_many(hu_importing *c, size_t n)
{
	if (n > UPDATES)
		hu_import_fail(c, HU_EUNABLE, "it scatters %zu updates to computed places; at most %d are possible", n,
			UPDATES);
	return n > UPDATES;
}

void
hu_scatter_elements_computed(hu_importing *c, hu_value *v, hu_value *at, hu_value *u, int axis)
{
	double none = 0;
	const char *op = hu_scatter_reduction(c, &none);
	hu_shape s = hu_import_shape(v->rank, v->d);
	int t = hu_import_plain(c, v), own = counted(c, s, axis), updates = hu_import_plain(c, u),
	    places = hu_index_places(c, hu_import_plain(c, at), v->d[axis]);

	for (int j = 0; j < v->rank; j++)
		if (j != axis && at->d[j] != v->d[j]) {
			hu_import_fail(
				c, HU_EUNABLE, "its computed indices are shorter than the value along axis %d", j);
			return;
		}
	if (too_many(c, at->d[axis]))
		return;
	for (size_t i = 0; i < at->d[axis] && c->st == HU_OK; i++) {
		int one = hu_import_expand(c, hu_import_part(c, places, axis, i, 1), s),
		    x = hu_import_expand(c, hu_import_part(c, updates, axis, i, 1), s);
		t = update(c, t, x, one, own, op, v->type, none);
	}
	finish(c, v, t);
}

void
hu_scatter_nd_computed(hu_importing *c, hu_value *v, hu_value *at, hu_value *u)
{
	size_t k = at->d[at->rank - 1], n = at->n / k, rows = 1, rest = 1, stride = 1;
	double none = 0;
	const char *op = hu_scatter_reduction(c, &none);
	int first = -1, all = hu_import_flat(c, hu_import_plain(c, at), hu_shape2(n, k));

	for (int j = 0; j < v->rank; j++)
		*(j < (int)k ? &rows : &rest) *= v->d[j];
	if (too_many(c, n))
		return;
	for (size_t j = k; j-- > 0 && c->st == HU_OK; stride *= v->d[j]) {
		int one = hu_import_by(c, "mul", hu_index_places(c, hu_import_part(c, all, 1, j, 1), v->d[j]),
			HU_ONNX_INT64, (double)stride);
		first = first < 0 ? one : hu_import_call2(c, "add", first, one);
	}
	hu_shape s = hu_shape2(rows, rest);
	int t = hu_import_flat(c, hu_import_plain(c, v), s), own = counted(c, s, 0),
	    updates = hu_import_flat(c, hu_import_plain(c, u), hu_shape2(n, rest));
	for (size_t i = 0; i < n && c->st == HU_OK; i++) {
		int one = hu_import_expand(c, hu_import_part(c, first, 0, i, 1), s),
		    x = hu_import_expand(c, hu_import_part(c, updates, 0, i, 1), s);
		t = update(c, t, x, one, own, op, v->type, none);
	}
	finish(c, v, hu_import_flat(c, t, hu_import_shape(v->rank, v->d)));
}

void
hu_node_tensor_scatter(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *u = hu_import_in(c, 1), *first = hu_import_in(c, 2);
	int axis = v ? hu_import_axis(c, hu_import_int(c, "axis", -2), v->rank) : -1;
	int around = !strcmp(hu_import_text(c, "mode", "linear"), "circular");

	if (!v || !u || axis < 0)
		return;
	int fits = axis > 0 && u->rank == v->rank && u->d[axis] <= v->d[axis] && (!first || first->n == v->d[0]);
	for (int j = 0; fits && j < v->rank; j++)
		fits = j == axis || u->d[j] == v->d[j];
	if (!fits) {
		hu_import_fail(c, HU_EFILE,
			"its update does not fit the cache, or its places are not one for each of a batch");
		return;
	}
	hu_shape s = hu_import_shape(u->rank, u->d), one = { .rank = v->rank };
	hu_value at = { .type = HU_ONNX_INT64, .rank = u->rank, .n = u->n, .last = -1 };
	memcpy(at.d, u->d, sizeof at.d);
	at.plain = counted(c, s, axis);
	if (first) {
		for (int j = 0; j < v->rank; j++)
			one.d[j] = j ? 1 : v->d[0];
		int t = hu_index_places(c, hu_import_flat(c, hu_import_plain(c, first), one), v->d[axis]);
		at.plain = hu_import_call2(c, "add", at.plain, hu_import_expand(c, t, s));
	}
	if (around) {
		double n = (double)v->d[axis];
		int turns = hu_import_call1(c, "floor", hu_import_by(c, "div", at.plain, HU_ONNX_INT64, n));
		at.plain = hu_import_call2(c, "sub", at.plain, hu_import_by(c, "mul", turns, HU_ONNX_INT64, n));
	}
	hu_scatter_elements_computed(c, v, &at, u, axis);
}
