/* SPDX-License-Identifier: Apache-2.0
   The ends that calibration finds of a tensor (range.c): of every length, where each element is the least or largest
   one, with infinities and NaN, in float32, which registers compare, and in float64. */
#include "lib/program/quantise/range.h"
#include "t/tool/tap.h"

#include <math.h>

enum { MOST = 70 };

/* Extends *r by N elements: 1/8 each, but X at place AT and Y behind it. */
static void
extend(hu_range *r, int wide, size_t n, size_t at, double x, double y)
{
	float f[MOST];
	double d[MOST];

	for (size_t i = 0; i < n; i++) {
		d[i] = i == at ? x : i == (at + 1) % n ? y : 0.125;
		f[i] = (float)d[i];
	}
	hu_tensor t = { .format = wide ? HU_FP64 : HU_FP32, .n = n, .data = wide ? (void *)d : f };
	hu_range_extend(r, &t);
}

/* Whether the range after one call is what its elements X and Y among eighths say. */
static int
is_right(int wide, size_t n, size_t at, double x, double y)
{
	hu_range r = { .n = 0 };
	double least = fmin(x, n > 2 ? 0.125 : x), largest = fmax(x, n > 2 ? 0.125 : x);

	extend(&r, wide, n, at, x, y);
	if (isfinite(y))
		least = fmin(least, y), largest = fmax(largest, y);
	int same = r.ends[0] == least && r.ends[1] == largest && r.low == fmin(least, 0) &&
		   r.high == fmax(largest, 0) && r.amax == fmax(-r.low, r.high);
	same &= r.n + r.nonfinite == n && r.nonfinite == !isfinite(y) && r.nbatch == 1;
	same &= r.batch[0] == (isfinite(y) ? fmax(fabs(least), fabs(largest)) : INFINITY);
	same &= r.infinite[0] == (y == -INFINITY) && r.infinite[1] == (y == INFINITY);
	hu_range_release(&r);
	return same;
}

int
main(void)
{
	static const double y[] = { 7, -5, -0.0, INFINITY, -INFINITY, NAN };

	for (int wide = 0; wide < 2; wide++)
		for (size_t k = 0; k < sizeof y / sizeof *y; k++) {
			size_t wrong = 0;
			for (size_t n = 2; n <= MOST; n++)
				for (size_t at = 0; at < n; at++)
					wrong += !is_right(wide, n, at, -3, y[k]) + !is_right(wide, n, at, 3, y[k]);
			ok(!wrong, "%s, -3 or 3 and %g at each place of 2 to %d elements: %zu wrong",
				wide ? "float64" : "float32", y[k], MOST, wrong);
		}
	hu_range r = { .n = 0 };
	for (size_t i = 0; i < 3; i++)
		extend(&r, 0, 40, i, -1.0 - (double)i, 2);
	ok(r.nbatch == 3 && r.ends[0] == -1 && r.ends[2] == -2 && r.ends[4] == -3 && r.low == -3 && r.n == 120,
		"each call has ends of its own");
	hu_range_release(&r);
	extend(&r, 0, 1, 0, NAN, NAN);
	ok(r.n == 0 && r.nonfinite == 1 && r.ends[0] == 0 && r.ends[1] == 0, "without finite elements both are 0");
	hu_range_release(&r);
	return done_testing();
}
