/* SPDX-License-Identifier: Apache-2.0
   Random bits as a pure function of (seed, stream, step, index): the counter-based generator Philox4x32-10 (Salmon,
   Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011). t/number/u-philox.c compares known
   answers from that paper's distribution. */
#ifndef HU_NUMBER_PHILOX_H
#define HU_NUMBER_PHILOX_H

#include "lib/base/hd.h"

#include <stdint.h>

typedef struct hu_random { uint32_t w[4]; } hu_random;

/* The block of 128 random bits for counter (c0..c3) and key (k0, k1). */
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

/* A source of random bits: all of key and counter but the index. */
typedef struct hu_stream { uint64_t seed; uint32_t stream, step; } hu_stream;

/* The block at this index; the seed is the key and (index low, index high, step, stream) the counter. */
HU_HD hu_random
hu_random_at(uint64_t seed, uint32_t stream, uint32_t step, uint64_t index)
{
	return hu_philox(
		(uint32_t)index, (uint32_t)(index >> 32), step, stream, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* The 32 bits of draw `index` of a sum or an expression: word (index mod 4) of block (index div 4). */
HU_HD uint32_t
hu_random_word(uint64_t seed, uint32_t stream, uint32_t step, uint64_t index)
{
	return hu_random_at(seed, stream, step, index >> 2).w[index & 3];
}

/* Sixteen bits: piece (index mod 8) of block (index div 8 + from), where a word's low half comes before its high
   one. */
HU_HD uint32_t
hu_random_piece(hu_stream s, uint64_t index, uint64_t from)
{
	return hu_random_at(s.seed, s.stream, s.step, (index >> 3) + from).w[index >> 1 & 3] >> 16 * (index & 1) &
	       0xffff;
}

/* The 32 bits that round element `index` of an array, SR's fraction or SRE's coin. The high 16 are a piece of the
   blocks from 0 on, the low 16 one of the blocks from HU_RANDOM_LAST on. Unless the fraction to be discarded begins
   with the very bits of the first piece, that piece alone decides; so a draw of 32 bits usually costs an eighth of a
   block. */
#define HU_RANDOM_LAST ((uint64_t)1 << 63)

HU_HD uint32_t
hu_random_cast(hu_stream s, uint64_t index)
{
	return hu_random_piece(s, index, 0) << 16 | hu_random_piece(s, index, HU_RANDOM_LAST);
}

/* A uniform number in [0,1) from the block's first 53 bits: a multiple of 2^-53. */
HU_HD double
hu_uniform(hu_random r)
{
	uint64_t u = ((uint64_t)r.w[1] << 32 | r.w[0]) >> 11;

	return (double)u * 0x1p-53;
}
#endif
