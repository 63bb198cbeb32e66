/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>

enum {
	PRECISION = 256,   /* of exact values before an operator raises it */
	CHUNK = 16384      /* values held in MPFR at a time */
};

size_t *
hu_sample(uint64_t seed, const char *name, size_t step, size_t n, size_t want, size_t *count)
{
	size_t m = want && want < n ? want : n, *out = hu_xmalloc((m + 1) * sizeof *out), k = 0;

	*count = m;
	if (m == n) {
		for (size_t i = 0; i < n; i++)
			out[i] = i;
		return out;
	}
	/* Floyd's sampling (Bentley, Programming pearls, CACM 1987): one draw an element taken. */
	uint64_t *taken = hu_xcalloc(n / 64 + 1, sizeof *taken);
	uint32_t stream = hu_fnv1a32(name);
	for (size_t j = n - m; j < n; j++) {
		size_t i = (size_t)(hu_uniform(hu_random_at(seed, stream, (uint32_t)step, j)) * (double)(j + 1));
		if (i > j || (taken[i / 64] >> (i % 64) & 1))
			i = j;
		taken[i / 64] |= (uint64_t)1 << (i % 64);
	}
	for (size_t i = 0; i < n; i++)
		if (taken[i / 64] >> (i % 64) & 1)
			out[k++] = i;
	free(taken);
	return out;
}

static hu_judged *
new_judged(size_t n, size_t of, size_t *element, int hex)
{
	hu_judged *j = hu_xcalloc(1, sizeof *j);

	j->n = n;
	j->of = of;
	j->element = element;
	j->got = hu_xcalloc(n + 1, sizeof *j->got);
	j->exact = hu_xcalloc(n + 1, sizeof *j->exact);
	j->error = hu_xcalloc(n + 1, sizeof *j->error);
	j->ulps = hu_xcalloc(n + 1, sizeof *j->ulps);
	j->bound = hu_xcalloc(n + 1, sizeof *j->bound);
	j->magnitude = hu_xcalloc(n + 1, sizeof *j->magnitude);
	j->over = hu_xcalloc(n + 1, 1);
	j->hex = hex ? hu_xcalloc(n + 1, sizeof *j->hex) : NULL;
	return j;
}

void
hu_judged_free(hu_judged *j)
{
	if (!j)
		return;
	for (size_t i = 0; j->hex && i < j->n; i++)
		mpfr_free_str(j->hex[i]);
	free(j->element);
	free(j->got);
	free(j->exact);
	free(j->error);
	free(j->ulps);
	free(j->bound);
	free(j->magnitude);
	free(j->over);
	free(j->hex);
	free(j);
}

/* fp64 with the last bit saying that something was cut off: no later rounding to fewer bits can be a second one. */
static double
to_odd(mpfr_srcptr x)
{
	double d = mpfr_get_d(x, MPFR_RNDZ);

	if (hu_isfinite(d) && mpfr_regular_p(x) && mpfr_cmp_d(x, d))
		d = d == 0 ? copysign(0x1p-1074, mpfr_sgn(x)) : hu_from_bits64(hu_bits64(d) | 1);
	return d;
}

/* |got - exact| in DIFF; 0 where there is no such number, and *special then has the error. */
static int
difference(mpfr_ptr diff, double got, mpfr_srcptr exact, double *special)
{
	if (mpfr_number_p(exact) && hu_isfinite(got)) {
		mpfr_sub_d(diff, exact, got, MPFR_RNDN);
		mpfr_abs(diff, diff, MPFR_RNDN);
		return 1;
	}
	int same = (mpfr_nan_p(exact) && hu_isnan(got)) || (mpfr_inf_p(exact) && !hu_isnan(got) && !hu_isfinite(got) && (mpfr_sgn(exact) < 0) == (got < 0));
	*special = same ? 0 : INFINITY;
	return 0;
}

static double
in_ulps(mpfr_ptr diff, mpfr_srcptr exact, hu_format f)
{
	long e = mpfr_zero_p(exact) ? f.emin : (long)mpfr_get_exp(exact) - 1;

	mpfr_mul_2si(diff, diff, -((e < f.emin ? f.emin : e) - f.p + 1), MPFR_RNDN);
	return mpfr_get_d(diff, MPFR_RNDN);
}

double
hu_judge_ulps(double got, mpfr_srcptr exact, hu_format f)
{
	double r;
	mpfr_t diff;

	mpfr_init2(diff, PRECISION);
	if (difference(diff, got, exact, &r))
		r = in_ulps(diff, exact, f);
	mpfr_clear(diff);
	return r;
}

static void
judge_one(hu_judged *j, size_t i, mpfr_srcptr exact, mpfr_ptr diff, hu_format f)
{
	double special;

	j->exact[i] = to_odd(exact);
	if (isnan(j->bound[i]))
		j->bound[i] = INFINITY; /* inputs that are not finite: nothing is promised */
	if (difference(diff, j->got[i], exact, &special)) {
		j->error[i] = mpfr_get_d(diff, MPFR_RNDN);
		j->over[i] = (char)(mpfr_cmp_d(diff, j->bound[i]) > 0);
		j->ulps[i] = in_ulps(diff, exact, f);
	} else {
		j->error[i] = j->ulps[i] = special;
		j->over[i] = (char)!(special <= j->bound[i]);
	}
	if (j->hex)
		mpfr_asprintf(&j->hex[i], "%Ra", exact);
}

static hu_status
judge_chunk(const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, hu_judged *j, size_t at, size_t n, mpfr_t *exact, hu_format f)
{
	hu_status st = engine->exact(c, in, out, j->element + at, n, exact);
	mpfr_t diff;

	if (st == HU_OK && c->op->bound)
		st = c->op->bound(c, in, out, j->element + at, n, j->bound + at);
	if (st == HU_OK && c->op->magnitude)
		st = c->op->magnitude(c, in, out, j->element + at, n, j->magnitude + at);
	if (st != HU_OK)
		return st;
	mpfr_init2(diff, PRECISION);
	for (size_t i = 0; i < n; i++) {
		judge_one(j, at + i, exact[i], diff, f);
		if (!c->op->magnitude)
			j->magnitude[at + i] = fabs(mpfr_get_d(exact[i], MPFR_RNDN));
	}
	mpfr_clear(diff);
	return HU_OK;
}

hu_status
hu_judge(const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const hu_tensor *got, size_t *element, size_t n, int hex, hu_judged **result)
{
	size_t chunk = n < CHUNK ? n : CHUNK;
	hu_judged *j = new_judged(n, got->n, element, hex);
	mpfr_t *exact = hu_xmalloc((chunk + 1) * sizeof *exact);
	hu_status st = HU_OK;

	for (size_t i = 0; i < n; i++)
		j->got[i] = hu_get(got, element[i]);
	for (size_t i = 0; i < chunk; i++)
		mpfr_init2(exact[i], PRECISION);
	for (size_t at = 0; at < n && st == HU_OK; at += chunk)
		st = judge_chunk(engine, c, in, out, j, at, n - at < chunk ? n - at : chunk, exact, hu_format_of(got->format));
	for (size_t i = 0; i < chunk; i++)
		mpfr_clear(exact[i]);
	free(exact);
	if (st == HU_OK)
		*result = j;
	else
		hu_judged_free(j);
	return st;
}
