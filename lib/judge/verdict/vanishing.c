/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/judge/verdict/vanishing.h"

#include "lib/op/axis/axes.h"
#include "lib/op/reduce/stats.h"

#include <math.h>

/* exp(x - top) is below 2^-2900 where x is so far below top: less than any double even in ulps of fp64. */
#define FAR 2048
/* MPFR's exponents end at 2^-(2^30), which is exp(-7.443e8): what lies below that its references take for 0. Where they
   do so is not told exactly, so that they are asked between these limits. */
#define MPFR_HAS 7.4e8
#define MPFR_LACKS 7.5e8

/* Outputs that are exp(x - top) over a sum of such terms, one of which is 1: x is the element of operand 0, and top the
   largest of its group. */
typedef struct share {
	const hu_op *op;
	int out;
	hu_groups (*groups)(const hu_call *c, hu_tensor *const *in);
} share;

static hu_groups
classes(const hu_call *c, hu_tensor *const *in)
{
	(void)c;
	return hu_groups_rows(in[0]->n, hu_last(in[0]->shape));
}

static const share shares[] = {
	{ &hu_op_softmax, 0, hu_axis_groups },
	{ &hu_op_softmax_xent, 1, classes },
};

int
hu_ziv_vanishing(hu_ziv *v, const hu_call *c, hu_tensor *const *in, int out, size_t element)
{
	const share *s = NULL;
	size_t group, at, first, stride;

	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (shares[i].op == c->op && shares[i].out == out)
			s = &shares[i];
	if (!s || in[0]->lows)
		return 0;
	hu_groups g = s->groups(c, in);
	hu_axes_find(&g, element, &group, &at);
	hu_groups_place(&g, group, &first, &stride);
	double top = hu_stats_largest(in[0], first, hu_groups_size(&g), stride), far = top - hu_get(in[0], element);
	if (!(far > FAR) || !(far < INFINITY) || (far >= MPFR_HAS && far <= MPFR_LACKS))
		return 0;
	/* It is 0 to the last double, in ulps too; truncated, the last bit says that it is not 0. */
	*v = (hu_ziv){ far < MPFR_HAS ? 0x1p-1074 : 0, 0, 0, 0, 0 };
	return 1;
}
