/* SPDX-License-Identifier: Apache-2.0
   What tests of tensor cores share: a model from its text, and the bits of a sum. */
#ifndef HU_T_SUM_TC_MODEL_H
#define HU_T_SUM_TC_MODEL_H

#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

static inline hu_sum
model(const char *text)
{
	hu_sum s;

	if (hu_sum_parse(text, &s) != HU_OK ||
		hu_sum_resolve(&s, s.in, s.in2 == HU_NO_FORMAT ? s.in : s.in2, s.out) != HU_OK)
		bail_out("%s", hu_reason());
	return s;
}

static inline uint32_t
word(double x)
{
	return bits_of_float((float)x);
}

#endif
