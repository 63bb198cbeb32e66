/* SPDX-License-Identifier: Apache-2.0
   The library's exact sums. */
#include <stdio.h> /* before mpfr.h, which then declares mpfr_asprintf */

#include "include/halfulp/exact.h"

#include "lib/api/enter.h"
#include "lib/api/format.h"
#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/number/code.h"
#include "lib/number/ulp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct halfulp_exact {
	mpfr_t v;
};

typedef struct summing {
	const char *function;
	halfulp_exact **value;
	const double *a, *b;
	size_t n;
} summing;

static hu_status
dot(void *of)
{
	const summing *s = of;
	double *ones = NULL, nothing = 0;
	halfulp_exact *x;

	HU_TRY(hu_api_needs(s->value, s->function, "value"));
	*s->value = NULL;
	if (s->n && (!s->a || !s->b))
		return hu_fail(HU_EINVAL, "%s: an array is NULL", s->function);
	if (s->a == s->b && !strcmp(s->function, "halfulp_exact_sum")) {
		ones = hu_alloc((s->n + 1) * sizeof *ones);
		if (!ones)
			return hu_fail(HU_ENOMEM, "%s: there is no memory for %zu terms", s->function, s->n);
		for (size_t i = 0; i < s->n; i++)
			ones[i] = 1;
	}
	x = hu_xmalloc(sizeof *x);
	mpfr_init2(x->v, 53);
	hu_exact_dot(x->v, s->n ? s->a : &nothing, ones ? ones : s->n ? s->b : &nothing, s->n);
	free(ones);
	*s->value = x;
	return HU_OK;
}

halfulp_status
halfulp_exact_dot(halfulp_exact **value, const double *a, const double *b, size_t n)
{
	return hu_api_enter(dot, &(summing){ __func__, value, a, b, n });
}

halfulp_status
halfulp_exact_sum(halfulp_exact **value, const double *x, size_t n)
{
	return hu_api_enter(dot, &(summing){ __func__, value, x, x, n });
}

void
halfulp_exact_free(halfulp_exact *value)
{
	if (!value)
		return;
	mpfr_clear(value->v);
	free(value);
}

typedef struct rounding {
	double *y;
	const halfulp_exact *value;
	const halfulp_format *format;
	halfulp_mode mode;
	int flags;
} rounding;

/* For formats of 52 and 53 bits, in which a double to odd does not say which way to go: decides between the value's two
   neighbours. */
static double
round_wide(mpfr_srcptr v, hu_format f, hu_mode mode, int flags)
{
	int negative = mpfr_signbit(v) != 0, up = 0;
	double low = fabs(hu_round(mpfr_get_d(v, MPFR_RNDZ), f, HU_RZ, 0, 0));
	double high = low + hu_pow2(hu_ulp_exponent(low, f));
	mpfr_t half;

	if (!mpfr_cmp_d(v, negative ? -low : low))
		return hu_round(negative ? -low : low, f, mode, flags, 0);
	mpfr_init2(half, 64); /* holds low + (high - low) / 2 */
	mpfr_set_d(half, low, MPFR_RNDN);
	mpfr_mul_2ui(half, half, 1, MPFR_RNDN);
	mpfr_add_d(half, half, hu_pow2(hu_ulp_exponent(low, f)), MPFR_RNDN);
	mpfr_div_2ui(half, half, 1, MPFR_RNDN);
	int side = mpfr_cmpabs(v, half), odd = (int)(hu_encode(low, f) & 1);
	mpfr_clear(half);
	switch (mode) {
	case HU_RNA: up = side >= 0; break;
	case HU_RNZ: up = side > 0; break;
	case HU_RZ: up = 0; break;
	case HU_RU: up = !negative; break;
	case HU_RD: up = negative; break;
	case HU_RO: up = !odd; break;
	case HU_RNE: up = side > 0 || (side == 0 && odd); break;
	case HU_SR:
	case HU_SRE:
	case HU_MODES: HU_ASSERT(!"a mode that draws is refused before"); return 0;
	}
	if (low >= f.max) { /* the upper neighbour is none, and the value may lie beyond it too */
		mpfr_t limit;
		mpfr_init2(limit, 64);
		mpfr_set_d(limit, f.max, MPFR_RNDN);
		mpfr_add_d(limit, limit, hu_pow2(hu_ulp_exponent(f.max, f)), MPFR_RNDN);
		int beyond = mpfr_cmpabs(v, limit) >= 0;
		mpfr_clear(limit);
		if (up || beyond)
			return hu_overflow(negative, f, mode, flags);
	}
	return hu_round(negative ? -(up ? high : low) : up ? high : low, f, HU_RZ, flags, 0);
}

static hu_status
rounds(void *of)
{
	const rounding *a = of;
	hu_mode mode = HU_RNE;

	HU_TRY(hu_api_needs(a->y, "halfulp_exact_round", "y"));
	HU_TRY(hu_api_needs(a->value, "halfulp_exact_round", "value"));
	HU_TRY(hu_api_needs(a->format, "halfulp_exact_round", "format"));
	HU_TRY(hu_format_mode(&mode, a->mode, "halfulp_exact_round"));
	if (hu_mode_draws(mode))
		return hu_fail(HU_EINVAL, "halfulp_exact_round: %s draws random bits; take a mode that does not",
			hu_mode_name(mode));
	if (a->flags & ~(HU_SATURATE | HU_FTZ))
		return hu_fail(HU_EINVAL, "halfulp_exact_round: flags %#x: HALFULP_SATURATE and HALFULP_FTZ are known",
			(unsigned)a->flags);
	mpfr_srcptr v = a->value->v;
	hu_format f = a->format->f;
	double x = mpfr_get_d(v, MPFR_RNDZ);
	if (!mpfr_number_p(v) || mpfr_zero_p(v)) {
		*a->y = hu_round(mpfr_zero_p(v) ? 0.0 : x, f, mode, a->flags, 0);
	} else if (f.p > 51) {
		*a->y = round_wide(v, f, mode, a->flags);
	} else {
		if (mpfr_cmp_d(v, x)) /* rounded to odd and then to the format, which is the same as rounding once */
			x = hu_from_bits64(hu_bits64(mpfr_signbit(v) && x == 0 ? -0.0 : x) | 1);
		*a->y = hu_round(x, f, mode, a->flags, 0);
	}
	return HU_OK;
}

halfulp_status
halfulp_exact_round(double *y, const halfulp_exact *value, const halfulp_format *format, halfulp_mode mode, int flags)
{
	return hu_api_enter(rounds, &(rounding){ y, value, format, mode, flags });
}

typedef struct comparing {
	double *error;
	int *order;
	const halfulp_exact *value;
	double x;
} comparing;

static hu_status
error(void *of)
{
	const comparing *a = of;
	mpfr_t d, x;

	HU_TRY(hu_api_needs(a->error, "halfulp_exact_error", "error"));
	HU_TRY(hu_api_needs(a->value, "halfulp_exact_error", "value"));
	mpfr_srcptr v = a->value->v;
	if (!mpfr_number_p(v) || !hu_isfinite(a->x)) {
		*a->error = (mpfr_nan_p(v) && hu_isnan(a->x)) || mpfr_cmp_d(v, a->x) == 0 ? 0 : HUGE_VAL;
		if (mpfr_nan_p(v) != hu_isnan(a->x))
			*a->error = HUGE_VAL;
		return HU_OK;
	}
	/* rounded once: the difference of the value and a double is exact in the bits of both */
	mpfr_init2(x, 53);
	mpfr_init2(d, 53);
	mpfr_set_d(x, a->x, MPFR_RNDN);
	mpfr_exp_t top = -1074, low = 1 << 20;
	for (int i = 0; i < 2; i++) {
		mpfr_srcptr p = i ? x : v;
		if (mpfr_zero_p(p))
			continue;
		mpfr_exp_t e = mpfr_get_exp(p), l = e - (mpfr_exp_t)mpfr_get_prec(p);
		top = e > top ? e : top;
		low = l < low ? l : low;
	}
	if (low < top)
		mpfr_set_prec(d, (mpfr_prec_t)(top - low + 2));
	mpfr_sub(d, v, x, MPFR_RNDN);
	*a->error = fabs(mpfr_get_d(d, MPFR_RNDN));
	mpfr_clear(x);
	mpfr_clear(d);
	return HU_OK;
}

halfulp_status
halfulp_exact_error(double *error_, const halfulp_exact *value, double x)
{
	return hu_api_enter(error, &(comparing){ error_, NULL, value, x });
}

static hu_status
compare(void *of)
{
	const comparing *a = of;

	HU_TRY(hu_api_needs(a->order, "halfulp_exact_compare", "order"));
	HU_TRY(hu_api_needs(a->value, "halfulp_exact_compare", "value"));
	if (mpfr_nan_p(a->value->v) || hu_isnan(a->x))
		return hu_fail(HU_EINVAL, "halfulp_exact_compare: NaN is neither below nor above anything");
	int c = mpfr_cmp_d(a->value->v, a->x);
	*a->order = (c > 0) - (c < 0);
	return HU_OK;
}

halfulp_status
halfulp_exact_compare(int *order, const halfulp_exact *value, double x)
{
	return hu_api_enter(compare, &(comparing){ NULL, order, value, x });
}

typedef struct writing {
	char *text;
	size_t size, *length;
	const halfulp_exact *value;
} writing;

static hu_status
write_text(void *of)
{
	const writing *a = of;

	HU_TRY(hu_api_needs(a->value, "halfulp_exact_text", "value"));
	if (a->size)
		HU_TRY(hu_api_needs(a->text, "halfulp_exact_text", "text"));
	int n = mpfr_snprintf(a->text, a->size, "%Ra", a->value->v);
	HU_ASSERT(n >= 0);
	if (a->length)
		*a->length = (size_t)n;
	return HU_OK;
}

halfulp_status
halfulp_exact_text(char *text, size_t size, size_t *length, const halfulp_exact *value)
{
	return hu_api_enter(write_text, &(writing){ text, size, length, value });
}
