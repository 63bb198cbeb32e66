/* SPDX-License-Identifier: Apache-2.0
   Rounding, packing and unpacking of arrays: each element exactly as round.h and
   code.h say, whatever the instruction set and the number of threads. Alignment is
   free. The float environment must be the one that C starts with. Large arrays (half
   a million elements) are shared by OpenMP's threads where the caller is not in a
   parallel region already.

   Time on one thread for 64 MB of floats, memcpy's of them being 1, by instruction set, formats of formats.def (halfulp
   bench cast; Sapphire Rapids, gcc 12): floats or codes, to nearest even  AVX-512 0.8 to 1.2; AVX2 0.9 to 1.2; SSE2 1.4
   to 1.9 the same stochastically           AVX-512 0.9 to 1.3; AVX2 1.2 (tf32) to 2.0 (8 bits); SSE2 2.4 (bf16, tf32,
   fp24) to 4.6 codes to floats                   AVX-512 0.6 to 1.0; AVX2 0.9 to 1.4; SSE2 0.9 to 2.0 A core whose
   clock is low takes longer than memory does: a fifth more at the lowest seen. Random bits alone are 0.4, 0.9 and 1.6:
   bulk_random.inc counts their operations. Doubles, byte for byte, take 0.9, 1.1 and 1.9 to nearest even and 2.0, 3.5
   and 7.4 stochastically; flags (but to saturate) and k random bits up to twice as long as none. */
#ifndef HU_NUMBER_BULK_H
#define HU_NUMBER_BULK_H

#include "lib/number/format.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

/* dst[i] = hu_round(src[i], f, mode, flags, hu_random_cast(*random, index0 + i)): values of f as floats. dst may
   equal src but not overlap it otherwise. NaN becomes 0x7fc00000 (the largest
   value where f has none); subnormals are kept unless a flag says otherwise.
   fp32 and fp64 copy, but for NaN. Values of f beyond fp32's range become
   infinities or zeros: such formats want hu_bulk_round_f64. RANDOM: NULL unless
   the mode draws. */
void hu_bulk_round(float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
	const hu_stream *random, uint64_t index0);

/* The same with the loops of an instruction set that hu_simd_has, whatever is in use. */
void hu_bulk_round_at(hu_simd level, float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
                      const hu_stream *random, uint64_t index0);

/* The same for doubles. */
void hu_bulk_round_f64(double *dst, const double *src, size_t n, hu_format_id f, hu_mode mode, int flags,
                       const hu_stream *random, uint64_t index0);

/* Bytes of the smallest standard element that holds a code of f: 1, 2, 4 (17 to 32 bits, tf32 too: an fp32 word) or 8
   (an fp64 word). */
size_t hu_bulk_element(hu_format_id f);

/* Values of f to codes, native byte order, and back. src must be values of f
   already (round first), or infinities in a format that has them, or NaN, which
   becomes the format's one code; other values give an unspecified code. Codes
   decode exactly, every NaN to 0x7fc00000; what floats cannot hold (fp64's values)
   rounds to nearest even. dst and src must not overlap. */
void hu_bulk_pack(void *dst, const float *src, size_t n, hu_format_id f);
void hu_bulk_unpack(float *dst, const void *src, size_t n, hu_format_id f);

/* The same from and to doubles; elements of 4 bytes are floats still. */
void hu_bulk_pack_f64(void *dst, const double *src, size_t n, hu_format_id f);
void hu_bulk_unpack_f64(double *dst, const void *src, size_t n, hu_format_id f);

/* hu_bulk_round and hu_bulk_pack in one pass over memory. dst and src must not overlap. */
void hu_bulk_encode(void *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
	const hu_stream *random, uint64_t index0);
#endif
