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

/* Has the program M, of input ROW, count or extend ranges, as PASS says. */
static hu_status
observe(hu_network *net, const hu_imported *m, const char *needed, size_t row, int pass)
{
	hu_exec x;

	HU_TRY(hu_exec_init(&x, m->p));
	hu_imported_load(m, &x);
	for (size_t i = 0; i < m->nin; i++)
		if (m->in[i].tensor >= 0)
			hu_samples_put(&net->s, i, row, 0, 1, &x.t[m->in[i].tensor]);
	hu_status st = hu_exec_run(&x, &(hu_env){ 0, 0 });
	for (int t = 0; t < m->p->nt && st == HU_OK; t++) {
		int id = hu_program_find(net->m.p, m->p->t[t].name);
		if (id >= 0 && needed[id])
			(pass ? hu_range_count : hu_range_extend)(&net->ranges.range[id], &x.t[t]);
	}
	hu_exec_release(&x);
	return st;
}

hu_status
hu_each_calibrate(hu_network *net, const hu_variants *policies, const hu_answers *answers, hu_progress *bar)
{
	char *needed = hu_xcalloc((size_t)net->m.p->nt + 1, 1);
	size_t all = 0, some = 0;
	long long most = 0;
	hu_status st = hu_args_int(net->a, "calibrate-inputs", 1, 1 << 30, &most);

	for (size_t i = 0; i < policies->n && st == HU_OK; i++, all += some)
		st = hu_calibrate_needs(needed, &some, &policies->v[i], &net->m);
	if (st == HU_OK && !all && hu_args_given(net->a, "calibrate-inputs"))
		st = hu_refuse("calibrate-inputs", "where no policy has static scales");
	if (st == HU_OK && all) {
		net->ranges = (hu_calibrated){ .n = (size_t)net->m.p->nt };
		net->ranges.inputs = (size_t)most < net->s.n ? (size_t)most : net->s.n;
		net->ranges.range = hu_xcalloc(net->ranges.n + 1, sizeof *net->ranges.range);
		hu_progress_note(bar, "calibration");
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < net->ranges.inputs && st == HU_OK; i++) {
			hu_imported m;
			st = hu_network_answered(net, &m, &answers[i], &net->onnx, HU_TYPING_FLOAT32);
			if (st != HU_OK)
				break;
			st = observe(net, &m, needed, i, pass);
			hu_imported_release(&m);
		}
	free(needed);
	return st;
}
