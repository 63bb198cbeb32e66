/* SPDX-License-Identifier: Apache-2.0
   The formats in which sums end, of every summation model (sums.def). Host and device. */
#ifndef HU_SUM_RESULT_H
#define HU_SUM_RESULT_H

#include "lib/number/format.h"
#include "lib/sum/sum.h"

/* Returns which format a sum by this model ends in (sums.def). */
HU_HD hu_sum_result
hu_sum_result_of(hu_sum_id id)
{
	switch (id) {
#define SUM(id, file, takes, result)                                                                                   \
	case HU_SUM_##id:                                                                                              \
		return HU_RESULT_##result;
#include "lib/sum/sums.def"
#undef SUM
	case HU_SUMS: break;
	}
	return HU_RESULT_ACC;
}

/* Returns 1 where a second accumulator takes what the first one held, in fp32 unless outer= names another format. */
HU_HD int
hu_sum_widens(hu_sum s)
{
	return hu_sum_result_of(s.id) == HU_RESULT_WIDER ||
	       (hu_sum_result_of(s.id) == HU_RESULT_PROMOTED && s.n > 0);
}

/* The format in which parts and lanes combine; where there is a second accumulator its format, for an all-reduce
   the wire's. */
HU_HD hu_format
hu_outer_format(hu_sum s)
{
	if (s.outer == HU_NO_FORMAT && hu_sum_widens(s))
		return hu_format_of(s.acc == HU_FP64 ? HU_FP64 : HU_FP32);
	return hu_format_of(s.outer == HU_NO_FORMAT ? s.acc : s.outer);
}

/* Returns 1 where a sum has its result in another format than acc: that of the second accumulator or of the wire. */
HU_HD int
hu_sum_has_outer(hu_sum s)
{
	return hu_sum_widens(s) || hu_sum_result_of(s.id) == HU_RESULT_WIRE;
}

/* The format of one part's sum. */
HU_HD hu_format
hu_part_format(hu_sum s)
{
	return hu_sum_has_outer(s) ? hu_outer_format(s) : hu_format_of(s.acc);
}
#endif
