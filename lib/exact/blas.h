/* SPDX-License-Identifier: Apache-2.0
   Products of integer-valued doubles by a CBLAS library, which is loaded when first wanted. Its name comes from
   configure or from the environment's HALFULP_BLAS: a name as in -lNAME, a path, or "none". It is pinned to one
   thread for each caller, told the processor's core type where it fell back to an older one, and trusted only after
   a test product came out exact. Without one the engine's own kernels do everything. */
#ifndef HU_EXACT_BLAS_H
#define HU_EXACT_BLAS_H

#include <stddef.h>

/* C (m x n, row-major) += A' B, where A is k x m and B k x n, both row-major and contiguous. Sums of integers below
   2^53 are exact in any order. Returns 0, with C unchanged, where there is no BLAS to trust. May be called from any
   thread. */
int hu_blas_product(double *c, size_t m, size_t n, size_t k, const double *a, const double *b);

/* Returns 1 where there is a BLAS and it passed the check. Loads it. */
int hu_blas_works(void);

/* Returns 1 where `products` products by the BLAS take less time than the engine's kernel with `levels` (1 or 2)
   doubles a sum. The first call measures both, which takes some 20 milliseconds. */
int hu_blas_pays(int products, int levels);

/* One line for a table's header or a person: the library, its configuration, the core that it computes for and who
   chose that; or why there is none. The string lives as long as the program. Loads the library. */
const char *hu_blas_describe(void);

/* Returns a function of the library by its name, whether or not its products passed the check; NULL where there is
   none. Loads the library. */
void (*hu_blas_symbol(const char *name))(void);
#endif
