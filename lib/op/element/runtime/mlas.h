/* SPDX-License-Identifier: Apache-2.0
   The loops over floats of each row of mlas.def: hu_mlas_exp_plain, hu_mlas_exp_avx2, hu_mlas_exp_avx512 and so on,
   whose bits are the same. */
#ifndef HU_OP_MLAS_H
#define HU_OP_MLAS_H

#include "lib/op/element/loops.h"

#define MLAS(NAME, FUNCTION, SUMMARY)                                                                                  \
	hu_formula_loop hu_mlas_##NAME##_plain, hu_mlas_##NAME##_avx2, hu_mlas_##NAME##_avx512;
#include "lib/op/mlas.def"
#endif
