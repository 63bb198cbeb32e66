/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/axis/exact_exp.h"
#include "lib/op/reduce/stats.h"

void
hu_exact_add_odd(mpfr_t y, const mpfr_t a, const mpfr_t b)
{
	if (mpfr_add(y, a, b, MPFR_RNDZ) == 0 || !mpfr_regular_p(y) || mpfr_min_prec(y) == mpfr_get_prec(y))
		return;
	if (mpfr_signbit(y))
		mpfr_nextbelow(y);
	else
		mpfr_nextabove(y);
}

void
hu_exact_exp_init(hu_exact_exp *e)
{
	mpfr_init2(e->x, HU_EXACT_BITS);
	mpfr_init2(e->y, HU_EXP_BITS);
	mpfr_set_nan(e->x);
}

void
hu_exact_exp_clear(hu_exact_exp *e)
{
	mpfr_clears(e->x, e->y, (mpfr_ptr)NULL);
}

void
hu_exact_exp_of(hu_exact_exp *e, mpfr_t y)
{
	if (!mpfr_equal_p(e->x, y)) {
		mpfr_set(e->x, y, MPFR_RNDN);
		mpfr_exp(e->y, y, MPFR_RNDN);
	}
	mpfr_set(y, e->y, MPFR_RNDN);
}

void
hu_exact_exp_others(const hu_tensor *x, size_t first, size_t n, size_t stride, mpfr_t top, mpfr_t sum)
{
	double most = hu_stats_largest(x, first, n, stride);
	size_t skip = n;
	hu_exact_exp e;
	mpfr_t t;

	mpfr_set_d(top, most, MPFR_RNDN);
	for (size_t i = 0; i < n && skip == n; i++)
		if (hu_get(x, first + i * stride) == most) {
			skip = i;
			hu_exact_get(top, x, first + i * stride);
		}
	mpfr_init2(t, HU_EXACT_BITS);
	hu_exact_exp_init(&e);
	mpfr_set_zero(sum, 1);
	for (size_t i = 0; i < n; i++) {
		if (i == skip && hu_isfinite(most))
			continue;
		hu_exact_get(t, x, first + i * stride);
		mpfr_sub(t, t, top, MPFR_RNDN);
		hu_exact_exp_of(&e, t);
		mpfr_add(sum, sum, t, MPFR_RNDN);
	}
	hu_exact_exp_clear(&e);
	mpfr_clear(t);
}
