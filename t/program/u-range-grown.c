/* SPDX-License-Identifier: Apache-2.0
   Bins that grow from batch to batch, and the range that 128 levels choose of them (range_grown.c): what is counted and
   where, one batch, a value far out, and batches that would need too many bins. */
#include "lib/base/mem.h"
#include "lib/program/quantise/range.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

enum { N = 4096 };

/* N numbers of a triangle over [-1, 1], both ends among them, times FACTOR; or the one number FACTOR where ONE is
   set. */
static void
batch(hu_range *r, double factor, int one)
{
	float x[N];
	size_t n = one ? 1 : N;

	for (size_t i = 0; i < N; i++) {
		double u = (double)i / (N - 1), v = u < 0.5 ? sqrt(u / 2) * 2 - 1 : 1 - sqrt((1 - u) / 2) * 2;
		x[i] = (float)(one ? factor : v * factor);
	}
	hu_tensor t = { .format = HU_FP32, .n = n, .data = x };
	hu_range_extend(r, &t);
}

static uint64_t
counted(const hu_range *r)
{
	uint64_t all = 0;

	for (size_t i = 0; i < r->grown.n; i++)
		all += r->grown.count[i];
	return all;
}

int
main(void)
{
	hu_range one = { .grows = 1 }, two = { .grows = 1 }, wide = { .grows = 1 };
	double low, high;

	batch(&one, 1, 0);
	low = one.low, high = one.high;
	hu_range_entropy(&one.grown, &low, &high);
	ok(one.grown.n == 128 && counted(&one) == N && low == -1 && high == 1, "one batch: all of it, %g to %g", low,
		high);

	batch(&two, 1, 0);
	batch(&two, 1.5, 1);
	/* A bin is 1/64 wide, and floor(0.5 / (1/64)) + 1 = 33 are added at both ends. */
	ok(two.grown.n == 128 + 2 * 33 && counted(&two) == N + 1, "a larger value adds 66 bins: %zu, %llu values",
		two.grown.n, (unsigned long long)counted(&two));
	ok(two.grown.threshold == 1 + 33 / 64.0f && two.grown.count[33 + 64 + 64 + 32] == 1,
		"it is in the bin that it lies in, and the ends are %g", (double)two.grown.threshold);
	low = two.low, high = two.high;
	hu_range_entropy(&two.grown, &low, &high);
	ok(low >= -1.5 && low <= -1 && high >= 1 && high < 1.5, "which is cut off: %g to %g", low, high);

	batch(&wide, 1e-6, 0);
	batch(&wide, 10, 0);
	ok(wide.grown.is_too_wide && wide.grown.n == 128 && counted(&wide) == N, "no more than 2^14 bins are made");
	hu_range_release(&one);
	hu_range_release(&two);
	hu_range_release(&wide);
	return done_testing();
}
