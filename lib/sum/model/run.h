/* SPDX-License-Identifier: Apache-2.0
   What the arithmetic of every summation model has in common, on the host and on the device: the head of its function,
   and (result.h) the formats in which a sum ends. */
#ifndef HU_SUM_MODEL_RUN_H
#define HU_SUM_MODEL_RUN_H

#include "lib/sum/result.h"
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

#endif
