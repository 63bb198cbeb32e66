/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/expression/evaluate_sum.h"

#include "lib/base/hash.h"
#include "lib/base/str.h"
#include "lib/exact/dot.h"
#include "lib/sum/model/row.h"
#include "lib/sum/sum_unit.h"
#include "lib/sum/table/model.h"

#include <string.h>

hu_status
hu_expr_sum_model(const char *text, hu_format f, hu_mode mode, int flags, hu_sum *s)
{
	hu_str full;
	hu_status st;

	if (mode == HU_SR && (flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C)))
		return hu_fail(HU_EINVAL,
			"sum(...) adds with StochasticA; leave out variant= of --mode, or write + for sums");
	HU_TRY(hu_sum_parse(text, s));
	hu_str_init(&full);
	hu_str_add(&full, text);
	if (!hu_sum_is_unit(s->id)) {
		if (!strstr(text, "acc="))
			hu_str_addf(&full, ",acc=%s", hu_format_name(f.id));
		if (!strstr(text, "mode="))
			hu_str_addf(&full, ",mode=%s", hu_mode_name(mode));
		if (!strstr(text, "mode=") && !strstr(text, "bits=") && mode == HU_SR && (flags >> 8 & 63))
			hu_str_addf(&full, ",bits=%d", flags >> 8 & 63);
	}
	st = hu_sum_parse(full.s, s);
	hu_str_release(&full);
	HU_TRY(st);
	if (!hu_sum_is_unit(s->id))
		return HU_OK;
	hu_format_id in = s->in == HU_NO_FORMAT ? HU_FP16 : s->in;
	return hu_sum_resolve(s, in, s->in2 == HU_NO_FORMAT ? in : s->in2, f.id);
}

hu_format
hu_expr_factor_format(const hu_sum *s, hu_format f)
{
	if (s->in == HU_NO_FORMAT)
		return f;
	return hu_format_of(s->in == HU_TF32 ? HU_FP32 : s->in); /* tensor cores cut fp32 words to tf32 */
}

/* Raises the flags of v, the rounded sum of the terms as the model got them. beyond says that the model's own sum was
   too large. */
static void
note(hu_arithmetic *a, const double *x, const double *y, size_t n, double start, double v, int beyond,
	const hu_sum_count *count)
{
	int finite = hu_isfinite(start), nan = hu_isnan(start);
	mpfr_t exact;

	for (size_t i = 0; i < n; i++) {
		finite &= hu_isfinite(x[i]) && hu_isfinite(y[i]);
		nan |= hu_isnan(x[i]) || hu_isnan(y[i]);
	}
	a->notes |= count->swamped ? HU_NOTE_SWAMPED : 0;
	a->notes |= hu_isnan(v) && !nan ? HU_NOTE_INVALID : 0;
	if (!finite)
		return;
	mpfr_init2(exact, 53);
	hu_exact_dot(exact, x, y, n);
	if (start != 0) {
		mpfr_prec_round(exact, 4400, MPFR_RNDN);
		mpfr_add_d(exact, exact, start, MPFR_RNDN);
	}
	if (!hu_isfinite(v) || beyond)
		a->notes |= HU_NOTE_INEXACT | HU_NOTE_OVERFLOW;
	else if (mpfr_cmp_d(exact, v))
		a->notes |= HU_NOTE_INEXACT |
			    (mpfr_regular_p(exact) && mpfr_get_exp(exact) - 1 < a->f.emin ? HU_NOTE_UNDERFLOW : 0);
	mpfr_clear(exact);
}

double
hu_expr_model_sum(hu_arithmetic *a, const hu_expr *e, const double *x, const double *y, size_t n, double start)
{
	const hu_sum *s = a->sum;
	hu_sum_count count = { 0, 0, 0, 0, 0 };
	hu_draw draw = { a->seed, hu_fnv1a32("calc"), 0, a->index, s->bits };
	hu_mode last = hu_mode_draws(a->mode) ? HU_RNE : a->mode;
	double v;

	a->index += n;
	if (hu_sum_unit_takes_all(s, 0, x, n, "first factors") != HU_OK ||
		hu_sum_unit_takes_all(s, 1, y, n, "second factors") != HU_OK ||
		hu_sum_unit_takes_all(s, 2, &start, 1, "start value") != HU_OK) {
		a->notes |= HU_NOTE_REFUSED;
		return hu_nan_of(a->f);
	}
	const hu_sum_model *m = hu_sum_model_of(s->id);
	v = m->from ? m->from(x, y, n, start, *s, &count) : hu_model_run(x, y, n, *s, &draw, &count);
	int beyond = !hu_isnan(v) && (!hu_isfinite(v) || hu_round_full(v, a->f, last, a->flags, 0).flags & HU_OVERFLOW);
	v = hu_isnan(v) ? hu_nan_of(a->f) : hu_round(v, a->f, last, a->flags, 0);
	note(a, x, y, n, start, v, beyond, &count);
	if (a->seen) {
		hu_seen what = { e, x, y, NULL, (int)n, start, v };
		a->seen(a->to, a, &what);
	}
	return v;
}
