/* SPDX-License-Identifier: Apache-2.0
   The instruction set that the vectorised loops use. All give the same bits; the choice matters for speed, tests and
   comparisons. */
#ifndef HU_NUMBER_SIMD_H
#define HU_NUMBER_SIMD_H

#include "lib/base/status.h"

typedef enum hu_simd {
	HU_SIMD_SCALAR,  /* what the compiler may use by default */
	HU_SIMD_NEON,    /* AArch64's */
	HU_SIMD_AVX2,    /* AVX2, FMA, F16C */
	HU_SIMD_AVX512,  /* AVX-512 F, BW, VL, DQ */
	HU_SIMDS
} hu_simd;

/* Chooses by name: auto (the widest that this processor has), scalar, neon, avx2 or avx512. HU_EINVAL for another
   name; HU_EUNABLE where the processor or the build lacks it. After a failure the choice is as before. Not while
   other threads run. */
hu_status hu_simd_set(const char *name);

/* Chooses what the environment variable HALFULP_SIMD names, auto where it is unset. */
hu_status hu_simd_from_env(void);

/* The instruction set in use. If none has been chosen, the first call takes the environment's, or auto where that is
   refused. */
hu_simd hu_simd_level(void);

/* Of three loops, or three tables of loops, the one that the instruction set in use runs. */
#if defined(__x86_64__)
#define HU_SIMD_PICK(avx512, avx2, plain)                                                                             \
	(hu_simd_level() == HU_SIMD_AVX512 ? (avx512) : hu_simd_level() == HU_SIMD_AVX2 ? (avx2) : (plain))
#else
#define HU_SIMD_PICK(avx512, avx2, plain) (plain)
#endif

const char *hu_simd_name(void);                /* its name, as in hu_simd_set */
const char *hu_simd_name_of(hu_simd level);
int hu_simd_has(hu_simd level);                /* 1 where processor and build have it */
/* 1 where this is an x86 processor without VNNI, on which products of bytes may saturate
   (lib/op/contract/pairs16.h). */
int hu_simd_lacks_vnni(void);
#endif
