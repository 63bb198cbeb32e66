/* SPDX-License-Identifier: Apache-2.0
   Products of integer-valued doubles by a CBLAS that is loaded when first wanted (its name from
   configure, or the environment's HALFULP_BLAS: a name as in -lNAME, a path, or "none"), pinned to one thread a caller,
   told the processor's core type where it fell back to an older one, and believed only after a product of slices came
   out exact. Without one the engine's own kernels do everything. */
#ifndef HU_EXACT_BLAS_H
#define HU_EXACT_BLAS_H

#include <stddef.h>

/* C (m x n, row-major) += A' B: A is k x m, B k x n, both row-major and contiguous. Sums of integers below 2^53
   come out exact, in whatever order. 0: there is no BLAS to trust, and C is as it was. Any thread. */
int hu_blas_product(double *c, size_t m, size_t n, size_t k, const double *a, const double *b);

/* 1 where there is a BLAS and it passed the check. Loads it. */
int hu_blas_works(void);

/* Whether PRODUCTS of these take less time than the engine's kernel with LEVELS (1 or 2) doubles a sum: measured at the
   first call, which takes some 20 milliseconds. */
int hu_blas_pays(int products, int levels);

/* One line for a table's header or a person: library, configuration, the core it computes for and who chose it; or why
   there is none. The string lives as long as the program. Loads the library. */
const char *hu_blas_describe(void);

/* A function of the library by its name, whatever the check of its products said; NULL where there is none. Loads it.
 */
void (*hu_blas_symbol(const char *name))(void);
#endif
