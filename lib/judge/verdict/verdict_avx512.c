/* SPDX-License-Identifier: Apache-2.0
   The loops of verdict.inc for AVX-512. */
#if defined(__AVX512F__)
#include "lib/judge/verdict/verdict.inc"

const hu_verdicts hu_verdicts_avx512 = { judge, difference, plain, add, step };
#endif
