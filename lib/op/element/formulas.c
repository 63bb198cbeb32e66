/* SPDX-License-Identifier: Apache-2.0
   The CPU's loops over each formula of formulas.def, in every carrier. FORMULA1(relu, …) becomes of_relu_f32,
   of_relu_f64, of_relu_any, of_relu_run, of_relu_dd and of_relu_count, which the hu_blocks of_relu lists. */
#include "lib/op/element/pointwise.h"

#define ONE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i])
#define TWO(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i])
#define THREE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i], in[2][i])
#define FORMULA1(NAME, Y) HU_BLOCKS_OF(of_##NAME, ONE, NAME, NULL)
#define FORMULA2(NAME, Y) HU_BLOCKS_OF(of_##NAME, TWO, NAME, NULL)
#define FORMULA3(NAME, Y) HU_BLOCKS_OF(of_##NAME, THREE, NAME, NULL)
#include "lib/op/element/formulas.def"

const hu_blocks *
hu_formula_blocks(hu_formula f)
{
	static const hu_blocks *const all[] = {
#define FORMULA1(NAME, Y) &of_##NAME,
#define FORMULA2(NAME, Y) &of_##NAME,
#define FORMULA3(NAME, Y) &of_##NAME,
#include "lib/op/element/formulas.def"
	};

	return all[f];
}
