/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/check/drift.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
hu_held_text(hu_held held)
{
	static const char *const text[] = { "bit-identical", "within its ulps", "within measured noise",
		"better than the baseline", "not compared: the runs that measured the noise differ in it", "drifted",
		"is new: the baseline does not have it", "is not finite and the baseline does not declare that",
		"is missing in the run" };

	return text[held];
}

/* |got - want| in ulps of F at WANT. */
static double
apart(double got, double want, hu_format f)
{
	return got == want ? 0 : ldexp(fabs(got - want), -hu_ulp_exponent(want, f));
}

static hu_held
judge(const hu_baseline_quantity *want, const hu_baseline_quantity *got, double *ulps)
{
	*ulps = NAN;
	if (want->side == HU_SIDE_ANY)
		return HU_NOT_COMPARED;
	if (!want->number || !got->number)
		return strcmp(want->text, got->text) ? HU_DRIFT : HU_BIT_IDENTICAL;
	if (!isfinite(got->value))
		return !strcmp(got->text, want->text) ? HU_BIT_IDENTICAL : HU_NON_FINITE;
	if (!isfinite(want->value))
		return HU_DRIFT; /* declared not finite, and now it is: somebody should look */
	*ulps = apart(got->value, want->value, hu_format_of(want->format));
	if (hu_bits64(got->value) == hu_bits64(want->value))
		return HU_BIT_IDENTICAL;
	if (*ulps <= want->ulps)
		return HU_WITHIN_ULPS;
	if (fabs(got->value - want->value) <= want->noise)
		return HU_WITHIN_NOISE;
	if ((want->side == HU_SIDE_UP && got->value < want->value) ||
		(want->side == HU_SIDE_DOWN && got->value > want->value))
		return HU_BETTER;
	return HU_DRIFT;
}

/* Failures before the rest; missing and non-finite ones first; then how many times the allowance a change is. */
static double
severity(const hu_finding *f)
{
	const hu_baseline_quantity *w = f->want;

	if (f->held < HU_DRIFT)
		return -1;
	if (!strncmp((w ? w : f->got)->key, "program/", 8))
		return 1e302; /* another program is why all the rest may differ */
	if (f->held > HU_DRIFT || isnan(f->ulps))
		return 1e300 * (1 + (double)f->held);
	double scale = fmax(fabs(w->value), fmax(w->noise, ldexp(1, hu_format_of(w->format).emin)));
	/* A change of what was zero is any number of times zero, and still less than a key that is missing. */
	return fmin(fabs(f->got->value - w->value) / (w->noise > 0 ? w->noise : scale), 1e299);
}

static int
worst_first(const void *a, const void *b)
{
	const hu_finding *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	return strcmp((x->want ? x->want : x->got)->key, (y->want ? y->want : y->got)->key);
}

hu_finding *
hu_drift_compare(const hu_baseline *want, const hu_baseline *got, size_t *n, size_t *failed)
{
	hu_finding *f = hu_xcalloc(want->n + got->n + 1, sizeof *f);

	*n = *failed = 0;
	for (size_t i = 0; i < want->n; i++) {
		hu_finding *at = &f[(*n)++];
		at->want = &want->q[i];
		at->got = hu_baseline_find(got, want->q[i].key);
		at->ulps = NAN;
		at->held = at->got                         ? judge(at->want, at->got, &at->ulps)
			   : at->want->side == HU_SIDE_ANY ? HU_NOT_COMPARED
							   : HU_MISSING_KEY;
	}
	for (size_t i = 0; i < got->n; i++)
		if (!hu_baseline_find(want, got->q[i].key))
			f[(*n)++] = (hu_finding){ NULL, &got->q[i], HU_NEW_KEY, NAN, 0 };
	for (size_t i = 0; i < *n; i++) {
		f[i].severity = severity(&f[i]);
		*failed += f[i].held >= HU_DRIFT;
	}
	if (*n)
		qsort(f, *n, sizeof *f, worst_first);
	return f;
}
