/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/network.h"

#include "analyzers/network/given.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static hu_status
read_shapes(hu_network *n)
{
	const char *text;

	n->shape = hu_xcalloc((size_t)hu_args_given(n->a, "shape") + 1, sizeof *n->shape);
	for (int i = 0; (text = hu_args_nth(n->a, "shape", i)); i++) {
		HU_GROW(n->given, n->ngiven, n->givencap);
		n->shape[n->nshape++] = hu_xstrdup(text);
		HU_TRY(hu_given_parse(&n->given[n->ngiven++], n->shape[i]));
	}
	return HU_OK;
}

/* 1 where the model has an input or output NAME with an axis number AXIS. */
static int
has_axis(const hu_onnx_graph *g, const char *name, int axis)
{
	for (size_t i = 0; i < g->nin + g->nout; i++) {
		const hu_onnx_value *v = i < g->nin ? &g->in[i] : &g->out[i - g->nin];
		if (!strcmp(v->name, name))
			return v->rank < 0 || axis < v->rank;
	}
	return 0;
}

/* NAME=K, or NAME=none. */
static hu_status
read_axes(hu_network *n)
{
	size_t count = (size_t)hu_args_given(n->a, "batch-axis");
	const char *text;

	n->said.name = hu_xcalloc(count + 1, sizeof *n->said.name);
	n->said.axis = hu_xcalloc(count + 1, sizeof *n->said.axis);
	for (int i = 0; (text = hu_args_nth(n->a, "batch-axis", i)); i++) {
		const char *eq = strrchr(text, '=');
		char *end = NULL;
		long k = eq && eq[1] >= '0' && eq[1] <= '9' ? strtol(eq + 1, &end, 10) : -1;
		int none = eq && !strcmp(eq, "=none");
		if (!eq || eq == text || (!none && (k < 0 || k >= HU_RANK || *end)))
			return hu_fail(HU_EINVAL,
				"--batch-axis '%s': NAME=K says that the inputs of a batch lie along axis K, from 0, "
				"of the "
				"model's input or output NAME; NAME=none, that they do not",
				hu_shown(text));
		n->said.name[n->said.n] = hu_xprintf("%.*s", (int)(eq - text), text);
		n->said.axis[n->said.n++] = none ? -1 : (int)k;
		if (!has_axis(n->onnx.graph, n->said.name[i], (int)k))
			return hu_fail(HU_EINVAL,
				"--batch-axis '%s': the model has no input or output '%s' with such an axis",
				hu_shown(text), hu_shown(n->said.name[i]));
	}
	return HU_OK;
}

/* Cuts the model at the values that TEXT names, separated by commas, or for "auto" at those before nodes that do not
   run. */
static hu_status
cut(hu_network *n, const char *text)
{
	const char **names = NULL;
	size_t count = 0, cap = 0;
	char *copy = hu_xstrdup(text), *rest = copy;

	if (!strcmp(text, "auto"))
		count = hu_import_before(&n->onnx, &names);
	for (char *name; strcmp(text, "auto") != 0 && (name = strsep(&rest, ","));) {
		HU_GROW(names, count, cap);
		names[count++] = name;
	}
	hu_status st = hu_onnx_cut(&n->onnx, names, count);
	free(names);
	free(copy);
	return st;
}

/* Adds to the reason of failure ST what the user can do, where values before the nodes that do not run can be judged.
 */
static hu_status
advise_cut(hu_network *n, hu_status st)
{
	const char **names = NULL;
	char *why;

	if (st != HU_EUNABLE || !hu_args_has(n->a, "until") || hu_args_text(n->a, "until"))
		return st;
	size_t count = hu_import_before(&n->onnx, &names);
	why = hu_xstrdup(hu_reason());
	if (count)
		hu_fail(st, "%s; --until auto judges the %zu values before such nodes, as '%.120s'", why, count,
			names[0]);
	free(why);
	free(names);
	return st;
}

/* Takes the model of which BATCHING failed input by input, if it runs so. Returns the failure where it does not. */
static hu_status
each_input(hu_network *n, hu_status batching)
{
	hu_answers a;
	hu_imported all;

	if (batching != HU_EUNABLE || (hu_args_has(n->a, "until") && hu_args_text(n->a, "until")))
		return batching;
	char *why = hu_xstrdup(hu_reason());
	hu_status st = hu_network_computed(n, &all, &a, 0, &n->onnx, HU_TYPING_FLOAT32);
	if (st == HU_OK) {
		hu_imported_release(&all);
		st = hu_network_answered(n, &n->m, &a, &n->onnx, HU_TYPING_FLOAT32);
	}
	if (st == HU_OK) {
		n->each = 1;
		const char *first = n->m.asked ? n->m.out[n->m.nout - n->m.asked].name : "";
		free(n->alone); /* why batches failed before that */
		n->alone = hu_xprintf("shapes or choices follow from %zu value%s '%.120s'", n->m.asked,
			n->m.asked == 1 ? ":" : "s, the first of which is", first);
		hu_imported_asked_release(&n->m);
		n->batch = 1;
	} else if (!strcmp(why, hu_reason())) {
		st = hu_fail(batching, "%s", why);
	} else {
		char *each = hu_xstrdup(hu_reason());
		st = hu_fail(batching, "%s; and with a program for each input: %s", why, each);
		free(each);
	}
	hu_answers_release(&a);
	free(why);
	return st;
}

hu_status
hu_network_open(hu_network *n, const hu_args *a, const char *path, size_t surveyed)
{
	long long batch;

	*n = (hu_network){ .a = a };
	HU_TRY(hu_args_int(a, "batch", 1, 1 << 20, &batch));
	n->batch = (size_t)batch;
	HU_TRY(read_shapes(n));
	HU_TRY(hu_onnx_open(&n->onnx, path));
	if (hu_args_has(a, "until") && hu_args_text(a, "until"))
		HU_TRY(cut(n, hu_args_text(a, "until")));
	HU_TRY(read_axes(n));
	HU_TRY(hu_samples_open(&n->s, n->onnx.graph, hu_args_text(a, "data"), &n->said));
	if (hu_args_text(a, "labels"))
		HU_TRY(hu_samples_labels(&n->s, hu_args_text(a, "labels")));
	surveyed = surveyed < n->s.n ? surveyed : n->s.n;
	while (surveyed && !hu_args_given(a, "batch") && surveyed % n->batch)
		n->batch--;
	hu_status st = each_input(n, hu_network_batching(n, hu_args_given(a, "batch") > 0));
	return st == HU_OK ? st : advise_cut(n, st);
}

/* Whose needs are asked for. */
typedef enum whose { TOOLS = 1, OTHERS = 2, ALL = 3 } whose;

/* Marks in NEEDED, by tensor of M, what those of the POLICIES need that OF says; *ALL tensors are marked. */
static hu_status
needs(char *needed, size_t *all, const hu_variants *policies, const hu_imported *m, whose of)
{
	hu_status st = HU_OK;
	size_t some = 0;

	*all = 0;
	memset(needed, 0, (size_t)m->p->nt);
	for (size_t i = 0; i < policies->n && st == HU_OK; i++) {
		if (!(of & (policies->v[i].tool ? TOOLS : OTHERS)))
			continue;
		st = hu_calibrate_needs(needed, &some, &policies->v[i], m);
		*all += some;
	}
	return st;
}

/* What tools find on INPUTS inputs, which calibrate by onnxruntime without optimisations: its order of sums decides a
   scale's last place, and that decides codes. */
static hu_status
measure_for_tools(hu_network *n, const hu_variants *policies, const hu_samples *s, size_t inputs, hu_progress *bar)
{
	hu_onnx onnx = n->onnx;
	hu_calibrated found;
	hu_imported m;
	size_t all;

	onnx.ort = 1;
	HU_TRY(hu_network_typed(n, &m, &onnx, HU_TYPING_FLOAT32));
	char *needed = hu_xcalloc((size_t)m.p->nt + 1, 1);
	hu_status st = needs(needed, &all, policies, &m, TOOLS);
	if (st == HU_OK && all && (st = hu_calibrate(&found, needed, &m, s, inputs, n->batch, bar)) == HU_OK)
		hu_calibrated_add_tool(&n->ranges, &n->m, &found, &m);
	free(needed);
	hu_imported_release(&m);
	return st;
}

/* NEEDED is what all POLICIES need; OF: whether tools do, and others. */
static hu_status
measure(hu_network *n, const hu_variants *policies, const char *needed, whose of, const hu_samples *s, hu_progress *bar)
{
	long long most;

	HU_TRY(hu_args_int(n->a, "calibrate-inputs", 1, 1 << 30, &most));
	hu_progress_note(bar, "calibration");
	size_t inputs = (size_t)most < s->n ? (size_t)most : s->n;
	if (of & OTHERS) {
		HU_TRY(hu_calibrate(&n->ranges, needed, &n->m, s, inputs, n->batch, bar));
	} else {
		n->ranges = (hu_calibrated){ .n = (size_t)n->m.p->nt, .inputs = inputs };
		n->ranges.range = hu_xcalloc(n->ranges.n + 1, sizeof *n->ranges.range);
	}
	return of & TOOLS ? measure_for_tools(n, policies, s, inputs, bar) : HU_OK;
}

hu_status
hu_network_calibrate(hu_network *n, const hu_variants *policies, const hu_samples *first, hu_progress *bar)
{
	const char *path = hu_args_text(n->a, "calibrate");
	char *needed = hu_xcalloc((size_t)n->m.p->nt + 1, 1);
	hu_samples own = { .n = 0 };
	size_t all = 0, tools = 0, others = 0;

	hu_status st = needs(needed, &tools, policies, &n->m, TOOLS);
	if (st == HU_OK)
		st = needs(needed, &others, policies, &n->m, OTHERS);
	if (st == HU_OK)
		st = needs(needed, &all, policies, &n->m, ALL);
	if (st == HU_OK && !all && (path || hu_args_given(n->a, "calibrate-inputs")))
		st = hu_refuse(path ? "calibrate" : "calibrate-inputs", "where no policy has static scales");
	if (st == HU_OK && all && path && (st = hu_samples_open(&own, n->onnx.graph, path, &n->said)) == HU_OK)
		st = hu_samples_fit(&own, &n->s);
	if (st == HU_OK && all)
		st = measure(n, policies, needed, (tools ? TOOLS : 0) | (others ? OTHERS : 0),
			path ? &own : first, bar);
	if (own.n)
		hu_samples_release(&own);
	free(needed);
	return st;
}

void
hu_network_release(hu_network *n)
{
	hu_calibrated_release(&n->ranges);
	hu_imported_release(&n->m);
	hu_samples_release(&n->s);
	hu_onnx_release(&n->onnx);
	for (size_t i = 0; i < n->nshape; i++)
		free(n->shape[i]);
	free(n->shape);
	for (size_t i = 0; i < n->said.n; i++)
		free(n->said.name[i]);
	free(n->said.name);
	free(n->said.axis);
	free(n->alone);
	free(n->given);
	memset(n, 0, sizeof *n);
}
