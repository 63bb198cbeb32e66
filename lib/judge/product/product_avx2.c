/* SPDX-License-Identifier: Apache-2.0
   The loop of product_loop.inc for AVX2. */
#if defined(__AVX2__)
#include "lib/judge/product/product_loop.inc"

const hu_product_loop hu_product_loop_avx2 = { panel };
#endif
