/* SPDX-License-Identifier: Apache-2.0
   Attention in blocks, forward and backward, on every side there is: drawn calls in formats and summation models of
   each kind, with masks, shared keys, blocks longer than the sequence and ones that do not divide it, infinities and
   NaN among the operands, against the plain version of the CPU (lib/op/contract/attention/flash.h), bit for bit; and
   that a call without blocks is refused. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/contract/attention/flash.h"
#include "t/cuda/cuda-sides.h"
#include "t/op/attention/flash-job.h"

static const hu_env env = { 20240229, 7 };

/* A model of each way to go on from a start value, in the accumulator's format and in a wider one. */
static const char *const sums[] = { "fma", "sequential", "kahan", "chunk:4", "pairwise", "splitk:3",
	"promote:8,acc=fp16", "tc:hopper", "tc:hopper,promote=32", "tc:ampere" };
enum { SUMS = sizeof sums / sizeof *sums, EACH = 24 };

typedef struct tally {
	size_t differ, all, strange;
} tally;

static void
agree(const hu_side *side, const char *sum, int n, tally *t)
{
	static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32 };
	int gradient = n % 2;
	hu_flash x;
	job j;

	job_init(&j, gradient, formats[n / 2 % 3], n / 6 % 2);
	if (hu_sum_parse(sum, &j.c.sum) != HU_OK || hu_flash_of(&x, &j.c, j.inp, gradient) != HU_OK)
		bail_out("%s: %s", sum, hu_reason());
	for (int k = 0; k < j.c.nout; k++)
		memset(j.fast[k].data, 0x5a, j.fast[k].n * sizeof(float));
	(gradient ? hu_flash_backward : hu_flash_forward)(&x, j.plainp, &env);
	hu_shim_seed((uint64_t)n);
	if (hu_device_call(side, &j.c, j.inp, j.fastp, &env) != HU_OK)
		bail_out("%s, %s: %s", side->name, sum, hu_reason());
	t->differ += differing(&j);
	for (int k = 0; k < j.c.nout; k++) {
		t->all += j.plain[k].n;
		for (size_t i = 0; i < j.plain[k].n; i++)
			t->strange += !isfinite(hu_get(&j.plain[k], i));
	}
	job_release(&j);
}

static void
test_side(const hu_side *side)
{
	job j;

	for (int s = 0; s < SUMS; s++) {
		tally t = { 0, 0, 0 };
		for (int n = 0; n < EACH; n++)
			agree(side, sums[s], n, &t);
		ok(t.differ == 0 && t.all > 5000 && t.strange > 100,
			"%s, %s: the plain version's bits in %d calls (%zu of %zu elements differ; %zu are not finite)",
			side->name, sums[s], (int)EACH, t.differ, t.all, t.strange);
	}
	job_init(&j, 0, HU_FP32, 0);
	hu_attr_set(&j.c, "block", 0);
	ok(hu_device_call(side, &j.c, j.inp, j.fastp, &env) == HU_EUNABLE && strstr(hu_reason(), "block=N"),
		"%s: a call without blocks is refused: %s", side->name, hu_reason());
	job_release(&j);
}

int
main(void)
{
	on_each_side(test_side, NULL);
	return done_testing();
}
