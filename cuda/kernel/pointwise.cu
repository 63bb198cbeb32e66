/* SPDX-License-Identifier: Apache-2.0
   Every pointwise operator: one kernel for each formula of lib/op/element/formulas.def, with the operands and constants
   that the operator's row names. */
#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/element/formulas.h"
}

static_assert((int)HU_AT_EACH == HU_EACH && (int)HU_AT_CHANNEL == HU_CHANNEL && (int)HU_AT_ROW == HU_ROW &&
		      (int)HU_AT_IMAGE == HU_IMAGE && (int)HU_AT_ONE == HU_ONE && (int)HU_AT_INDEX == HU_INDEX,
	"operands are read as the CPU reads them");

#define ONE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i])
#define TWO(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i])
#define THREE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i], in[2][i])
/* Elementary functions and roots take hundreds of instructions: as text Y calls one of these. */
static constexpr int
calls_function(const char *y)
{
	const char *names[] = { "EXP", "LOG", "ERF", "TANH", "SIGMOID", "SQRT", "POW", "gelu", "silu", "softplus" };

	for (; *y; y++)
		for (const char *name : names) {
			int n = 0;
			while (name[n] && y[n] == name[n])
				n++;
			if (!name[n])
				return 1;
		}
	return 0;
}

#define FORMULA(NAME, N, F, Y)                   \
	HU_FORMULA_OF(of_##NAME, N, 1, F, NAME) \
	template <> constexpr int hu_is_long<of_##NAME> = calls_function(#Y);
#define FORMULA1(NAME, Y) FORMULA(NAME, 1, ONE, Y)
#define FORMULA2(NAME, Y) FORMULA(NAME, 2, TWO, Y)
#define FORMULA3(NAME, Y) FORMULA(NAME, 3, THREE, Y)
#include "lib/op/element/formulas.def"
#undef FORMULA
#undef ONE
#undef TWO
#undef THREE

extern "C" hu_status
HU_SIDE(op_pointwise)(hu_work *w)
{
	hu_pointwise_call p;
	hu_field m = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));

	if (!hu_pointwise_describe(&p, w->call))
		return hu_fail(HU_EUNABLE, "operator %s is not a pointwise operator with a formula of its own", w->op);
	if (w->in[0]->shape.rank)
		m.by_image = hu_divisor_of((uint32_t)(w->in[0]->n / w->in[0]->shape.d[0]));
	for (int i = 0; i < p.nin; i++)
		hu_field_in(&m, w->in[i], p.how[i]);
	hu_field_out(w, &m, w->out[0]);
	m.nk = p.nk;
	for (int i = 0; i < p.nk; i++)
		m.k[i] = p.k[i];
	switch (p.formula) {
#define FORMULA1(NAME, Y) case HU_FORMULA_##NAME: return hu_field_run<of_##NAME>(w, &m);
#define FORMULA2(NAME, Y) case HU_FORMULA_##NAME: return hu_field_run<of_##NAME>(w, &m);
#define FORMULA3(NAME, Y) case HU_FORMULA_##NAME: return hu_field_run<of_##NAME>(w, &m);
#include "lib/op/element/formulas.def"
	default: return HU_EUNABLE;
	}
}
