/* SPDX-License-Identifier: Apache-2.0
   The plain grid kernels, and the choice of the kernels for this processor. Where the compiler may not use a fused
   multiply-add, fma is a function of the C library; so products that are doubles have kernels without it. */
#include "lib/exact/grid/grid.h"

#include "lib/number/round.h"
#include "lib/number/simd.h"

#include <math.h>

#define HU_V double
#define HU_W 1
#define HU_VECTORS 8
#define HU_LOAD(p) (*(p))
#define HU_STORE(p, v) (*(p) = (v))
#define HU_SPLAT(x) (x)
#define HU_MAGNITUDE(x) fabs(x)
#define HU_R2 2
#define HU_R3 2
#define HU_R5 2

#define HU_FMA(a, b, c) fma(a, b, c)
#define HU_NAME(x) x
#include "lib/exact/grid/table.inc"
#include "lib/exact/grid/wide.inc"
#undef HU_FMA
#undef HU_NAME

#define HU_FMA(a, b, c) ((a) * (b) + (c))
#define HU_NAME(x) narrow_##x
#define HU_DOT narrow_dot
#include "lib/exact/grid/table.inc"

#include "lib/exact/grid/grid.inc"

const hu_grid hu_grid_scalar = { HU_W * HU_VECTORS, sums, magnitudes, narrow_sums, narrow_magnitudes, wides, narrow_dot,
	wide_dot, measure, scale, gather, carry, pairs, round_levels, join };

const hu_grid *
hu_grid_get(void)
{
	return HU_SIMD_PICK(&hu_grid_avx512, &hu_grid_avx2, &hu_grid_scalar);
}

/* Terms are below 4. The first level starts from 3·2^(m-1) with 2^(m-1) > 4k, so that it stays in [2^m, 2^(m+1)) and
   its grid keeps the step u = 2^(m-52). It passes on at most u/2 a term. At most 2^g terms (a chunk's, and a carried
   rest) make the next level's sums at most 2^(m-53+g), and so on. The last level needs no start: its sums are
   integers in units of the products' lowest bit, exact while they stay within 2^53. */
void
hu_plan_make(hu_grid_plan *p, size_t k, size_t terms_of_a_product)
{
	size_t chunk = (k > HU_GRID_CHUNK ? HU_GRID_CHUNK + 1 : k) * terms_of_a_product;
	int m = 3 + hu_log2_up(k + 1), g = hu_log2_up(chunk ? chunk : 1);

	p->limit[0] = -1;
	p->limit[1] = 54 - m;
	for (int l = 0; l < HU_GRID_LEVELS; l++) {
		p->start[l] = 3 * hu_pow2(m - 1);
		if (l + 2 <= HU_GRID_LEVELS)
			p->limit[l + 2] = 106 - g - m;
		m -= 52 - g;
	}
}
