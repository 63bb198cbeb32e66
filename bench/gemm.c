/* SPDX-License-Identifier: Apache-2.0
   The emulated product, fma in fp32: GFLOP/s at each instruction set, with one thread and two,
   beside this core's peak of fused multiply-adds. Every timed result is compared, bit for bit,
   with the scalar one. */
#include "lib/base/mem.h"
#include "lib/base/progress.h"
#include "lib/base/thread.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/op.h"
#include "lib/sum/panel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The micro-kernel alone on operands that stay in the first cache: the floor. */
static double
peak(void)
{
	const hu_panel *p = hu_panel_get();
	enum { KC = 256, ROUNDS = 2000 };
	float *a = hu_alloc(KC * p->mr * sizeof *a), *b = hu_alloc(KC * p->nr32 * sizeof *b), *c = hu_alloc(p->mr * p->nr32 * sizeof *c);
	double best = 1e9;

	for (int trial = 0; trial < 5; trial++) {
		double start = hu_now();
		for (int r = 0; r < ROUNDS; r++)
			p->f32(KC, a, b, c, p->nr32);
		double t = hu_now() - start;
		best = t < best ? t : best;
	}
	free(a);
	free(b);
	free(c);
	return 2.0 * KC * ROUNDS * (double)(p->mr * p->nr32) / best * 1e-9;
}

static double
time_product(size_t n, hu_tensor *y)
{
	hu_tensor t[2];
	hu_tensor *in[2] = { &t[0], &t[1] };
	hu_call c = { .op = hu_op_find("matmul"), .nin = 2, .nout = 1, .sum = hu_sum_default(), .fmt = { HU_FP32, HU_FP32, HU_FP32, HU_FP32 } };
	hu_env env = { 1, 0 };
	double best = 1e9;

	for (int i = 0; i < 2; i++) {
		t[i] = (hu_tensor){ HU_FP32, hu_shape2(n, n), n * n, hu_alloc(n * n * sizeof(float)) };
		for (size_t k = 0; k < n * n; k++)
			((float *)t[i].data)[k] = (float)hu_uniform(hu_random_at(1, (uint32_t)i, 0, k)) - 0.5f;
	}
	for (int trial = 0; trial < 5; trial++) {
		double start = hu_now();
		if (c.op->emulate(&c, in, &y, &env) != HU_OK)
			exit(1);
		double s = hu_now() - start;
		best = s < best ? s : best;
	}
	free(t[0].data);
	free(t[1].data);
	return best;
}

int
main(void)
{
	enum { N = 512 };
	static const char *const levels[] = { "scalar", "avx2", "avx512" };
	float *first = NULL;
	double scalar = 0;

	printf("# emulated product %d^3, fma in fp32\nsimd\tthreads\tms\tgflops\tratio_to_scalar\tshare_of_peak\n", N);
	for (int level = 0; level < 3; level++) {
		if (hu_simd_set(levels[level]) != HU_OK)
			continue;
		double most = peak();
		for (int threads = 1; threads <= 2; threads++) {
			hu_tensor y = { HU_FP32, hu_shape2(N, N), (size_t)N * N, hu_alloc((size_t)N * N * sizeof(float)) };
			hu_threads_set(threads);
			double t = time_product(N, &y), g = 2.0 * N * N * N / t * 1e-9;
			scalar = first ? scalar : t;
			if (first && memcmp(first, y.data, (size_t)N * N * sizeof(float))) {
				fprintf(stderr, "bench/gemm: %s with %d threads gives other bits\n", levels[level], threads);
				return 1;
			}
			printf("%s\t%d\t%.2f\t%.1f\t%.1f\t%.2f\n", levels[level], threads, 1e3 * t, g, scalar / t, g / (most * threads));
			if (!first)
				first = y.data;
			else
				free(y.data);
		}
	}
	free(first);
	return 0;
}
