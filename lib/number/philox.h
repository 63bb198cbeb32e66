/* SPDX-License-Identifier: Apache-2.0
   Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
   1, 2, 3, SC 2011): random bits as a pure function of (seed, stream, step, index).
   Known answers from that paper's distribution are in t/number/u-philox.c. */
#ifndef HU_NUMBER_PHILOX_H
#define HU_NUMBER_PHILOX_H

#include "lib/base/hd.h"

#include <stdint.h>

typedef struct hu_random { uint32_t w[4]; } hu_random;

/* The block for counter (c0..c3) and key (k0, k1). */
HU_HD hu_random
hu_philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1)
{
	hu_random r;

	for (int i = 0; i < 10; i++) {
		uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
		uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
		c0 = n0;
		c1 = (uint32_t)b;
		c2 = n2;
		c3 = (uint32_t)a;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	r.w[0] = c0;
	r.w[1] = c1;
	r.w[2] = c2;
	r.w[3] = c3;
	return r;
}

/* Where draws come from: key and counter, but for the index. */
typedef struct hu_stream { uint64_t seed; uint32_t stream, step; } hu_stream;

/* The house's counter: (index low, index high, step, stream) under the seed. */
HU_HD hu_random
hu_random_at(uint64_t seed, uint32_t stream, uint32_t step, uint64_t index)
{
	return hu_philox(
		(uint32_t)index, (uint32_t)(index >> 32), step, stream, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* The 32 bits of draw INDEX of a sum or an expression: word INDEX mod 4 of block INDEX div 4. */
HU_HD uint32_t
hu_random_word(uint64_t seed, uint32_t stream, uint32_t step, uint64_t index)
{
	return hu_random_at(seed, stream, step, index >> 2).w[index & 3];
}

/* Sixteen bits: piece INDEX mod 8 of block INDEX div 8 + FROM, of each word the low half before the high one. */
HU_HD uint32_t
hu_random_piece(hu_stream s, uint64_t index, uint64_t from)
{
	return hu_random_at(s.seed, s.stream, s.step, (index >> 3) + from).w[index >> 1 & 3] >> 16 * (index & 1) &
	       0xffff;
}

/* The 32 bits that round element INDEX of an array, SR's fraction or SRE's coin: a piece of the blocks from 0 on, then
   one of those from HU_RANDOM_LAST on. Where the discarded fraction does not begin with the first piece's very bits,
   that decides: the draw costs an eighth of a block and is nonetheless of 32 bits. */
#define HU_RANDOM_LAST ((uint64_t)1 << 63)

HU_HD uint32_t
hu_random_cast(hu_stream s, uint64_t index)
{
	return hu_random_piece(s, index, 0) << 16 | hu_random_piece(s, index, HU_RANDOM_LAST);
}

/* Uniform in [0,1) from the block's first 53 bits: an exact multiple of 2^-53. */
HU_HD double
hu_uniform(hu_random r)
{
	uint64_t u = ((uint64_t)r.w[1] << 32 | r.w[0]) >> 11;

	return (double)u * 0x1p-53;
}
#endif
