/* SPDX-License-Identifier: Apache-2.0
   The error function of double-doubles, from a table of its Taylor series around the multiples of 1/32 up to 10. The
   table itself comes from one series around 0, when it is first needed, with the bounds of its operations. */
#include "lib/exact/dd/dd_erf.h"

#include "lib/number/elementary/elementary.h"

#include <pthread.h>

enum { STEPS = HU_DD_ERF_STEPS, LIMIT = HU_DD_ERF_LIMIT, CENTRES = STEPS * LIMIT + 1, PAIRS = HU_DD_ERF_PAIRS,
	TERMS = HU_DD_ERF_TERMS };
#define REACH (0.5 / STEPS) /* the largest distance to a centre */

typedef hu_dd_erf_centre centre;

static centre table[CENTRES];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static hu_dd
two_over_root_pi(void)
{
	return hu_dd_literal2(0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56);
}

/* erf(x) = 2/sqrt(pi) exp(-x^2) sum of t_n, with t_0 = x, t_(n+1) = t_n 2x^2 / (2n + 3). All terms have one sign
   (Abramowitz and Stegun 7.1.6). The sum stops when a term is below 2^-120 of it and each later one is less than half
   the one before. */
static hu_dd
around_zero(hu_dd x)
{
	hu_dd t = x, sum = x, xx = hu_dd_mul(x, x), e = hu_dd_exp(hu_dd_neg(xx));

	xx = (hu_dd){ 2 * xx.h, 2 * xx.l, 2 * xx.e };
	for (int n = 0; fabs(t.h) > 0x1p-120 * fabs(sum.h) || xx.h >= n; n++) {
		t = hu_dd_div(hu_dd_mul(t, xx), hu_dd_of(2 * n + 3));
		sum = hu_dd_add(sum, t);
	}
	sum.e += 2 * fabs(t.h) + t.e;
	return hu_dd_mul(hu_dd_mul(sum, e), two_over_root_pi());
}

/* exp(-2cs - s^2) is the sum of h_k s^k with h_(k+1) = -2 (c h_k + h_(k-1)) / (k + 1), because its derivative is
   -2 (c + s) times itself; and s_k = h_k / (k + 1). */
static void
fill_centre(centre *t, double c)
{
	hu_dd before = hu_dd_of(0), h = hu_dd_of(1), next;
	double size = 0, power = 1;

	t->value = c == 0 ? hu_dd_of(0) : around_zero(hu_dd_of(c));
	t->slope = hu_dd_mul(two_over_root_pi(), hu_dd_exp(hu_dd_of(-c * c))); /* c has ten bits */
	for (int k = 0; k < TERMS; k++) {
		hu_dd s = hu_dd_div(h, hu_dd_of(k + 1));
		if (k < PAIRS) {
			t->s[k] = s;
		} else {
			t->rest[k - PAIRS] = s.h;
			size += (fabs(s.h) + s.e) * power;
			power *= REACH;
		}
		next = hu_dd_add(hu_dd_mul(hu_dd_of(c), h), before);
		next = hu_dd_div(hu_dd_mul(hu_dd_of(-2), next), hu_dd_of(k + 1));
		before = h;
		h = next;
	}
	/* Each of the ten doubles, with its power of d, takes part in at most 32 roundings of 2^-53, that of d itself
	   included; the factor of 64 covers those of size as well. */
	t->off = 64 * 0x1p-53 * size;
	/* |h_k| is at most the coefficient of exp(2cs + s^2), and that at most exp(2cr + r^2) / r^k for every r
	   (Cauchy), of which 1 and 2 are tried. The first term omitted has REACH^17 = 2^-102; later ones fall by more
	   than a factor of two each. */
	double one = hu_exp(2 * c + 1) * 0x1p-102, two = hu_exp(4 * c + 4) * 0x1p-119;
	t->omitted = 2 * (one < two ? one : two) / TERMS;
}

static void
fill(void)
{
	for (int i = 0; i < CENTRES; i++)
		fill_centre(&table[i], (double)i / STEPS);
}

const hu_dd_erf_centre *
hu_dd_erf_table(void)
{
	pthread_once(&filled, fill);
	return table;
}

/* Adds its own error, about 2^-100, to that of the series; the slope of erf is at most 2/sqrt(pi). */
hu_dd
hu_dd_erf(hu_dd a)
{
	hu_dd x = a.h < 0 ? (hu_dd){ -a.h, -a.l, 0 } : (hu_dd){ a.h, a.l, 0 }, d, p, y;
	double rest = 0;

	if (hu_dd_endless(a))
		return hu_dd_of(a.h < 0 ? -1 : 1);
	if (!(x.h < INFINITY))
		return (hu_dd){ 0, 0, INFINITY };
	if (x.h > LIMIT) /* erfc(10) < 2^-148 */
		return (hu_dd){ a.h < 0 ? -1 : 1, 0, 0x1p-140 + 1.1284 * a.e };
	if (a.h == 0 && a.l == 0 && a.e == 0)
		return a;
	int i = (int)(x.h * STEPS + 0.5);
	const centre *t = &hu_dd_erf_table()[i];
	d = hu_dd_sub(x, hu_dd_of((double)i / STEPS));
	for (int k = TERMS - PAIRS - 1; k >= 0; k--)
		rest = rest * d.h + t->rest[k];
	p = (hu_dd){ rest, 0, t->off };
	for (int k = PAIRS - 1; k >= 0; k--)
		p = hu_dd_add(hu_dd_mul(p, d), t->s[k]);
	p.e += t->omitted;
	y = hu_dd_add(t->value, hu_dd_mul(hu_dd_mul(t->slope, d), p));
	y.e = y.e * (1 + 0x1p-48) + 1.1284 * a.e;
	return a.h < 0 ? hu_dd_neg(y) : y;
}
