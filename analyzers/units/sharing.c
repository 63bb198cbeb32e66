/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/sharing.h"

#include "lib/base/build.h"
#include "lib/base/console/progress.h"
#include "lib/base/console/show.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/parts/deal.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a line that only processes with the same run, options and units have. The caller frees it. */
static char *
work_of(const hu_walk *w, const hu_args *args)
{
	const hu_analysis_options *o = &w->a->opt;
	uint64_t units = 0;
	hu_str s;
	hu_tsv t;

	for (int i = 0; i < w->units.n; i++) {
		char *name = hu_unit_name(w->a, &w->units.u[i]);
		units = hu_mix64(units ^ hu_fnv1a64(name)) + (uint64_t)w->units.u[i].tiles;
		free(name);
	}
	hu_tsv_init(&t);
	hu_analysis_provenance(w->a, &t, "part");
	hu_str_init(&s);
	for (int i = 0; i < HU_ANALYZERS; i++)
		if (w->take[i])
			hu_str_addf(&s, "%s ", hu_analyzer_at(i)->name);
	hu_str_addf(&s, "by halfulp %s of manifest %s, %d units %016llx, %s%s", hu_build_version(),
		w->a->run->xxh3, w->units.n,
		(unsigned long long)hu_mix64(units ^ hu_fnv1a64(t.text.s)),
		o->sample ? "a sample" : "all elements", o->elements ? " with a row each" : "");
	for (int k = 0; k < hu_args_given(args, "accumulate"); k++)
		hu_str_addf(&s, ", %s", hu_args_nth(args, "accumulate", k));
	hu_tsv_release(&t);
	return s.s;
}

static hu_status
resume(hu_sharing *s, const hu_walk *w)
{
	char *folder = hu_path(w->a->run->dir, "analysis/parts");
	hu_status st = HU_OK;
	int files = 0, others = 0;

	if (s->shard.n && hu_exists(s->path))
		st = hu_parts_read(&s->own, s->path);
	else if (!s->shard.n)
		st = hu_parts_read_folder(&s->own, folder, &files, &others);
	if (st == HU_OK && others)
		fprintf(stderr, "halfulp analyze: %d parts in %s belong to other options and are passed over\n", others,
			hu_shown(folder));
	free(folder);
	return st;
}

hu_status
hu_sharing_init(hu_sharing *s, hu_walk *w, const hu_args *args)
{
	const char *shard = hu_args_text(args, "shard"), *path = hu_args_text(args, "part");
	char *work = work_of(w, args), *command = hu_parts_command(args, "shard part resume threads json");
	hu_parts *offered = hu_parts_offered();
	hu_status st = HU_OK;

	hu_parts_init(&s->own, "analyze", work, command);
	if (shard)
		st = hu_shard_parse(&s->shard, shard);
	if (!shard)
		s->path = hu_path(w->a->run->dir, "analysis/parts/ranks.part");
	if (st == HU_OK && shard)
		s->path = path ? hu_xstrdup(path)
			       : hu_xprintf("%s/analysis/parts/%d-of-%d.part", w->a->run->dir, s->shard.i, s->shard.n);
	if (offered && strcmp(offered->work, work))
		st = hu_fail(HU_EFILE, "the parts are of \"%s\", and here that is \"%s\": was the run trained again?",
			offered->work, work);
	s->parts = offered ? offered : &s->own;
	if (st == HU_OK && hu_args_given(args, "resume"))
		st = resume(s, w);
	free(work);
	free(command);
	return st;
}

void
hu_sharing_release(hu_sharing *s)
{
	hu_parts_release(&s->own);
	free(s->path);
}

int
hu_sharing_has(hu_sharing *s, const hu_walk *w, int i)
{
	char *name = hu_unit_name(w->a, &w->units.u[i]);
	int there = hu_parts_find(&s->own, name) != NULL;

	free(name);
	return there;
}

void
hu_sharing_add(hu_sharing *s, const hu_walk *w, int i, double seconds, const char *found)
{
	char *name = hu_unit_name(w->a, &w->units.u[i]);

	hu_parts_add(&s->own, name, w->units.cost[i], seconds, found);
	free(name);
}

hu_status
hu_sharing_study(hu_sharing *s, hu_walk *w, int i)
{
	double start = hu_now();
	hu_status st = HU_OK;
	hu_str found;

	if (hu_sharing_has(s, w, i))
		return HU_OK;
	hu_str_init(&found);
	st = hu_walk_study(w, i, &found);
	if (st == HU_OK)
		hu_sharing_add(s, w, i, hu_now() - start, found.s);
	hu_str_release(&found);
	return st;
}

static hu_status
save(const hu_sharing *s)
{
	char *shard = s->shard.n ? hu_xprintf("%d/%d", s->shard.i, s->shard.n) : NULL, *slash = strrchr(s->path, '/');
	hu_status st = HU_OK;

	if (slash) {
		char *folder = hu_xprintf("%.*s", (int)(slash - s->path), s->path);
		st = *folder ? hu_make_dirs(folder) : HU_OK;
		free(folder);
	}
	if (st == HU_OK)
		st = hu_parts_save(&s->own, s->path, shard);
	free(shard);
	return st;
}

hu_status
hu_sharing_keep(hu_sharing *s, int now)
{
	double start = hu_now();

	if (!now && (start - s->saved < 0.5 || start - s->saved < 20 * s->saving))
		return HU_OK;
	hu_status st = save(s);
	s->saved = hu_now();
	s->saving = s->saved - start;
	return st;
}

static void
say(const hu_sharing *s, const hu_walk *w, const hu_deal *load, int units, double took)
{
	double mine = load->each[s->shard.i - 1], mean = load->mean, over = mean > 0 ? load->most / mean - 1 : 0;

	if (s->quiet) {
		json_t *o = json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:s}", "shard", s->shard.i, "of",
			s->shard.n, "units", units, "of_units", w->units.n, "expected_s", mine, "seconds", took,
			"imbalance", over, "largest_unit_s", load->largest, "part", s->path);
		json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		putchar('\n');
		json_decref(o);
		return;
	}
	printf("shard %d of %d: %d of %d units in %.2f s; by cost %.4g of the work, the largest shard %.2g %% "
	       "above the mean",
		s->shard.i, s->shard.n, units, w->units.n, took, load->total > 0 ? mine / load->total : 0, 100 * over);
	if (load->largest > mean && w->units.n > 1)
		printf(", as one unit alone is %.3g of it", load->largest / load->total);
	printf("\n%s; next, when all are there: halfulp merge %s\n", hu_shown(s->path), hu_shown(w->a->run->dir));
}

hu_status
hu_sharing_part(hu_sharing *s, hu_walk *w)
{
	int *of = hu_xcalloc((size_t)w->units.n + 1, sizeof *of), units = 0;
	double start = s->saved = hu_now();
	hu_status st = HU_OK;
	hu_progress bar;
	hu_deal load;

	hu_deal_out(&load, of, w->units.cost, w->units.n, s->shard.n);
	for (int i = 0; i < w->units.n; i++)
		units += of[i] == s->shard.i - 1;
	hu_progress_start(&bar, "analyze", (size_t)units);
	for (int i = 0; i < w->units.n && st == HU_OK; i++) {
		if (of[i] != s->shard.i - 1)
			continue;
		st = hu_sharing_study(s, w, i);
		hu_progress_step(&bar, 1);
		if (st == HU_OK)
			st = hu_sharing_keep(s, 0);
	}
	hu_progress_end(&bar);
	if (st == HU_OK)
		st = hu_sharing_keep(s, 1);
	if (st == HU_OK)
		say(s, w, &load, units, hu_now() - start);
	hu_deal_release(&load);
	free(of);
	return st;
}
