/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/reduce/exact_sum.h"
#include "lib/op/element/map.h"
#include "lib/op/reduce/reduce.h"

#include "lib/exact/dot.h"

#include <math.h>

enum { STRETCH = 1024 }; /* terms of one inner product; more do not make it faster */

/* Part `part` of n elements, 0 being the leading double; ones where there is no tensor. Returns 0 where one of them is
   not finite. */
static int
gather(double *to, const hu_tensor *t, int part, size_t first, size_t n, size_t stride)
{
	int finite = 1;

	for (size_t i = 0; i < n; i++) {
		size_t at = first + i * stride;
		to[i] = !t ? 1 : part ? t->low[(size_t)(part - 1) * t->n + at] : hu_get(t, at);
		finite &= isfinite(to[i]) != 0;
	}
	return finite;
}

static void
by_mpfr(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride)
{
	mpfr_t s, t;

	mpfr_inits2(mpfr_get_prec(y), s, t, (mpfr_ptr)NULL);
	for (size_t k = 0; k < n; k++) {
		hu_exact_get(s, a, first + k * stride);
		if (b) {
			hu_exact_get(t, b, first + k * stride);
			mpfr_mul(s, s, t, MPFR_RNDN);
		}
		mpfr_add(y, y, s, MPFR_RNDN);
	}
	mpfr_clears(s, t, (mpfr_ptr)NULL);
}

/* Adds one stretch: the inner products of each part of a with each of b. Parts of numbers that are not finite have no
   products of their own: Inf times a trailing 0 is NaN. Returns 0 for such, with nothing added. */
static int
add_parts(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride)
{
	double u[STRETCH], v[STRETCH];
	int of_a = a->lows + 1, of_b = b ? b->lows + 1 : 1, finite = 1;
	mpfr_t s;

	for (int p = 0; p < of_a && of_a + of_b > 2; p++)
		finite &= gather(u, a, p, first, n, stride);
	for (int q = 0; q < of_b && of_a + of_b > 2; q++)
		finite &= gather(v, b, q, first, n, stride);
	if (!finite)
		return 0;
	mpfr_init(s);
	for (int p = 0; p < of_a; p++) {
		gather(u, a, p, first, n, stride);
		for (int q = 0; q < of_b; q++) {
			gather(v, b, q, first, n, stride);
			hu_exact_dot(s, u, v, n);
			mpfr_add(y, y, s, MPFR_RNDN);
		}
	}
	mpfr_clear(s);
	return 1;
}

void
hu_exact_sum(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride)
{
	mpfr_set_zero(y, 1);
	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < STRETCH ? n - done : STRETCH;
		if (!add_parts(y, a, b, first + done * stride, some, stride))
			by_mpfr(y, a, b, first + done * stride, some, stride);
	}
}

void
hu_exact_over_weights(mpfr_t *y, size_t n, const hu_tensor *w)
{
	mpfr_t sum;

	mpfr_init2(sum, hu_sum_bits(w));
	mpfr_set_zero(sum, 1);
	for (size_t i = 0; i < w->n; i++)
		hu_map_exact_add(sum, w, i);
	for (size_t i = 0; i < n; i++)
		mpfr_div(y[i], y[i], sum, MPFR_RNDN);
	mpfr_clear(sum);
}
