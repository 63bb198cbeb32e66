/* SPDX-License-Identifier: Apache-2.0
   One matrix product as a program of its own, timed on a back end and checked. */
#ifndef HU_TRAINER_BENCH_GEMM_H
#define HU_TRAINER_BENCH_GEMM_H

#include "lib/program/spread/backend.h"
#include "trainer/bench/bench.h"

/* y[m,n] = a[m,k] b[k,n] in format (8-bit formats give bf16), accumulated by the call's summation model. digest is the
   checksum of the first result that was checked. The program computes the product a number of times, products, into
   tensors y, y + 1, ... */
typedef struct hu_bench_product {
	size_t m, n, k;
	hu_format_id format;
	hu_sum sum;
	hu_program *p;
	int a, b, y, one, products;
	hu_tensor ta, tb, ty;
	int checked;
	uint64_t digest;
} hu_bench_product;

/* seconds is the time of one product, the least of the trials: on a device by its own clock, over a stretch of recorded
   steps with so many products each that launching a step does not count. check says what the result was compared with:
   "bits" of the plain version (and the error bound of the exact value too, where its model has one), or the error
   "bound" alone. wrong is 1 where that comparison failed or a step's products differ; hu_reason says how. ran is what
   the back end says computed it. */
typedef struct hu_gemm_time {
	double seconds;
	int wrong, products;
	const char *check;
	char ran[64];
} hu_gemm_time;

/* Prepares a product; sum is a text that hu_sum_parse reads. HU_ENOMEM; HU_EINVAL. After a failure nothing needs a
   release. */
hu_status hu_gemm_init(hu_bench_product *g, size_t m, size_t n, size_t k, hu_format_id format, const char *sum);
void hu_gemm_release(hu_bench_product *g);

/* Tests whether backend can run anything on this machine, by one multiplication. Returns the back end's own failure
   where it cannot. */
hu_status hu_gemm_available(const char *backend);

/* Times trials stretches of steps, each of at least some 20 milliseconds, and checks the result. HU_EUNABLE or
   HU_ENOMEM where this way does not work on this machine. */
hu_status hu_gemm_measure(
	hu_bench_product *g, const hu_backend *backend, hu_gemm_way way, int trials, hu_gemm_time *out);
#endif
