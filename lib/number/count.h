/* SPDX-License-Identifier: Apache-2.0
   What analyzers count, as functions of single values that host and device share: swamped additions (the smaller
   addend changed nothing), underflow in a cast, and the bin of a value's exponent. Counts are integers, so the order
   of counting does not matter. */
#ifndef HU_NUMBER_COUNT_H
#define HU_NUMBER_COUNT_H

#include "lib/number/round.h"

/* Returns 1 where the addition s = fl(x + y) swamps y: x and y are finite and not 0, and s equals x. For a fused
   multiply-add y is the exact product; a caller that has only the rounded product must know that it did not
   underflow. */
HU_HD int
hu_swamps(double x, double y, double s)
{
	return hu_isfinite(x) && hu_isfinite(y) && x != 0 && y != 0 && s == x;
}

/* Returns 1 where x is not 0 and below the smallest normal number of f in magnitude. */
HU_HD int
hu_is_subnormal(double x, hu_format f)
{
	double a = x < 0 ? -x : x;

	return a > 0 && a < hu_smallest_normal(f);
}

/* Counts of underflow in a cast. `elements` counts everything and `nonzeros` the finite elements that were not 0;
   the four others count among these:
   zeroed     those that became zero
   subnormal  those that became subnormal in the target format
   lost       those that were below the smallest normal number before rounding and changed: underflow as
              IEEE 754 defines it, which includes zeroed
   flushed    those that would be zero on hardware that flushes subnormal results (FTZ): zeroed + subnormal */
typedef struct hu_underflow {
	uint64_t elements, nonzeros, zeroed, subnormal, lost, flushed;
} hu_underflow;

/* Counts one element, given its value before and after the cast to f. */
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

/* A tensor's row in grads.tsv: the bits of its largest finite magnitude as a double, and how many elements are
   finite and not 0, zero, and infinite or NaN. */
typedef struct hu_tally { uint64_t amax, nonzeros, zeros, nonfinite; } hu_tally;

/* Counts one element. */
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

/* The updates of a weight tensor in one step (updates.tsv). `updates` counts elements whose update was finite and
   not 0; `swamped` counts those among them whose stored weight did not change. */
typedef struct hu_update_tally { uint64_t updates, swamped; } hu_update_tally;

/* Counts one element: w is the weight before the step, next the one stored after it, and d what the optimizer
   subtracts, in its compute format. */
HU_HD void
hu_update_count(hu_update_tally *c, double w, double d, double next)
{
	int moves = hu_isfinite(w) && hu_isfinite(d) && d != 0;

	c->updates += (uint64_t)moves;
	c->swamped += (uint64_t)(moves && next == w);
}

/* Bins of the histogram of exponents: one for each floor(log2 |x|) from HU_BIN_LOW to HU_BIN_HIGH, where the first
   and the last also take everything smaller and larger; then one for zeros, and one for infinities and NaN. The
   range covers fp32 with its subnormals. */
enum { HU_BIN_LOW = -150, HU_BIN_HIGH = 128, HU_BIN_ZERO = HU_BIN_HIGH - HU_BIN_LOW + 1, HU_BIN_NONFINITE, HU_BINS };

/* The bin of x, from 0 to HU_BINS - 1. */
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

/* A tensor's elements by bin, and, where a cast made the tensor, what underflowed in it. */
typedef struct hu_census { uint64_t bins[HU_BINS]; hu_underflow lost; } hu_census;
#endif
