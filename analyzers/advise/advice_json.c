/* SPDX-License-Identifier: Apache-2.0
   What advise tells as objects of JSON: the columns of the whole, of what half of the inputs showed, of a proven list
   and of a node. */
#include "analyzers/advise/advice.h"

#include "lib/base/show.h"
#include "lib/base/table/fields.h"

#include <math.h>
#include <string.h>

enum { DEVICE = 1 }; /* columns of times, which are there where a device was named */

/* What half of the inputs showed. */
typedef struct effect_row {
	long long inputs, flips;
	double rel_l2, sqnr_db, max_error, accuracy, float32_accuracy;
	json_t *rules;
} effect_row;

#define EFFECT(name, kind, member, means) HU_FIELD_OF(effect_row, name, kind, member, WRITTEN, means)
static const hu_table_field effect_field[] = {
	EFFECT("inputs", COUNT, inputs, "how many inputs were run"),
	EFFECT("flips", COUNT, flips, "inputs whose decision is not float32's"),
	EFFECT("rel_l2", MEASURED, rel_l2, "the error's L2 norm over that of float32's outputs"),
	EFFECT("sqnr_db", MEASURED, sqnr_db, "the same in dB"),
	EFFECT("max_error", MEASURED, max_error, "the largest error"),
	EFFECT("accuracy", MEASURED, accuracy, "the share of decisions that are the label"),
	EFFECT("float32_accuracy", MEASURED, float32_accuracy, "the same of float32"),
	EFFECT("rules", JSON, rules, "what the inputs show of each rule"),
};
static const hu_fields effect_table = HU_FIELDS(effect_field, effect_row);

/* Of half H; NULL where `r` is NULL. */
static json_t *
effect(const hu_advice *a, const hu_effect *r, int h)
{
	if (!r)
		return NULL;
	effect_row row = { (long long)r->inputs, a->s->d.classes > 1 ? (long long)r->flips : -1, r->rel_l2, r->sqnr_db,
		r->max_error, r->accuracy, hu_trials_accuracy(&a->s->trials, h), json_array() };
	for (size_t k = 0; k < a->s->naccept; k++)
		json_array_append_new(row.rules, hu_accept_json(&a->s->accept[k], r));
	return hu_fields_object(&effect_table, &row);
}

/* A list with its proof. */
typedef struct proven_row {
	const char *tool, *refused;
	int keeps;
	long long runs;
	json_t *nodes, *searched, *held_apart;
} proven_row;

#define PROVEN(name, kind, member, means) HU_FIELD_OF(proven_row, name, kind, member, WRITTEN, means)
static const hu_table_field proven_field[] = {
	PROVEN("tool", TEXT, tool, "the tool that reads it"),
	PROVEN("nodes", JSON, nodes, "its nodes"),
	PROVEN("keeps", FLAG, keeps, "whether what the tool writes with it keeps the budget"),
	PROVEN("searched", JSON, searched, "what the inputs that were searched on showed"),
	PROVEN("held_apart", JSON, held_apart, "what the others showed"),
	PROVEN("runs", COUNT, runs, "how many files were run for it"),
	PROVEN("refused", TEXT, refused, "why the tool writes no file"),
};
static const hu_fields proven_table = HU_FIELDS(proven_field, proven_row);

/* NULL where no tool of it was asked for. */
static json_t *
proven(const hu_advice *a, const hu_proven_list *l)
{
	if (!l->asked)
		return NULL;
	proven_row row = { l->tool, l->refused, l->keeps, (long long)l->runs, json_array(),
		effect(a, l->tried ? &l->effect[0] : NULL, 0), effect(a, l->tried ? &l->effect[1] : NULL, 1) };
	for (size_t i = 0; i < l->nodes.n; i++)
		json_array_append_new(row.nodes, json_string(l->nodes.name[i]));
	return hu_fields_object(&proven_table, &row);
}

/* A scheme at a node alone. */
typedef struct alone_row {
	double bytes, rel_l2, seconds;
} alone_row;

static const hu_table_field alone_field[] = {
	HU_FIELD_OF(alone_row, "bytes", REAL, bytes, WRITTEN, "the size of its weights"),
	HU_FIELD_OF(alone_row, "rel_l2", MEASURED, rel_l2, WRITTEN, "the outputs' error"),
	HU_FIELD_OF(alone_row, "seconds", MEASURED, seconds, WRITTEN, "its time on the device", .only = DEVICE),
};

/* A node, or several that have the same weights. */
typedef struct node_row {
	const char *node, *scheme;
	json_t *tied, *alone;
} node_row;

static const hu_table_field node_field[] = {
	HU_FIELD_OF(node_row, "node", TEXT, node, WRITTEN, "the node"),
	HU_FIELD_OF(node_row, "tied", JSON, tied, WRITTEN, "others with the same weights"),
	HU_FIELD_OF(node_row, "scheme", TEXT, scheme, WRITTEN, "the scheme that it is given"),
	HU_FIELD_OF(node_row, "alone", JSON, alone, WRITTEN, "what each scheme does at this node alone"),
};
static const hu_fields node_table = HU_FIELDS(node_field, node_row);

static json_t *
node(const hu_advice *a, size_t i)
{
	const hu_search *s = a->s;
	const hu_decision *d = &s->decision[i];
	hu_fields table = HU_FIELDS(alone_field, alone_row);
	node_row row = { d->node, a->best->choice ? hu_advice_scheme(a, i) : NULL, json_array(), json_object() };

	table.with = s->device ? DEVICE : 0;
	for (size_t k = 1; k < d->n; k++)
		if (strcmp(d->nodes[k], d->nodes[k - 1]))
			json_array_append_new(row.tied, json_string(d->nodes[k]));
	for (size_t k = 0; k < s->nscheme; k++) {
		alone_row one = { d->bytes[k + 1], sqrt(d->damage[k + 1]), s->device ? d->seconds[k + 1] : NAN };
		json_object_set_new(row.alone, s->scheme[k].name, hu_fields_object(&table, &one));
	}
	return hu_fields_object(&node_table, &row);
}

/* All that there is to tell. */
typedef struct advice_row {
	const char *model, *device, *command;
	int found, exhaustive;
	long long runs, looks, broken, batch, calibrated;
	double float_bytes, bytes, greedy_bytes, float_seconds, seconds, greedy_seconds;
	json_t *accept, *searched, *held_apart, *block, *quantised, *remedies, *nodes;
} advice_row;

#define ADVICE(name, kind, member, means, ...)                                                                         \
	HU_FIELD_OF(advice_row, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field advice_field[] = {
	ADVICE("model", TEXT, model, "the model's file"),
	ADVICE("accept", JSON, accept, "the rules"),
	ADVICE("found", FLAG, found, "whether an assignment keeps them"),
	ADVICE("exhaustive", FLAG, exhaustive, "whether every assignment was tried"),
	ADVICE("runs", COUNT, runs, "how many assignments were run"),
	ADVICE("held_apart_runs", COUNT, looks, "those of them that were run on the inputs held apart"),
	ADVICE("broken_by_runtime", COUNT, broken, "those that the runtime's rounding breaks"),
	ADVICE("batch", COUNT, batch, "inputs in a batch"),
	ADVICE("calibrated", COUNT, calibrated, "inputs that static scales were measured on"),
	ADVICE("float32_bytes", MEASURED, float_bytes, "the size of the weights in float32"),
	ADVICE("bytes", MEASURED, bytes, "the same as advised"),
	ADVICE("greedy_bytes", MEASURED, greedy_bytes, "the same as a greedy search has it"),
	ADVICE("device", TEXT, device, "the device whose times count", .only = DEVICE),
	ADVICE("float32_seconds", MEASURED, float_seconds, "the time of the products in float32", .only = DEVICE),
	ADVICE("seconds", MEASURED, seconds, "the same as advised", .only = DEVICE),
	ADVICE("greedy_seconds", MEASURED, greedy_seconds, "the same as a greedy search has it", .only = DEVICE),
	ADVICE("searched", JSON, searched, "what the inputs that were searched on showed"),
	ADVICE("held_apart", JSON, held_apart, "what the others showed"),
	ADVICE("block_list", JSON, block, "the list for converters to float16"),
	ADVICE("nodes_to_quantize", JSON, quantised, "the list for ONNX Runtime's quantizer"),
	ADVICE("remedies", JSON, remedies, "changes of the graph"),
	ADVICE("nodes", JSON, nodes, "the nodes that were decided on"),
	ADVICE("command", TEXT, command, "the line that made all this"),
};

json_t *
hu_advice_json(const hu_advice *a)
{
	const hu_search *s = a->s;
	const hu_assignment *best = a->best;
	hu_fields table = HU_FIELDS(advice_field, advice_row);
	int found = best->choice != NULL;
	advice_row row = {
		.device = s->device ? s->device->id : NULL,
		.command = a->command,
		.found = found,
		.exhaustive = a->exhaustive,
		.runs = (long long)s->runs,
		.looks = (long long)s->looks,
		.broken = (long long)s->broken,
		.batch = (long long)s->batch,
		.calibrated = (long long)a->calibrated,
		.float_bytes = s->float_bytes,
		.bytes = found ? best->bytes : NAN,
		.greedy_bytes = a->greedy_bytes,
		.float_seconds = s->float_seconds,
		.seconds = found ? best->seconds : NAN,
		.greedy_seconds = a->greedy_seconds,
		.accept = json_array(),
		.searched = effect(a, found ? &best->effect[0] : NULL, 0),
		.held_apart = effect(a, found ? &best->effect[1] : NULL, 1),
		.block = a->lists ? proven(a, &a->lists->block) : NULL,
		.quantised = a->lists ? proven(a, &a->lists->quantised) : NULL,
		.remedies = a->remedies ? hu_remedies_json(a->remedies) : NULL,
		.nodes = json_array(),
	};

	table.with = s->device ? DEVICE : 0;
	for (size_t i = 0; i < s->naccept; i++)
		json_array_append_new(row.accept, json_string(s->accept[i].text));
	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(row.nodes, node(a, i));
	row.model = hu_shown(a->path); /* behind all that shows names, too */
	return hu_fields_object(&table, &row);
}

json_t *
hu_advice_policy(const hu_advice *a)
{
	json_t *of = json_object();

	for (size_t i = 0; i < a->s->n; i++)
		if (a->best->choice[i])
			for (size_t k = 0; k < a->s->decision[i].n; k++)
				json_object_set_new(
					of, a->s->decision[i].nodes[k], json_string(hu_advice_scheme(a, i)));
	return json_pack("{s:s s:s s:o}", "name", "advised", "default", "float32", "nodes", of);
}
