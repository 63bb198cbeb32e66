/* SPDX-License-Identifier: Apache-2.0
   Attention's loops for AVX-512. On other processors this file is empty. */
#include "lib/op/contract/attention/lanes.h"

#if defined(__AVX512F__)
#include "lib/op/contract/attention/lanes.inc"

const hu_flash_loops hu_flash_loops_avx512 = { products, powers, add, add_one };
#endif
