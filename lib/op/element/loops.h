/* SPDX-License-Identifier: Apache-2.0
   The loops over floats of each formula of formulas.def that are compiled for wider registers: hu_loop_gelu_avx2,
   hu_loop_gelu_avx512 and so on. Their bits are those of the loops that formulas.c compiles for every processor. */
#ifndef HU_OP_LOOPS_H
#define HU_OP_LOOPS_H

#include "lib/op/numeric.h"

typedef void hu_formula_loop(const hu_ctx_f32 *c, size_t n, const float *const *in, float *const *out);

#define FORMULA1(NAME, Y) hu_formula_loop hu_loop_##NAME##_avx2, hu_loop_##NAME##_avx512;
#define FORMULA2(NAME, Y) FORMULA1(NAME, Y)
#define FORMULA3(NAME, Y) FORMULA1(NAME, Y)
#include "lib/op/element/formulas.def"
#endif
