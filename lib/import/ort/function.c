/* SPDX-License-Identifier: Apache-2.0
   Elementary functions and softmax with the bits of ONNX Runtime's CPU, whose library MLAS has polynomials of its own
   (lib/op/mlas.def). */
#include "lib/import/importing.h"

#include <string.h>

const char *
hu_ort_function(const hu_importing *c, const char *op, int type)
{
	static const char *const known[][2] = {
		{ "exp", "mlas_exp" },
		{ "erf", "mlas_erf" },
		{ "tanh", "mlas_tanh" },
		{ "sigmoid", "mlas_sigmoid" },
	};

	for (size_t i = 0; c->m->ort && type == HU_ONNX_FLOAT && i < sizeof known / sizeof *known; i++)
		if (!strcmp(op, known[i][0]))
			return known[i][1];
	return op;
}

/* Exponentials are added in the lanes of a register, sixteen with AVX-512 and eight with AVX2 alone; that a processor
   has no VNNI, as the word pairs16 says, means the latter. They are multiplied by the sum's reciprocal. */
int
hu_ort_softmax(hu_importing *c, int t, size_t n)
{
	if (t < 0 || c->st != HU_OK)
		return -1;
	hu_shape s = c->p->t[t].shape;
	hu_import_set(c, "axis", 1);
	hu_import_set(c, "keep", 1);
	int most = hu_import_call1(c, "reduce_max", t),
	    e = hu_import_call1(c, "mlas_softmax_exp", hu_import_call2(c, "sub", t, hu_import_expand(c, most, s))),
	    sum = hu_ort_neighbours(c, hu_import_flat(c, e, hu_shape3(s.d[0], n, 1)), c->m->pairs16 ? 8 : 16);
	sum = hu_import_call1(c, "reciprocal", hu_import_flat(c, sum, hu_shape2(s.d[0], 1)));
	return hu_import_call2(c, "mul", e, hu_import_expand(c, sum, s));
}
