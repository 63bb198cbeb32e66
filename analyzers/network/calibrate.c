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
	char wanted = how == HU_TOOL_BATCHES                  ? HU_CALIBRATE_GROWS
		      : v->tool && v->tool->percent > 0 ? HU_CALIBRATE_COUNTS | HU_CALIBRATE_MAGNITUDES
							: HU_CALIBRATE_ENDS;
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

/* What is measured while a batch runs, after each call, since memory is shared: PASS 0 finds the ends of tensors that
   are NEEDED, and 1 counts. */
typedef struct measured {
	hu_range *range;
	const char *needed;
	int pass;
} measured;

static void
measure(const measured *m, const hu_tensor *x, int id)
{
	if (m->pass ? m->needed[id] & HU_CALIBRATE_COUNTS : m->needed[id] != 0)
		(m->pass ? hu_range_count : hu_range_extend)(&m->range[id], x);
}

static void
measure_call(void *with, const hu_exec *x, int call)
{
	const hu_call *c = &x->p->c[call];

	for (int k = 0; k < c->nout; k++)
		measure(with, &x->t[c->out[k]], c->out[k]);
}

hu_status
hu_calibrate(hu_calibrated *c, const char *needed, const hu_imported *m, const hu_samples *s, size_t inputs,
	size_t batch, hu_progress *bar)
{
	hu_status st = HU_OK;
	hu_exec x;

	*c = (hu_calibrated){ .n = (size_t)m->p->nt, .inputs = inputs };
	c->range = hu_xcalloc(c->n + 1, sizeof *c->range);
	char *keep = hu_xcalloc(c->n + 1, 1);
	measured seen = { c->range, needed, 0 };
	hu_status begun = hu_exec_init_sharing(&x, m->p, keep, m->constant);
	free(keep);
	HU_TRY(begun);
	hu_imported_load(m, &x);
	x.after = measure_call;
	x.with = &seen;
	size_t end = rounds(inputs, batch);
	int counts = 0;
	for (size_t t = 0; t < c->n; t++) {
		counts |= needed[t] & HU_CALIBRATE_COUNTS;
		c->range[t].grows = needed[t] & HU_CALIBRATE_GROWS;
		c->range[t].is_cut = needed[t] & HU_CALIBRATE_MAGNITUDES;
	}
	for (; seen.pass < (counts ? 2 : 1); seen.pass++)
		for (size_t first = 0; first < (seen.pass ? end : inputs) && st == HU_OK; first += batch) {
			for (size_t i = 0; i < m->nin; i++)
				if (m->in[i].tensor >= 0)
					hu_samples_fill_round(s, i, first, inputs, batch, &x.t[m->in[i].tensor]);
			for (int t = 0; t < m->p->nt; t++)
				if (m->p->t[t].producer < 0)
					measure(&seen, &x.t[t], t);
			st = hu_exec_run(&x, &(hu_env){ 0, 0 });
			if (!seen.pass)
				hu_progress_step(bar, 1);
		}
	hu_exec_release(&x);
	return st;
}

/* The value of M of that name, or NULL; it is looked for at place AT first. */
static const hu_imported_value *
value_named(const hu_imported *m, const char *name, size_t at)
{
	if (at < m->nvalue && !strcmp(m->value[at].name, name))
		return &m->value[at];
	for (size_t i = 0; i < m->nvalue; i++)
		if (!strcmp(m->value[i].name, name))
			return &m->value[i];
	return NULL;
}

void
hu_calibrated_add_tool(hu_calibrated *c, const hu_imported *m, hu_calibrated *found, const hu_imported *other)
{
	c->tool = hu_xcalloc(c->n + 1, sizeof *c->tool);
	memcpy(c->tool, c->range, c->n * sizeof *c->tool);
	for (size_t i = 0; i < m->nvalue; i++) {
		const hu_imported_value *to = &m->value[i], *from = value_named(other, to->name, i);
		if (to->tensor >= 0 && from && from->tensor >= 0 && found->range[from->tensor].n)
			c->tool[to->tensor] = found->range[from->tensor];
	}
	c->held = found->range;
	c->nheld = found->n;
	memset(found, 0, sizeof *found);
}

const hu_range *
hu_calibrated_tool(const hu_calibrated *c)
{
	return c->tool ? c->tool : c->range;
}

void
hu_calibrated_release(hu_calibrated *c)
{
	for (size_t i = 0; c->range && i < c->n; i++)
		hu_range_release(&c->range[i]);
	for (size_t i = 0; i < c->nheld; i++)
		hu_range_release(&c->held[i]);
	free(c->held);
	free(c->tool);
	free(c->range);
	memset(c, 0, sizeof *c);
}
