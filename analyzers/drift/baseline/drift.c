/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/drift.h"

#include "lib/base/console/threshold.h"
#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
hu_held_text(hu_held held)
{
	static const char *const text[] = { "bit-identical", "within its ulps", "within its tolerance",
		"better than the baseline", "not compared: the baseline has no tolerance for it", "drifted",
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
	if (hu_threshold_keeps(hu_threshold_most(want->ulps), *ulps))
		return HU_WITHIN_ULPS;
	if (hu_threshold_keeps(hu_threshold_most(want->tolerance), fabs(got->value - want->value)))
		return HU_WITHIN_TOLERANCE;
	if ((want->side == HU_SIDE_UP && got->value < want->value) ||
		(want->side == HU_SIDE_DOWN && got->value > want->value))
		return HU_BETTER;
	return HU_DRIFT;
}

/* How much harm a failure says there is, by what moved; the higher classes stand first. */
enum { OTHER_BITS, IMPROVED, LOCAL_ERROR, LOST, KEY, RESULT, BROKEN, NOT_FINITE, PROGRAM };

static int
harm(const hu_finding *f)
{
	static const char *const lost[] = { "l2_share_lost", "cosine", "share_swamped", "share_nonzeros",
		"propagated_rel_normwise", "log2_scale_min", "log2_scale_max" };
	const char *key = (f->want ? f->want : f->got)->key, *column = strrchr(key, '/');

	column = column ? column + 1 : key;
	if (!strncmp(key, "program/", 8))
		return PROGRAM; /* another program is why all the rest may differ */
	if (f->held == HU_NON_FINITE)
		return NOT_FINITE;
	if (f->held != HU_DRIFT)
		return KEY;
	if (!strcmp(column, "over_bound"))
		return BROKEN; /* outputs that their arithmetic cannot give */
	if (!strcmp(column, "digest"))
		return OTHER_BITS;
	if (!strncmp(key, "exercise/", 9))
		return RESULT;
	if (!strncmp(key, "metrics/", 8)) /* a lower loss or a higher score is told, and is no harm */
		return f->ulps > 0 && (f->got->value > f->want->value) == !strstr(column, "loss") ? IMPROVED : RESULT;
	for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
		if (!strcmp(column, lost[i]))
			return LOST;
	return LOCAL_ERROR;
}

/* Harm first, and within a class how many times what it may differ by, else its own value, a change is, as a
   logarithm; of equal ones the earliest step stands first. -1 of what did not fail. */
static double
severity(const hu_finding *f)
{
	enum { CLASS = 4096, CLIP = 1100 }; /* doubles' exponents span 2^-1074 to 2^1023 */
	const hu_baseline_quantity *w = f->want;

	if (f->held < HU_DRIFT)
		return -1;
	double class = CLASS * (1 + (double)harm(f));
	if (f->held != HU_DRIFT || isnan(f->ulps))
		return class + CLIP + (f->held == HU_MISSING_KEY);
	hu_format format = hu_format_of(w->format);
	double allowed = fmax(w->tolerance, ldexp(w->ulps, hu_ulp_exponent(w->value, format))),
	       scale = fmax(fabs(w->value), ldexp(1, format.emin));
	double times = fabs(f->got->value - w->value) / (allowed > 0 ? allowed : scale);
	return class + (times > 0 && isfinite(times) ? fmax(log2(times), -CLIP) : times > 0 ? CLIP : -CLIP);
}

/* The step in a key, TABLE/step/…; without one it stands behind those that have one. */
static double
step_of(const char *key)
{
	const char *slash = strchr(key, '/');
	char *end;
	double step = slash && slash[1] >= '0' && slash[1] <= '9' ? strtod(slash + 1, &end) : INFINITY;

	return isfinite(step) && *end == '/' ? step : INFINITY;
}

/* Calls of two programs as they run, the training's before the evaluation's; 0 where that says nothing. */
static int
call_order(const hu_finding *x, const hu_finding *y)
{
	const hu_baseline_quantity *p = x->got ? x->got : x->want, *q = y->got ? y->got : y->want;
	int eval = !strncmp(p->key, "program/eval", 12) - !strncmp(q->key, "program/eval", 12);

	/* Tensors that no call makes, and calls that the run lacks, have no number and stand behind those that do */
	return eval ? eval : p->call == q->call ? 0 : p->call < 0 ? 1 : q->call < 0 ? -1 : p->call < q->call ? -1 : 1;
}

static int
worst_first(const void *a, const void *b)
{
	const hu_finding *x = a, *y = b;
	const char *p = (x->want ? x->want : x->got)->key, *q = (y->want ? y->want : y->got)->key;

	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (!strncmp(p, "program/", 8) && !strncmp(q, "program/", 8) && x->severity >= 0 && call_order(x, y))
		return call_order(x, y);
	if (x->severity >= 0 && step_of(p) != step_of(q))
		return step_of(p) < step_of(q) ? -1 : 1;
	return strcmp(p, q);
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
