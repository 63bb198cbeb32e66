/* SPDX-License-Identifier: Apache-2.0
   Operators that put elements elsewhere: transposes, parts, joins, repeats, padding, lookups. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
hu_node_transpose(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	const hu_onnx_attr *perm = hu_import_attr(c, "perm");
	char seen[HU_RANK] = { 0 };

	if (!v)
		return;
	hu_axes x = hu_axes_same(hu_import_shape(v->rank, v->d));
	if (perm && perm->nints != (size_t)v->rank) {
		hu_import_fail(c, HU_EFILE, "its permutation has %zu axes, and the value has %d", perm->nints, v->rank);
		return;
	}
	for (int j = 0; j < v->rank; j++) {
		int64_t k = perm ? perm->ints[j] : v->rank - 1 - j;
		if (k < 0 || k >= v->rank || seen[k]) {
			hu_import_fail(c, HU_EFILE, "its permutation is none");
			return;
		}
		seen[k] = 1;
		x.from[j] = (int)k;
		x.s.d[j] = v->d[k];
	}
	int t = hu_import_move(c, hu_import_plain(c, v), &x);
	hu_import_out(c, 0, v->type, x.s.rank, x.s.d)->plain = t;
}

void
hu_node_expand(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), to = { .n = 1 }, all;
	double list[HU_RANK];
	int n = hu_import_list(c, NULL, 1, list, HU_RANK);

	if (!v || n < 0)
		return;
	to.rank = n;
	for (int i = 0; i < n; i++)
		to.d[i] = list[i] >= 0 ? (size_t)list[i] : 1;
	if (!hu_import_broadcast(v, &to, &all.rank, all.d)) {
		hu_import_fail(c, HU_EFILE, "'%.120s' does not broadcast to the shape that it asks for", v->name);
		return;
	}
	for (int i = 0; i < all.rank; i++)
		if (!all.d[i]) {
			hu_import_put_empty(c, 0, v->type, all.rank, all.d);
			return;
		}
	int t = hu_import_expand(c, hu_import_plain(c, v), hu_import_shape(all.rank, all.d));
	hu_import_out(c, 0, v->type, all.rank, all.d)->plain = t;
}

void
hu_node_tile(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double list[HU_RANK];
	int n = hu_import_list(c, NULL, 1, list, HU_RANK);
	size_t d[HU_RANK];

	if (!v || n < 0)
		return;
	if (n != v->rank) {
		hu_import_fail(c, HU_EFILE, "it repeats %d axes, and the value has %d", n, v->rank);
		return;
	}
	int t = hu_import_plain(c, v);
	for (int i = 0; i < n && t >= 0; i++) {
		/* What lies before the axis, its repeats, what lies from the axis on. */
		size_t before = 1, behind = 1, times = list[i] >= 1 && list[i] < 0x1p31 ? (size_t)list[i] : 0;
		d[i] = v->d[i] * times;
		for (int j = 0; j < i; j++)
			before *= d[j];
		for (int j = i; j < n; j++)
			behind *= v->d[j];
		if (!times) {
			hu_import_fail(c, HU_EUNABLE, "axis %d is repeated %g times", i, list[i]);
			return;
		}
		t = hu_import_flat(c, t, hu_shape3(before, 1, behind));
		t = hu_import_expand(c, t, hu_shape3(before, times, behind));
	}
	t = hu_import_flat(c, t, hu_import_shape(n, d));
	hu_import_out(c, 0, v->type, n, d)->plain = t;
}

/* Values without elements, joined along an axis. */
static void
all_empty(hu_importing *c, double along)
{
	hu_value *v = hu_import_in(c, 0);
	int axis = v ? hu_import_axis(c, along, v->rank) : -1;
	size_t d[HU_RANK];

	if (axis < 0)
		return;
	memcpy(d, v->d, sizeof d);
	for (size_t i = 1; i < c->node->nin && c->st == HU_OK; i++) {
		hu_value *x = hu_import_in(c, i);
		d[axis] += x && x->rank == v->rank ? x->d[axis] : 0;
	}
	hu_import_put_empty(c, 0, v->type, v->rank, d);
}

void
hu_node_concat(hu_importing *c)
{
	size_t n = c->node->nin, used = 0;
	hu_value **v = hu_xcalloc(n + 1, sizeof *v);
	int *in = hu_xcalloc(n + 1, sizeof *in), last = 1;

	for (size_t i = 0; i < n; i++) {
		hu_value *x = hu_import_in(c, i);
		if (x && (x->n || n == 1))
			v[used++] = x;
	}
	int64_t along = hu_import_int(c, "axis", 1);
	int axis = used ? hu_import_axis(c, (double)along, v[0]->rank) : -1;
	size_t d[HU_RANK] = { 0 };
	if (!used && n)
		all_empty(c, (double)along);
	for (size_t i = 0; i < used && c->st == HU_OK; i++) {
		last &= hu_import_is_last(v[i]);
		if (v[i]->rank != v[0]->rank)
			hu_import_fail(c, HU_EFILE, "its inputs have different numbers of dimensions");
	}
	for (size_t i = 0; i < used && c->st == HU_OK; i++)
		in[i] = last ? v[i]->last : hu_import_plain(c, v[i]);
	if (c->st == HU_OK && used) {
		int rank = v[0]->rank, at = !last || !axis ? axis : axis == 1 ? rank - 1 : axis - 1;
		hu_import_set(c, "axis", at);
		int t = hu_import_call(c, "concat", HU_NO_FORMAT, in, (int)used);
		memcpy(d, v[0]->d, sizeof d);
		for (size_t i = 1; i < used; i++)
			d[axis] += v[i]->d[axis];
		hu_value *to = hu_import_out(c, 0, v[0]->type, rank, d);
		*(last ? &to->last : &to->plain) = t;
	}
	free(v);
	free(in);
}

void
hu_node_split(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	size_t n = c->node->nout, from = 0;
	double *list = hu_xcalloc(n + 1, sizeof *list);

	if (!v || !n) {
		free(list);
		return;
	}
	int axis = hu_import_axis(c, hu_import_int(c, "axis", 0), v->rank),
	    got = axis < 0 ? -1 : hu_import_list(c, c->version < 13 ? "split" : NULL, 1, list, (int)n);
	if (hu_import_int(c, "num_outputs", (int64_t)n) != (int64_t)n)
		hu_import_fail(c, HU_EFILE, "its num_outputs is not the number of its outputs");
	size_t all = axis < 0 ? 0 : v->d[axis], each = (all + n - 1) / n;
	int last = hu_import_is_last(v), at = !last || axis <= 0 ? axis : axis == 1 ? v->rank - 1 : axis - 1;
	for (size_t i = 0; i < n && c->st == HU_OK; i++) {
		size_t rest = all - from, take = each < rest ? each : rest, d[HU_RANK];
		if (got >= 0)
			take = (size_t)got == n && list[i] >= 1 && list[i] <= (double)rest ? (size_t)list[i] : 0;
		if (!take) {
			hu_import_fail(c, HU_EUNABLE, "its %zu parts do not fit axis %d of %zu elements", n, axis, all);
			break;
		}
		int t = hu_import_part(c, last ? v->last : hu_import_plain(c, v), at, from, take);
		memcpy(d, v->d, sizeof d);
		d[axis] = take;
		hu_value *to = hu_import_out(c, i, v->type, v->rank, d);
		*(last ? &to->last : &to->plain) = t;
		from += take;
	}
	free(list);
}

void
hu_node_slice(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double start[HU_RANK], end[HU_RANK], axes[HU_RANK], step[HU_RANK];
	int old = c->version < 10, n = hu_import_list(c, old ? "starts" : NULL, 1, start, HU_RANK),
	    ends = hu_import_list(c, old ? "ends" : NULL, 2, end, HU_RANK),
	    naxes = hu_import_list(c, old ? "axes" : NULL, 3, axes, HU_RANK),
	    nsteps = old ? -1 : hu_import_list(c, NULL, 4, step, HU_RANK);

	if (!v || c->st != HU_OK)
		return;
	if (n < 0 || ends != n || (naxes >= 0 && naxes != n) || (nsteps >= 0 && nsteps != n)) {
		hu_import_fail(c, HU_EFILE, "its starts, ends, axes and steps differ in number");
		return;
	}
	hu_axes x = hu_axes_same(hu_import_shape(v->rank, v->d));
	int none = 0;
	for (int i = 0; i < n; i++) {
		int k = hu_import_axis(c, naxes < 0 ? i : axes[i], v->rank);
		if (k < 0)
			return;
		double size = (double)v->d[k], by = nsteps < 0 ? 1 : step[i],
		       from = start[i] < 0 ? start[i] + size : start[i], to = end[i] < 0 ? end[i] + size : end[i];
		from = fmin(fmax(from, 0), by < 0 ? size - 1 : size);
		to = fmin(fmax(to, by < 0 ? -1 : 0), size);
		double count = by == 0 ? 0 : ceil((to - from) / by);
		none |= !(count >= 1);
		if (by == 0)
			hu_import_fail(c, HU_EFILE, "its step along axis %d is 0", k);
		x.s.d[k] = count >= 1 ? (size_t)count : 0;
		x.start[k] = from;
		x.step[k] = count > 1 ? by : 1;
	}
	if (none || !v->n) {
		hu_import_put_empty(c, 0, v->type, x.s.rank, x.s.d);
		return;
	}
	int t = hu_import_move(c, hu_import_plain(c, v), &x);
	hu_import_out(c, 0, v->type, x.s.rank, x.s.d)->plain = t;
}

/* Reflection and repetition of the edge, an axis at a time: a lookup of the elements that they name. */
static int
mirror(hu_importing *c, int t, int axis, size_t n, double before, size_t made, const char *mode)
{
	double *at = hu_import_room(c, made);

	for (size_t i = 0; at && i < made; i++) {
		double k = (double)i - before, last = (double)n - 1;
		if (!strcmp(mode, "edge"))
			k = fmin(fmax(k, 0), last);
		else if (!strcmp(mode, "wrap"))
			k -= floor(k / (double)n) * (double)n;
		else if (n == 1)
			k = 0;
		else {
			k = fmod(fabs(k), 2 * last);
			k = k > last ? 2 * last - k : k;
		}
		at[i] = k;
	}
	int index = at ? hu_import_numbers(c, HU_ONNX_INT64, 1, &made, at) : -1;
	free(at);
	hu_import_set(c, "axis", axis);
	return hu_import_call2(c, "gather", t, index);
}

void
hu_node_pad(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *value = hu_import_in(c, 2);
	const char *mode = hu_import_text(c, "mode", "constant");
	double list[2 * HU_RANK], axes[HU_RANK], fill = hu_import_real(c, "value", 0);
	int old = c->version < 11, n = hu_import_list(c, old ? "pads" : NULL, 1, list, 2 * HU_RANK),
	    naxes = old ? -1 : hu_import_list(c, NULL, 3, axes, HU_RANK);
	size_t d[HU_RANK];

	if (!v || c->st != HU_OK)
		return;
	if (!old && value && value->n) {
		double *x = hu_import_constant(c, value);
		fill = x ? x[0] : 0;
		free(x);
	}
	int some = naxes < 0 ? v->rank : naxes;
	if (n != 2 * some) {
		hu_import_fail(c, HU_EFILE, "it pads %d sides of %d axes", n, some);
		return;
	}
	memcpy(d, v->d, sizeof d);
	hu_axes x = hu_axes_same(hu_import_shape(v->rank, v->d));
	int t = hu_import_plain(c, v), constant = !strcmp(mode, "constant");
	for (int i = 0; i < some && c->st == HU_OK; i++) {
		int k = hu_import_axis(c, naxes < 0 ? i : axes[i], v->rank);
		double made = k < 0 ? 0 : (double)v->d[k] + list[i] + list[i + some];
		if (!(made >= 1 && made < 0x1p40)) {
			hu_import_fail(c, HU_EUNABLE, "axis %d would have %g elements", k, made);
			return;
		}
		d[k] = x.s.d[k] = (size_t)made;
		x.start[k] = -list[i];
		if (!constant && (list[i] != 0 || list[i + some] != 0))
			t = mirror(c, t, k, v->d[k], list[i], (size_t)made, mode);
	}
	x.fill = fill;
	if (constant)
		t = hu_import_move(c, t, &x);
	hu_import_out(c, 0, v->type, v->rank, d)->plain = t;
}

void
hu_node_gather(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *at = hu_import_in(c, 1);
	size_t d[HU_RANK];
	int rank = 0;

	if (!v || !at)
		return;
	int axis = hu_import_axis(c, hu_import_int(c, "axis", 0), v->rank);
	if (axis < 0)
		return;
	if (v->rank + at->rank - 1 > HU_RANK) {
		hu_import_fail(c, HU_EUNABLE, "its output has %d dimensions; at most %d are possible",
			v->rank + at->rank - 1, HU_RANK);
		return;
	}
	for (int i = 0; i < axis; i++)
		d[rank++] = v->d[i];
	for (int i = 0; i < at->rank; i++)
		d[rank++] = at->d[i];
	for (int i = axis + 1; i < v->rank; i++)
		d[rank++] = v->d[i];
	if (!at->n || (!v->n && v->d[axis])) {
		hu_import_put_empty(c, 0, v->type, rank, d);
		return;
	}
	int x = hu_import_plain(c, v), y = hu_import_plain(c, at);
	hu_import_set(c, "axis", axis);
	int t = hu_import_call2(c, "gather", x, y);
	hu_import_out(c, 0, v->type, rank, d)->plain = t;
}

/* Blocks of B x B pixels: from channels to pixels and back. */
static void
blocks(hu_importing *c, int to_space)
{
	hu_value *v = hu_import_in(c, 0);
	int64_t size = hu_import_int(c, "blocksize", 0);
	int rows = !strcmp(hu_import_text(c, "mode", "DCR"), "DCR") ? 1 : 2;

	if (!v)
		return;
	size_t b = size > 0 && size < 1 << 16 ? (size_t)size : 0, C = v->rank == 4 ? v->d[1] : 0, *d = v->d,
	       each = b * b;
	if (!b || !C || (to_space ? C % each : d[2] % b || d[3] % b)) {
		hu_import_fail(c, HU_EFILE, "the image does not divide into blocks of %lld pixels", (long long)size);
		return;
	}
	size_t down[4] = { d[0], to_space ? C / each : C * each, to_space ? d[2] * b : d[2] / b,
		to_space ? d[3] * b : d[3] / b };
	hu_axes x;
	int t = hu_import_plain(c, v);
	if (to_space) {
		/* [N, b, b, C, H, W], or with mode CRD [N, C, b, b, H, W], to [N, C, H, b, W, b] */
		hu_shape s = { 6, { d[0], b, b, down[1], d[2], d[3] } };
		if (rows == 2)
			s = (hu_shape){ 6, { d[0], down[1], b, b, d[2], d[3] } };
		t = hu_import_flat(c, t, s);
		x = hu_axes_same((hu_shape){ 6, { d[0], down[1], d[2], b, d[3], b } });
		int dcr[6] = { 0, 3, 4, 1, 5, 2 }, crd[6] = { 0, 1, 4, 2, 5, 3 };
		memcpy(x.from, rows == 1 ? dcr : crd, sizeof dcr);
	} else {
		t = hu_import_flat(c, t, (hu_shape){ 6, { d[0], C, down[2], b, down[3], b } });
		/* [N, C, H, b, W, b] to [N, b, b, C, H, W], or with mode CRD to [N, C, b, b, H, W] */
		hu_shape s = { 6, { d[0], b, b, C, down[2], down[3] } };
		if (rows == 2)
			s = (hu_shape){ 6, { d[0], C, b, b, down[2], down[3] } };
		x = hu_axes_same(s);
		int dcr[6] = { 0, 3, 5, 1, 2, 4 }, crd[6] = { 0, 1, 3, 5, 2, 4 };
		memcpy(x.from, rows == 1 ? dcr : crd, sizeof dcr);
	}
	t = hu_import_move(c, t, &x);
	t = hu_import_flat(c, t, hu_import_shape(4, down));
	hu_import_out(c, 0, v->type, 4, down)->plain = t;
}

void
hu_node_depth_to_space(hu_importing *c)
{
	blocks(c, 1);
}

void
hu_node_space_to_depth(hu_importing *c)
{
	blocks(c, 0);
}
