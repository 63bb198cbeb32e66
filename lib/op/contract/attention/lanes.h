/* SPDX-License-Identifier: Apache-2.0
   The loops of attention in blocks over floats, where it computes in fp32 and adds by fused multiply-adds: four rows
   and a block's columns at once. Each function gives the bits of the plain version (flash.h), whatever the instruction
   set. */
#ifndef HU_OP_CONTRACT_ATTENTION_LANES_H
#define HU_OP_CONTRACT_ATTENTION_LANES_H

#include <stddef.h>

enum { HU_FLASH_ROWS = 4, HU_FLASH_WIDE = 32 };

typedef struct hu_flash_loops {
	/* s[r * ld + j] = Σ_d a[r][d] b[d * ld + j], in ascending d from +0, times scale where that is not 0. ld is a
	   multiple of HU_FLASH_WIDE. */
	void (*products)(const float *const *a, const float *b, size_t depth, size_t ld, float scale, float *s);
	/* p[j] = 2^(s[j] - top[j * step]) for n columns; +0 where s[j] is -infinity. step is 0 or 1. */
	void (*powers)(const float *s, const float *top, size_t step, size_t n, float *p);
	/* o[r * ld + d] goes on to add p[r * lp + j] b[j * ld + d] in ascending j < n. */
	void (*add)(float *o, const float *p, size_t lp, const float *b, size_t n, size_t ld);
	/* The same of one row, where number j is multiplied by the row b[j]. */
	void (*add_one)(float *o, const float *p, const float *const *b, size_t n, size_t ld);
} hu_flash_loops;

extern const hu_flash_loops hu_flash_loops_plain, hu_flash_loops_avx2, hu_flash_loops_avx512;

/* The loops of the instruction set in use (lib/number/simd.h). */
const hu_flash_loops *hu_flash_loops_get(void);
#endif
