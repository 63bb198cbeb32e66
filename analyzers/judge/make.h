/* SPDX-License-Identifier: Apache-2.0
   Operands on which kernels break: boundary shapes, and numbers at the edges. */
#ifndef HU_ANALYZERS_MAKE_H
#define HU_ANALYZERS_MAKE_H

#include "analyzers/judge/kernel/composite.h"

#include "lib/number/format.h"

#include <stdint.h>

/* Makes the folder dir, which has to be empty where it is there, with a folder for each case, which has a .npy file for
   each operand whose shape composites.def gives, rounded to f. The file cases.json lists the cases, with paths from dir
   on. Of optional operands those are drawn that `with` names; HU_EINVAL where one of these has no shape. */
hu_status hu_judge_make(
	const hu_composite *c, const char *dir, hu_format f, uint64_t seed, const char *with, int *cases);
#endif
