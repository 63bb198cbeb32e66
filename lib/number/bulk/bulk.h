/* SPDX-License-Identifier: Apache-2.0
   Rounding, packing and unpacking of arrays: each element exactly as round.h and code.h say, whatever the
   instruction set and the number of threads. Arrays need no alignment. The floating-point environment must be the
   one that C starts with. Large arrays (half a million elements) are shared among OpenMP's threads, unless the
   caller is in a parallel region already.

   Time on one thread for 64 MB of floats in units of memcpy's time, for the formats of formats.def (halfulp bench cast;
   Sapphire Rapids, gcc 12):
                                         AVX-512       AVX2                             SSE2
     floats or codes, to nearest even    0.8 to 1.2    0.9 to 1.2                       1.4 to 1.9
     the same stochastically             0.9 to 1.3    1.2 (tf32) to 2.0 (8 bits)       2.4 (bf16, tf32, fp24) to 4.6
     codes to floats                     0.6 to 1.0    0.9 to 1.4                       0.9 to 2.0
     random bits alone                   0.4           0.9                              1.6
     doubles to nearest even             0.9           1.1                              1.9
     doubles stochastically              2.0           3.5                              7.4
   Doubles are counted byte for byte. A core whose clock is low takes longer than memory does, a fifth more at the
   lowest clock seen. Flags other than HU_SATURATE, and k random bits, take up to twice the time. bulk_random.inc
   counts the operations of random bits. */
#ifndef HU_NUMBER_BULK_H
#define HU_NUMBER_BULK_H

#include "lib/number/format.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

/* Rounds floats: dst[i] = hu_round(src[i], f, mode, flags, hu_random_cast(*random, index0 + i)), values of f as
   floats. dst may equal src but must not overlap it otherwise. A NaN becomes 0x7fc00000 (the largest value where f
   has no NaN). Subnormals are kept unless a flag says otherwise. fp32 and fp64 change only NaN. Values of f beyond
   fp32's range become infinities or zeros; hu_bulk_round_f64 serves such formats. random may be NULL for modes that
   draw no random bits. */
void hu_bulk_round(float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
	const hu_stream *random, uint64_t index0);

/* The same with the loops of one instruction set, which hu_simd_has must have, whatever is in use. */
void hu_bulk_round_at(hu_simd level, float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
                      const hu_stream *random, uint64_t index0);

/* The same for doubles. */
void hu_bulk_round_f64(double *dst, const double *src, size_t n, hu_format_id f, hu_mode mode, int flags,
                       const hu_stream *random, uint64_t index0);

/* The bytes of the smallest standard element that holds a code of f: 1, 2, 4 (17 to 32 bits; tf32 too is kept as an
   fp32 word) or 8 (an fp64 word). */
size_t hu_bulk_element(hu_format_id f);

/* Convert values of f to codes in native byte order, and back. src must hold values of f already (rounded before),
   infinities if f has them, or NaN, which becomes the format's one NaN code; any other value gives an unspecified
   code. Codes decode exactly, every NaN to 0x7fc00000; values that floats cannot hold (fp64's) are rounded to
   nearest even. dst and src must not overlap. */
void hu_bulk_pack(void *dst, const float *src, size_t n, hu_format_id f);
void hu_bulk_unpack(float *dst, const void *src, size_t n, hu_format_id f);

/* The same from and to doubles. Elements of 4 bytes are still floats. */
void hu_bulk_pack_f64(void *dst, const double *src, size_t n, hu_format_id f);
void hu_bulk_unpack_f64(double *dst, const void *src, size_t n, hu_format_id f);

/* hu_bulk_round and hu_bulk_pack in one pass over memory. dst and src must not overlap. */
void hu_bulk_encode(void *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
	const hu_stream *random, uint64_t index0);
#endif
