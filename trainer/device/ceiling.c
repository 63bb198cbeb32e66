/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/ceiling.h"

#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/thread.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "trainer/device/fma.h"
#include "trainer/record/machine.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 768, TRIALS = 3 };

static hu_status
tensor(hu_tensor *t, hu_format_id f, size_t n, uint32_t stream)
{
	*t = (hu_tensor){
		.format = f, .shape = hu_shape2(n, n), .n = n * n, .data = hu_alloc(n * n * hu_element_size(f))
	};
	if (!t->data)
		return hu_fail(HU_ENOMEM, "no memory for a product of %zu x %zu", n, n);
	for (size_t i = 0; i < t->n; i++)
		hu_put(t, i, hu_round(hu_uniform(hu_random_at(1, stream, 0, i)) - 0.5, hu_format_of(f), HU_RNE, 0, 0));
	return HU_OK;
}

/* Sets *seconds to those of the fastest of a few runs of op on two n by n tensors of format f. */
static hu_status
fastest(const hu_op *op, hu_format_id f, size_t n, double *seconds)
{
	hu_format_id acc = f == HU_FP64 ? HU_FP64 : HU_FP32;
	hu_call c = { .op = op, .nin = 2, .nout = 1, .sum = hu_sum_default(), .fmt = { f, acc, acc, f } };
	hu_tensor t[3], *in[2] = { &t[0], &t[1] }, *out[1] = { &t[2] };
	hu_env env = { 1, 0 };
	hu_status st = HU_OK;

	memset(t, 0, sizeof t);
	c.sum.acc = acc;
	for (int i = 0; i < 3 && st == HU_OK; i++)
		st = tensor(&t[i], f, n, (uint32_t)i);
	*seconds = 1e9;
	for (int trial = 0; trial < TRIALS && st == HU_OK; trial++) {
		double start = hu_now();
		st = HU_COLUMN(c.op, emulate)(&c, in, out, &env);
		double s = hu_now() - start;
		*seconds = s < *seconds ? s : *seconds;
	}
	for (int i = 0; i < 3; i++)
		free(t[i].data);
	return st;
}

static hu_status
product(hu_format_id f, double *tflops)
{
	double s;

	HU_TRY(fastest(hu_op_of(HU_ROLE_PRODUCT), f, SIDE, &s));
	*tflops = 2e-12 * SIDE * SIDE * SIDE / s;
	return HU_OK;
}

/* Reads one thread's share; the sum is used so that the compiler cannot leave reads out. */
static uint64_t
read_all(const uint64_t *x, size_t n)
{
	uint64_t sum = 0;

#ifndef __clang__
#pragma omp simd reduction(+ : sum)
#endif
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* Returns the seconds of rounds copies of the first half of `size` bytes to the second half, or reads of all of them;
   each thread has a share of its own. */
static double
pass_over(char *all, size_t size, size_t rounds, int copies)
{
	size_t threads = (size_t)hu_threads(), share = size / threads / 128 * 128;
	uint64_t sums = 0;
	double start = hu_now();

#pragma omp parallel num_threads(hu_threads()) reduction(+ : sums)
	{
		char *mine = all + (size_t)omp_get_thread_num() * share;
		for (size_t i = 0; i < rounds; i++) {
			if (copies)
				memcpy(mine + share / 2, mine, share / 2);
			else
				sums += read_all((const uint64_t *)(const void *)mine, share / sizeof(uint64_t));
			__asm__ volatile("" : : "r"(mine) : "memory"); /* keeps the compiler from merging this round
								          with the next one */
		}
	}
	double s = hu_now() - start;
	memcpy(all, &sums, sizeof sums);
	return s / (double)(share * threads * rounds);
}

static hu_status
bandwidth(hu_peaks *d)
{
	enum { LEAST = 16 << 10, MOST = 64 << 20 };
	char *all = hu_alloc(MOST);
	size_t size = MOST;

	if (!all)
		return hu_fail(HU_ENOMEM, "no memory for a copy of %d MB", MOST >> 20);
	memset(all, 1, MOST);
	for (int i = HU_NEAR - 1; i >= 0; i--, size /= 4) {
		double best = 1;
		for (int trial = 0; trial < 2 * TRIALS; trial++)
			best = fmin(best, pass_over(all, size, MOST / size, trial % 2));
		d->near[i].bytes = (double)size;
		d->near[i].gb_s = 1e-9 / best;
		if (i + 1 < HU_NEAR) /* a nearer cache is never slower: where it seems so, another program disturbed the
				        measurement */
			d->near[i].gb_s = fmax(d->near[i].gb_s, d->near[i + 1].gb_s);
	}
	HU_ASSERT(size == LEAST / 4);
	d->gb_s = d->near[HU_NEAR - 1].gb_s;
	free(all);
	return HU_OK;
}

static hu_status
rates(hu_peaks *d)
{
	double peak = hu_fma_peak() * hu_threads();

	if (peak > 0) {
		d->fp32 = d->fp16 = d->bf16 = d->tf32 = d->fp8 = 1e-12 * peak;
		d->fp64 = d->fp32 / 2;
		return HU_OK;
	}
	HU_TRY(product(HU_FP32, &d->fp32));
	HU_TRY(product(HU_FP64, &d->fp64));
	HU_TRY(product(HU_FP16, &d->fp16));
	HU_TRY(product(HU_BF16, &d->bf16));
	HU_TRY(product(HU_TF32, &d->tf32));
	return product(HU_E4M3, &d->fp8);
}

/* Returns what any call takes that is timed: the seconds between two readings of the clock. The cheapest calls of a
   step, on a few single numbers, take little more, so that nothing larger is a least. */
static double
least(void)
{
	double best = 1;

	for (int i = 0; i < 1000; i++) {
		double start = hu_now(), s = hu_now() - start;
		best = s > 0 && s < best ? s : best;
	}
	return best;
}

hu_status
hu_ceiling_measure(hu_peaks *d)
{

	*d = (hu_peaks){ .id = "here", .name = hu_machine_processor(), .source = "measured now" };
	d->gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE) / 0x1p30;
	HU_TRY(rates(d));
	HU_TRY(bandwidth(d));
	d->launch_us = 1e6 * least();
	return HU_OK;
}
