/* SPDX-License-Identifier: Apache-2.0
   What validate tells of one policy as an object of JSON: the columns of its figures, of its outputs, of the decisions
   that changed, of the constants that it lost and of the rules that it breaks. */
#include "analyzers/validate/outputs/policy_json.h"

#include "analyzers/network/lost_constants.h"
#include "analyzers/validate/outputs/output_row.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/table/fields.h"

#include <stdlib.h>
#include <string.h>

static json_t *
outputs_json(const hu_validation *v, const hu_effect *r)
{
	json_t *all = json_array();

	for (size_t k = 0; k < r->nout; k++) {
		hu_output_row row = hu_output_row_of(NULL, hu_shown(v->m->out[k].name), &r->out[k]);
		json_array_append_new(all, hu_fields_object(&hu_output_table, &row));
	}
	return all;
}

/* A decision that changed. */
typedef struct change_row {
	long long input, row, was, is;
	double margin32, margin;
} change_row;

#define CHANGE(name, kind, member, means) HU_FIELD_OF(change_row, name, kind, member, WRITTEN, means)
static const hu_table_field change_field[] = {
	CHANGE("input", COUNT, input, "the input"),
	CHANGE("row", COUNT, row, "which of its decisions"),
	CHANGE("was", COUNT, was, "the class in float32"),
	CHANGE("is", COUNT, is, "the class now"),
	CHANGE("margin32", MEASURED, margin32, "how far float32's value of its class is above the next largest one"),
	CHANGE("margin", MEASURED, margin, "how far the new class's value is above the old one's now"),
};
static const hu_fields change_table = HU_FIELDS(change_field, change_row);

static json_t *
changes_json(const hu_effect *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->nchange; i++) {
		const hu_change *c = &r->change[i];
		change_row row = { (long long)c->input, (long long)c->row, (long long)c->was, (long long)c->is,
			c->margin32, c->margin };
		json_array_append_new(all, hu_fields_object(&change_table, &row));
	}
	return all;
}

/* A constant that the policy's formats have no value for. */
typedef struct lost_row {
	double was, is;
	const char *format, *layer;
	long long elements, of;
} lost_row;

#define LOST(name, kind, member, means) HU_FIELD_OF(lost_row, name, kind, member, WRITTEN, means)
static const hu_table_field lost_field[] = {
	LOST("was", REAL, was, "its value"),
	LOST("format", TEXT, format, "the format"),
	LOST("layer", TEXT, layer, "the layer that reads it"),
	LOST("is", REAL, is, "its value in the format"),
	LOST("elements", COUNT, elements, "how many elements changed so"),
	LOST("of", COUNT, of, "of how many"),
};
static const hu_fields lost_table = HU_FIELDS(lost_field, lost_row);

/* Those before the first value that is not finite. */
static json_t *
lost_json(const hu_judgement *j)
{
	hu_lost_constant lost[HU_LOST_CONSTANTS];
	size_t n = j->e.first_call < 0 ? 0 : hu_lost_constants(lost, &j->e.v, j->e.first_call);
	json_t *all = json_array();

	for (size_t k = 0; k < n; k++) {
		const hu_lost_constant *c = &lost[k];
		lost_row row = { c->was, c->is, hu_format_name(c->format), c->layer, (long long)c->lost,
			(long long)c->of };
		json_array_append_new(all, hu_fields_object(&lost_table, &row));
	}
	return all;
}

/* A rule that the policy breaks. */
typedef struct fail_row {
	const char *rule, *figure;
	double is;
} fail_row;

#define FAIL(name, kind, member, means) HU_FIELD_OF(fail_row, name, kind, member, WRITTEN, means)
static const hu_table_field fail_field[] = {
	FAIL("rule", TEXT, rule, "the rule"),
	FAIL("is", MEASURED, is, "the figure that it counts"),
	FAIL("figure", TEXT, figure, "the same as the rule writes its limit"),
};
static const hu_fields fail_table = HU_FIELDS(fail_field, fail_row);

static json_t *
fails_json(const hu_validation *v, const hu_judgement *j)
{
	json_t *all = json_array();

	for (size_t i = 0; i < v->naccept; i++) {
		char figure[HU_ACCEPT_TEXT];
		if (j->keeps[i])
			continue;
		hu_accept_figure(figure, &v->accept[i], j->is[i]);
		fail_row row = { v->accept[i].text, figure, j->is[i] };
		json_array_append_new(all, hu_fields_object(&fail_table, &row));
	}
	return all;
}

static json_t *
rules_json(const hu_validation *v, const hu_effect *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < v->naccept; i++)
		json_array_append_new(all, hu_accept_json(&v->accept[i], r));
	return all;
}

static json_t *
notes_json(const char *notes)
{
	json_t *all = json_array();

	for (const char *t = notes; t && *t; t += strcspn(t, "\n") + 1)
		json_array_append_new(all, json_stringn(t, strcspn(t, "\n")));
	return all;
}

/* A policy. */
typedef struct policy_row {
	const char *policy, *first_nonfinite, *verdict;
	long long inputs, flips, decision_flips, top, open, flips_judged, nonfinite, products, quantised;
	double low, high, accuracy, rel_l2, sqnr_db, max_error, kl, perplexity, weight_bytes, traffic_bytes;
	json_t *changed, *outputs, *lost, *notes, *sensitivity, *fails, *rules;
} policy_row;

enum { SENSITIVITY = 1 };

#define POLICY(name, kind, member, means, ...)                                                                         \
	HU_FIELD_OF(policy_row, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field policy_field[] = {
	POLICY("policy", TEXT, policy, "the policy"),
	POLICY("inputs", COUNT, inputs, "how many inputs were run"),
	POLICY("flips", COUNT, flips, "inputs whose decision is not float32's"),
	POLICY("flips_low", MEASURED, low, "the lower end of Wilson's 95 % interval of their share"),
	POLICY("flips_high", MEASURED, high, "its upper end"),
	POLICY("changed", JSON, changed, "the first decision that changed, of each of these inputs"),
	POLICY("decision_flips", COUNT, decision_flips, "of all inputs' decisions those that differ"),
	POLICY("outputs", JSON, outputs, "the distances of each output"),
	POLICY("top", COUNT, top, "inputs with a decision whose class is not among the policy's first ones"),
	POLICY("open", COUNT, open, "inputs whose flip lies within the errors of both values"),
	POLICY("flips_judged", COUNT, flips_judged, "flipped inputs on which the exact network was run"),
	POLICY("accuracy", MEASURED, accuracy, "the share of decisions that are the label"),
	POLICY("rel_l2", MEASURED, rel_l2, "the error's L2 norm over that of float32's outputs"),
	POLICY("sqnr_db", MEASURED, sqnr_db, "the same in dB"),
	POLICY("max_error", MEASURED, max_error, "the largest error"),
	POLICY("kl", MEASURED, kl, "the mean divergence of the decisions' distributions"),
	POLICY("perplexity", MEASURED, perplexity, "the perplexity of the labels"),
	POLICY("nonfinite", COUNT, nonfinite, "how many elements are not finite"),
	POLICY("first_nonfinite", TEXT, first_nonfinite, "the first layer with such an element"),
	POLICY("lost_constants", JSON, lost, "constants before it that the formats have no value for"),
	POLICY("weight_bytes", MEASURED, weight_bytes, "the size of the weights"),
	POLICY("traffic_bytes", MEASURED, traffic_bytes, "what is read and written for one input"),
	POLICY("notes", JSON, notes, "what is to be said of the policy on this model"),
	POLICY("products", COUNT, products, "its nodes of products"),
	POLICY("quantised", COUNT, quantised, "those that a scheme quantises"),
	POLICY("sensitivity", JSON, sensitivity, "what each layer alone changes", .only = SENSITIVITY),
	POLICY("verdict", TEXT, verdict, "whether it keeps every rule"),
	POLICY("fails", JSON, fails, "the rules that it breaks"),
	POLICY("rules", JSON, rules, "what the inputs show of each rule"),
};

json_t *
hu_policy_json(const hu_validation *v, const hu_judgement *j)
{
	const hu_effect *r = &j->r;
	int decides = v->d.classes > 1, judged = decides && v->exact, first = j->e.first_call;
	hu_fields table = HU_FIELDS(policy_field, policy_row);
	policy_row row = {
		.policy = j->policy,
		.first_nonfinite = first < 0 ? NULL : j->e.p->c[first].layer,
		.verdict = hu_validation_verdict(v, j),
		.inputs = (long long)r->inputs,
		.flips = decides ? (long long)r->flips : -1,
		.decision_flips = decides ? (long long)r->decision_flips : -1,
		.top = decides ? (long long)r->top : -1,
		.open = judged ? (long long)r->open : -1,
		.flips_judged = judged ? (long long)r->flips_judged : -1,
		.nonfinite = (long long)r->nonfinite,
		.products = (long long)j->products,
		.quantised = (long long)j->quantised,
		.low = r->low,
		.high = r->high,
		.accuracy = r->accuracy,
		.rel_l2 = r->rel_l2,
		.sqnr_db = r->sqnr_db,
		.max_error = r->max_error,
		.kl = r->kl,
		.perplexity = r->perplexity,
		.weight_bytes = j->e.weight_bytes,
		.traffic_bytes = j->e.traffic_bytes,
		.changed = decides ? changes_json(r) : NULL,
		.outputs = outputs_json(v, r),
		.lost = lost_json(j),
		.notes = notes_json(j->e.v.notes),
		.sensitivity = j->sensitivity ? hu_sensitivity_json(j->sensitivity) : NULL,
		.fails = fails_json(v, j),
		.rules = rules_json(v, r),
	};

	table.with = j->sensitivity ? SENSITIVITY : 0;
	return hu_fields_object(&table, &row);
}
