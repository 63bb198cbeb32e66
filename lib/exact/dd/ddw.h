/* SPDX-License-Identifier: Apache-2.0
   Several double-doubles at a time, in the registers of AVX-512 (eight: hu_ddw8) or of AVX2 with FMA (four: hu_ddw4).
   Each operation gives the bits of its namesake in dd.h, or a bound that is NaN, which every later operation passes on:
   whoever reads such a lane computes its value again with dd.h. That happens where a product may underflow or overflow
   and where a function leaves its usual range. HU_DDW says that the compiler has what this needs; hu_ddw_lanes() says
   which width the processor and the user want. The operations are written once, in ddw.inc, and compiled for each width
   by ddw_each.h. */
#ifndef HU_EXACT_DDW_H
#define HU_EXACT_DDW_H

#include "lib/exact/dd/dd.h"
#include "lib/number/simd.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) &&                        \
	!defined(__SANITIZE_ADDRESS__) && !defined(__cplusplus) && !defined(__CUDACC__)
#define HU_DDW 1
#include <immintrin.h>

/* These attributes mark a function that uses the registers of one width. */
#define HU_DDW8_CODE __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define HU_DDW4_CODE __attribute__((target("avx2,fma")))

typedef struct hu_ddw8 hu_ddw8;
typedef struct hu_ddw4 hu_ddw4;

/* Set where a formula looks at a value to decide what to compute, which several lanes cannot do, or calls a function
   that has no lanes. */
static _Thread_local int hu_ddw_unfit;

#include "lib/exact/dd/ddw4_lanes.h"
#include "lib/exact/dd/ddw8_lanes.h"
#define HU_DDW_EACH "lib/exact/dd/ddw.inc"
#include "lib/exact/dd/ddw_each.h"
#endif

/* How many double-doubles loops are to take at a time: 8, 4, or 1 where there are no registers for more. */
static inline __attribute__((unused)) int
hu_ddw_lanes(void)
{
#ifdef HU_DDW
	return HU_SIMD_PICK(8, 4, 1);
#else
	return 1;
#endif
}
#endif
