/* SPDX-License-Identifier: Apache-2.0
   The emulated product: fma in fp32 in GFLOP/s at each instruction set, with one thread and two,
   beside this core's measured peak of fused multiply-adds; then what other models cost against it. Every timed result
   is compared, bit for bit, with the scalar one. Arguments name other models to time. */
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/thread.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"
#include "lib/op/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Uniform in ±1/2, of fp16, so that tensor cores take them. */
static void
fill(hu_tensor *t, size_t n, uint32_t stream)
{
	*t = (hu_tensor){
		.format = HU_FP16, .shape = hu_shape2(n, n), .n = n * n, .data = hu_alloc(n * n * sizeof(float))
	};
	for (size_t k = 0; k < n * n; k++)
		((float *)t->data)[k] = (float)hu_round(
			hu_uniform(hu_random_at(1, stream, 0, k)) - 0.5, hu_format_of(HU_FP16), HU_RNE, 0, 0);
}

/* One thread is timed by the processor's clock, so that a busy machine does not favour the shorter run. */
static double
seconds(int threads)
{
	struct timespec t;

	if (threads > 1 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		return hu_now();
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one n^3 product by the model: the least of TRIALS. */
static double
time_product(const char *model, size_t n, hu_tensor *y, int threads, int trials)
{
	hu_tensor t[2];
	hu_tensor *in[2] = { &t[0], &t[1] };
	hu_call c = { .op = hu_op_find("matmul"), .nin = 2, .nout = 1, .fmt = { HU_FP16, HU_FP32, HU_FP32, HU_FP32 } };
	hu_env env = { 1, 0 };
	double best = 1e9;

	if (hu_sum_parse(model, &c.sum) != HU_OK)
		exit(1);
	for (int i = 0; i < 2; i++)
		fill(&t[i], n, (uint32_t)i);
	for (int trial = 0; trial < trials; trial++) {
		double start = seconds(threads);
		if (HU_COLUMN(c.op, emulate)(&c, in, &y, &env) != HU_OK)
			exit(1);
		double s = seconds(threads) - start;
		best = s < best ? s : best;
	}
	free(t[0].data);
	free(t[1].data);
	return best;
}

enum { N = 512, LEVELS = 3 };

static const char *const levels[LEVELS] = { "scalar", "avx2", "avx512" };

/* One model at every instruction set: a row each. BASE: fma's seconds at each with one thread, which this fills where
   first. Bits that differ end the program. */
static void
rows_of(const char *model, double *base, int first)
{
	float *plain = NULL;
	double scalar = 0, one = 0;

	for (int level = 0; level < LEVELS; level++) {
		if (hu_simd_set(levels[level]) != HU_OK)
			continue;
		double most = first ? peak() : 0;
		for (int threads = 1; threads <= 1 + first; threads++) {
			hu_tensor y = { .format = HU_FP32,
				.shape = hu_shape2(N, N),
				.n = (size_t)N * N,
				.data = hu_alloc((size_t)N * N * sizeof(float)) };
			hu_threads_set(threads);
			double t = time_product(model, N, &y, threads, level ? 7 : 1), g = 2.0 * N * N * N / t * 1e-9;
			scalar = plain ? scalar : t;
			if (plain && memcmp(plain, y.data, (size_t)N * N * sizeof(float))) {
				fprintf(stderr, "bench/gemm: %s by %s with %d threads gives other bits\n", model,
					levels[level], threads);
				exit(1);
			}
			one = threads == 1 ? t : one;
			if (first && threads == 1)
				base[level] = t;
			printf("%s\t%s\t%d\t%.2f\t%.2f\t%.1f\t%.1f\t%.2f\t", model, levels[level], threads, 1e3 * t, g,
				t / base[level], scalar / t, one / t);
			printf(most > 0 ? "%.2f\n" : "-\n", g / (most * threads));
			fflush(stdout);
			if (!plain)
				plain = y.data;
			else
				free(y.data);
		}
	}
	free(plain);
}

int
main(int argc, char **argv)
{
	static const char *const models[] = { "fma,acc=fp32", "tc:hopper", "tc:hopper,out=fp16", "tc:ampere",
		"tc:volta", "fma,acc=fp16", "chunk:64,acc=fp16", "sequential,acc=fp32", "pairwise,acc=fp32",
		"kahan,acc=fp32", "neumaier,acc=fp32", "dot2,acc=fp32", "fabsum:64,acc=fp32", "splitk:4,acc=fp32",
		"promote:128,acc=fp16", "kahan,acc=fp16" };
	double base[LEVELS];

	printf("# emulated product %d^3 of fp16 operands; times_fma: time over that of fma in fp32 at the same "
	       "instruction set, one thread\n",
		N);
	printf("model\tsimd\tthreads\tms\tgflops\ttimes_fma\tratio_to_scalar\tratio_to_one_thread\tshare_of_peak\n");
	rows_of(models[0], base, 1);
	for (int i = 1; i < argc; i++)
		rows_of(argv[i], base, 0);
	for (size_t i = 1; argc < 2 && i < sizeof models / sizeof *models; i++)
		rows_of(models[i], base, 0);
	return 0;
}
