/* SPDX-License-Identifier: Apache-2.0
   Counts of what fused float32 sums swamp, as hu_model_fma counts them, for many outputs at once: they share the row of
   A and have columns of B of their own. For processors that fuse in their registers; elsewhere, and for every other
   model, the plain versions count. */
#ifndef HU_SUM_COUNTED_H
#define HU_SUM_COUNTED_H

#include <stddef.h>
#include <stdint.h>

enum { HU_COUNTED = 32 }; /* outputs at once */

/* additions and swamped grow; run, by output, is the number of swamped terms since the sum last moved. */
typedef struct hu_counted {
	uint64_t additions, swamped;
	uint32_t run[HU_COUNTED];
} hu_counted;

/* Sums k < 2^32 terms from +0: a[t] b[t * HU_COUNTED + j] into output j, rounded to nearest after each. All operands
   are finite. Columns of zeros count nothing. */
typedef void hu_counted_fma(hu_counted *c, const float *a, const float *b, size_t k);

extern const struct hu_counted_kernel {
	hu_counted_fma *fma;
} hu_counted_avx2, hu_counted_avx512;

/* The kernel of the instruction set in use; NULL: it has none. */
hu_counted_fma *hu_counted_get(void);
#endif
