/* SPDX-License-Identifier: Apache-2.0
   Hashes that are the same on host and device. FNV-1a turns names into numbers, for streams of random numbers and
   for digests; the last step of splitmix64 mixes the terms of digests. */
#ifndef HU_BASE_HASH_H
#define HU_BASE_HASH_H

#include "lib/base/hd.h"

#include <stddef.h>
#include <stdint.h>

/* The FNV-1a hash of a string, in 32 and in 64 bits, and of n bytes. */
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
hu_fnv1a64_bytes(const unsigned char *s, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ s[i]) * 1099511628211u;
	return h;
}

/* The last step of splitmix64: mixes the bits of z, one to one. */
HU_HD uint64_t
hu_mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* One element's term of a tensor's digest. The digest is the sum of the terms of all elements modulo 2^64, so it does
   not depend on the order of summation. bits is the element's code in its format, zero-extended. Before the mixing,
   distinct pairs (index, bits) give distinct words for codes of up to 32 bits and index < 2^30: the multiplier is
   2^64 divided by the golden ratio, whose first k multiples keep a distance of at least 2^64 * 0.38 / k. */
HU_HD uint64_t
hu_digest_term(uint64_t name_hash, uint64_t index, uint64_t bits)
{
	return hu_mix64(name_hash ^ (index * 0x9e3779b97f4a7c15u + bits));
}
#endif
