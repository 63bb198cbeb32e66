/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/calibrate.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_calibrate_needs(char *needed, size_t *count, const hu_variant *v, const hu_imported *m)
{
	const hu_scheme **scheme = NULL;

	*count = 0;
	hu_tool_calibration how = v->tool ? hu_tool_calibrates(v->tool) : HU_TOOL_NOTHING;
	char wanted = how == HU_TOOL_BATCHES ? HU_CALIBRATE_GROWS : HU_CALIBRATE_COUNTS;
	for (size_t i = 0; how != HU_TOOL_NOTHING && i < m->nvalue; i++) {
		const hu_imported_value *of = &m->value[i];
		int whole = of->type == HU_ONNX_INT64 || of->type == HU_ONNX_INT32;
		if (of->tensor < 0 || of->constant ||
			!(of->type == HU_ONNX_FLOAT || (whole && how == HU_TOOL_WHOLE_TOO)))
			continue;
		*count += !needed[of->tensor];
		needed[of->tensor] |= wanted;
	}
	if (!v->by_node || v->as)
		return HU_OK;
	HU_TRY(hu_variant_schemes(v, m, &scheme));
	char *quantisable = hu_schemes_quantisable(m);
	hu_scheme_plan plan = { .p = m->p, .constant = m->constant, .scheme = scheme, .quantisable = quantisable };
	for (int i = 0; i < m->p->nc; i++)
		for (int k = 0; k < m->p->c[i].nin; k++) {
			int t = m->p->c[i].in[k];
			if (needed[t] & HU_CALIBRATE_COUNTS ||
				!hu_quantise_needs_range(&plan, &m->p->c[i], k, scheme[i]))
				continue;
			*count += !needed[t];
			needed[t] |= hu_range_counts(scheme[i]) ? HU_CALIBRATE_COUNTS : HU_CALIBRATE_ENDS;
		}
	free(quantisable);
	free(scheme);
	return HU_OK;
}

/* The rows that batches run through until each input has been in as many of them as every other. */
static size_t
rounds(size_t inputs, size_t batch)
{
	size_t a = inputs, b = batch;

	while (b) {
		size_t rest = a % b;
		a = b;
		b = rest;
	}
	return inputs / a * batch;
}

hu_status
hu_calibrate(hu_calibrated *c, const char *needed, const hu_imported *m, const hu_samples *s, size_t inputs,
	size_t batch, hu_progress *bar)
{
	hu_status st;
	hu_exec x;

	*c = (hu_calibrated){ .n = (size_t)m->p->nt, .inputs = inputs };
	c->range = hu_xcalloc(c->n + 1, sizeof *c->range);
	HU_TRY(hu_exec_init(&x, m->p));
	hu_imported_load(m, &x);
	st = HU_OK;
	size_t end = rounds(inputs, batch);
	int counts = 0;
	for (size_t t = 0; t < c->n; t++) {
		counts |= needed[t] & HU_CALIBRATE_COUNTS;
		c->range[t].grows = needed[t] & HU_CALIBRATE_GROWS;
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t first = 0; first < (pass ? end : inputs) && st == HU_OK; first += batch) {
			for (size_t i = 0; i < m->nin && (!pass || counts); i++)
				if (m->in[i].tensor >= 0)
					hu_samples_fill_round(s, i, first, inputs, batch, &x.t[m->in[i].tensor]);
			if (!pass || counts)
				st = hu_exec_run(&x, &(hu_env){ 0, 0 });
			for (size_t t = 0; t < c->n && st == HU_OK; t++)
				if (pass ? needed[t] & HU_CALIBRATE_COUNTS : needed[t] != 0)
					(pass ? hu_range_count : hu_range_extend)(&c->range[t], &x.t[t]);
			if (first < inputs)
				hu_progress_step(bar, 1);
		}
	hu_exec_release(&x);
	return st;
}

void
hu_calibrated_release(hu_calibrated *c)
{
	for (size_t i = 0; c->range && i < c->n; i++)
		hu_range_release(&c->range[i]);
	free(c->range);
	memset(c, 0, sizeof *c);
}
