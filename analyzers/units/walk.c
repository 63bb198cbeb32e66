/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/walk.h"

#include "lib/base/build.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"
#include "lib/exact/judge.h"
#include "lib/judge/parts/packs.h"
#include "lib/store/run_check.h"

#include <stdlib.h>
#include <string.h>

/* What is found of a call's unit in which two ways of computing exact values disagree. */
static const char no_verdict[] = "none";

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
	a->keeps = hu_units_takes(take, "replay") && hu_units_takes(take, "underflow") && !a->opt.sample &&
		   !a->opt.elements;
	a->encloses = hu_units_takes(take, "replay") && !a->opt.sample && !a->opt.elements && a->opt.engine->enclose &&
		      (hu_units_takes(take, "swamping") || hu_units_takes(take, "state"));
	return hu_units_cut(&w->units, a, take);
}

static void
forget_tiles(hu_walk *w)
{
	for (int k = 0; k < w->ntile; k++)
		free(w->tile[k]);
	free(w->tile);
	w->tile = NULL;
	w->ntile = w->none = 0;
}

void
hu_walk_release(hu_walk *w)
{
	for (int i = 0; i < HU_ANALYZERS; i++) {
		if (w->tables[i] && hu_analyzer_at(i)->release)
			hu_analyzer_at(i)->release(w->tables[i]);
		free(w->tables[i]);
	}
	forget_tiles(w);
	free(w->facts.propagated);
	free(w->text);
	free(w->folder);
	hu_units_release(&w->units);
	memset(w, 0, sizeof *w);
}

/* Passes what merging must know of a step through a record. */
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

static hu_status
compute(void *of, int i, hu_str *found)
{
	hu_walk *w = of;
	const hu_work_unit *u = &w->units.u[i];
	hu_analysis *a = w->a;
	hu_status st = HU_OK;
	hu_pack r, head;
	hu_trace *t;
	unsigned long long disagreed = hu_exact_disagreements();

	HU_TRY(hu_analysis_trace(a, u->step, &t));
	if (u->call != w->last) /* tiles of a call read the same tensors */
		hu_analysis_cool(t);
	w->last = u->call;
	st = unpack(w, t, u);
	HU_TRY(hu_ranks_united() > 1 ? hu_ranks_agree(st) : st);
	hu_pack_write(&r);
	for (int k = 0; k < HU_ANALYZERS && st == HU_OK; k++) {
		double start = hu_now();
		if (w->take[k] && hu_analyzer_at(k)->compute)
			st = hu_analyzer_at(k)->compute(a, w->tables[k], t, u, &r);
		w->seconds[k] += hu_now() - start;
	}
	int none = u->call >= 0 && hu_exact_disagreements() != disagreed;
	if (u->call >= 0 && hu_ranks_united() > 1)
		none = !hu_ranks_all(!none);
	if (none) { /* the warning is printed; the call has no verdict, and the run goes on */
		st = HU_OK;
		hu_pack_release(&r);
		hu_pack_write(&r);
		hu_str_add(&r.text, no_verdict);
	}
	hu_pack_write(&head);
	if (st == HU_OK && u->call < 0) {
		hu_step_facts f = { t->step, t->skipped, t->propagated };
		record_facts(&head, a->run->train, &f, &t->how);
	}
	if (st == HU_OK) { /* megabytes where errors are many */
		hu_str_addn(found, head.text.s, head.text.len);
		hu_str_add(found, head.text.len && r.text.len ? " " : "");
		hu_str_addn(found, r.text.s, r.text.len);
	}
	hu_pack_release(&head);
	hu_pack_release(&r);
	hu_analysis_forget(a, t, u->call);
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

/* Merges what was found of unit i to the tables. */
static hu_status
join_one(hu_walk *w, int i, const char *found)
{
	const hu_work_unit *u = &w->units.u[i];
	hu_propagation how = { .steps = 0 };
	hu_status st = HU_OK;
	hu_pack r;

	hu_pack_read(&r, found);
	if (u->call < 0) {
		w->facts = (hu_step_facts){ .step = w->a->step[u->step] };
		record_facts(&r, w->a->run->train, &w->facts, &how);
		hu_propagation_merge(&w->a->propagation, &how);
	}
	for (int k = 0; k < HU_ANALYZERS && st == HU_OK; k++)
		if (w->take[k] && hu_analyzer_at(k)->merge)
			st = hu_analyzer_at(k)->merge(w->a, w->tables[k], &w->facts, u, &r);
	if (st == HU_OK) {
		char *name = hu_unit_name(w->a, u), *what = hu_xprintf("unit %s", name);
		st = hu_pack_end(&r, what);
		free(name);
		free(what);
	}
	hu_pack_release(&r);
	return st;
}

/* A call is merged when its last tile is there, because it has no verdict where one of its tiles has none. */
static hu_status
merge(void *of, int i, const char *found)
{
	hu_walk *w = of;
	const hu_work_unit *u = &w->units.u[i];
	hu_status st = HU_OK;

	w->none |= u->call >= 0 && !strcmp(found, no_verdict);
	if (u->tiles > 1 && u->tile < u->tiles - 1) {
		w->tile = hu_xrealloc(w->tile, (size_t)(w->ntile + 1) * sizeof *w->tile);
		w->tile[w->ntile++] = hu_xstrdup(found);
		return HU_OK;
	}
	w->a->disagreed += w->none != 0;
	for (int k = 0; k < w->ntile && st == HU_OK && !w->none; k++)
		st = join_one(w, i - w->ntile + k, w->tile[k]);
	if (st == HU_OK && !w->none)
		st = join_one(w, i, found);
	forget_tiles(w);
	if (st == HU_OK)
		close_step(w, i);
	return st;
}

/* Returns a line that only processes with the same run, options and units have, wherever the run lies: its manifest has
   the checksums of its files. The caller frees it. */
static char *
text_of(const hu_walk *w, const hu_args *args)
{
	const hu_analysis_options *o = &w->a->opt;
	uint64_t units = 0;
	hu_str s, how;

	for (int i = 0; i < w->units.n; i++) {
		char *name = hu_unit_name(w->a, &w->units.u[i]);
		units = hu_mix64(units ^ hu_fnv1a64(name)) + (uint64_t)w->units.u[i].tiles;
		free(name);
	}
	hu_str_init(&how);
	hu_analysis_how(w->a, &how);
	hu_str_init(&s);
	for (int i = 0; i < HU_ANALYZERS; i++)
		if (w->take[i])
			hu_str_addf(&s, "%s ", hu_analyzer_at(i)->name);
	hu_str_addf(&s, "by halfulp %s of manifest %s, %s, %d units %016llx%s", hu_build_version(), w->a->run->xxh3,
		how.s, w->units.n, (unsigned long long)units, o->elements ? ", with a row an element" : "");
	for (int k = 0; k < hu_args_given(args, "accumulate"); k++)
		hu_str_addf(&s, ", sum %s", hu_args_nth(args, "accumulate", k));
	hu_str_release(&how);
	return s.s;
}

static char *
name_of(const void *of, int i)
{
	const hu_walk *w = of;

	return hu_unit_name(w->a, &w->units.u[i]);
}

static double
checked_of(const void *of)
{
	const hu_walk *w = of;

	return hu_run_check_bytes(w->a->run);
}

hu_status
hu_walk_share(hu_walk *w, hu_sharing *s, const hu_args *args, hu_status st, int *ends)
{
	if (st == HU_OK) {
		w->text = text_of(w, args);
		w->folder = hu_path(w->a->run->dir, "analysis/parts");
	}
	w->work = (hu_share_work){ .command = "analyze", .text = w->text, .folder = w->folder, .place = w->a->run->dir,
		.n = w->units.n, .cost = w->units.cost, .group = w->units.step, .joint = w->units.joint,
		.name = name_of, .compute = compute, .merge = merge, .checked = checked_of,
		.of = w };
	return hu_share_out(s, &w->work, args, st, ends);
}
