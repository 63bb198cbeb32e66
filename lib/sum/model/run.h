/* SPDX-License-Identifier: Apache-2.0
   What the arithmetic of every summation model has in common, on the host and on the device: the head of its function,
   and the formats in which a sum ends. */
#ifndef HU_SUM_MODEL_RUN_H
#define HU_SUM_MODEL_RUN_H

#include "lib/sum/step.h"
#include "lib/sum/sum.h"

/* The head of a model's arithmetic: one part of n products a[k] * b[k], added from +0 by the resolved model s. draw has
   as many bits as s uses. count may be NULL. */
#ifdef __cplusplus
#define HU_SUM_RUN_INLINES
#else
#define HU_SUM_RUN_INLINES __attribute__((flatten)) /* roundings in calls of their own cost a tenth of the time */
#endif
#define HU_SUM_RUN(name)                                                                                               \
	HU_SUM_RUN_INLINES HU_HD_CALL double hu_sum_run_##name(                                                        \
		const double *a, const double *b, size_t n, hu_sum s, const hu_draw *draw, hu_sum_count *count)

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

/* The format in which parts and lanes combine; for promote that of the second accumulator, for an all-reduce the
   wire's. */
HU_HD hu_format
hu_outer_format(hu_sum s)
{
	if (s.outer == HU_NO_FORMAT && hu_sum_result_of(s.id) == HU_RESULT_WIDER)
		return hu_format_of(s.acc == HU_FP64 ? HU_FP64 : HU_FP32);
	return hu_format_of(s.outer == HU_NO_FORMAT ? s.acc : s.outer);
}

/* Returns 1 where a sum has its result in another format than acc: that of the second accumulator or of the wire. */
HU_HD int
hu_sum_has_outer(hu_sum s)
{
	return hu_sum_result_of(s.id) != HU_RESULT_ACC;
}

/* The format of one part's sum. */
HU_HD hu_format
hu_part_format(hu_sum s)
{
	return hu_sum_has_outer(s) ? hu_outer_format(s) : hu_format_of(s.acc);
}
#endif
