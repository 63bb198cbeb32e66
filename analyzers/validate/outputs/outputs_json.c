/* SPDX-License-Identifier: Apache-2.0
   What is told as an object of JSON, and the file of it that a page is made of. */
#include "analyzers/validate/outputs/outputs.h"

#include "analyzers/network/lost_constants.h"
#include "analyzers/validate/outputs/graph_json.h"
#include "analyzers/validate/outputs/validation_table.h"

#include "lib/base/show.h"
#include "lib/base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *
real(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

/* A figure: what is not finite as a text, null for what there is none of. */
static json_t *
number(double x, int there)
{
	if (!there)
		return json_null();
	return isfinite(x) ? json_real(x) : json_string(x != x ? "nan" : x > 0 ? "inf" : "-inf");
}

static json_t *
outputs_json(const hu_validation *v, const hu_effect *r)
{
	json_t *all = json_array();

	for (size_t k = 0; k < r->nout; k++) {
		const hu_distance *d = &r->out[k];
		json_t *o = json_pack("{s:s}", "output", hu_shown(v->m->out[k].name));
		json_object_set_new(o, "rel_l2", number(d->rel_l2, !d->whole));
		json_object_set_new(o, "sqnr_db", number(d->sqnr_db, !d->whole));
		json_object_set_new(o, "max_error", number(d->max_error, !d->whole));
		json_object_set_new(o, "nonfinite", json_integer((json_int_t)d->nonfinite));
		int some = !d->whole && !isnan(d->bias_t);
		json_object_set_new(o, "signed_share", number(d->signed_share, some));
		json_object_set_new(o, "outward_share", number(d->outward_share, some));
		json_object_set_new(o, "bias_t", number(d->bias_t, some));
		json_array_append_new(all, o);
	}
	return all;
}

/* What is decided: null where nothing is. */
static json_t *
decision_json(const hu_validation *v)
{
	static const char *const kinds[] = { "class", "threshold", "index", "boxes", "ctc", "lists" };
	const hu_deciding *d = &v->d;

	if (d->classes < 2)
		return json_null();
	json_t *o = json_pack("{s:s}", "kind", kinds[d->kind]);
	json_object_set_new(o, "axis", d->axis >= 0 ? json_integer(d->axis) : json_null());
	json_object_set_new(o, "threshold",
		number(d->threshold, d->threshold == d->threshold &&
					     (d->kind == HU_DECISION_THRESHOLD || d->kind == HU_DECISION_BOXES ||
						     d->kind == HU_DECISION_LISTS)));
	json_object_set_new(o, "of_an_input", json_integer((json_int_t)d->rows));
	return o;
}

static json_t *
changes_json(const hu_effect *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->nchange; i++) {
		const hu_change *c = &r->change[i];
		json_t *o = json_pack("{s:I s:I s:I s:I}", "input", (json_int_t)c->input, "row", (json_int_t)c->row,
			"was", (json_int_t)c->was, "is", (json_int_t)c->is);
		json_object_set_new(o, "margin32", real(c->margin32));
		json_object_set_new(o, "margin", real(c->margin));
		json_array_append_new(all, o);
	}
	return all;
}

/* The constants that the policy's formats have no value for, before the first value that is not finite. */
static json_t *
lost_json(const hu_judgement *j)
{
	hu_lost_constant lost[HU_LOST_CONSTANTS];
	size_t n = j->e.first_call < 0 ? 0 : hu_lost_constants(lost, &j->e.v, j->e.first_call);
	json_t *all = json_array();

	for (size_t k = 0; k < n; k++) {
		json_t *o = json_pack("{s:f s:s s:s}", "was", lost[k].was, "format", hu_format_name(lost[k].format),
			"layer", lost[k].layer);
		json_object_set_new(o, "is", number(lost[k].is, 1));
		json_object_set_new(o, "elements", json_integer((json_int_t)lost[k].lost));
		json_object_set_new(o, "of", json_integer((json_int_t)lost[k].of));
		json_array_append_new(all, o);
	}
	return all;
}

static json_t *
row_json(const hu_validation *v, const hu_judgement *j)
{
	const hu_effect *r = &j->r;
	int decides = v->d.classes > 1, first = j->e.first_call;
	json_t *o = json_object(), *fails = json_array(), *rules = json_array();

	json_object_set_new(o, "policy", json_string(j->policy));
	json_object_set_new(o, "inputs", json_integer((json_int_t)r->inputs));
	json_object_set_new(o, "flips", decides ? json_integer((json_int_t)r->flips) : json_null());
	json_object_set_new(o, "flips_low", real(r->low));
	json_object_set_new(o, "flips_high", real(r->high));
	json_object_set_new(o, "changed", decides ? changes_json(r) : json_null());
	json_object_set_new(o, "decision_flips", decides ? json_integer((json_int_t)r->decision_flips) : json_null());
	json_object_set_new(o, "outputs", outputs_json(v, r));
	json_object_set_new(o, "top", decides ? json_integer((json_int_t)r->top) : json_null());
	json_object_set_new(o, "open", decides && v->exact ? json_integer((json_int_t)r->open) : json_null());
	json_object_set_new(
		o, "flips_judged", decides && v->exact ? json_integer((json_int_t)r->flips_judged) : json_null());
	json_object_set_new(o, "accuracy", real(r->accuracy));
	json_object_set_new(o, "rel_l2", real(r->rel_l2));
	json_object_set_new(o, "sqnr_db", real(r->sqnr_db));
	json_object_set_new(o, "max_error", real(r->max_error));
	json_object_set_new(o, "kl", real(r->kl));
	json_object_set_new(o, "perplexity", real(r->perplexity));
	json_object_set_new(o, "nonfinite", json_integer((json_int_t)r->nonfinite));
	json_object_set_new(o, "first_nonfinite", first < 0 ? json_null() : json_string(j->e.p->c[first].layer));
	json_object_set_new(o, "lost_constants", lost_json(j));
	json_object_set_new(o, "weight_bytes", real(j->e.weight_bytes));
	json_object_set_new(o, "traffic_bytes", real(j->e.traffic_bytes));
	json_t *notes = json_array();
	for (const char *t = j->e.v.notes; t && *t; t += strcspn(t, "\n") + 1)
		json_array_append_new(notes, json_stringn(t, strcspn(t, "\n")));
	json_object_set_new(o, "notes", notes);
	json_object_set_new(o, "products", json_integer((json_int_t)j->products));
	json_object_set_new(o, "quantised", json_integer((json_int_t)j->quantised));
	if (j->sensitivity)
		json_object_set_new(o, "sensitivity", hu_sensitivity_json(j->sensitivity));
	json_object_set_new(o, "verdict", json_string(hu_validation_verdict(v, j)));
	for (size_t i = 0; i < v->naccept; i++)
		if (!j->keeps[i]) {
			char figure[HU_ACCEPT_TEXT];
			hu_accept_figure(figure, &v->accept[i], j->is[i]);
			json_array_append_new(fails, json_pack("{s:s s:o s:s}", "rule", v->accept[i].text, "is",
							     real(j->is[i]), "figure", figure));
		}
	json_object_set_new(o, "fails", fails);
	for (size_t i = 0; i < v->naccept; i++)
		json_array_append_new(rules, hu_accept_json(&v->accept[i], r));
	json_object_set_new(o, "rules", rules);
	return o;
}

/* The axis of every input and output along which the inputs of a batch lie; null where they do not. */
static json_t *
axes_json(const hu_validation *v)
{
	json_t *o = json_object();

	for (size_t i = 0; i < v->s->narray; i++)
		json_object_set_new(
			o, v->s->input[i]->name, v->s->axis[i] < 0 ? json_null() : json_integer(v->s->axis[i]));
	for (size_t k = 0; k < v->m->nout; k++)
		json_object_set_new(o, v->m->out[k].name, v->alone ? json_null() : json_integer(v->m->out[k].axis));
	return o;
}

/* The inputs of which the data have one array for all. */
static json_t *
shared_json(const hu_samples *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->narray; i++)
		if (s->shared[i])
			json_array_append_new(a, json_string(hu_shown(s->input[i]->name)));
	return a;
}

json_t *
hu_validation_json(const hu_validation *v)
{
	json_t *o = json_object(), *rows = json_array(), *rules = json_array(), *against = json_array(), *x;

	json_object_set_new(o, "model", json_string(hu_shown(v->path)));
	json_object_set_new(o, "data", json_string(hu_shown(v->data)));
	for (size_t i = 0; i < v->naccept; i++)
		json_array_append_new(rules, json_string(v->accept[i].text));
	json_object_set_new(o, "accept", rules);
	json_object_set_new(o, "runtime", v->runtime ? json_string(v->runtime) : json_null());
	json_object_set_new(o, "nodes", json_integer((json_int_t)v->m->nodes));
	json_object_set_new(o, "batch", json_integer((json_int_t)v->batch));
	json_object_set_new(o, "one_by_one", v->alone ? json_string(v->alone) : json_null());
	json_object_set_new(o, "batch_axes", axes_json(v));
	json_object_set_new(o, "shared_inputs", shared_json(v->s));
	json_object_set_new(
		o, "output", v->d.classes > 1 ? json_string(hu_shown(v->m->out[v->d.output].name)) : json_null());
	json_object_set_new(o, "classes", json_integer((json_int_t)v->d.classes));
	json_object_set_new(o, "decision", decision_json(v));
	json_object_set_new(o, "top_k", json_integer(v->d.top));
	json_object_set_new(o, "calibration", json_null());
	if (v->calibrated) {
		x = json_pack("{s:I}", "inputs", (json_int_t)v->calibrated);
		json_object_set_new(x, "data", json_string(hu_shown(v->calibration ? v->calibration : v->data)));
		json_object_set_new(o, "calibration", x);
	}
	json_object_set_new(o, "exact", json_null());
	if (v->exact) {
		x = json_pack("{s:I s:I}", "inputs", (json_int_t)v->exact->n, "changed", (json_int_t)v->exact->changed);
		json_object_set_new(x, "max_error", real(v->exact->worst));
		json_object_set_new(x, "relative", real(v->exact->relative));
		json_object_set_new(x, "open", json_integer((json_int_t)v->exact->open));
		json_object_set_new(x, "agreed", json_integer((json_int_t)v->exact->agreed));
		json_object_set_new(x, "doubles", json_integer((json_int_t)v->exact->doubles));
		json_object_set_new(o, "exact", x);
	}
	for (size_t i = 0; i < v->nrow; i++)
		json_array_append_new(rows, row_json(v, &v->row[i]));
	for (size_t i = 0; i < v->nagainst; i++)
		json_array_append_new(against, hu_against_json(&v->against[i]));
	json_object_set_new(o, "policies", rows);
	json_object_set_new(o, "against", against);
	char *sentence = hu_validation_sentence(v);
	json_object_set_new(o, "sentence", json_string(sentence));
	free(sentence);
	json_object_set_new(o, "graph", hu_graph_json(v->m));
	json_object_set_new(o, "command", json_string(v->command));
	return o;
}

hu_status
hu_validation_report(const hu_validation *v, const char *dir)
{
	json_t *o = hu_validation_json(v);
	char *path = hu_path(dir, "validation.json"), *text = json_dumps(o, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	hu_status st = hu_make_dirs(dir);

	if (st == HU_OK)
		st = hu_file_write(path, text, strlen(text));
	free(text);
	free(path);
	json_decref(o);
	return st;
}
