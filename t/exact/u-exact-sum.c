/* SPDX-License-Identifier: Apache-2.0
   Exact sums over elements and products (lib/op/reduce/exact_sum.h): numbers with and without trailing parts, with
   strides, across stretches, with infinities, NaN and subnormals, against MPFR at a precision that rounds nothing. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/op/reduce/exact_sum.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

enum { BITS = 9000, PRECISION = 6000, MOST = 3000 };

static uint64_t counter;

static uint32_t
word(uint32_t n)
{
	return hu_random_at(21, 5, 0, counter++).w[0] % n;
}

/* n doubles with so many trailing parts, each some 2^-53 of the one before; strange: one in a hundred is an infinity,
   NaN, a subnormal or 0. */
static void
tensor(hu_tensor *t, size_t n, int lows, int strange)
{
	double *x = hu_xmalloc((n + 1) * sizeof *x), *low = hu_xmalloc((2 * n + 1) * sizeof *low);

	*t = (hu_tensor){ .data = x, .format = HU_FP64, .shape = hu_shape1(n), .n = n, .low = low, .lows = lows };
	for (size_t i = 0; i < n; i++) {
		x[i] = ldexp((double)word(1u << 31) + 0.5, (int)word(40) - 50) * (word(2) ? 1 : -1);
		for (int p = 0; p < lows; p++)
			low[(size_t)p * n + i] = word(3) ? ldexp(x[i] * ((double)word(1000) - 500), -63 - 53 * p) : 0;
		if (!strange || word(100))
			continue;
		x[i] = (double[]){ INFINITY, -INFINITY, NAN, 0x1p-1060, 0,
			-0.0 }[word(strange > 1 ? 6 : 3) + (strange > 1 ? 0 : 3)];
		for (int p = 0; p < lows; p++)
			low[(size_t)p * n + i] = 0;
	}
}

static double
part(const hu_tensor *t, int p, size_t i)
{
	return p ? t->low[(size_t)(p - 1) * t->n + i] : ((const double *)t->data)[i];
}

/* The sum with every product of two numbers whole. */
static void
plain(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride)
{
	mpfr_t s, t;

	mpfr_inits2(BITS, s, t, (mpfr_ptr)NULL);
	mpfr_set_prec(y, BITS);
	mpfr_set_zero(y, 1);
	for (size_t k = 0; k < n; k++) {
		size_t i = first + k * stride;
		mpfr_set_d(s, part(a, 0, i), MPFR_RNDN);
		for (int p = 1; p <= a->lows; p++)
			mpfr_add_d(s, s, part(a, p, i), MPFR_RNDN);
		mpfr_set_d(t, b ? part(b, 0, i) : 1, MPFR_RNDN);
		for (int p = 1; b && p <= b->lows; p++)
			mpfr_add_d(t, t, part(b, p, i), MPFR_RNDN);
		mpfr_mul(s, s, t, MPFR_RNDN);
		mpfr_add(y, y, s, MPFR_RNDN);
	}
	mpfr_clears(s, t, (mpfr_ptr)NULL);
}

static void
test(int lows_a, int lows_b, int strange)
{
	int same = 0, all = 0, odd = 0;

	for (int n = 0; n < 30; n++, all++) {
		hu_tensor a, b;
		size_t size = 1 + word(MOST), stride = 1 + word(3), first = word((uint32_t)(size < 5 ? size : 5)),
		       terms = (size - 1 - first) / stride + 1;
		int by = lows_b >= 0 && n % 5 ? n % 5 > 1 ? 2 : 1 : 0; /* none, a itself, another */
		mpfr_t y, want;
		mpfr_init2(y, PRECISION);
		mpfr_init2(want, BITS);
		tensor(&a, size, lows_a, strange);
		tensor(&b, size, lows_b < 0 ? 0 : lows_b, strange);
		const hu_tensor *other = by == 2 ? &b : by == 1 ? &a : NULL;
		hu_exact_sum(y, &a, other, first, terms, stride);
		plain(want, &a, other, first, terms, stride);
		same += (mpfr_nan_p(y) && mpfr_nan_p(want)) || mpfr_equal_p(y, want);
		odd += !mpfr_number_p(want);
		free(a.data);
		free((void *)(size_t)a.low);
		free(b.data);
		free((void *)(size_t)b.low);
		mpfr_clears(y, want, (mpfr_ptr)NULL);
	}
	ok(same == all && (strange > 1 ? odd > 5 : !odd),
		"%d and %d trailing parts, %s: %d of %d sums are MPFR's (%d are no numbers)", lows_a,
		lows_b < 0 ? 0 : lows_b,
		strange > 1 ? "infinities and NaN"
		: strange   ? "subnormals and zeros"
			    : "numbers alike",
		same, all, odd);
}

int
main(void)
{
	for (int strange = 0; strange < 3; strange++)
		for (int lows = 0; lows < 3; lows++) {
			test(lows, -1, strange);
			test(lows, 1, strange);
		}
	mpfr_free_cache();
	return done_testing();
}
