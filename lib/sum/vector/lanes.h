/* SPDX-License-Identifier: Apache-2.0
   Summation models vectorised over outputs: each lane runs the plain version (model.h) on one column and gives its
   bits. Rounding is to nearest, natively in fp32 or in doubles rounded to a short format (panel.h, narrow.inc). fma,
   and chunks of it, also have kernels that keep several rows in registers (panel.h). */
#ifndef HU_SUM_LANES_H
#define HU_SUM_LANES_H

#include "lib/sum/model/row.h"
#include "lib/sum/vector/panel.h"

/* A model, the formats that its accumulators round to, and the length of a slice, where the model has slices. */
typedef struct hu_lanes_plan {
	hu_sum_lanes lanes;
	size_t length;
	hu_narrow acc, outer;
} hu_lanes_plan;

/* Sets out[j] to the sum of a[k] * b[k][j] over n products, for as many columns as the kernel has (n32 or n64, which
   is also the length of b's rows). */
typedef void hu_lanes_f32(float *out, const float *a, const float *b, size_t n, const hu_lanes_plan *p);
typedef void hu_lanes_f64(double *out, const double *a, const double *b, size_t n, const hu_lanes_plan *p);

typedef struct hu_lanes {
	size_t n32, n64;      /* columns */
	hu_lanes_f32 *f32;    /* for fp32 accumulators */
	hu_lanes_f64 *narrow; /* for accumulators of a format that hu_narrow_of knows */
} hu_lanes;

extern const hu_lanes hu_lanes_scalar, hu_lanes_avx2, hu_lanes_avx512;

/* The kernels of the instruction set in use (lib/number/simd.h). */
const hu_lanes *hu_lanes_get(void);

/* Returns 1 and sets the plan for n products where a kernel knows the model; *f32 tells whether it is the fp32 one.
   Operands must have p <= 24. */
int hu_lanes_plan_of(hu_lanes_plan *p, hu_sum s, size_t n, int *f32);
#endif
