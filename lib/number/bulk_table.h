/* SPDX-License-Identifier: Apache-2.0
   What bulk.c and the loops compiled once for each instruction set agree on. */
#ifndef HU_NUMBER_BULK_TABLE_H
#define HU_NUMBER_BULK_TABLE_H

#include "lib/number/bulk.h"

/* A format as the loops over 32-bit words see it: fp32's bits of its limits. */
typedef struct hu_bulk_plan {
	uint32_t drop;         /* 24 - p: bits of fp32's significand that normals lose */
	uint32_t emin_field;   /* fp32's exponent field at the format's emin */
	uint32_t max;          /* fp32 bits of the largest finite value */
	uint32_t over[2];      /* what a rounded magnitude beyond it becomes, by sign */
	uint32_t over_sign;    /* fp32's sign bit where over[1] is over[0] with it; else 0 and they are equal: to nearest */
	uint32_t inf[2];       /* what an infinity becomes, by sign */
	float smallest;        /* smallest subnormal */
	float inverse;         /* its reciprocal; 0 where that is no float (never used there) */
	uint32_t top, nan_code, nan_from, nan_only, inf_code; /* codes: see bulk.inc */
	uint32_t sign_shift;   /* code bits - 1 */
	int wide;              /* emin is fp32's: a subnormal of the format is one of fp32 */
	int full;              /* some of the rest is unusual */
	uint32_t nan, minus_zero; /* what NaN and -0 become */
	uint32_t ftz, daz;     /* magnitudes below become zero, after and before rounding */
	uint32_t one_bit;      /* 1 where p is 1 */
	uint32_t random_mask;  /* of a random word, the bits that count */
} hu_bulk_plan;

typedef struct hu_bulk_kernels {
	void (*round[HU_MODES])(float *dst, const float *src, size_t n, const hu_bulk_plan *p, const hu_stream *random, uint64_t index0);
	void (*pack8)(uint8_t *dst, const float *src, size_t n, const hu_bulk_plan *p);
	void (*pack16)(uint16_t *dst, const float *src, size_t n, const hu_bulk_plan *p);
	void (*unpack8)(float *dst, const uint8_t *src, size_t n, const hu_bulk_plan *p);
	void (*unpack16)(float *dst, const uint16_t *src, size_t n, const hu_bulk_plan *p);
} hu_bulk_kernels;

extern const hu_bulk_kernels hu_bulk_scalar, hu_bulk_avx2, hu_bulk_avx512;
#endif
