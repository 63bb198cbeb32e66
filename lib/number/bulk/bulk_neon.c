/* SPDX-License-Identifier: Apache-2.0
   The bulk loops for NEON. On other processors this file is empty. */
#include "lib/number/bulk/bulk_table.h"

#if defined(__aarch64__)
#define HU_BULK_NEON
#define HU_BULK_TABLE hu_bulk_neon
#include "lib/number/bulk/bulk_vec_neon.h"

#include "lib/number/bulk/bulk.inc"
#endif
