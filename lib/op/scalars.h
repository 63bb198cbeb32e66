/* SPDX-License-Identifier: Apache-2.0
   Scalars that an operator computes before it looks at its elements. Those that depend on tensors are computed on the
   device and stay there. The code is for host and device. */
#ifndef HU_OP_SCALARS_H
#define HU_OP_SCALARS_H

#include "lib/number/philox.h"
#include "lib/op/numeric.h"

/* The scale of a cast with scaled=1: 2^floor(log2(max/amax)) within [2^-126, 2^126], where amax is the tensor's largest
   magnitude and max the format's; 1 if amax is 0 or not finite. */
HU_HD double
hu_cast_scale(double amax, double max)
{
	int e;

	if (amax == 0 || !hu_isfinite(amax))
		return 1;
	e = hu_exponent(max) - hu_exponent(amax);
	if (amax * hu_pow2(-hu_exponent(amax)) > max * hu_pow2(-hu_exponent(max)))
		e--;
	return hu_pow2(e < -126 ? -126 : e > 126 ? 126 : e);
}

/* The number that a normalisation adds to a variance before the root: the attribute eps, 1e-3 (Keras's) without it. */
static inline double hu_norm_eps(const hu_call *c) { return hu_attr_num(c, "eps", 1e-3); }

/* The share of a batch's statistic that batchnorm's running statistic `out` takes in: 1 - momentum; of the variance
   (output 4), with the attribute unbiased, rows / (rows - 1) times that. */
static inline double
hu_norm_rest(const hu_call *c, int out, size_t rows)
{
	double rest = 1 - hu_attr_num(c, "momentum", 0.99);

	return out == 4 && hu_attr_num(c, "unbiased", 0) != 0 ? rest * (double)rows / ((double)rows - 1) : rest;
}

/* Returns which operand of an optimizer's update is the learning rate: with the attribute scheduled the last one,
   otherwise -1, and the rate is the attribute lr. */
static inline int
hu_rate_operand(const hu_call *c)
{
	return hu_attr_num(c, "scheduled", 0) != 0 ? c->nin - 1 : -1;
}

/* x if it is a whole number from 0 up to below most, else 0. */
HU_HD double hu_dropout_number(double x, double most) { return x >= 0 && x < most && x == floor(x) ? x : 0; }

/* What dropout's mask is a function of besides the index: element i's word is that of index first + i, and it is kept
   where the word is at least `least`, so that a share of p, rounded down to a multiple of 2^-32, is not. */
typedef struct hu_dropout { uint64_t seed, first; uint32_t stream, step, least; } hu_dropout;

HU_HD double hu_dropout_factor(double p) { return 1 / (1 - p); }

/* seed and step are the clock's, which on a device only kernels know. */
HU_HD void
hu_dropout_clock(hu_dropout *d, double seed, double step)
{
	d->seed = (uint64_t)hu_dropout_number(seed, 0x1p53);
	d->step = (uint32_t)hu_dropout_number(step, 0x1p32);
}

static inline hu_dropout
hu_dropout_of(const hu_call *c, double seed, double step)
{
	hu_dropout d;

	hu_dropout_clock(&d, seed, step);
	d.first = (uint64_t)hu_attr_num(c, "first", 0);
	d.stream = (uint32_t)hu_attr_num(c, "stream", 0);
	d.least = (uint32_t)(hu_attr_num(c, "p", 0) * 0x1p32);
	return d;
}

/* unscale's factor: the inverse in double, rounded once to fp32. */
HU_HD double hu_unscale_by(double scale, double weight) { return (double)(float)(1 / (scale * weight)); }

/* Advances element i of Adam's clock (t, beta1^t, beta2^t) by one step in format f; x is this element, t the first one.
   If found is set (a gradient overflowed) it stays as it was. At t = 0 the powers count as 1 whatever is stored. */
HU_HD double
hu_adam_tick(hu_format f, int i, double x, double t, double factor, int found)
{
	if (found)
		return hu_rne(f, x);
	x = hu_rne(f, i && t == 0 ? 1 : x);
	return i == 0 ? hu_rne(f, x + hu_rne(f, 1)) : hu_rne(f, x * hu_rne(f, factor));
}

/* Adam's step size as Keras computes it; p1 and p2 are the clock's powers of the betas. */
HU_HD double hu_adam_alpha(double lr, double p1, double p2) { return lr * sqrt(1 - p2) / (1 - p1); }

/* The constants of adam (formula.inc). v is the format of the second moment, in which epsilon is stored. k has room for
   4. */
HU_HD void
hu_adam_constants(double *k, double lr, double b1, double b2, double eps, double p1, double p2, hu_format v)
{
	k[0] = hu_adam_alpha(lr, p1, p2);
	k[1] = 1 - b1;
	k[2] = 1 - b2;
	k[3] = hu_rne(v, eps);
}

/* The constants of adamw (formula.inc) from the call's attributes and the clock's powers p1 and p2. v is the format of
   the second moment, in which epsilon is stored. k has room for 9. */
HU_HD void
hu_adamw_constants(
	double *k, double lr, double b1, double b2, double eps, double decay, double p1, double p2, hu_format v)
{
	k[0] = lr;
	k[1] = b1;
	k[2] = 1 - b1;
	k[3] = b2;
	k[4] = 1 - b2;
	k[5] = hu_rne(v, eps);
	k[6] = 1 - lr * decay;
	k[7] = 1 - p1;
	k[8] = 1 - p2;
}
#endif
