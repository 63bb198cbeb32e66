/* SPDX-License-Identifier: Apache-2.0
   The bulk loops for what the compiler may use by default. */
#define HU_BULK_TABLE hu_bulk_scalar
#include "lib/number/bulk/bulk_vec_plain.h"

#include "lib/number/bulk/bulk.inc"
