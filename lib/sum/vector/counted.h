/* SPDX-License-Identifier: Apache-2.0
   Counts of what fused float32 sums swamp, as hu_model_fma counts them, for many outputs at once: they have columns of
   B of their own, and share the row of A or have rows of their own. For processors that fuse in their registers;
   elsewhere, and for every other model, the plain versions count. */
#ifndef HU_SUM_COUNTED_H
#define HU_SUM_COUNTED_H

#include <stddef.h>
#include <stdint.h>

enum { HU_COUNTED = 32, HU_COUNTED_EACH = 16 }; /* outputs at once, of one row, and of a row each */

/* additions and swamped grow; run, by output, is the number of swamped terms since the sum last moved. */
typedef struct hu_counted {
	uint64_t additions, swamped;
	uint32_t run[HU_COUNTED];
} hu_counted;

/* Sums k < 2^32 terms from +0: a[t] b[t * HU_COUNTED + j] into output j, rounded to nearest after each. All operands
   are finite. Columns of zeros count nothing. */
typedef void hu_counted_fma(hu_counted *c, const float *a, const float *b, size_t k);

/* fma is that; each is the same of a[t * HU_COUNTED_EACH + j] b[t * HU_COUNTED_EACH + j], where run has as many. */
typedef struct hu_counted_kernel {
	hu_counted_fma *fma, *each;
} hu_counted_kernel;
extern const hu_counted_kernel hu_counted_avx2, hu_counted_avx512;

/* The kernels of the instruction set in use; NULL: it has none. */
const hu_counted_kernel *hu_counted_get(void);
#endif
