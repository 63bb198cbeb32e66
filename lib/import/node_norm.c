/* SPDX-License-Identifier: Apache-2.0
   Normalisations. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

void
hu_node_batchnorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *k;
	int in[5], last;

	if (!v)
		return;
	if (v->rank < 2 || !hu_import_int(c, "spatial", 1)) {
		hu_import_fail(c, HU_EUNABLE, "only statistics of whole channels are possible");
		return;
	}
	last = v->rank > 2;
	in[0] = last ? hu_import_last(c, v) : hu_import_plain(c, v);
	for (int i = 1; i < 5; i++) {
		if (!(k = hu_import_in(c, (size_t)i))) {
			hu_import_fail(c, HU_EFILE, "it needs scale, bias, mean and variance");
			return;
		}
		in[i] = hu_import_plain(c, k);
	}
	hu_import_set(c, "eps", hu_import_real(c, "epsilon", (double)1e-5f));
	int t = hu_import_call(c, "batchnorm_eval", HU_NO_FORMAT, in, 5);
	hu_value *to = hu_import_out(c, 0, v->type, v->rank, v->d);
	*(last ? &to->last : &to->plain) = t;
}

/* N numbers X as a constant. */
static int
filled(hu_importing *c, int type, size_t n, double x)
{
	double *v = hu_xmalloc((n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = x;
	int t = hu_import_numbers(c, type, 1, &n, v);
	free(v);
	return t;
}

void
hu_node_layernorm(hu_importing *c)
{
	hu_value *v = hu_import_in(c, 0), *scale = hu_import_in(c, 1), *bias = hu_import_in(c, 2);
	size_t n = 1;

	if (!v || !scale)
		return;
	int axis = hu_import_axis(c, hu_import_int(c, "axis", -1), v->rank);
	for (int i = axis; i >= 0 && i < v->rank; i++)
		n *= v->d[i];
	if (c->st == HU_OK && (scale->n != n || (bias && bias->n != n))) {
		hu_import_fail(c, HU_EUNABLE, "its scale and bias must have %zu elements each", n);
		return;
	}
	if ((c->node->nout > 1 && *c->node->out[1]) || (c->node->nout > 2 && *c->node->out[2])) {
		hu_import_fail(c, HU_EUNABLE, "only its first output is computed");
		return;
	}
	int in[3] = { hu_import_flat(c, hu_import_plain(c, v), hu_shape2(v->n / n, n)),
		hu_import_flat(c, hu_import_plain(c, scale), hu_shape1(n)),
		bias ? hu_import_flat(c, hu_import_plain(c, bias), hu_shape1(n)) : filled(c, v->type, n, 0) };
	hu_import_set(c, "eps", hu_import_real(c, "epsilon", (double)1e-5f));
	int t = hu_import_call(c, "layernorm", HU_NO_FORMAT, in, 3);
	t = hu_import_flat(c, t, hu_import_shape(v->rank, v->d));
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}
