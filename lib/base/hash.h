/* SPDX-License-Identifier: Apache-2.0
   Names and bits to integers, the same on host and device: FNV-1a (streams of
   random numbers, names in digests) and splitmix64's finaliser (digests). */
#ifndef HU_BASE_HASH_H
#define HU_BASE_HASH_H

#include "lib/base/hd.h"

#include <stddef.h>
#include <stdint.h>

HU_HD uint32_t
hu_fnv1a32(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

HU_HD uint64_t
hu_fnv1a64(const char *s)
{
	uint64_t h = 14695981039346656037u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

HU_HD uint64_t
hu_mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* One element's part of a digest: the digest is the sum of these modulo 2^64
   over every element, so it does not depend on any order. BITS is the element's
   code in its format, zero-extended. Distinct (index, bits) stay distinct before
   the mixing for codes of up to 32 bits and index < 2^30: the multiplier is 2^64
   over the golden ratio, whose multiples keep a distance of 2^64 * 0.38 / k. */
HU_HD uint64_t
hu_digest_term(uint64_t name_hash, uint64_t index, uint64_t bits)
{
	return hu_mix64(name_hash ^ (index * 0x9e3779b97f4a7c15u + bits));
}
#endif
