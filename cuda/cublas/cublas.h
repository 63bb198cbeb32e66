/* SPDX-License-Identifier: Apache-2.0
   Products by cuBLASLt, which is loaded when first needed, so that the program starts without it. Types and numbers are
   those of NVIDIA's cublasLt.h, written out here because that header is not always installed (cublas_check.cu
   compares them if it is). An algorithm is chosen once for each shape and used from then on, also by a later process
   that is told of it. Atomics and fast accumulation of fp8 are off, and fp32 is pedantic. The promise is an error
   bound, hu_cublas_bound. */
#ifndef HU_CUDA_CUBLAS_H
#define HU_CUDA_CUBLAS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stddef.h>
#include <stdint.h>

#include "lib/sum/sum.h"

/* d[m,n] = Σ_k a b, row-major. ta: a is stored as [k,m], else [m,k]; tb: b is stored as [n,k], else [k,n]. lda, ldb,
   ldd: elements from one row to the next. align: a power of two, at most CUBLASLT_ALIGN, of which all three addresses
   are multiples. fa, fb, fd: the stored formats; tf32: fp32 operands are used as tf32. host: the library works on the
   host's memory (for the shim). batches above 1: as many products at once, whose matrices begin step_a, step_b and
   step_d elements after those of the product before. */
typedef struct hu_cublas_product {
	uint32_t m, n, k, lda, ldb, ldd, align, batches, step_a, step_b, step_d;
	int ta, tb, tf32, host;
	hu_format_id fa, fb, fd;
} hu_cublas_product;

/* Chooses the algorithm, or finds the earlier choice: *workspace gets the bytes it needs, *slices the number of slices
   of k that it adds, and ran[size], unless NULL, its description. HU_EUNABLE: there is no library, it has no algorithm
   for this product, or it refuses the recalled one. */
hu_status hu_cublas_plan(const hu_cublas_product *p, size_t *workspace, int *slices, char *ran, size_t size);
/* Puts the product on queue with the planned algorithm. workspace holds as many bytes as hu_cublas_plan said. */
hu_status hu_cublas_run(
	const hu_cublas_product *p, void *queue, const void *a, const void *b, void *d, void *workspace);
/* Writes line i of the algorithms in use, for a manifest: product, library, and the algorithm as the library encodes
   it. Returns 0 past the last. */
int hu_cublas_line(size_t i, char *to, size_t size);
/* From now on the product that such a line describes is computed by the algorithm it names; NULL forgets them all.
   HU_EFILE: it is not such a line. */
hu_status hu_cublas_recall(const char *line);
/* For tests: which of the two libraries is loaded next, from a fresh start, with nothing recalled. */
void hu_cublas_forget(int host);

/* Bounds |d - Σab| before d is rounded to fp16 or bf16. mag >= Σ|ab|; most is the largest exponent of a nonzero product
   (lib/sum/bound.h); the sums are in slices. fp16, bf16, tf32 and fp8 are summed by the matrix units (s is the call's
   sum, resolved; arch as in hu_work), with their blocks in any order; fp32 and fp64 in any order of rounded products
   and additions. +Inf: there is no bound. */
double hu_cublas_bound(hu_sum s, const hu_cublas_product *p, int arch, int slices, int most, double mag);

/* Numbers from cublasLt.h. */
enum {
	CUBLASLT_R_32F = 0,
	CUBLASLT_R_64F = 1,
	CUBLASLT_R_16F = 2,
	CUBLASLT_R_16BF = 14,
	CUBLASLT_R_8F_E4M3 = 28,
	CUBLASLT_R_8F_E5M2 = 29
};
enum {
	CUBLASLT_COMPUTE_32F = 68,
	CUBLASLT_COMPUTE_32F_PEDANTIC = 69,
	CUBLASLT_COMPUTE_64F_PEDANTIC = 71,
	CUBLASLT_COMPUTE_32F_FAST_TF32 = 77
};
enum { CUBLASLT_DESC_TRANSA = 3, CUBLASLT_DESC_TRANSB = 4, CUBLASLT_DESC_FAST_ACCUM = 25 };
enum { CUBLASLT_LAYOUT_BATCH_COUNT = 5, CUBLASLT_LAYOUT_BATCH_OFFSET = 6 };
enum {
	CUBLASLT_PREF_MAX_WORKSPACE = 1,
	CUBLASLT_PREF_REDUCTION_MASK = 3,
	CUBLASLT_PREF_ALIGN_A = 5,
	CUBLASLT_PREF_ALIGN_B = 6,
	CUBLASLT_PREF_ALIGN_C = 7,
	CUBLASLT_PREF_ALIGN_D = 8
};
enum { CUBLASLT_REDUCTION_COMPUTE_TYPE = 2 };
enum {
	CUBLASLT_CONFIG_ID,
	CUBLASLT_CONFIG_TILE,
	CUBLASLT_CONFIG_SPLITK,
	CUBLASLT_CONFIG_REDUCTION,
	CUBLASLT_CONFIG_SWIZZLE,
	CUBLASLT_CONFIG_CUSTOM,
	CUBLASLT_CONFIG_STAGES,
	CUBLASLT_CONFIG_INNER,
	CUBLASLT_CONFIG_CLUSTER
};
enum { CUBLASLT_N = 0, CUBLASLT_T = 1 };
enum { CUBLASLT_WORKSPACE = 32 << 20, CUBLASLT_ALIGN = 256 };
typedef struct hu_cublas_algo { uint64_t data[8]; } hu_cublas_algo;
typedef struct hu_cublas_choice {
	hu_cublas_algo algo;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} hu_cublas_choice;

/* cublas_words.c: writes a line's text; says whether the algorithm of product p was recalled, and which version chose
   it. */
void hu_cublas_print(const hu_cublas_product *p, size_t version, const hu_cublas_choice *c, char *to, size_t size);
int hu_cublas_recalled(const hu_cublas_product *p, size_t *version, hu_cublas_choice *choice);

#ifdef __cplusplus
}
#endif
#endif
