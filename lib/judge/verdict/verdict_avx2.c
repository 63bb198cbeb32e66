/* SPDX-License-Identifier: Apache-2.0
   The loops of verdict.inc for AVX2. */
#if defined(__AVX2__)
#include "lib/judge/verdict/verdict.inc"

const hu_verdicts hu_verdicts_avx2 = { judge, difference, plain, add, step };
#endif
