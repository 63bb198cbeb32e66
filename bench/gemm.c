/* SPDX-License-Identifier: Apache-2.0
   The emulated product, fma in fp32: GFLOP/s at each instruction set, with one thread and two,
   beside this core's measured peak of fused multiply-adds. Every timed result is compared, bit for bit,
   with the scalar one. */
#include "lib/base/mem.h"
#include "lib/base/progress.h"
#include "lib/base/thread.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 12, ROUNDS = 1 << 20 };

/* A core's peak of fused multiply-adds: independent chains in registers, enough to hide the latency.
   Each chain x/2 + 1 ends at 2. */
#define PEAK(name, isa, V, width, SPLAT, FMA)                                       \
	static double __attribute__((target(isa))) peak_##name(void)                \
	{                                                                           \
		volatile float half = 0.5f;                                         \
		V acc[CHAINS], x = SPLAT(half), one = SPLAT(1.0f);                  \
		double best = 1e9;                                                  \
		for (int trial = 0; trial < 5; trial++) {                           \
			for (int c = 0; c < CHAINS; c++)                            \
				acc[c] = SPLAT((float)c);                           \
			double start = hu_now();                                    \
			for (int r = 0; r < ROUNDS; r++)                            \
				_Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) \
					acc[c] = FMA(acc[c], x, one);               \
			double t = hu_now() - start;                                \
			for (int c = 0; c < CHAINS; c++)                            \
				if (((const float *)&acc[c])[0] != 2)               \
					exit(1);                                    \
			best = t < best ? t : best;                                 \
		}                                                                   \
		return 2.0 * CHAINS * ROUNDS * width / best * 1e-9;                 \
	}

#if defined(__x86_64__)
#include <immintrin.h>
PEAK(avx2, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps)
PEAK(avx512, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps)
#endif

/* 0 where there is no loop for the instruction set: fmaf is a call there. */
static double
peak(void)
{
#if defined(__x86_64__)
	if (hu_simd_level() == HU_SIMD_AVX512)
		return peak_avx512();
	if (hu_simd_level() == HU_SIMD_AVX2)
		return peak_avx2();
#endif
	return 0;
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
	double scalar = 0, one = 0;

	printf("# emulated product %d^3, fma in fp32\nsimd\tthreads\tms\tgflops\tratio_to_scalar\tratio_to_one_thread\tshare_of_peak\n", N);
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
			one = threads == 1 ? t : one;
			printf("%s\t%d\t%.2f\t%.1f\t%.1f\t%.2f\t", levels[level], threads, 1e3 * t, g, scalar / t, one / t);
			printf(most > 0 ? "%.2f\n" : "-\n", g / (most * threads));
			if (!first)
				first = y.data;
			else
				free(y.data);
		}
	}
	free(first);
	return 0;
}
