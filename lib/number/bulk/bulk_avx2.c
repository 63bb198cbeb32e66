/* SPDX-License-Identifier: Apache-2.0
   The bulk loops for AVX2. On other processors this file is empty. */
#include "lib/number/bulk/bulk_table.h"

#if defined(__AVX2__)
#define HU_BULK_AVX2
#define HU_BULK_TABLE hu_bulk_avx2
#include "lib/number/bulk/bulk_vec_avx2.h"

#include "lib/number/bulk/bulk.inc"
#endif
