/* SPDX-License-Identifier: Apache-2.0
   Operands on which kernels break: boundary shapes, and numbers at the edges. */
#ifndef HU_ANALYZERS_MAKE_H
#define HU_ANALYZERS_MAKE_H

#include "analyzers/judge/kernel/composite.h"

#include "lib/number/format.h"

#include <stdint.h>

/* Makes the folder dir with a folder for each case, which has a .npy file for each operand whose shape composites.def
   gives, rounded to f, and a file cases.json that lists the cases. Of optional operands those are drawn that `with`
   names. */
hu_status hu_judge_make(
	const hu_composite *c, const char *dir, hu_format f, uint64_t seed, const char *with, int *cases);
#endif
