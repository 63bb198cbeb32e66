/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/advise/lists_report.h"

#include "lib/base/show.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>

/* A name in quotes that Python reads. */
void
hu_lists_quoted(hu_str *t, const char *name)
{
	json_t *s = json_string(name);
	char *text = json_dumps(s, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

	hu_str_add(t, text ? text : "\"\"");
	free(text);
	json_decref(s);
}

/* What a tool's file with the list did, on both parts: "0 of 8 and 1 of 8 inputs flip, rel_l2 0.001 and 0.002". */
static void
add_effect(hu_str *t, const hu_proven_list *l, const hu_search *s)
{
	const hu_effect *a = &l->effect[0], *b = &l->effect[1];

	if (s->d.classes > 1)
		hu_str_addf(t, "%zu of %zu and %zu of %zu inputs flip, ", a->flips, a->inputs, b->flips, b->inputs);
	hu_str_addf(t, "rel_l2 %.3g and %.3g", a->rel_l2, b->rel_l2);
	if (a->nonfinite + b->nonfinite)
		hu_str_addf(t, ", %zu values are not finite", a->nonfinite + b->nonfinite);
}

/* A sentence about the list. */
static void
add_proof(hu_str *t, const hu_proven_list *l, const hu_search *s)
{
	hu_str_addf(t, "What %s writes with these %zu node%s", l->tool, l->nodes.n, l->nodes.n == 1 ? "" : "s");
	if (l->refused) {
		hu_str_add(t, " cannot run: ");
		hu_str_add(t, l->refused);
	} else if (!l->tried) {
		hu_str_add(t, " was not run");
	} else {
		hu_str_add(t, l->keeps ? " keeps the budget on both parts: " : " breaks the budget: ");
		add_effect(t, l, s);
	}
	hu_str_add(t, ".");
}

void
hu_lists_print(const hu_lists *l, const hu_search *s)
{
	const hu_proven_list *both[2] = { &l->block, &l->quantised };

	for (int i = 0; i < 2; i++) {
		hu_str t;
		if (!both[i]->asked)
			continue;
		hu_str_init(&t);
		if (i && !both[i]->nodes.n)
			hu_str_add(&t, "No list of nodes_to_quantize keeps the budget.");
		else
			add_proof(&t, both[i], s);
		printf("%s: %s\n", both[i]->name, hu_shown(t.s));
		hu_str_release(&t);
	}
}

static void
add_name(hu_str *t, const char *name)
{
	hu_str_add(t, "    ");
	hu_lists_quoted(t, name);
	hu_str_add(t, ",\n");
}

/* The list called NAME: its proof as a comment, and its definition where it is one to use. PLAN: the plan's own nodes,
   where the tool was not asked for. */
static void
add_list(hu_str *t, const hu_proven_list *l, const hu_search *s, const hu_assignment *best, int low)
{
	int empty = l->asked && low && !l->nodes.n;

	hu_str_add(t, "# ");
	if (empty)
		hu_str_add(t, "No list keeps the budget, and an empty one would quantise every node.");
	else if (l->asked)
		add_proof(t, l, s);
	else
		hu_str_add(t,
			"These are the plan's products; --format has no scheme of the tool's, which was not tried.");
	if (l->asked && (empty || !l->keeps)) {
		hu_str_addf(t, "\n# %s is not defined, because it would break what the plan promises.\n", l->name);
		return;
	}
	hu_str_addf(t, "\n%s = [\n", l->name);
	for (size_t i = 0; i < l->nodes.n && l->asked; i++)
		add_name(t, l->nodes.name[i]);
	for (size_t i = 0; i < s->n && !l->asked; i++)
		for (size_t k = 0; k < s->decision[i].n && (best->choice[i] != 0) == low; k++)
			add_name(t, s->decision[i].nodes[k]);
	hu_str_add(t, "]\n");
}

void
hu_lists_text(hu_str *t, const hu_lists *l, const hu_search *s, const hu_assignment *best)
{
	hu_str_add(t, "# Nodes that stay in float32: node_block_list of\n"
		      "# onnxconverter_common.float16.convert_float_to_float16.\n");
	add_list(t, &l->block, s, best, 0);
	hu_str_add(t, "# nodes_to_quantize of onnxruntime.quantization.quantize_static.\n");
	add_list(t, &l->quantised, s, best, 1);
}
