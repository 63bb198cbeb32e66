/* SPDX-License-Identifier: Apache-2.0
   The CPU's loops over each formula of formulas.def, in every numeric type. FORMULA1(relu, …) becomes of_relu_f32,
   of_relu_f64, of_relu_any, of_relu_run, of_relu_dd and of_relu_count, which the hu_blocks of_relu lists. Loops over
   floats for wider registers are in lib/op/element/loops.inc. */
#include "lib/number/simd.h"
#include "lib/op/element/loops.h"
#include "lib/op/element/pointwise.h"

#define ONE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i])
#define TWO(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i])
#define THREE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i], in[2][i])
#define FORMULA1(NAME, Y) HU_BLOCKS_OF(of_##NAME, ONE, NAME, NULL)
#define FORMULA2(NAME, Y) HU_BLOCKS_OF(of_##NAME, TWO, NAME, NULL)
#define FORMULA3(NAME, Y) HU_BLOCKS_OF(of_##NAME, THREE, NAME, NULL)
#include "lib/op/element/formulas.def"

#define WITH(NAME, F32)                                                                                               \
	{ F32, of_##NAME##_f64, of_##NAME##_any, of_##NAME##_run, of_##NAME##_dd, NULL, of_##NAME##_count },

#if defined(__x86_64__)
static const hu_blocks avx2[] = {
#define FORMULA1(NAME, Y) WITH(NAME, hu_loop_##NAME##_avx2)
#define FORMULA2(NAME, Y) WITH(NAME, hu_loop_##NAME##_avx2)
#define FORMULA3(NAME, Y) WITH(NAME, hu_loop_##NAME##_avx2)
#include "lib/op/element/formulas.def"
};

static const hu_blocks avx512[] = {
#define FORMULA1(NAME, Y) WITH(NAME, hu_loop_##NAME##_avx512)
#define FORMULA2(NAME, Y) WITH(NAME, hu_loop_##NAME##_avx512)
#define FORMULA3(NAME, Y) WITH(NAME, hu_loop_##NAME##_avx512)
#include "lib/op/element/formulas.def"
};
#endif

const hu_blocks *
hu_formula_blocks(hu_formula f)
{
	static const hu_blocks *const all[] = {
#define FORMULA1(NAME, Y) &of_##NAME,
#define FORMULA2(NAME, Y) &of_##NAME,
#define FORMULA3(NAME, Y) &of_##NAME,
#include "lib/op/element/formulas.def"
	};

	return HU_SIMD_PICK(&avx512[f], &avx2[f], all[f]);
}
