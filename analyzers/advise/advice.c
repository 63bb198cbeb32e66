/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/advice.h"
#include "analyzers/advise/lists_report.h"

#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
				printf("%-12s %s%s\n", hu_advice_scheme(a, i), hu_shown(s->decision[i].nodes[k]),
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
			printf(", %.2f %% right (%.2f %% in float32)", 100 * r->accuracy,
				100 * hu_trials_accuracy(&s->trials, h));
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
		const char *name = a->s->decision[i].node, *precision = tensorrt(hu_advice_scheme(a, i));
		if (!precision || strpbrk(name, ":,*\n"))
			hu_str_addf(t, "# %s: %s cannot be given to a layer of this name\n", hu_shown(name),
				hu_advice_scheme(a, i));
	}
	for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
		for (size_t i = 0; i < a->s->n; i++) {
			const char *precision = tensorrt(hu_advice_scheme(a, i));
			if (!precision || strcmp(precision, flags[f]) || strpbrk(a->s->decision[i].node, ":,*\n"))
				continue;
			hu_str_addf(t, "--%s ", flags[f]);
			break;
		}
	hu_str_add(t, "--precisionConstraints=obey --layerPrecisions=*:fp32");
	for (size_t i = 0; i < a->s->n; i++) {
		for (size_t k = 0; k < a->s->decision[i].n; k++) {
			const char *name = a->s->decision[i].nodes[k], *precision = tensorrt(hu_advice_scheme(a, i));
			if (precision && !strpbrk(name, ":,*\n"))
				hu_str_addf(t, ",%s:%s", name, precision);
		}
	}
	hu_str_add(t, "\n");
}

hu_status
hu_advice_write(const hu_advice *a, const char *dir)
{
	json_t *policy = hu_advice_policy(a);
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
