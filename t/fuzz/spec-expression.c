/* SPDX-License-Identifier: Apache-2.0
   The readers of specs.h whose texts have values: expressions, models of sums, and names that vary. */
#include "t/fuzz/specs.h"

#include "analyzers/expression/evaluate_sum.h"
#include "analyzers/expression/expr.h"
#include "analyzers/expression/vary.h"
#include "lib/number/round.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 64, MORE_DIGITS = 200 };

/* The value in a format is one of the format, with every rounding mode; and two exact values, of which one has more
   digits, differ by less than the first one's guaranteed error, 2^-(64 + 8), and its rounding to 64 bits, 2^-63. */
hu_status
spec_expression(const char *text)
{
	static const hu_mode modes[] = { HU_RNE, HU_RZ, HU_RU, HU_RD, HU_RNA };
	static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_E4M3 };
	hu_expr *e = NULL;
	hu_status st = hu_expr_parse(text, HU_EXPR_CODES, &e);
	mpfr_t less, more;

	if (st != HU_OK)
		return st;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		hu_format f = hu_format_of(formats[i]);
		if (hu_expr_codes_fit(e, f) != HU_OK)
			continue;
		for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
			hu_arithmetic a = { .f = f, .mode = modes[m] };
			double x = hu_expr_value(e, &a);
			double again = hu_round(x, f, HU_RNE, 0, 0);
			HU_ASSERT(x == again || (isnan(x) && isnan(again)));
		}
	}
	if (hu_expr_codes_fit(e, hu_format_of(HU_FP32)) == HU_OK) {
		mpfr_init2(less, DIGITS);
		mpfr_init2(more, MORE_DIGITS);
		mpfr_clear_flags();
		st = hu_expr_exact(e, hu_format_of(HU_FP32), less);
		HU_ASSERT(hu_expr_exact(e, hu_format_of(HU_FP32), more) == st);
		int known = st == HU_OK && !mpfr_overflow_p() && !mpfr_underflow_p();
		HU_ASSERT(!known || (mpfr_nan_p(less) == mpfr_nan_p(more) && mpfr_inf_p(less) == mpfr_inf_p(more)));
		if (known && mpfr_number_p(less) && mpfr_number_p(more) && !mpfr_zero_p(more)) {
			mpfr_sub(less, less, more, MPFR_RNDA);
			mpfr_div(less, less, more, MPFR_RNDA);
			HU_ASSERT(mpfr_zero_p(less) || mpfr_get_exp(less) <= 2 - DIGITS);
		}
		mpfr_clear(less);
		mpfr_clear(more);
	}
	hu_expr_free(e);
	return st;
}

/* What is printed of a model reads as the same model. */
hu_status
spec_sum(const char *text)
{
	hu_sum s, again;
	char name[200], twice[200];

	HU_TRY(hu_sum_parse(text, &s));
	hu_sum_print(s, name, sizeof name);
	HU_ASSERT(hu_sum_parse(name, &again) == HU_OK);
	hu_sum_print(again, twice, sizeof twice);
	HU_ASSERT(!strcmp(name, twice) && s.id == again.id && s.acc == again.acc && s.mode == again.mode);
	return HU_OK;
}

hu_status
spec_sum_of_calc(const char *text)
{
	hu_sum s;

	return hu_expr_sum_model(text, hu_format_of(HU_FP16), HU_RNE, 0, &s);
}

/* The first and the last number are those that were given, and all lie between. */
hu_status
spec_vary(const char *text)
{
	hu_vary v;

	HU_TRY(hu_vary_parse(&v, text));
	HU_ASSERT(v.n >= 1 && v.n <= HU_VARY_MOST && isfinite(v.from) && isfinite(v.to));
	for (int i = 0; i < v.n; i += 1 + v.n / 50) {
		double x = hu_vary_at(&v, i);
		HU_ASSERT(x >= fmin(v.from, v.to) && x <= fmax(v.from, v.to));
	}
	HU_ASSERT(hu_vary_at(&v, 0) == v.from && (v.n == 1 || hu_vary_at(&v, v.n - 1) == v.to));
	char *put = hu_vary_put(&v, "x + y * xx", 1.5);
	free(put);
	return HU_OK;
}
