/* SPDX-License-Identifier: Apache-2.0
   Which instruction set the vectorised loops use. Every one gives the same
   bits; the choice is for speed, for tests and for comparisons. */
#ifndef HU_NUMBER_SIMD_H
#define HU_NUMBER_SIMD_H

#include "lib/base/status.h"

typedef enum hu_simd {
	HU_SIMD_SCALAR,  /* what the compiler's baseline has */
	HU_SIMD_NEON,    /* AArch64's */
	HU_SIMD_AVX2,    /* AVX2, FMA, F16C */
	HU_SIMD_AVX512,  /* AVX-512 F, BW, VL, DQ */
	HU_SIMDS
} hu_simd;

/* Chooses by name: auto (the widest this processor has), scalar, neon, avx2, avx512.
   HU_EINVAL for another name; HU_EUNABLE where processor or build lacks it, and
   the choice stays. Call it before other threads run. */
hu_status hu_simd_set(const char *name);

/* As the environment variable HALFULP_SIMD says, auto where it is unset. */
hu_status hu_simd_from_env(void);

/* The level in use. The first call without a choice takes the environment's,
   and auto where that is refused. */
hu_simd hu_simd_level(void);

const char *hu_simd_name(void);                /* of the level in use */
const char *hu_simd_name_of(hu_simd level);
int hu_simd_has(hu_simd level);                /* processor and build have it */
#endif
