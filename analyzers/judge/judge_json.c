/* SPDX-License-Identifier: Apache-2.0
   What judge tells as an object of JSON: the columns of a result, and of its errors' direction. */
#include "analyzers/judge/kernel/kernel_job.h"

#include "analyzers/value/rows.h"
#include "lib/base/show.h"
#include "lib/base/table/fields.h"

#include <math.h>

/* The direction of a result's errors. */
#define BIAS(name, kind, member, means) HU_FIELD_OF(hu_bias, name, kind, member, WRITTEN, means)
static const hu_table_field bias_field[] = {
	BIAS("direction", TEXT, direction, "where the errors point"),
	BIAS("ulp_mean", REAL, mean_ulps, "their mean in units in the last place"),
	BIAS("T", REAL, t, "the T of their mean"),
	BIAS("T_exact", REAL, t_exact, "the same against the exact values"),
	BIAS("T_declared", REAL, t_declared, "the same against what the declared roundings give"),
};
static const hu_fields bias_table = HU_FIELDS(bias_field, hu_bias);

/* A result. */
typedef struct result_row {
	const char *result, *verdict, *as_if, *right_if, *narrower, *format, *order;
	long long open, elements, of, tiles, differ, wrong, improbable, undeclared, unbounded;
	double gain, radius, got, exact, bound, probable, ratio, probable_ratio, largest, atol, over_atol, ulp_max,
		ulp_mean, energy, energy_t;
	json_t *shape, *wanted, *worst_element, *bias; /* texts of which an empty one is that of a single number */
} result_row;

#define RESULT(name, kind, member, means) HU_FIELD_OF(result_row, name, kind, member, WRITTEN, means)
static const hu_table_field result_field[] = {
	RESULT("result", TEXT, result, "the result's name"),
	RESULT("verdict", TEXT, verdict, "whether it is right"),
	RESULT("as_if", TEXT, as_if, "the one other computation whose result it would be"),
	RESULT("right_if", TEXT, right_if, "the declaration under which it is right"),
	RESULT("narrower", TEXT, narrower, "the narrower declaration under which it is right too"),
	RESULT("narrower_times", MEASURED, gain, "how many times narrower its bound is then"),
	RESULT("decisions_open", COUNT, open, "decisions of which the radii leave more than one"),
	RESULT("format", TEXT, format, "the result's format"),
	RESULT("shape", JSON, shape, "the shape that was given"),
	RESULT("shape_of_result", JSON, wanted, "the shape that the kernel has"),
	RESULT("elements", COUNT, elements, "how many elements were judged"),
	RESULT("sample_of", COUNT, of, "of how many they are a sample"),
	RESULT("tiles", COUNT, tiles, "in how many tiles"),
	RESULT("differ", COUNT, differ, "elements that differ from the exact value rounded once"),
	RESULT("beyond_proven", COUNT, wrong, "elements beyond the proven bound"),
	RESULT("beyond_probable", COUNT, improbable, "elements beyond the probable bound"),
	RESULT("beyond_declared", COUNT, undeclared, "elements that are not what the declared stores give"),
	RESULT("without_bound", COUNT, unbounded, "elements that have no bound"),
	RESULT("radius_half_ulps", REAL, radius, "the mean proven bound in half units in the last place"),
	RESULT("worst_element", JSON, worst_element, "the index of the worst element; empty for one number"),
	RESULT("worst_value", REAL, got, "its value"),
	RESULT("worst_exact", REAL, exact, "its exact value"),
	RESULT("worst_bound", REAL, bound, "its proven bound"),
	RESULT("worst_probable", REAL, probable, "its probable bound"),
	RESULT("bound_ratio_max", REAL, ratio, "the largest error over its proven bound"),
	RESULT("probable_ratio_max", REAL, probable_ratio, "the largest error over its probable bound"),
	RESULT("largest", REAL, largest, "the largest value"),
	RESULT("kernelbench_atol", REAL, atol, "the absolute tolerance of KernelBench"),
	RESULT("largest_over_atol", REAL, over_atol, "the largest value over it"),
	RESULT("ulp_max", REAL, ulp_max, "the largest error in units in the last place"),
	RESULT("ulp_mean", REAL, ulp_mean, "the mean error, with its sign"),
	RESULT("energy", REAL, energy, "the errors' sum of squares over that of their model"),
	RESULT("energy_t", REAL, energy_t, "how many standard deviations it is from 1"),
	RESULT("bias", JSON, bias, "the direction of the errors"),
	RESULT("order", TEXT, order, "the order of the sum that explains the result"),
};
static const hu_fields result_table = HU_FIELDS(result_field, result_row);

static json_t *
result_json(const hu_kernel_job *j, const hu_judge_result *r)
{
	const hu_kernel_verdict *v = &r->v;
	double atol = hu_judge_atol(r);
	char at[HU_JUDGE_PLACE];

	hu_judge_place(j, r, at, sizeof at);
	result_row row = {
		.result = r->name,
		.verdict = r->same_shape ? hu_kernel_words(v->word) : "the shape is wrong",
		.as_if = r->as_if,
		.right_if = r->right_if,
		.narrower = r->narrower,
		.format = hu_format_name(r->f.id),
		.order = r->order,
		.open = r->decides ? (long long)r->decision.open : -1,
		.elements = (long long)v->n,
		.of = j->sample ? (long long)r->of : -1,
		.tiles = j->sample ? j->tiles : -1,
		.differ = (long long)v->differ,
		.wrong = (long long)v->wrong,
		.improbable = (long long)v->improbable,
		.undeclared = j->has_stores > 1 ? (long long)v->undeclared : -1,
		.unbounded = (long long)v->unbounded,
		.gain = *r->narrower ? r->gain : NAN,
		.radius = v->radius,
		.got = v->got,
		.exact = v->exact,
		.bound = v->bound,
		.probable = v->probable,
		.ratio = v->ratio,
		.probable_ratio = v->probable_ratio,
		.largest = v->largest,
		.atol = atol,
		.over_atol = v->largest / atol,
		.ulp_max = v->worst_ulps,
		.ulp_mean = v->mean_ulps,
		.energy = v->energy,
		.energy_t = v->energy_t,
		.shape = json_string(r->shape),
		.wanted = json_string(r->wanted),
		.worst_element = json_string(at),
		.bias = hu_fields_object(&bias_table, &v->bias),
	};
	return hu_fields_object(&result_table, &row);
}

/* What was assumed, by the facts' names, which are the kernel's. */
static json_t *
assumed_json(const hu_facts *f)
{
	json_t *o = json_object();

	for (int i = 0; i < f->n; i++)
		if (hu_judge_assumed(f, i))
			json_object_set_new(o, f->fact[i].key, json_string(hu_shown(f->fact[i].value)));
	return o;
}

/* The whole answer. */
typedef struct answer_row {
	const char *kernel, *verdict;
	json_t *results, *assumed;
	double confidence;
} answer_row;

#define ANSWER(name, kind, member, means) HU_FIELD_OF(answer_row, name, kind, member, WRITTEN, means)
static const hu_table_field answer_field[] = {
	ANSWER("kernel", TEXT, kernel, "the kernel"),
	ANSWER("verdict", TEXT, verdict, "the worst of its results' verdicts"),
	ANSWER("results", JSON, results, "what is found of each result"),
	ANSWER("confidence", REAL, confidence, "the probability with which the probable bound holds for all elements"),
	ANSWER("assumed", JSON, assumed, "the facts that the kernel was judged by"),
};
static const hu_fields answer_table = HU_FIELDS(answer_field, answer_row);

void
hu_judge_report_json(const hu_kernel_job *j)
{
	answer_row row = { j->composite ? j->composite->name : "graph", hu_kernel_words(hu_kernel_job_word(j)),
		json_array(), assumed_json(&j->facts), j->confidence };

	for (int i = 0; i < j->nresult; i++)
		json_array_append_new(row.results, result_json(j, &j->result[i]));
	hu_rows_print_json(hu_fields_object(&answer_table, &row));
}
