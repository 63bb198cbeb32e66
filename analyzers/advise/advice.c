/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/advice.h"
#include "analyzers/advise/lists_report.h"

#include "lib/base/table/fields.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
scheme(const hu_advice *a, size_t i)
{
	return a->best->choice[i] ? a->s->scheme[a->best->choice[i] - 1].name : "float32";
}

/* What the inputs held apart show of rules on shares. */
static void
print_shares(const hu_advice *a)
{
	const hu_search *s = a->s;
	double least = 0;

	for (size_t k = 0; k < s->naccept; k++) {
		const hu_accept *rule = &s->accept[k];
		hu_str b;
		hu_str_init(&b);
		if (hu_accept_tell(&b, rule, &a->best->effect[1]))
			printf("The inputs held apart keep %s%s (%s).\n", hu_shown(rule->text),
				rule->confidence ? "" : ", which is told of these inputs", b.s);
		hu_str_release(&b);
		if (rule->confidence && (!least || rule->confidence < least))
			least = rule->confidence;
	}
	if (least && s->looks > 1)
		printf("%zu assignments were run on them, and the confidence is that of one: of all of them together "
		       "it "
		       "is at least %.3g %%.\n",
			s->looks, 100 * fmax(0, 1 - (double)s->looks * (1 - least)));
}

/* The rules whose confidence these inputs are too few for, whatever the choice. */
static void
print_needs(const hu_search *s)
{
	for (size_t k = 0; k < s->naccept; k++) {
		size_t n = hu_accept_fewest(&s->accept[k]);
		if (n > s->half[1].n)
			printf("%s takes %zu inputs held apart, even without an exception, and there are %zu.\n",
				hu_shown(s->accept[k].text), n, s->half[1].n);
	}
}

/* The share of right answers in float32 on half H; NaN without labels. */
static double
float32_accuracy(const hu_advice *a, int h)
{
	return hu_trials_accuracy(&a->s->trials, h);
}

void
hu_advice_print(const hu_advice *a)
{
	const hu_search *s = a->s;

	printf("%s: %zu product%s to decide on, %zu input%s to search on, %zu held apart, "
	       "%zu assignment%s run in batches of %zu\n\n",
		hu_shown(a->path), s->n, s->n == 1 ? "" : "s", s->half[0].n, s->half[0].n == 1 ? "" : "s", s->half[1].n,
		s->runs, s->runs == 1 ? "" : "s", s->batch);
	if (!a->best->choice) {
		puts("No assignment keeps the budget, not even float32 in all nodes.");
		print_needs(s);
		return;
	}
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->decision[i].n; k++)
			if (!k || strcmp(s->decision[i].nodes[k], s->decision[i].nodes[k - 1]))
				printf("%-12s %s%s\n", scheme(a, i), hu_shown(s->decision[i].nodes[k]),
					k ? ", which has the same weights" : "");
	if (s->within)
		printf("%zu product%s inside If, Loop or Scan stay%s in float32, since files are of the main graph.\n",
			s->within, s->within == 1 ? "" : "s", s->within == 1 ? "s" : "");
	printf("\nWeights take %.4g MB, %.4g MB in float32.\n", a->best->bytes / 1e6, s->float_bytes / 1e6);
	if (s->device)
		printf("Their products take %.4g us a batch on %s by its roofline, %.4g us in float32.\n",
			1e6 * a->best->seconds, s->device->name, 1e6 * s->float_seconds);
	for (int h = 0; h < 2; h++) {
		const hu_effect *r = &a->best->effect[h];
		printf("%s: %zu input%s, ", h ? "Held apart" : "Searched", r->inputs, r->inputs == 1 ? "" : "s");
		if (s->d.classes > 1)
			printf("%zu flip%s, ", r->flips, r->flips == 1 ? "" : "s");
		printf("rel_l2 %.3g, sqnr %.1f dB, largest difference %.3g", r->rel_l2, r->sqnr_db, r->max_error);
		if (!isnan(r->accuracy))
			printf(", %.2f %% right (%.2f %% in float32)", 100 * r->accuracy, 100 * float32_accuracy(a, h));
		puts("");
	}
	print_shares(a);
	if (s->broken)
		printf("%zu assignment%s the budget, but %s, as --runtime says.\n", s->broken,
			s->broken == 1 ? " keeps" : "s keep",
			s->pairs16 ? "not where onnxruntime's sums of two products of bytes saturate"
				   : "not as onnxruntime runs the file");
	if (a->exhaustive)
		puts("All assignments that take less were tried, or break the budget: none is cheaper.");
	else
		printf("There are %.3g assignments; a cheaper one may exist.\n", hu_search_size(s));
	if (a->exhaustive && s->device && a->greedy_seconds > a->best->seconds)
		printf("A greedy search comes to %.4g us.\n", 1e6 * a->greedy_seconds);
	if (a->exhaustive && !s->device && a->greedy_bytes > a->best->bytes)
		printf("A greedy search comes to %.4g MB.\n", a->greedy_bytes / 1e6);
	if (a->lists)
		hu_lists_print(a->lists, s);
	if (a->remedies)
		hu_remedies_print(a->remedies);
	if (a->out)
		printf("%s has model.onnx, policy.json, block_list.txt, trtexec.txt, keep.py, and\n"
		       "advice.json, of which "
		       "halfulp report makes a page.\n",
			hu_shown(a->out));
}

static json_t *
effect(const hu_advice *a, const hu_effect *r, int h)
{
	json_t *o = json_object(), *rules = json_array();

	json_object_set_new(o, "inputs", json_integer((json_int_t)r->inputs));
	json_object_set_new(o, "flips", a->s->d.classes > 1 ? json_integer((json_int_t)r->flips) : json_null());
	json_object_set_new(o, "rel_l2", hu_fields_measured(r->rel_l2));
	json_object_set_new(o, "sqnr_db", hu_fields_measured(r->sqnr_db));
	json_object_set_new(o, "max_error", hu_fields_measured(r->max_error));
	json_object_set_new(o, "accuracy", hu_fields_measured(r->accuracy));
	json_object_set_new(o, "float32_accuracy", hu_fields_measured(float32_accuracy(a, h)));
	json_object_set_new(o, "rules", rules);
	for (size_t k = 0; k < a->s->naccept; k++)
		json_array_append_new(rules, hu_accept_json(&a->s->accept[k], r));
	return o;
}

/* Node names and schemes of what is not float32. */
static json_t *
nodes(const hu_advice *a)
{
	json_t *o = json_object();

	for (size_t i = 0; i < a->s->n; i++)
		if (a->best->choice[i])
			for (size_t k = 0; k < a->s->decision[i].n; k++)
				json_object_set_new(o, a->s->decision[i].nodes[k], json_string(scheme(a, i)));
	return o;
}

/* A list with its proof; null where no tool of it was asked for. */
static json_t *
proven(const hu_advice *a, const hu_proven_list *l)
{
	json_t *names = json_array();

	if (!l->asked) {
		json_decref(names);
		return json_null();
	}
	for (size_t i = 0; i < l->nodes.n; i++)
		json_array_append_new(names, json_string(l->nodes.name[i]));
	return json_pack("{s:s s:o s:b s:o s:o s:I s:s?}", "tool", l->tool, "nodes", names, "keeps", l->keeps,
		"searched", l->tried ? effect(a, &l->effect[0], 0) : json_null(), "held_apart",
		l->tried ? effect(a, &l->effect[1], 1) : json_null(), "runs", (json_int_t)l->runs, "refused",
		l->refused);
}

json_t *
hu_advice_json(const hu_advice *a)
{
	const hu_search *s = a->s;
	json_t *o = json_object(), *rows = json_array(), *rules = json_array();
	int found = a->best->choice != NULL;

	for (size_t i = 0; i < s->naccept; i++)
		json_array_append_new(rules, json_string(s->accept[i].text));
	json_object_set_new(o, "model", json_string(hu_shown(a->path)));
	json_object_set_new(o, "accept", rules);
	json_object_set_new(o, "found", json_boolean(found));
	json_object_set_new(o, "exhaustive", json_boolean(a->exhaustive));
	json_object_set_new(o, "runs", json_integer((json_int_t)s->runs));
	json_object_set_new(o, "held_apart_runs", json_integer((json_int_t)s->looks));
	json_object_set_new(o, "broken_by_runtime", json_integer((json_int_t)s->broken));
	json_object_set_new(o, "batch", json_integer((json_int_t)s->batch));
	json_object_set_new(o, "calibrated", json_integer((json_int_t)a->calibrated));
	json_object_set_new(o, "float32_bytes", hu_fields_measured(s->float_bytes));
	json_object_set_new(o, "bytes", found ? hu_fields_measured(a->best->bytes) : json_null());
	json_object_set_new(o, "greedy_bytes", hu_fields_measured(a->greedy_bytes));
	if (s->device) {
		json_object_set_new(o, "device", json_string(s->device->id));
		json_object_set_new(o, "float32_seconds", hu_fields_measured(s->float_seconds));
		json_object_set_new(o, "seconds", found ? hu_fields_measured(a->best->seconds) : json_null());
		json_object_set_new(o, "greedy_seconds", hu_fields_measured(a->greedy_seconds));
	}
	json_object_set_new(o, "searched", found ? effect(a, &a->best->effect[0], 0) : json_null());
	json_object_set_new(o, "held_apart", found ? effect(a, &a->best->effect[1], 1) : json_null());
	json_object_set_new(o, "block_list", a->lists ? proven(a, &a->lists->block) : json_null());
	json_object_set_new(o, "nodes_to_quantize", a->lists ? proven(a, &a->lists->quantised) : json_null());
	json_object_set_new(o, "remedies", a->remedies ? hu_remedies_json(a->remedies) : json_null());
	for (size_t i = 0; i < s->n; i++) {
		json_t *row = json_object(), *each = json_object();
		json_object_set_new(row, "node", json_string(s->decision[i].node));
		json_t *tied = json_array();
		for (size_t k = 1; k < s->decision[i].n; k++)
			if (strcmp(s->decision[i].nodes[k], s->decision[i].nodes[k - 1]))
				json_array_append_new(tied, json_string(s->decision[i].nodes[k]));
		json_object_set_new(row, "tied", tied);
		json_object_set_new(row, "scheme", found ? json_string(scheme(a, i)) : json_null());
		for (size_t k = 0; k < s->nscheme; k++) {
			json_t *one = json_pack("{s:f s:o}", "bytes", s->decision[i].bytes[k + 1], "rel_l2",
				hu_fields_measured(sqrt(s->decision[i].damage[k + 1])));
			if (s->device)
				json_object_set_new(one, "seconds", hu_fields_measured(s->decision[i].seconds[k + 1]));
			json_object_set_new(each, s->scheme[k].name, one);
		}
		json_object_set_new(row, "alone", each);
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "nodes", rows);
	json_object_set_new(o, "command", json_string(a->command));
	return o;
}

static hu_status
write_text(const char *dir, const char *name, const char *text)
{
	char *path = hu_xprintf("%s/%s", dir, name);
	hu_status st = hu_file_write(path, text, strlen(text));

	free(path);
	return st;
}

/* The module of PyTorch that exporters name a node after: /layer1/conv/Conv is layer1.conv. */
static void
add_modules(hu_str *t, const hu_advice *a)
{
	for (size_t i = 0; i < a->s->n; i++) {
		if (a->best->choice[i])
			continue;
		for (size_t k = 0; k < a->s->decision[i].n; k++) {
			const char *name = a->s->decision[i].nodes[k];
			char *module = hu_xstrdup(*name == '/' ? name + 1 : name), *end = strrchr(module, '/');
			if (end)
				*end = 0;
			for (char *s = module; *s; s++)
				*s = *s == '/' ? '.' : *s;
			hu_str_add(t, "    ");
			hu_lists_quoted(t, module);
			hu_str_add(t, ",\n");
			free(module);
		}
	}
}

/* The precision that TensorRT up to version 10 knows a scheme by; NULL: it has none for layers. */
static const char *
tensorrt(const char *scheme)
{
	static const char *const known[][2] = { { "float32", "fp32" }, { "fp16", "fp16" }, { "float16", "fp16" },
		{ "bf16", "bf16" }, { "bfloat16", "bf16" }, { "int8", "int8" } };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i][0], scheme) || (!strncmp(scheme, "int8:", 5) && !strcmp(known[i][0], "int8")))
			return known[i][1];
	return NULL;
}

/* Options of trtexec. TensorRT names a layer after the ONNX node, and reads names up to a colon or a comma. */
static void
add_layer_precisions(hu_str *t, const hu_advice *a)
{
	static const char *const flags[] = { "fp16", "bf16", "int8" };

	hu_str_add(t, "# Options of trtexec up to TensorRT 10; from 11 on the types of model.onnx are kept. All "
		      "other layers\n"
		      "# stay in fp32, as they were when the plan was tried.\n");
	for (size_t i = 0; i < a->s->n; i++) {
		const char *name = a->s->decision[i].node, *precision = tensorrt(scheme(a, i));
		if (!precision || strpbrk(name, ":,*\n"))
			hu_str_addf(
				t, "# %s: %s cannot be given to a layer of this name\n", hu_shown(name), scheme(a, i));
	}
	for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
		for (size_t i = 0; i < a->s->n; i++) {
			const char *precision = tensorrt(scheme(a, i));
			if (!precision || strcmp(precision, flags[f]) || strpbrk(a->s->decision[i].node, ":,*\n"))
				continue;
			hu_str_addf(t, "--%s ", flags[f]);
			break;
		}
	hu_str_add(t, "--precisionConstraints=obey --layerPrecisions=*:fp32");
	for (size_t i = 0; i < a->s->n; i++) {
		for (size_t k = 0; k < a->s->decision[i].n; k++) {
			const char *name = a->s->decision[i].nodes[k], *precision = tensorrt(scheme(a, i));
			if (precision && !strpbrk(name, ":,*\n"))
				hu_str_addf(t, ",%s:%s", name, precision);
		}
	}
	hu_str_add(t, "\n");
}

hu_status
hu_advice_write(const hu_advice *a, const char *dir)
{
	json_t *policy = json_pack("{s:s s:s s:o}", "name", "advised", "default", "float32", "nodes", nodes(a));
	char *text = json_dumps(policy, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	const hu_search *s = a->s;
	hu_str t;

	hu_status st = write_text(dir, "policy.json", text ? text : "{}");
	free(text);
	json_decref(policy);
	policy = hu_advice_json(a);
	text = json_dumps(policy, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	if (st == HU_OK)
		st = write_text(dir, "advice.json", text ? text : "{}");
	free(text);
	json_decref(policy);
	hu_str_init(&t);
	hu_lists_text(&t, a->lists, s, a->best);
	if (st == HU_OK)
		st = write_text(dir, "block_list.txt", t.s);
	hu_str_release(&t);
	hu_str_init(&t);
	add_layer_precisions(&t, a);
	if (st == HU_OK)
		st = write_text(dir, "trtexec.txt", t.s);
	hu_str_release(&t);
	hu_str_init(&t);
	hu_str_add(&t, "# Modules that compute in float32 within torch.autocast, by the names that torch.onnx.export "
		       "gives nodes.\n"
		       "import torch\n\nKEEP = {\n");
	add_modules(&t, a);
	hu_str_add(&t,
		"}\n\n\ndef keep_float32(model, device_type=\"cuda\"):\n"
		"    for name, module in model.named_modules():\n"
		"        if name in KEEP:\n"
		"            def forward(*args, inner=module.forward):\n"
		"                with torch.autocast(device_type, enabled=False):\n"
		"                    return inner(*(x.float() if torch.is_tensor(x) and x.is_floating_point() else x "
		"for x in args))\n"
		"            module.forward = forward\n"
		"    return model\n");
	if (st == HU_OK)
		st = write_text(dir, "keep.py", t.s);
	hu_str_release(&t);
	return st;
}
