/* SPDX-License-Identifier: Apache-2.0
   The error of FP64 products by slices. With a' and b' the elements as their digits have them, a b - a' b' is at most
   |a - a'| |b| + |a'| |b - b'|; what is left out of a' b' is the sum of the left-out products of digits; the sums of
   the kept weights are integers below 2^53, whose additions are N - 1 roundings of partial sums, none above the sum of
   the magnitudes of all digits' products; and the scale is a power of two, which rounds subnormal results alone. */
#include "lib/sum/bound_rule.h"
#include "lib/sum/ozaki.h"

#include <stdlib.h>

double
hu_ozaki_bound(const double *a, const double *b, size_t n, int slices, double *mag)
{
	int zero[2], ea, eb, da[HU_OZAKI_SLICES], db[HU_OZAKI_SLICES], bits = 8 * slices - 1;
	double cut = 0, digits = 0, left = 0, all = 0;

	for (size_t k = 0; k < n; k++) {
		if (!hu_isfinite(a[k]) || !hu_isfinite(b[k]))
			return INFINITY;
		all += fabs(a[k] * b[k]);
	}
	ea = hu_ozaki_line(a, n, &zero[0]);
	eb = hu_ozaki_line(b, n, &zero[1]);
	*mag += all * (1 + ((double)n + 2) * 0x1p-52) + (double)n * 0x1p-1074;
	if (zero[0] || zero[1])
		return 0;
	for (size_t k = 0; k < n; k++) {
		/* Elements in multiples of their lines' last bits, and what was cut from them, as multiples too */
		double x = ldexp(fabs(a[k]), bits - ea), y = ldexp(fabs(b[k]), bits - eb), u = hu_ozaki_cut(x, 0),
		       v = hu_ozaki_cut(y, 0);
		cut += ((x - u) * ldexp(y, -bits) + u * ldexp(y - v, -bits)) * (1 + 0x1p-50);
		/* an element below every double's share of the last bit was cut as a whole, which the scaling may hide
		 */
		cut += (a[k] != 0 && x == 0) || (b[k] != 0 && y == 0) ? 1 : 0;
		hu_ozaki_digits(a[k], ea, slices, da);
		hu_ozaki_digits(b[k], eb, slices, db);
		for (int i = 0; i < slices; i++)
			for (int j = 0; j < slices; j++) {
				double p = abs(da[i] * db[j]) * ldexp(1, -8 * (i + j));
				*(i + j < slices ? &digits : &left) += p;
			}
	}
	double up = 1 + ((double)n * slices * slices + 9) * 0x1p-52,
	       e = cut * up * ldexp(1, -bits) + (left + hu_bound_growth(0x1p-53, slices) * digits) * up * 0x1p-14;

	/* ldexp rounds to nearest, and the sum's own scaling may round a subnormal result once */
	return ldexp(e, ea + eb) * HU_BOUND_UP + 0x1p-1073;
}
