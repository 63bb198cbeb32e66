/* SPDX-License-Identifier: Apache-2.0
   Cosines and sines of fractions of a turn, which transforms and windows are made of. */
#ifndef HU_IMPORT_TURN_H
#define HU_IMPORT_TURN_H

#include <math.h>
#include <stddef.h>

/* cos(2 pi k / n), n >= 1, as a double: exactly 0, 1/2 or 1 in magnitude where it is that, else within 2^-51 of itself:
   the angle has three roundings, and cos or sin of an eighth of a turn at most does not magnify them. n is at most
   2^60. */
static inline double
hu_cos_turn(size_t k, size_t n)
{
	size_t p;
	int minus;

	k %= n;
	p = 2 * (2 * k > n ? n - k : k); /* the angle is pi p / n, between 0 and pi */
	minus = 2 * p > n;
	p = minus ? n - p : p;
	double y = 2 * p == n   ? 0
		   : 3 * p == n ? 0.5
		   : 4 * p > n  ? sin(M_PI * (double)(n - 2 * p) / (2 * (double)n))
				: cos(M_PI * (double)p / (double)n);
	return minus ? -y : y;
}

/* sin(2 pi k / n), likewise. */
static inline double
hu_sin_turn(size_t k, size_t n)
{
	return hu_cos_turn(4 * (k % n) + 3 * n, 4 * n);
}
#endif
