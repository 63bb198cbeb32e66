/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/reduce/exact_sum.h"
#include "lib/op/element/map.h"
#include "lib/op/reduce/reduce.h"

#include "lib/exact/dot.h"

enum { STRETCH = 1024 }; /* terms of one inner product; more do not make it faster */

static void
gather(double *to, const hu_tensor *t, size_t first, size_t n, size_t stride)
{
	for (size_t i = 0; i < n; i++)
		to[i] = t ? hu_get(t, first + i * stride) : 1;
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

void
hu_exact_sum(mpfr_t y, const hu_tensor *a, const hu_tensor *b, size_t first, size_t n, size_t stride)
{
	double u[STRETCH], v[STRETCH];
	mpfr_t s;

	mpfr_set_zero(y, 1);
	if (a->lows || (b && b->lows)) {
		by_mpfr(y, a, b, first, n, stride);
		return;
	}
	mpfr_init(s);
	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < STRETCH ? n - done : STRETCH;
		gather(u, a, first + done * stride, some, stride);
		gather(v, b, first + done * stride, some, stride);
		hu_exact_dot(s, u, v, some);
		mpfr_add(y, y, s, MPFR_RNDN);
	}
	mpfr_clear(s);
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
