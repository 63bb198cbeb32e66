/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/walk.h"

#include "lib/base/console/progress.h"
#include "lib/base/mem.h"
#include "lib/judge/parts/packs.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_walk_init(hu_walk *w, hu_analysis *a, const char *take)
{
	memset(w, 0, sizeof *w);
	w->a = a;
	w->take = take;
	w->facts.propagated = NULL;
	for (int i = 0; i < HU_ANALYZERS; i++) {
		const hu_analyzer *x = hu_analyzer_at(i);
		if (!take[i] || !x->tables)
			continue;
		w->tables[i] = hu_xcalloc(1, x->tables);
		HU_TRY(x->begin(a, w->tables[i]));
	}
	hu_units_cut(&w->units, a, take);
	return HU_OK;
}

void
hu_walk_release(hu_walk *w)
{
	for (int i = 0; i < HU_ANALYZERS; i++) {
		if (w->tables[i] && hu_analyzer_at(i)->release)
			hu_analyzer_at(i)->release(w->tables[i]);
		free(w->tables[i]);
	}
	free(w->facts.propagated);
	hu_units_release(&w->units);
	memset(w, 0, sizeof *w);
}

/* Passes what joining must know of a step through a record. */
static void
record_facts(hu_pack *r, const hu_program *p, hu_step_facts *f, hu_propagation *how)
{
	int exact = f->propagated != NULL;

	hu_pack_int(r, &f->skipped);
	hu_pack_propagation(r, how);
	hu_pack_int(r, &exact);
	if (r->reading && exact)
		f->propagated = hu_xcalloc((size_t)p->nt + 1, sizeof *f->propagated);
	for (int k = 0; exact && k < p->nt; k++)
		hu_pack_errors_step(r, &f->propagated[k]);
}

/* What the unit's call reads and writes, or the step's exact execution, or at least what the program was given. */
static hu_status
unpack(const hu_walk *w, hu_trace *t, const hu_work_unit *u)
{
	const hu_program *p = w->a->run->train;

	if (u->call >= 0 || w->a->opt.propagate)
		return hu_analysis_need(t, p, u->call);
	for (int k = 0; k < p->nt; k++)
		if (p->t[k].producer < 0)
			HU_TRY(hu_run_trace_need(&t->file, k));
	return HU_OK;
}

hu_status
hu_walk_study(hu_walk *w, int i, hu_str *found)
{
	const hu_work_unit *u = &w->units.u[i];
	hu_analysis *a = w->a;
	hu_status st = HU_OK;
	hu_pack r, head;
	hu_trace *t;

	HU_TRY(hu_analysis_trace(a, u->step, &t));
	HU_TRY(unpack(w, t, u));
	hu_pack_write(&r);
	for (int k = 0; k < HU_ANALYZERS && st == HU_OK; k++) {
		double start = hu_now();
		if (w->take[k] && hu_analyzer_at(k)->study)
			st = hu_analyzer_at(k)->study(a, w->tables[k], t, u, &r);
		w->seconds[k] += hu_now() - start;
	}
	hu_pack_write(&head);
	if (st == HU_OK && u->call < 0) {
		hu_step_facts f = { t->step, t->skipped, t->propagated };
		record_facts(&head, a->run->train, &f, &t->how);
	}
	if (st == HU_OK)
		hu_str_addf(found, "%s%s%s", head.text.s, head.text.len && r.text.len ? " " : "", r.text.s);
	hu_pack_release(&head);
	hu_pack_release(&r);
	hu_analysis_forget(a, t, u->call);
	hu_analysis_cool(t);
	return st;
}

/* Ends the step of unit i where it is the last of it. */
static void
close_step(hu_walk *w, int i)
{
	if (i + 1 < w->units.n && w->units.u[i + 1].step == w->units.u[i].step)
		return;
	for (int k = 0; k < HU_ANALYZERS; k++)
		if (w->take[k] && hu_analyzer_at(k)->close)
			hu_analyzer_at(k)->close(w->a, w->tables[k], &w->facts);
	free(w->facts.propagated);
	w->facts.propagated = NULL;
}

hu_status
hu_walk_join(hu_walk *w, int i, const char *found)
{
	const hu_work_unit *u = &w->units.u[i];
	hu_propagation how = { .steps = 0 };
	hu_status st = HU_OK;
	hu_pack r;

	hu_pack_read(&r, strcmp(found, "-") ? found : "");
	if (u->call < 0) {
		w->facts = (hu_step_facts){ .step = w->a->step[u->step] };
		record_facts(&r, w->a->run->train, &w->facts, &how);
		hu_propagation_join(&w->a->propagation, &how);
	}
	for (int k = 0; k < HU_ANALYZERS && st == HU_OK; k++)
		if (w->take[k] && hu_analyzer_at(k)->join)
			st = hu_analyzer_at(k)->join(w->a, w->tables[k], &w->facts, u, &r);
	if (st == HU_OK) {
		char *name = hu_unit_name(w->a, u), *what = hu_xprintf("unit %s", name);
		st = hu_pack_end(&r, what);
		free(name);
		free(what);
	}
	hu_pack_release(&r);
	if (st == HU_OK)
		close_step(w, i);
	return st;
}

/* Says which shards a work lacks of which n of all units are in no part. */
static hu_status
lacking(const hu_parts *p, int n, int all)
{
	hu_str said;
	hu_shard of;

	hu_str_init(&said);
	if (!p->nfile || hu_shard_parse(&of, p->file[0].shard) != HU_OK)
		of.n = 0;
	for (int k = 1; k <= of.n && said.len < 200; k++) {
		char *name = hu_xprintf("%d/%d", k, of.n);
		int there = 0;
		for (int f = 0; f < p->nfile; f++)
			there |= !strcmp(p->file[f].shard, name);
		if (!there)
			hu_str_addf(&said, "%s%s", said.len ? ", " : "", name);
		free(name);
	}
	hu_status st = hu_fail(HU_EFILE,
		"%d of %d units are in no part%s%s: run analyze with --shard for what is missing, then merge again", n,
		all, said.len ? "; there are no parts of the shards " : "", said.s);
	hu_str_release(&said);
	return st;
}

static hu_status
complete(hu_walk *w, hu_parts *parts)
{
	int missing = 0;

	for (int i = 0; i < w->units.n; i++) {
		char *name = hu_unit_name(w->a, &w->units.u[i]);
		missing += !hu_parts_find(parts, name);
		free(name);
	}
	return missing ? lacking(parts, missing, w->units.n) : HU_OK;
}

hu_status
hu_walk_all(hu_walk *w, hu_parts *parts, int only)
{
	hu_status st = HU_OK;
	hu_progress bar;

	if (only)
		HU_TRY(complete(w, parts));
	hu_progress_start(&bar, "analyze", (size_t)w->units.n);
	for (int i = 0; i < w->units.n && st == HU_OK; i++) {
		char *name = parts ? hu_unit_name(w->a, &w->units.u[i]) : NULL;
		const hu_part_unit *u = parts ? hu_parts_find(parts, name) : NULL;
		hu_str found;
		hu_str_init(&found);
		if (!u)
			st = hu_walk_study(w, i, &found);
		if (st == HU_OK)
			st = hu_walk_join(w, i, u ? u->found : found.s);
		hu_str_release(&found);
		free(name);
		hu_progress_step(&bar, 1);
	}
	hu_progress_end(&bar);
	return st;
}
