/* SPDX-License-Identifier: Apache-2.0
   What stands in every table of an analysis: its first lines, and rows on their way there. */
#include "analyzers/run/analyzer.h"

#include <stdlib.h>
#include <string.h>

void
hu_analysis_how(const hu_analysis *a, hu_str *to)
{
	const hu_analysis_options *o = &a->opt;

	hu_str_addf(to, o->sample ? "sample %zu, seed %llu" : "all elements", o->sample, (unsigned long long)o->seed);
	hu_str_addf(to, ", engine %s, lost %g, %s step, steps", o->engine->name, o->lost,
		o->propagate ? "exact" : "no exact");
	for (int i = 0; i < a->nstep; i++)
		hu_str_addf(to, " %zu", a->step[i]);
}

/* All tables of one analysis have the same line; tables of other runs by the same version have it too where they can be
   compared. */
void
hu_analysis_provenance(const hu_analysis *a, hu_tsv *t, const char *name)
{
	hu_str how;

	hu_str_init(&how);
	hu_analysis_how(a, &how);
	hu_run_provenance(a->run, t, name);
	hu_tsv_note(t, HU_ANALYSIS_NOTE, "%s", how.s);
	hu_str_release(&how);
}

void
hu_analysis_call(hu_tsv *t, const hu_call *c, const char *phase, const char *layer, const char *tensor,
	const char *format)
{
	if (c)
		hu_tsv_int(t, c->id);
	else
		hu_tsv_none(t);
	hu_tsv_text(t, c ? c->op->name : "-");
	hu_tsv_text(t, c ? hu_phase_name(c->phase) : phase);
	hu_tsv_text(t, c ? c->layer : layer);
	hu_tsv_text(t, tensor);
	hu_tsv_text(t, format);
}

void
hu_analysis_begin(const hu_analysis *a, hu_tsv *t, const char *name, const char *columns)
{
	hu_tsv_init(t);
	hu_analysis_provenance(a, t, name);
	if (a->opt.sample)
		hu_tsv_note(t, "sample", "%zu of each tensor's elements at most, seed %llu", a->opt.sample,
			(unsigned long long)a->opt.seed);
	else
		hu_tsv_note(t, "sample", "all elements");
	hu_tsv_note(t, "engine", "%s", a->opt.engine->name);
	hu_tsv_header(t, columns);
}

hu_status
hu_analysis_write(const hu_analysis *a, hu_tsv *t, const char *name)
{
	char *dir = hu_path(a->run->dir, "analysis"), *path = hu_path(dir, "%s", name);
	hu_status st = hu_make_dirs(dir);

	hu_tsv_seal(t);
	if (st == HU_OK)
		st = hu_tsv_save(t, path);
	free(path);
	free(dir);
	return st;
}

void
hu_analysis_rows(hu_pack *r, hu_tsv *t)
{
	hu_str rows = { 0 };

	if (r->reading) {
		hu_pack_text(r, &t->text);
		return;
	}
	hu_str_init(&rows);
	hu_str_add(&rows, strchr(t->text.s, '\n') + 1);
	hu_pack_text(r, &rows);
	hu_str_release(&rows);
}

void
hu_analysis_rows_init(hu_tsv *t, const char *columns)
{
	hu_tsv_init(t);
	hu_tsv_header(t, columns);
}
