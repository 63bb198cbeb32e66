/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_verdict.h"

#include "lib/base/mem.h"
#include "lib/judge/judge.h"
#include "lib/judge/kernel/verdict.h"
#include "lib/number/ulps.h"
#include "analyzers/op/op_layout.h"
#include "analyzers/value/rows.h"
#include "lib/base/table/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* over counts the elements beyond a bound, `open` those without a bound; ratio is the largest error over its bound, and
   worst the element that has it. */
typedef struct beyond {
	size_t over, open, worst;
	double ratio;
} beyond;

/* The comparison of got with the result. differ counts elements whose bits differ, where any NaN equals any other. */
typedef struct verdict {
	size_t n, differ, worst;
	double most, sum, at;
	long double error2, exact2; /* sums over elements that are finite in both; infinite where an element is finite
				       in one of them alone */
	beyond proven, probable;
	int same_shape, found; /* found: with layout, got is the result */
	hu_op_layout layout;
	hu_bias bias; /* of got against the exact result rounded once and the emulation */
} verdict;

/* The arguments of fits, which tries a layout. */
typedef struct trial {
	const hu_op_run *r;
	const hu_npy *got;
	mpfr_t *d;
} trial;

static int
same_bits(const hu_op_run *r, size_t i, double x)
{
	return isnan(x) ? isnan(r->value[i]) : hu_bits64(x) == hu_bits64(r->value[i]);
}

/* Sets d to |x - exact| of element i. */
static void
distance(const hu_op_run *r, size_t i, double x, mpfr_t d)
{
	mpfr_d_sub(d, x, r->exact[i], MPFR_RNDZ); /* rounded toward zero, so that a result is never called wrong because
						     of this rounding */
	mpfr_abs(d, d, MPFR_RNDN);
}

static int
within(const mpfr_t d, double bound)
{
	return !mpfr_nan_p(d) && mpfr_cmp_d(d, bound) <= 0;
}

static void
against(beyond *b, size_t i, const mpfr_t d, double bound)
{
	if (!(bound < INFINITY)) { /* no bound: overflow cannot be excluded */
		b->open++;
		return;
	}
	double e = mpfr_get_d(d, MPFR_RNDN), ratio = mpfr_nan_p(d) ? INFINITY : e > 0 ? e / bound : 0;
	b->over += !within(d, bound);
	if (ratio > b->ratio) {
		b->ratio = ratio;
		b->worst = i;
	}
}

/* Whether element i follows from operands that are not finite, or from a division by 0: its exact value is NaN or an
   infinity, and so is the emulation's (a saturating format has other ideas). */
static int
is_certain(const hu_op_run *r, size_t i)
{
	return !mpfr_number_p(r->exact[i]) &&
	       (mpfr_nan_p(r->exact[i]) ? isnan(r->value[i]) : mpfr_cmp_d(r->exact[i], r->value[i]) == 0);
}

/* Judges such an element: in whatever order terms are added, NaN stays NaN, and an infinity stays or meets another, of
   finite terms that overflowed, and becomes NaN. */
static void
against_certain(beyond *b, size_t i, double x, double value)
{
	if (isnan(x) && !isnan(value)) {
		b->open++;
	} else if (isnan(x) != isnan(value) || (!isnan(x) && x != value)) {
		b->over++;
		b->worst = b->ratio < INFINITY ? i : b->worst;
		b->ratio = INFINITY;
	}
}

static void
judge_one(const hu_op_run *r, size_t i, double x, verdict *v, mpfr_t d)
{
	double ulps = hu_judge_ulps(x, r->exact[i], r->out), e = mpfr_get_d(r->exact[i], MPFR_RNDN);

	v->differ += !same_bits(r, i, x);
	v->sum += ulps;
	if (ulps > v->most) {
		v->most = ulps;
		v->worst = i;
		v->at = isnan(x) ? NAN : x;
	}
	distance(r, i, x, d);
	if (is_certain(r, i)) {
		against_certain(&v->proven, i, x, r->value[i]);
		v->probable.open++; /* it is no question of probability */
	} else {
		against(&v->proven, i, d, r->bound[i]);
		against(&v->probable, i, d, r->probable[i]);
	}
	if (isfinite(x) && isfinite(e)) {
		long double error = mpfr_get_ld(d, MPFR_RNDN);
		v->error2 += error * error;
		v->exact2 += (long double)e * e;
	} else if (isinf(ulps)) {
		v->error2 = INFINITY;
	}
}

/* Returns 1 where the bits are the same or the error is within the proven bound. */
static int
fits(const void *context, size_t i, size_t at)
{
	const trial *t = context;
	double x = hu_op_codes_element(t->r, t->got, at, t->r->out);

	if (same_bits(t->r, i, x))
		return 1;
	if (!(t->r->bound[i] < INFINITY))
		return 0;
	distance(t->r, i, x, *t->d);
	return within(*t->d, t->r->bound[i]);
}

static const char *
compared_with(const hu_op_run *r)
{
	return r->as == HU_AS_REFERENCE           ? "the exact result rounded once"
	       : !strcmp(r->backend->name, "cpu") ? "the emulation"
						  : r->backend->name;
}

/* Returns the word for the worst of them; "-" where no element has a bound. */
static const char *
word(const beyond *b, size_t n, const char *outside)
{
	return b->over ? outside : b->open == n ? "-" : "within";
}

json_t *
hu_op_probable_json(const hu_op_run *r)
{
	const hu_roundings *k = &r->roundings;

	if (k->none)
		return json_pack("{s:s}", "none", k->none);
	return json_pack("{s:f s:f s:f s:f s:s s:s}", "confidence", r->confidence, "lambda", r->lambda, "roundings",
		k->count, "terms", k->terms, "assumes", "rounding errors that are independent, with mean zero",
		"source", "Higham and Mary 2019, doi 10.1137/18M1226312");
}

void
hu_op_probable_words(const hu_op_run *r, char *text, size_t size)
{
	const hu_roundings *k = &r->roundings;
	char all[48] = "the result keeps it", p[40];

	hu_row_shortest(r->confidence, hu_format_of(HU_FP64), p); /* with fewer digits one below 1 could read as 1 */

	if (r->n != 1)
		snprintf(all, sizeof all, "all %zu results keep it", r->n);
	if (k->none)
		snprintf(text, size, "there is none: %s", k->none);
	else
		snprintf(text, size,
			"if rounding errors are independent with mean zero, %s with probability %s: lambda = %.4g, "
			"%.0f roundings a term, %.0f terms (Higham and Mary 2019)",
			all, p, r->lambda, k->count, k->terms);
}

static void
layout_words(const verdict *v, char *text, size_t size)
{
	char order[80];

	if (!v->found)
		snprintf(text, size,
			"no order of the result's axes gives these values; elements are compared in row-major order");
	else if (hu_op_layout_is_same(&v->layout))
		snprintf(text, size, "the result's values in the same order, under another shape");
	else {
		hu_op_layout_words(&v->layout, order, sizeof order);
		snprintf(text, size, "the result's values in the order of %s%s", order,
			v->same_shape ? ", under the result's shape" : "; elements are compared in that order");
	}
}

static double
normwise(const verdict *v)
{
	return v->error2 > 0 ? (double)sqrtl(v->error2 / v->exact2) : 0;
}

static json_t *
lengths(int rank, const size_t *d)
{
	json_t *a = json_array();

	for (int i = 0; i < rank; i++)
		json_array_append_new(a, json_integer((json_int_t)d[i]));
	return a;
}

static void
report_json(const hu_op_run *r, const verdict *v, const hu_npy *got)
{
	static const char *const undefined[] = { "ulp_max", "worst_element", "worst_value", "ulp_mean", "normwise",
		"bound_ratio_max" }; /* where there are no elements */
	char layout[200];
	json_t *probable = hu_op_probable_json(r);
	json_t *o = json_pack("{s:I s:s s:s s:I s:I s:I s:o s:I s:o s:o s:o s:o}", "elements", (json_int_t)v->n,
		"format", hu_format_name(r->out.id), "compared_with", compared_with(r), "differ", (json_int_t)v->differ,
		"over_bound", (json_int_t)v->proven.over, "without_bound", (json_int_t)v->proven.open, "ulp_max",
		hu_fields_number(v->most), "worst_element", (json_int_t)v->worst, "worst_value",
		hu_fields_number(v->at), "ulp_mean", hu_fields_number(v->n ? v->sum / (double)v->n : 0), "normwise",
		hu_fields_number(normwise(v)), "bound_ratio_max", hu_fields_number(v->proven.ratio));

	HU_ASSERT(o && probable);
	layout_words(v, layout, sizeof layout);
	if (!v->n)
		for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++)
			json_object_set_new(o, undefined[i], json_null());
	json_object_set_new(o, "bias",
		v->n ? json_pack("{s:s s:o s:o s:b}", "direction", v->bias.direction, "ulp_mean",
			       hu_fields_number(v->bias.mean_ulps), "T", hu_fields_number(v->bias.t), "alarm",
			       v->bias.t > HU_BIAS_T)
		     : json_null());
	json_object_set_new(o, "shape", lengths(got->rank, got->shape));
	json_object_set_new(o, "shape_of_result", lengths(r->shape.rank, r->shape.d));
	json_object_set_new(o, "layout", v->same_shape && !v->found ? json_null() : json_string(layout));
	json_object_set_new(o, "proven", json_string(word(&v->proven, v->n, "beyond")));
	json_object_set_new(probable, "verdict", json_string(word(&v->probable, v->n, "OUTSIDE")));
	json_object_set_new(
		probable, "over", r->roundings.none ? json_null() : json_integer((json_int_t)v->probable.over));
	json_object_set_new(
		probable, "ratio_max", r->roundings.none ? json_null() : hu_fields_number(v->probable.ratio));
	json_object_set_new(probable, "worst_element",
		v->probable.ratio > 0 ? json_integer((json_int_t)v->probable.worst) : json_null());
	json_object_set_new(o, "probabilistic", probable);
	hu_rows_print_json(o);
}

static void
report_shape(const hu_op_run *r, const verdict *v, const hu_npy *got)
{
	char mine[200], its[200];

	hu_op_shape_words(got->rank, got->shape, mine, sizeof mine);
	hu_op_shape_words(r->shape.rank, r->shape.d, its, sizeof its);
	if (!v->same_shape)
		printf("shape      %s is WRONG, the result's is %s\n", mine, its);
	layout_words(v, mine, sizeof mine);
	if (!v->same_shape || v->found)
		printf("layout     %s\n", mine);
}

static void
report(const hu_op_run *r, const verdict *v, const hu_npy *got)
{
	char words[300];

	report_shape(r, v, got);
	printf("elements   %zu\n", v->n);
	printf("differ     %zu from %s\n", v->differ, compared_with(r));
	printf("over bound %zu%s\n", v->proven.over,
		v->proven.open ? " (of some no error is bounded: overflow cannot be excluded)" : "");
	if (v->n) {
		printf("max error  %s ulp of %s at element %zu: %.17g\n", hu_ulps_text(words, v->most, r->out, 6),
			hu_format_name(r->out.id), v->worst, v->at);
		printf("mean error %s ulp\nnormwise   %.6g\nof bound   %.6g at most\n",
			hu_ulps_text(words, v->sum / (double)v->n, r->out, 6), normwise(v), v->proven.ratio);
	}
	if (v->n)
		printf("bias       %+.6g ulp on the mean, %s; T = %.4g, an alarm from %.4g%s\n", v->bias.mean_ulps,
			v->bias.direction, v->bias.t, HU_BIAS_T, v->bias.t > HU_BIAS_T ? ": BIASED" : "");
	printf("proven     %s", word(&v->proven, v->n, "BEYOND THE PROVEN BOUND"));
	if (v->proven.open && v->proven.open < v->n)
		printf("; %zu of %zu results have no bound", v->proven.open, v->n);
	putchar('\n');
	hu_op_probable_words(r, words, sizeof words);
	if (v->probable.over)
		printf("probable   OUTSIDE THE PROBABILISTIC BOUND: %zu of %zu results, the worst by a factor of %.4g, "
		       "element %zu; %s\n",
			v->probable.over, v->n, v->probable.ratio, v->probable.worst, words);
	else if (r->roundings.none || v->probable.open == v->n)
		printf("probable   -%s%s\n", r->roundings.none ? "; " : "", r->roundings.none ? words : "");
	else
		printf("probable   within the probabilistic bound, %.6g of it at most; %s\n", v->probable.ratio, words);
}

/* Whether the errors of got have mean zero. The computation may err by the proven bound less the last rounding. */
static hu_bias
bias(const hu_op_run *r, const hu_npy *got, const verdict *v)
{
	hu_balls x = { .rank = r->shape.rank, .n = r->n }, emulated, compute;
	hu_ball *room = hu_xmalloc((3 * r->n + 1) * sizeof *room);
	double *value = hu_xmalloc((r->n + 1) * sizeof *value);

	for (int d = 0; d < HU_BALLS_RANK; d++)
		x.d[d] = d < r->shape.rank ? r->shape.d[d] : 1;
	emulated = compute = x;
	x.b = room;
	emulated.b = room + r->n;
	compute.b = room + 2 * r->n;
	for (size_t i = 0; i < r->n; i++) {
		double e = mpfr_get_d(r->exact[i], MPFR_RNDN), own = r->bound[i] - hu_ball_half_ulp(e, r->out);
		value[i] = hu_op_codes_element(r, got, hu_op_layout_at(&v->layout, i), r->out);
		x.b[i] = (hu_ball){ e, isfinite(e) ? r->bound[i] : INFINITY, 0, 0 };
		emulated.b[i] = (hu_ball){ r->value[i], 0, 0, 0 };
		compute.b[i] = (hu_ball){ e, own > 0 ? own : 0, 0, INFINITY };
	}
	hu_bias b = hu_kernel_bias(value, &x, &emulated, &compute, r->out, 0x1p100);
	free(room);
	free(value);
	return b;
}

hu_status
hu_op_verdict(const hu_op_run *r, const hu_npy *got, int json, int *wrong)
{
	verdict v = { .n = r->n,
		.most = -1,
		.same_shape = hu_op_same_shape(r->shape, got),
		.layout = hu_op_layout_same(r->shape) };
	mpfr_t d;
	trial t = { r, got, &d };

	if (got->count != r->n) {
		char mine[200], its[200];
		hu_op_shape_words(got->rank, got->shape, mine, sizeof mine);
		hu_op_shape_words(r->shape.rank, r->shape.d, its, sizeof its);
		return hu_fail(HU_EFILE, "--got has %zu elements, shape %s, where the result has %zu, shape %s",
			got->count, mine, r->n, its);
	}
	HU_TRY(hu_op_codes_fit(r, got, "--got", r->out));
	mpfr_init2(d, 4400); /* enough bits for a difference of doubles, or of sums of their products, without
				rounding */
	if (!v.same_shape) {
		v.found = hu_op_layout_find(&v.layout, r->shape, got, 0, fits, &t);
		if (!v.found)
			v.layout = hu_op_layout_same(r->shape);
	}
	for (size_t i = 0; i < r->n; i++)
		judge_one(r, i, hu_op_codes_element(r, got, hu_op_layout_at(&v.layout, i), r->out), &v, d);
	v.bias = bias(r, got, &v); /* before another layout is tried */
	if (v.same_shape && (v.proven.over || (v.differ && v.proven.open)))
		v.found = hu_op_layout_find(&v.layout, r->shape, got, 1, fits, &t);
	mpfr_clear(d);
	*wrong = !v.same_shape || (r->as == HU_AS_BOUND ? v.proven.over != 0 : v.differ != 0);
	if (json)
		report_json(r, &v, got);
	else
		report(r, &v, got);
	if (v.probable.over)
		fprintf(stderr,
			"halfulp op: %zu of %zu results are OUTSIDE THE PROBABILISTIC BOUND, the worst by a factor of "
			"%.4g%s\n",
			v.probable.over, v.n, v.probable.ratio,
			v.proven.over ? ""
			: v.differ ? ", although within the proven one: suspect a lower precision, another input or a "
				     "wrong term"
				   : "; the emulation gives the same bits, so rounding errors are not of mean zero "
				     "here, as in a sum that stagnates");
	return HU_OK;
}
