/* SPDX-License-Identifier: Apache-2.0
   The error bound of a library's product, whose order of summation is unknown. */
#include "cuda/cublas/cublas.h"

#include "lib/sum/bound.h"
#include "lib/sum/tc/tc.h"

#include <math.h>

double
hu_cublas_bound(hu_sum s, const hu_cublas_product *p, int arch, int slices, int most, double mag)
{
	int wide = p->fa == HU_FP64, units = hu_format_of(p->fa).bits <= 16 || p->tf32;
	double u = wide ? 0x1p-53 : 0x1p-24, bound;

	if (!units) {
		/* A term meets at most (k + slices) roundings, in whatever order, each of which may also lose half of
		   the smallest subnormal. */
		double n = (double)p->k + slices, r = n * u * (1 + n * u);
		return n * u < 0.25 && mag <= (wide ? 0x1p1020 : 0x1p120)
			       ? (r * mag + n * (wide ? 0x1p-1074 : 0x1p-149)) * (1 + 0x1p-40)
			       : INFINITY;
	}
	if (s.id != HU_SUM_TC) {
		s.id = HU_SUM_TC;
		s.arch = arch >= 0 && arch < HU_TC_ARCHS ? (hu_tc_arch)arch
							 /* the coarsest, if the architecture is unknown */
							 : HU_TC_VOLTA;
		s.in = p->tf32 ? HU_TF32 : p->fa;
		s.in2 = p->tf32 ? HU_TF32 : p->fb;
		s.path = 0;
		s.group = 0;
		if (hu_tc_of(s.arch, s.in, 0).kind < 0)
			s.arch = hu_format_of(p->fa).bits == 8 ? HU_TC_ADA : HU_TC_AMPERE;
	}
	s.acc = s.out = HU_FP32;
	/* Each slice may end in the middle of a block; slices are added in fp32. */
	bound = hu_sum_tc_bound(s, p->k + (size_t)slices * (size_t)hu_tc_of_sum(s).l * 2, 0, most, mag);
	return (bound + (slices > 1 ? slices * u * (1 + slices * u) * (mag + bound) : 0)) * (1 + 0x1p-40);
}
