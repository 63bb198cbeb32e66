/* SPDX-License-Identifier: Apache-2.0
   Static scales of models whose inputs have a program each: tensors of all of these that have one name share a
   range. */
#include "analyzers/validate/each/each.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/mem.h"

#include <stdlib.h>

hu_range *
hu_each_ranges(const hu_network *net, const hu_imported *m)
{
	hu_range *range;

	if (!net->ranges.range)
		return NULL;
	range = hu_xcalloc((size_t)m->p->nt + 1, sizeof *range);
	for (int t = 0; t < m->p->nt; t++) {
		int id = hu_program_find(net->m.p, m->p->t[t].name);
		if (id >= 0)
			range[t] = net->ranges.range[id];
	}
	return range;
}

/* Has the program M, of input ROW of S, count or extend ranges, as PASS says. */
static hu_status
observe(hu_network *net, const hu_samples *s, const hu_imported *m, const char *needed, size_t row, int pass)
{
	hu_exec x;

	HU_TRY(hu_exec_init(&x, m->p));
	hu_imported_load(m, &x);
	for (size_t i = 0; i < m->nin; i++)
		if (m->in[i].tensor >= 0)
			hu_samples_put(s, i, row, 0, 1, &x.t[m->in[i].tensor]);
	hu_status st = hu_exec_run(&x, &(hu_env){ 0, 0 });
	for (int t = 0; t < m->p->nt && st == HU_OK; t++) {
		int id = hu_program_find(net->m.p, m->p->t[t].name);
		if (id >= 0 && needed[id])
			(pass ? hu_range_count : hu_range_extend)(&net->ranges.range[id], &x.t[t]);
	}
	hu_exec_release(&x);
	return st;
}

/* Both passes over the first inputs of S, whose answers are those of ANSWERS, or with NULL are found first. */
static hu_status
measure(hu_network *net, const hu_samples *s, const char *needed, const hu_answers *answers)
{
	hu_network view = *net; /* of these inputs */
	hu_status st = HU_OK;

	view.s = *s;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < net->ranges.inputs && st == HU_OK; i++) {
			hu_answers found = { .n = 0 };
			hu_imported m;
			if (!answers && (st = hu_network_computed(
						 &view, &m, &found, i, &net->onnx, HU_TYPING_FLOAT32)) == HU_OK)
				hu_imported_release(&m);
			if (st == HU_OK)
				st = hu_network_answered(
					&view, &m, answers ? &answers[i] : &found, &net->onnx, HU_TYPING_FLOAT32);
			hu_answers_release(&found);
			if (st != HU_OK)
				break;
			st = observe(net, s, &m, needed, i, pass);
			hu_imported_release(&m);
		}
	return st;
}

hu_status
hu_each_calibrate(hu_network *net, const hu_variants *policies, const hu_answers *answers, hu_progress *bar)
{
	const char *path = hu_args_text(net->a, "calibrate");
	char *needed = hu_xcalloc((size_t)net->m.p->nt + 1, 1);
	hu_samples own = { .n = 0 };
	size_t all = 0, some = 0;
	long long most = 0;
	hu_status st = hu_args_int(net->a, "calibrate-inputs", 1, 1 << 30, &most);

	for (size_t i = 0; i < policies->n && st == HU_OK; i++, all += some) {
		hu_variant policy = policies->v[i];
		policy.some = 1;
		st = hu_calibrate_needs(needed, &some, &policy, &net->m);
	}
	if (st == HU_OK && !all && (path || hu_args_given(net->a, "calibrate-inputs")))
		st = hu_refuse(path ? "calibrate" : "calibrate-inputs", "where no policy has static scales");
	if (st == HU_OK && all && path &&
		(st = hu_samples_open(&own, net->onnx.graph, path, &net->said)) == HU_OK)
		st = hu_samples_fit(&own, &net->s);
	if (st == HU_OK && all) {
		const hu_samples *s = path ? &own : &net->s;
		net->ranges = (hu_calibrated){ .n = (size_t)net->m.p->nt };
		net->ranges.inputs = (size_t)most < s->n ? (size_t)most : s->n;
		net->ranges.range = hu_xcalloc(net->ranges.n + 1, sizeof *net->ranges.range);
		for (size_t t = 0; t < net->ranges.n; t++) {
			net->ranges.range[t].grows = needed[t] & HU_CALIBRATE_GROWS;
			net->ranges.range[t].is_cut = needed[t] & HU_CALIBRATE_MAGNITUDES;
		}
		hu_progress_note(bar, "calibration");
		st = measure(net, s, needed, path ? NULL : answers);
	}
	if (own.n)
		hu_samples_release(&own);
	free(needed);
	return st;
}
