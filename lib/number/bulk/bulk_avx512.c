/* SPDX-License-Identifier: Apache-2.0
   The bulk loops for AVX-512. On other processors this file is empty. */
#include "lib/number/bulk/bulk_table.h"

#if defined(__AVX512F__)
#define HU_BULK_AVX512
#define HU_BULK_TABLE hu_bulk_avx512
#include "lib/number/bulk/bulk_vec_avx512.h"

#include "lib/number/bulk/bulk.inc"
#endif
