/* SPDX-License-Identifier: Apache-2.0
   The loop of product_loop.inc for AVX-512. */
#if defined(__AVX512F__)
#include "lib/judge/product/product_loop.inc"

const hu_product_loop hu_product_loop_avx512 = { panel };
#endif
