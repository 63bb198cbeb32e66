/* SPDX-License-Identifier: Apache-2.0
   What is told as an object of JSON, and the file of it that a page is made of. */
#include "analyzers/validate/outputs/outputs.h"

#include "analyzers/validate/outputs/graph_json.h"
#include "analyzers/validate/outputs/policy_json.h"
#include "analyzers/validate/outputs/validation_table.h"

#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/table/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is decided. */
typedef struct decision_row {
	const char *kind;
	long long axis, rows;
	double threshold;
} decision_row;

#define DECISION(name, kind, member, means) HU_FIELD_OF(decision_row, name, kind, member, WRITTEN, means)
static const hu_table_field decision_field[] = {
	DECISION("kind", TEXT, kind, "how an output decides"),
	DECISION("axis", COUNT, axis, "the axis along which classes lie"),
	DECISION("threshold", MEASURED, threshold, "the value from which on an element counts"),
	DECISION("of_an_input", COUNT, rows, "how many decisions an input has"),
};
static const hu_fields decision_table = HU_FIELDS(decision_field, decision_row);

static json_t *
decision_json(const hu_deciding *d)
{
	static const char *const kinds[] = { "class", "threshold", "index", "boxes", "ctc", "lists" };
	int above = d->kind == HU_DECISION_THRESHOLD || d->kind == HU_DECISION_BOXES || d->kind == HU_DECISION_LISTS;
	decision_row row = { kinds[d->kind], d->axis >= 0 ? d->axis : -1, (long long)d->rows,
		above ? d->threshold : NAN };

	return d->classes < 2 ? NULL : hu_fields_object(&decision_table, &row);
}

/* What static scales were measured on. */
typedef struct calibration_row {
	long long inputs;
	const char *data;
} calibration_row;

static const hu_table_field calibration_field[] = {
	HU_FIELD_OF(calibration_row, "inputs", COUNT, inputs, WRITTEN, "how many inputs"),
	HU_FIELD_OF(calibration_row, "data", TEXT, data, WRITTEN, "the file of these"),
};
static const hu_fields calibration_table = HU_FIELDS(calibration_field, calibration_row);

static json_t *
calibration_json(const hu_validation *v)
{
	calibration_row row = { (long long)v->calibrated, hu_shown(v->calibration ? v->calibration : v->data) };

	return v->calibrated ? hu_fields_object(&calibration_table, &row) : NULL;
}

/* The exact network. */
typedef struct exact_row {
	long long inputs, changed, open, agreed, doubles;
	double max_error, relative;
} exact_row;

#define EXACT(name, kind, member, means) HU_FIELD_OF(exact_row, name, kind, member, WRITTEN, means)
static const hu_table_field exact_field[] = {
	EXACT("inputs", COUNT, inputs, "how many inputs were run"),
	EXACT("changed", COUNT, changed, "of these float32 decides otherwise than the exact network"),
	EXACT("max_error", MEASURED, max_error, "float32's largest error"),
	EXACT("relative", MEASURED, relative, "the largest of an output, over its largest value"),
	EXACT("open", COUNT, open, "inputs of which the bounds leave something open"),
	EXACT("agreed", COUNT, agreed, "inputs whose bounds come from the agreement with float32's run"),
	EXACT("doubles", COUNT, doubles, "those of them that were computed in doubles alone"),
};
static const hu_fields exact_table = HU_FIELDS(exact_field, exact_row);

static json_t *
exact_json(const hu_exact_network *x)
{
	if (!x)
		return NULL;
	exact_row row = { (long long)x->n, (long long)x->changed, (long long)x->open, (long long)x->agreed,
		(long long)x->doubles, x->worst, x->relative };
	return hu_fields_object(&exact_table, &row);
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

/* All that there is to tell. */
typedef struct page_row {
	const char *model, *data, *runtime, *one_by_one, *output, *sentence, *command;
	long long nodes, batch, classes;
	int top;
	json_t *accept, *axes, *shared, *decision, *calibration, *exact, *policies, *against, *graph;
} page_row;

#define PAGE(name, kind, member, means) HU_FIELD_OF(page_row, name, kind, member, WRITTEN, means)
static const hu_table_field page_field[] = {
	PAGE("model", TEXT, model, "the model's file"),
	PAGE("data", TEXT, data, "the file of the inputs"),
	PAGE("accept", JSON, accept, "the rules"),
	PAGE("runtime", TEXT, runtime, "the runtime whose rounding a typed file has"),
	PAGE("nodes", COUNT, nodes, "how many nodes the model has"),
	PAGE("batch", COUNT, batch, "inputs in a batch"),
	PAGE("one_by_one", TEXT, one_by_one, "why inputs ran one by one"),
	PAGE("batch_axes", JSON, axes, "the axis of each input and output along which the inputs of a batch lie"),
	PAGE("shared_inputs", JSON, shared, "the inputs of which the data have one array for all"),
	PAGE("output", TEXT, output, "the output that decides"),
	PAGE("classes", COUNT, classes, "its classes"),
	PAGE("decision", JSON, decision, "how it decides"),
	PAGE("top_k", INT, top, "among how many classes float32's is looked for"),
	PAGE("calibration", JSON, calibration, "what static scales were measured on"),
	PAGE("exact", JSON, exact, "the exact network"),
	PAGE("policies", JSON, policies, "what each policy changes"),
	PAGE("against", JSON, against, "what files of other tools change"),
	PAGE("sentence", TEXT, sentence, "what follows from the rules"),
	PAGE("graph", JSON, graph, "the nodes of the model"),
	PAGE("command", TEXT, command, "the line that made all this"),
};
static const hu_fields page_table = HU_FIELDS(page_field, page_row);

json_t *
hu_validation_json(const hu_validation *v)
{
	char *sentence = hu_validation_sentence(v);
	page_row row = {
		.runtime = v->runtime,
		.one_by_one = v->alone,
		.sentence = sentence,
		.command = v->command,
		.nodes = (long long)v->m->nodes,
		.batch = (long long)v->batch,
		.classes = (long long)v->d.classes,
		.top = v->d.top,
		.accept = json_array(),
		.axes = axes_json(v),
		.decision = decision_json(&v->d),
		.exact = exact_json(v->exact),
		.policies = json_array(),
		.against = json_array(),
		.graph = hu_graph_json(v->m),
	};

	for (size_t i = 0; i < v->naccept; i++)
		json_array_append_new(row.accept, json_string(v->accept[i].text));
	for (size_t i = 0; i < v->nrow; i++)
		json_array_append_new(row.policies, hu_policy_json(v, &v->row[i]));
	for (size_t i = 0; i < v->nagainst; i++)
		json_array_append_new(row.against, hu_against_json(&v->against[i]));
	row.shared = shared_json(v->s);
	row.calibration = calibration_json(v);
	/* escaped names do not outlive those of what stands above */
	row.model = hu_shown(v->path);
	row.data = hu_shown(v->data);
	row.output = v->d.classes > 1 ? hu_shown(v->m->out[v->d.output].name) : NULL;
	json_t *o = hu_fields_object(&page_table, &row);
	free(sentence);
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
