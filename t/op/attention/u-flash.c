/* SPDX-License-Identifier: Apache-2.0
   Attention in blocks (lib/op/contract/attention/flash.h): 2^x against MPFR; the loops against the plain version, bit
   for bit, over drawn shapes, blocks, masks, formats and instruction sets, with infinities, NaN, subnormals and zeros
   among the operands; one thread and several; by tensor cores, blocks that are longer than the sequence, and a
   rescaling that is skipped. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/op/contract/attention/exp2.h"
#include "lib/op/contract/attention/fast.h"
#include "lib/op/element/map.h"
#include "t/op/attention/flash-job.h"
#include "t/tool/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* The worst error of 2^x relative to the exact value, in units of 2^-24, over n drawn x. */
static double
worst_exp2(size_t n, float low, float high)
{
	double worst = 0;
	mpfr_t e;

	mpfr_init2(e, 80);
	for (size_t i = 0; i < n; i++) {
		float x = low + (float)word() * 0x1p-32f * (high - low);
		mpfr_set_flt(e, x, MPFR_RNDN);
		mpfr_exp2(e, e, MPFR_RNDN);
		double exact = mpfr_get_d(e, MPFR_RNDN), far = fabs((double)hu_flash_exp2(x) - exact) / exact;
		worst = far > worst ? far : worst;
	}
	mpfr_clear(e);
	return worst * 0x1p24;
}

static void
test_exp2(void)
{
	double worst = worst_exp2(400000, -1, 0), far = worst_exp2(200000, -125.9F, 0), up = worst_exp2(100000, 0, 127);
	size_t kept = 0;

	ok(worst < 2 && far < 2 && up < 2, "2^x errs by less than 2^-23 of itself (%.3f, %.3f, %.3f of 2^-24)", worst,
		far, up);
	for (int n = -126; n < 128; n++)
		kept += hu_flash_exp2((float)n) == ldexpf(1, n);
	is_int((long long)kept, 254, "whole powers of two are exact");
	ok(hu_flash_exp2(-126.6F) == 0 && hu_flash_exp2(-INFINITY) == 0 && hu_flash_exp2(128) == INFINITY &&
			hu_flash_exp2(INFINITY) == INFINITY && isnan(hu_flash_exp2(NAN)),
		"what is below 2^-126 is 0, what is 2^128 or more infinite, NaN stays");
	for (int n = 0; n < 1000; n++)
		kept += hu_flash_exp2((float)n * -0.126F) >= hu_flash_exp2((float)n * -0.126F - 0x1p-10F);
	is_int((long long)kept, 1254, "it does not fall where its argument rises by 2^-10");
}

static const hu_env env = { 20240229, 7 };

static void
test_fast(const char *simd, int threads)
{
	static const hu_format_id formats[] = { HU_FP32, HU_BF16, HU_FP16 };
	size_t bad[2] = { 0, 0 }, all[2] = { 0, 0 }, strangers = 0;

	hu_threads_set(threads);
	for (int n = 0; n < 240; n++) {
		job j;
		hu_flash x;
		int gradient = n % 2;
		job_init(&j, gradient, formats[n % 3], n % 4 > 1);
		if (hu_flash_of(&x, &j.c, j.inp, gradient) != HU_OK || !hu_flash_has_fast(&x, j.inp, j.c.nin))
			bail_out("a call is not served: %s", hu_reason());
		(gradient ? hu_flash_backward : hu_flash_forward)(&x, j.plainp, &env);
		(gradient ? hu_flash_fast_backward : hu_flash_fast_forward)(&x, j.fastp, &env);
		bad[gradient] += differing(&j);
		for (int k = 0; k < j.c.nout; k++) {
			all[gradient] += j.plain[k].n;
			for (size_t i = 0; i < j.plain[k].n; i++)
				strangers += !isfinite(hu_get(&j.plain[k], i));
		}
		job_release(&j);
	}
	ok(bad[0] + bad[1] == 0 && strangers > 1000,
		"%s, %d threads: the loops give the plain version's bits (forward %zu of %zu differ, backward %zu of "
		"%zu; "
		"%zu are not finite)",
		simd, threads, bad[0], all[0], bad[1], all[1], strangers);
}

/* A block that holds the whole sequence equals any longer one. */
static void
test_meaning(void)
{
	size_t same = 0, apart[2] = { 0, 0 };

	for (int n = 0; n < 40; n++) {
		job j;
		hu_flash x;
		job_init(&j, n % 2, HU_FP32, 0);
		size_t S = j.in[1].shape.d[1], L = j.in[0].shape.d[1], most = S > L ? S : L;
		hu_attr_set(&j.c, "block", (double)most);
		hu_flash_run(&j.c, j.inp, j.plainp, &env, n % 2);
		hu_attr_set(&j.c, "block", 2147483647);
		if (hu_flash_of(&x, &j.c, j.inp, n % 2) != HU_OK || x.block != most)
			bail_out("a long block is not the sequence");
		hu_flash_run(&j.c, j.inp, j.fastp, &env, n % 2);
		same += !differing(&j);
		hu_attr_set(&j.c, "block", 5);
		hu_flash_run(&j.c, j.inp, j.fastp, &env, n % 2);
		apart[n % 2] += differing(&j) > 0;
		job_release(&j);
	}
	ok(same == 40 && apart[0] > 12 && !apart[1],
		"a block longer than all is one of all (%zu of 40); blocks of 5 are not (%zu of 20), but a gradient's "
		"chains of "
		"fused multiply-adds go on from block to block (%zu of 20)",
		same, apart[0], apart[1]);
}

/* Tensor cores add in their own way, block after block: what they give is not what a chain gives, and a model that
   draws random bits is refused. */
static void
test_models(void)
{
	job j;
	size_t apart = 0;

	for (int n = 0; n < 20; n++) {
		job_init(&j, n % 2, HU_BF16, 0);
		hu_flash_run(&j.c, j.inp, j.plainp, &env, n % 2);
		if (hu_sum_parse("tc:hopper", &j.c.sum) != HU_OK ||
			hu_flash_run(&j.c, j.inp, j.fastp, &env, n % 2) != HU_OK)
			bail_out("tensor cores refuse: %s", hu_reason());
		apart += differing(&j) > 0;
		job_release(&j);
	}
	ok(apart > 5, "tensor cores have bits of their own (%zu of 20 calls)", apart);
	job_init(&j, 0, HU_BF16, 0);
	if (hu_sum_parse("sequential,acc=fp16,mode=sr", &j.c.sum) != HU_OK)
		bail_out("%s", hu_reason());
	ok(hu_flash_check(&j.c) == HU_EINVAL, "a model that draws random bits is refused: %s", hu_reason());
	job_release(&j);
}

int
main(void)
{
	static const char *const sets[] = { "scalar", "avx2", "avx512" };

	test_exp2();
	for (int s = 0; s < 3; s++) {
		if (hu_simd_set(sets[s]) != HU_OK)
			continue;
		test_fast(sets[s], 1);
		test_fast(sets[s], 3);
	}
	test_meaning();
	test_models();
	return done_testing();
}
