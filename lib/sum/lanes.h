/* SPDX-License-Identifier: Apache-2.0
   Every summation model vectorised over outputs: a lane runs the plain version (model.h) of one column, so the
   bits are its. For round to nearest: natively in fp32, or in doubles rounded to a short format (panel.h, narrow.inc).
   fma, and chunks of it, have kernels that block registers over rows too (panel.h). */
#ifndef HU_SUM_LANES_H
#define HU_SUM_LANES_H

#include "lib/sum/panel.h"
#include "lib/sum/sum.h"

/* A model and what its accumulators round to; length of a slice, where the model has any. */
typedef struct hu_lanes_plan { hu_sum_id id; size_t length; hu_narrow acc, outer; } hu_lanes_plan;

/* OUT[j] = the sum of A[k] * B[k][j] over N products: as many columns as the kernel has, B's rows as long. */
typedef void hu_lanes_f32(float *out, const float *a, const float *b, size_t n, const hu_lanes_plan *p);
typedef void hu_lanes_f64(double *out, const double *a, const double *b, size_t n, const hu_lanes_plan *p);

typedef struct hu_lanes {
	size_t n32, n64;       /* columns */
	hu_lanes_f32 *f32;     /* accumulators of fp32 */
	hu_lanes_f64 *narrow;  /* of a format that hu_narrow_of knows */
} hu_lanes;

extern const hu_lanes hu_lanes_scalar, hu_lanes_avx2, hu_lanes_avx512;

/* That of the instruction set in use (lib/number/simd.h). */
const hu_lanes *hu_lanes_get(void);

/* 1 and the plan for N products where a kernel knows the model; *F32: it is the native one. Operands have p <= 24. */
int hu_lanes_plan_of(hu_lanes_plan *p, hu_sum s, size_t n, int *f32);
#endif
