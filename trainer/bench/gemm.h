/* SPDX-License-Identifier: Apache-2.0
   One product as a program of its own, timed on a back end and its result checked. */
#ifndef HU_TRAINER_BENCH_GEMM_H
#define HU_TRAINER_BENCH_GEMM_H

#include "lib/program/backend.h"
#include "trainer/bench/bench.h"

/* y[m,n] = a[m,k] b[k,n] in format (8-bit formats give bf16), accumulated as the call's sum says. digest: of the first
   result that was checked. */
typedef struct hu_bench_product {
	size_t m, n, k;
	hu_format_id format;
	hu_program *p;
	int a, b, y, one;
	hu_tensor ta, tb, ty;
	int checked;
	uint64_t digest;
} hu_bench_product;

/* seconds: of one product, the least of the trials. check: "bits" (of the plain version), "bound". wrong: 1 where that
   failed, and hu_reason says how. ran: what the back end says computed it. */
typedef struct hu_gemm_time { double seconds; int wrong; const char *check; char ran[64]; } hu_gemm_time;

/* sum as hu_sum_parse reads it. HU_ENOMEM; HU_EINVAL. What was begun is released where it fails. */
hu_status hu_gemm_init(hu_bench_product *g, size_t m, size_t n, size_t k, hu_format_id format, const char *sum);
void hu_gemm_release(hu_bench_product *g);

/* Whether backend can run anything here: one multiplication. Its own failure where it cannot. */
hu_status hu_gemm_available(const char *backend);

/* trials stretches of steps, each some 20 milliseconds at least. HU_EUNABLE, HU_ENOMEM: not this way, not here. */
hu_status hu_gemm_measure(
	hu_bench_product *g, const hu_backend *backend, hu_gemm_way way, int trials, hu_gemm_time *out);
#endif
