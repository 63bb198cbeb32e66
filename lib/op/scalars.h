/* SPDX-License-Identifier: Apache-2.0
   Single numbers that an operator derives before it looks at its elements, where they
   depend on tensors: on a device they stay there. Host and device. */
#ifndef HU_OP_SCALARS_H
#define HU_OP_SCALARS_H

#include "lib/op/element/carrier.h"

/* cast with scaled=1: 2^floor(log2(max/amax)) within [2^-126, 2^126]; 1 where AMAX is 0 or not finite. */
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

/* unscale's factor: the inverse in double, rounded once to fp32. */
HU_HD double hu_unscale_by(double scale, double weight) { return (double)(float)(1 / (scale * weight)); }

/* Element I of Adam's clock (t, beta1^t, beta2^t), of which X is this element and T the first, one
   step on in format F, or as it was where FOUND. At t = 0 the powers are 1 whatever is stored. */
HU_HD double
hu_adam_tick(hu_format f, int i, double x, double t, double factor, int found)
{
	if (found)
		return hu_rne(f, x);
	x = hu_rne(f, i && t == 0 ? 1 : x);
	return i == 0 ? hu_rne(f, x + hu_rne(f, 1)) : hu_rne(f, x * hu_rne(f, factor));
}

/* Adam's step size as Keras has it, from the clock's powers P1 and P2. */
HU_HD double hu_adam_alpha(double lr, double p1, double p2) { return lr * sqrt(1 - p2) / (1 - p1); }

/* adam's constants (formula.inc); V: the format of the second moment, in which epsilon is stored. K has room for 4. */
HU_HD void
hu_adam_constants(double *k, double lr, double b1, double b2, double eps, double p1, double p2, hu_format v)
{
	k[0] = hu_adam_alpha(lr, p1, p2);
	k[1] = 1 - b1;
	k[2] = 1 - b2;
	k[3] = hu_rne(v, eps);
}

/* adamw's constants (formula.inc) from the call's attributes and the clock's powers P1 and P2; V: the format
   of the second moment, in which epsilon is stored. K has room for 9. */
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
