/* SPDX-License-Identifier: Apache-2.0
   The plain version of every summation model: one output's products in ascending k, each operation of the accumulator
   rounded once to its format (step.h). A model's arithmetic is in lib/sum/model/NAME.c. The host finds it by the
   model's row; the device, and its stand-in on the host, compile the same files into the kernel. */
#ifndef HU_SUM_MODEL_H
#define HU_SUM_MODEL_H

#include "lib/sum/model/run.h"
#include "lib/sum/tc/unit.h"
#ifdef __cplusplus
#include "lib/sum/model/device.inc"
#else
#include "lib/sum/model/row.h"
#endif

/* A copy of draw with as many bits as model s uses; zeros where draw is NULL. */
HU_HD hu_draw
hu_draw_of(const hu_draw *draw, hu_sum s)
{
	hu_draw d = { 0, 0, 0, 0, 0 };

	if (draw)
		d = *draw;
	d.bits = s.bits;
	return d;
}

/* Computes one part: n products a[k] * b[k], added from +0 by the resolved model s. count may be NULL, and so may
   `from` where the mode draws nothing. */
HU_HD double
hu_model_run(const double *a, const double *b, size_t n, hu_sum s, const hu_draw *from, hu_sum_count *count)
{
	hu_draw draw = hu_draw_of(from, s);

#ifdef __cplusplus
	switch (s.id) {
#define SUM(id, file, takes, result)                                                                                   \
	case HU_SUM_##id:                                                                                              \
		return hu_sum_run_##file(a, b, n, s, &draw, count);
#include "lib/sum/sums.def"
#undef SUM
	case HU_SUMS: break;
	}
	return hu_nan();
#else
	return hu_sum_model_of(s.id)->run(a, b, n, s, &draw, count);
#endif
}
#endif
