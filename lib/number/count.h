/* SPDX-License-Identifier: Apache-2.0
   What an analyzer counts, as predicates of single values that host and device
   share: swamped additions, underflow of a cast, the exponent's bin. Sums of
   counts are exact integers, so the order of counting does not matter. */
#ifndef HU_NUMBER_COUNT_H
#define HU_NUMBER_COUNT_H

#include "lib/number/round.h"

/* s = fl(x + y) swamps y: both finite and nonzero, and s equals x. For a fused
   multiply-add y is the exact product; a caller that only has the product
   rounded must know that it did not underflow to zero. */
HU_HD int
hu_swamps(double x, double y, double s)
{
	return hu_isfinite(x) && hu_isfinite(y) && x != 0 && y != 0 && s == x;
}

/* Nonzero and below the smallest normal number of f. */
HU_HD int
hu_is_subnormal(double x, hu_format f)
{
	double a = x < 0 ? -x : x;

	return a > 0 && a < hu_smallest_normal(f);
}

/* The four counts of a cast's underflow, over finite elements that were nonzero:
   zeroed     became zero
   subnormal  became subnormal in the target
   lost       were tiny (below the smallest normal before rounding) and changed:
              IEEE 754's underflow, which includes zeroed
   flushed    would be zero on hardware that flushes subnormal results (FTZ):
              zeroed and subnormal together
   Denominators: nonzeros (finite ones), and elements, which counts everything. */
typedef struct hu_underflow {
	uint64_t elements, nonzeros, zeroed, subnormal, lost, flushed;
} hu_underflow;

/* Counts one element: BEFORE the cast to f, AFTER it. */
HU_HD void
hu_underflow_count(hu_underflow *c, double before, double after, hu_format f)
{
	double a = before < 0 ? -before : before;
	int zero, sub;

	c->elements++;
	if (!hu_isfinite(before) || before == 0)
		return;
	zero = after == 0;
	sub = hu_is_subnormal(after, f);
	c->nonzeros++;
	c->zeroed += (uint64_t)zero;
	c->subnormal += (uint64_t)sub;
	c->lost += (uint64_t)(a < hu_smallest_normal(f) && after != before);
	c->flushed += (uint64_t)(zero || sub);
}

HU_HD void
hu_underflow_add(hu_underflow *c, const hu_underflow *more)
{
	c->elements += more->elements;
	c->nonzeros += more->nonzeros;
	c->zeroed += more->zeroed;
	c->subnormal += more->subnormal;
	c->lost += more->lost;
	c->flushed += more->flushed;
}

/* A tensor's row in grads.tsv: bits of the largest finite magnitude as a double, and elements by kind. */
typedef struct hu_tally { uint64_t amax, nonzeros, zeros, nonfinite; } hu_tally;

/* Counts one element; nonzeros are finite ones. */
HU_HD void
hu_tally_count(hu_tally *c, double x)
{
	uint64_t u = hu_bits64(x) & 0x7fffffffffffffffu;
	int finite = u < 0x7ff0000000000000u;

	c->nonfinite += (uint64_t)!finite;
	c->zeros += (uint64_t)(u == 0);
	c->nonzeros += (uint64_t)(finite && u != 0);
	if (finite && u > c->amax)
		c->amax = u;
}

/* Updates of a weight tensor in one step (updates.tsv): of how many elements the update was finite and not 0, and how
   many of those kept the weight that they had. */
typedef struct hu_update_tally { uint64_t updates, swamped; } hu_update_tally;

/* Counts one element: W before the step, NEXT as stored after it, D what the optimizer takes off it, in its compute
   format. */
HU_HD void
hu_update_count(hu_update_tally *c, double w, double d, double next)
{
	int moves = hu_isfinite(w) && hu_isfinite(d) && d != 0;

	c->updates += (uint64_t)moves;
	c->swamped += (uint64_t)(moves && next == w);
}

/* Exponent histogram: a bin an exponent floor(log2 |x|) from HU_BIN_LOW (every
   smaller one too) to HU_BIN_HIGH (every larger one too), then one bin for
   zeros and one for infinities and NaN. The range covers fp32 with subnormals. */
enum { HU_BIN_LOW = -150, HU_BIN_HIGH = 128, HU_BIN_ZERO = HU_BIN_HIGH - HU_BIN_LOW + 1, HU_BIN_NONFINITE, HU_BINS };

HU_HD int
hu_exponent_bin(double x)
{
	int e;

	if (!hu_isfinite(x))
		return HU_BIN_NONFINITE;
	if (x == 0)
		return HU_BIN_ZERO;
	e = hu_exponent(x);
	return (e < HU_BIN_LOW ? HU_BIN_LOW : e > HU_BIN_HIGH ? HU_BIN_HIGH : e) - HU_BIN_LOW;
}

/* A tensor's elements by bin, and where a cast made it what that lost. */
typedef struct hu_census { uint64_t bins[HU_BINS]; hu_underflow lost; } hu_census;
#endif
