/* SPDX-License-Identifier: Apache-2.0
   Double-doubles: what is made of infinity itself. */
#include "lib/exact/dd/dd.h"

/* Whether a is known to be none of 0. */
static int
is_some(hu_dd a)
{
	return hu_dd_endless(a) || (hu_dd_finite(a) && fabs(a.h) > (fabs(a.l) + a.e) * (1 + 0x1p-48));
}

static hu_dd
endless_if(int sure, double x)
{
	return sure ? hu_dd_of(x) : (hu_dd){ NAN, NAN, INFINITY };
}

hu_dd
hu_dd_endless_add(hu_dd a, hu_dd b)
{
	return endless_if((hu_dd_endless(a) || hu_dd_endless(b)) && hu_dd_known(a) && hu_dd_known(b), a.h + b.h);
}

hu_dd
hu_dd_endless_mul(hu_dd a, hu_dd b)
{
	return endless_if((hu_dd_endless(a) || hu_dd_endless(b)) && is_some(a) && is_some(b), a.h * b.h);
}

hu_dd
hu_dd_endless_div(hu_dd a, hu_dd b)
{
	if (hu_dd_endless(b))
		return endless_if(hu_dd_finite(a), 0);
	return endless_if(hu_dd_endless(a) && is_some(b), a.h / b.h);
}

hu_dd
hu_dd_endless_min(hu_dd a, hu_dd b)
{
	hu_dd r = b.h < a.h ? b : a;

	if (!hu_dd_known(a) || !hu_dd_known(b))
		r.e = INFINITY;
	return r;
}
