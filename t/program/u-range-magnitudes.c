/* SPDX-License-Identifier: Apache-2.0
   Bins of magnitudes and the range that a percentile cuts of them (range_magnitudes.c): which edge it is, where all
   magnitudes are one, and elements that are not finite. */
#include "lib/program/quantise/range.h"
#include "t/tool/tap.h"

#include <math.h>

static hu_range
range_of(float *x, size_t n)
{
	hu_range r = { .is_cut = 1 };
	hu_tensor t = { .format = HU_FP32, .n = n, .data = x };

	hu_range_extend(&r, &t);
	hu_range_count(&r, &t);
	return r;
}

static void
cut(hu_range *r, double percent, double *low, double *high)
{
	*low = r->low;
	*high = r->high;
	hu_range_percentile(&r->magnitude, percent, low, high);
	hu_range_release(r);
}

int
main(void)
{
	enum { N = 2049 };
	float x[N], one[3] = { -3, 3, 3 }, odd[4] = { 1, INFINITY, 3, NAN };
	double low, high;

	/* Magnitudes 2, 3 … 2050: a bin is one wide, begins at a whole number and holds one; the last one holds two. */
	for (int i = 0; i < N; i++)
		x[i] = (float)(i % 2 ? -(i + 2) : i + 2);
	hu_range r = range_of(x, N);
	ok(r.magnitude.edge[0] == 2 && r.magnitude.edge[2048] == 2050 && r.magnitude.count[0] == 1 &&
			r.magnitude.count[2047] == 2,
		"the bins are those of the magnitudes: %g to %g", (double)r.magnitude.edge[0],
		(double)r.magnitude.edge[2048]);
	cut(&r, 50, &low, &high);
	ok(low == -1026 && high == 1026, "half of 2049 values: the 1025th bin's lower edge, %g to %g", low, high);
	r = range_of(x, N);
	cut(&r, 100, &low, &high);
	ok(low == -2049 && (high == 2049 || high == 2050), "all of them: %g to %g", low, high);
	r = range_of(one, 3);
	cut(&r, 99.999, &low, &high);
	ok(low == -3 && high == 3, "one magnitude: %g to %g", low, high);
	r = range_of(odd, 4);
	cut(&r, 99, &low, &high);
	ok(low == 0 && high > 2.99 && high < 3, "what is not finite is left out: %g to %g", low, high);
	return done_testing();
}
