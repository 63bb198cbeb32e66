/* SPDX-License-Identifier: Apache-2.0
   Summation models over outputs: the kernels for any processor, the choice of kernels for this one, and the models
   that they know. */
#include "lib/sum/vector/lanes.h"

#include "lib/number/simd.h"
#include "lib/sum/table/parts.h"

#include <math.h>

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

static inline four
fma_four(four x, four y, four c)
{
	for (int i = 0; i < 4; i++)
		c[i] = fmaf(x[i], y[i], c[i]);
	return c;
}

#define HU_BYTES 16
#define FMA32(x, y, c) (lf) fma_four((four)(x), (four)(y), (four)(c))
#include "lib/sum/vector/lanes_both.inc"

const hu_lanes hu_lanes_scalar = { LANES * HU_BYTES / 4, LANES *HU_BYTES / 8, lanes_f32, lanes_narrow };

const hu_lanes *
hu_lanes_get(void)
{
	return HU_SIMD_PICK(&hu_lanes_avx512, &hu_lanes_avx2, &hu_lanes_scalar);
}

int
hu_lanes_plan_of(hu_lanes_plan *p, hu_sum s, size_t n, int *f32)
{
	hu_format acc = hu_format_of(s.acc),
		  outer = hu_sum_result_of(s.id) == HU_RESULT_WIDER ? hu_outer_format(s) : acc;
	const hu_sum_model *m = hu_sum_model_of(s.id);

	if (s.mode != HU_RNE || m->lanes == HU_LANES_NONE)
		return 0;
	p->lanes = m->lanes;
	p->length = m->lengths ? m->lengths(s, n).length : n + !n;
	*f32 = acc.id == HU_FP32 && outer.id == HU_FP32;
	return *f32 || (hu_narrow_of(&p->acc, acc) && hu_narrow_of(&p->outer, outer));
}
