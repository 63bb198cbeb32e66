/* SPDX-License-Identifier: Apache-2.0
   Nodes whose outputs are as long as what they find: how much that is must be known beforehand, or the import is for
   one input. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The places of a constant's elements that are not 0, a column each; how many there are must be known beforehand. */
void
hu_node_non_zero(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0);
	double *x = v ? hu_import_constant(c, v) : NULL;
	size_t found = 0, at = 0;

	if (!x)
		return;
	for (size_t i = 0; i < v->n; i++)
		found += x[i] != 0;
	size_t rank = v->rank ? (size_t)v->rank : 1, d[2] = { rank, found };
	double *place = hu_import_room(c, rank * found);
	for (size_t i = 0; place && i < v->n; i++) {
		if (x[i] == 0)
			continue;
		size_t rest = i;
		for (size_t k = rank; k-- > 0; rest /= v->rank ? v->d[k] : 1)
			place[k * found + at] = (double)(rest % (v->rank ? v->d[k] : 1));
		at++;
	}
	free(x);
	hu_value y = { .type = HU_ONNX_INT64, .rank = 2, .d = { rank, found }, .n = rank * found, .last = -1 };
	y.plain = place ? hu_import_numbers(c, HU_ONNX_INT64, 2, d, place) : -1;
	free(place);
	if (c->st == HU_OK)
		hu_import_put(c, 0, &y);
}

/* The rows of V, or its elements where there is no attribute axis, for which a condition holds. */
void
hu_node_compress(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *condition = hu_import_in(c, 1);
	const hu_onnx_attr *axis = hu_import_attr(c, "axis");
	double *x = v && condition ? hu_import_constant(c, condition) : NULL;
	size_t found = 0;

	if (!x)
		return;
	hu_value y = *v;
	if (!axis) {
		y.rank = 1;
		y.d[0] = v->n;
	}
	int k = hu_import_axis(c, axis ? (double)axis->i : 0, y.rank);
	size_t most = k < 0 ? 0 : y.d[k];
	double *place = hu_import_room(c, most);
	for (size_t i = 0; place && i < condition->n && i < most; i++)
		if (x[i] != 0)
			place[found++] = (double)i;
	if (place && k >= 0) {
		y.n = most ? v->n / most * found : 0;
		y.d[k] = found;
		if (!y.n) {
			hu_import_put_empty(c, 0, v->type, y.rank, y.d);
		} else {
			hu_shape s = hu_import_shape(y.rank, y.d);
			s.d[k] = most;
			int in[2] = { hu_import_flat(c, hu_import_plain(c, v), s),
				hu_import_numbers(c, HU_ONNX_INT64, 1, &found, place) };
			hu_import_set(c, "axis", k);
			int t = hu_import_call(c, "gather", hu_import_format(c, v->type), in, 2);
			hu_import_out(c, 0, v->type, y.rank, y.d)->plain = t;
		}
	}
	free(place);
	free(x);
}
