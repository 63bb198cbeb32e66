/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/show_json.h"
#include "lib/base/parts/share.h"

#include "lib/base/guard/ended.h"
#include "lib/base/terminal/excerpts.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/parts/deal.h"
#include "lib/base/ranks/ranks.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes over what parts have of this work: a shard's own part, else every part of the folder. */
static hu_status
resume(hu_sharing *s)
{
	hu_share_work *w = s->work;
	int files = 0, others = 0;

	if (!s->shard.n)
		HU_TRY(hu_parts_read_folder(&s->own, w->folder, &files, &others));
	else if (hu_exists(s->path))
		HU_TRY(hu_parts_read(&s->own, s->path));
	if (w->passing)
		hu_parts_drop(&s->own, w->passing);
	if (others && w->keeps)
		return hu_fail(HU_EFILE,
			"%s: what is there was made with other options or other files: choose another folder",
			w->place);
	if (others && !hu_ranks_rank())
		fprintf(stderr, "halfulp %s: %d parts in %s belong to other options and are passed over\n", w->command,
			others, hu_shown(w->folder));
	return HU_OK;
}

/* Marks the units that are in s->own. */
static void
mark(hu_sharing *s)
{
	s->there = hu_xcalloc((size_t)s->work->n + 1, 1);
	for (int i = 0; i < s->work->n && s->own.n; i++) {
		char *name = s->work->name(s->work->of, i);
		s->there[i] = hu_parts_find(&s->own, name) != NULL;
		free(name);
	}
}

/* Refuses to write a shard's part over one of other work, before anything is computed. Where units leave files beside
   the parts no part of the folder may be of other work: the two would have files of the same names. */
static hu_status
spare(const hu_sharing *s)
{
	const hu_share_work *w = s->work;
	hu_status st = hu_parts_spare(&s->own, s->path);

	if (st == HU_OK && w->keeps)
		st = hu_parts_spare_folder(&s->own, w->folder);
	if (st == HU_OK)
		return HU_OK;
	if (w->keeps)
		return hu_fail(
			st, "%s: choose another folder, or give the options that it was begun with", hu_reason());
	return hu_fail(st, "%s: remove it if it is of no more use, or name another with --shard I/N:part=FILE",
		hu_reason());
}

static hu_status
begin(hu_sharing *s)
{
	hu_share_work *w = s->work;
	const char *shard = hu_args_text(s->args, "shard"), *path = hu_args_text(s->args, "shard:part");
	char *command =
		hu_parts_command(s->args, w->threaded ? "shard resume json" : "shard resume threads json");
	hu_parts *offered = hu_parts_offered();
	hu_status st = HU_OK;

	hu_parts_init(&s->own, w->command, w->text, command);
	free(command);
	s->saved = hu_now();
	s->parts = offered ? offered : &s->own;
	s->path = path ? hu_xstrdup(path) : hu_path(w->folder, "ranks.part");
	if (shard)
		st = hu_shard_parse(&s->shard, shard);
	if (st == HU_OK && shard && !path) {
		free(s->path);
		s->path = hu_xprintf("%s/%d-of-%d.part", w->folder, s->shard.i, s->shard.n);
	}
	if (offered && strcmp(offered->work, s->own.work)) {
		hu_excerpts where = hu_excerpts_of(offered->work, s->own.work);
		st = hu_fail(HU_EFILE,
			"the parts are of \"%s\", and here that is \"%s\": did the run or a file change since?",
			where.a, where.b);
	}
	if (st == HU_OK && shard)
		st = spare(s);
	if (st == HU_OK && hu_args_given(s->args, "resume"))
		st = resume(s);
	mark(s);
	return st;
}

static void
say(const hu_sharing *s, const hu_deal *load, int units, int left, double took)
{
	hu_share_work *w = s->work;
	double mine = load->each[s->shard.i - 1], mean = load->mean, over = mean > 0 ? load->most / mean - 1 : 0;

	if (s->quiet) {
		json_t *o = json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:s}", "shard", s->shard.i, "of",
			s->shard.n, "units", units, "of_units", w->n, "expected_s", mine, "seconds", took, "imbalance",
			over, "largest_unit_s", load->largest, "part", s->path);
		if (w->checked)
			json_object_set_new(o, "checked_bytes", json_integer((json_int_t)w->checked(w->of)));
		hu_json_write(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		putchar('\n');
		json_decref(o);
		return;
	}
	printf("shard %d of %d: %d of %d units in %.2f s; by cost %.4g of the work, the largest shard %.2g %% "
	       "above the mean",
		s->shard.i, s->shard.n, units, w->n, took, load->total > 0 ? mine / load->total : 0, 100 * over);
	if (load->largest > mean && w->n > 1)
		printf(", as one unit alone is %.3g of it", load->largest / load->total);
	if (w->checked)
		printf("; %.3g MB compared with checksums", w->checked(w->of) / 1e6);
	if (left)
		printf("\n%d units follow from those of all shards: the same line with --resume computes them then, "
		       "or merge does",
			left);
	int named = hu_args_text(s->args, "shard:part") != NULL;
	printf("\n%s; next, when all are there: halfulp merge %s\n", hu_shown(s->path),
		named ? "with the names of all parts" : hu_shown(w->place));
}

/* Says which shards a work lacks of which n units are in no part. */
static hu_status
lacking(const hu_share_work *w, const hu_parts *p, int n)
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
		"%d of %d units are in no part%s%s: run %s with --shard for what is missing, then merge again", n, w->n,
		said.len ? "; there are no parts of the shards " : "", said.s, w->command);
	hu_str_release(&said);
	return st;
}

/* How many units, without late ones, are in no part. */
static int
lacks(const hu_share_work *w, hu_parts *parts)
{
	int missing = 0;

	for (int i = 0; i < w->n - w->late; i++) {
		char *name = w->name(w->of, i);
		missing += !hu_parts_find(parts, name);
		free(name);
	}
	return missing;
}

static hu_status
complete(const hu_share_work *w, hu_parts *parts)
{
	int missing = lacks(w, parts);

	return missing ? lacking(w, parts, missing) : HU_OK;
}

/* Merges unit i, computed here (*here) unless a part has it. */
static hu_status
one(hu_sharing *s, int i, int *here)
{
	hu_share_work *w = s->work;
	const hu_part_unit *u = NULL;
	hu_status st = HU_OK;
	hu_str found;

	if (s->parts != &s->own || s->there[i]) {
		char *name = w->name(w->of, i);
		u = hu_parts_find(s->parts, name);
		free(name);
	}
	*here = !u;
	if (u)
		return w->merge(w->of, i, strcmp(u->found, "-") ? u->found : "");
	double start = hu_now();
	hu_str_init(&found);
	st = w->compute(w->of, i, &found);
	if (st == HU_OK)
		st = w->merge(w->of, i, found.s);
	if (st == HU_OK && w->keeps) {
		hu_sharing_add(s, i, hu_now() - start, found.s);
		st = hu_sharing_keep(s, 0);
	}
	hu_str_release(&found);
	return st;
}

/* Merges units first to last-1. */
static hu_status
join_units(hu_sharing *s, int first, int last)
{
	hu_status st = HU_OK;
	int here;

	for (int i = first; i < last && st == HU_OK; i++) {
		st = one(s, i, &here);
		hu_sharing_moved(s->work, i, here);
	}
	return st;
}

/* The steps of the bar that all units take. */
static size_t
all_steps(const hu_share_work *w)
{
	size_t sum = 0;

	for (int i = 0; i < w->n; i++)
		sum += hu_sharing_steps(w, i);
	return sum;
}

static hu_status
all_units(hu_sharing *s)
{
	hu_share_work *w = s->work;
	int early = w->n - w->late;

	if (hu_parts_offered())
		HU_TRY(complete(w, s->parts));
	if (hu_parts_only_asked())
		return HU_OK;
	hu_progress_start(&w->bar, w->command, all_steps(w));
	hu_status st = join_units(s, 0, early);
	if (st == HU_OK && w->late)
		st = w->ready(w->of);
	if (st == HU_OK)
		st = join_units(s, early, w->n);
	hu_progress_end(&w->bar);
	return st;
}

/* Computes units first to last-1 as far as they are this shard's. */
static hu_status
own_units(hu_sharing *s, const int *of, int first, int last)
{
	hu_status st = HU_OK;

	for (int i = first; i < last && st == HU_OK; i++) {
		if (of[i] != s->shard.i - 1)
			continue;
		int here = !hu_sharing_has(s, i);
		st = hu_sharing_compute(s, i);
		hu_sharing_moved(s->work, i, here);
		if (st == HU_OK)
			st = hu_sharing_keep(s, 0);
	}
	return st;
}

/* Merges what parts of the folder have of all units but late ones, and computes this shard's late ones; does nothing
   where a unit is in no part there. */
static hu_status
late_units(hu_sharing *s, const int *of)
{
	hu_share_work *w = s->work;
	int early = w->n - w->late, files, others;
	hu_parts there;

	hu_parts_init(&there, w->command, w->text, NULL);
	hu_status st = hu_parts_read_folder(&there, w->folder, &files, &others);
	if (st == HU_OK && !lacks(w, &there)) {
		s->parts = &there;
		st = join_units(s, 0, early);
		s->parts = &s->own;
		if (st == HU_OK)
			st = w->ready(w->of);
		if (st == HU_OK)
			st = own_units(s, of, early, w->n);
		if (st == HU_OK)
			st = hu_sharing_keep(s, 1);
	}
	hu_parts_release(&there);
	return st;
}

/* Computes this shard's units, of those that follow from all others where these are there, and writes them to the part,
   which is saved now and then, so that --resume can go on where a process was ended. Prints a line on its cost and that
   of the other shards. */
static hu_status
one_shard(hu_sharing *s)
{
	hu_share_work *w = s->work;
	int *of = hu_xcalloc((size_t)w->n + 1, sizeof *of), units = 0, left = 0;
	size_t steps = 0;
	double start = s->saved = hu_now();
	hu_status st = HU_OK;
	hu_deal load;

	hu_deal_out(&load, of, w->cost, w->n, s->shard.n);
	for (int i = 0; i < w->n; i++) {
		int mine = of[i] == s->shard.i - 1;
		units += mine;
		steps += mine ? hu_sharing_steps(w, i) : 0;
	}
	hu_progress_start(&w->bar, w->command, steps);
	st = own_units(s, of, 0, w->n - w->late);
	if (st == HU_OK)
		st = hu_sharing_keep(s, 1);
	if (st == HU_OK && w->late)
		st = late_units(s, of);
	hu_progress_end(&w->bar);
	for (int i = w->n - w->late; i < w->n; i++)
		left += of[i] == s->shard.i - 1 && !hu_sharing_has(s, i);
	if (st == HU_OK)
		say(s, &load, units - left, left, hu_now() - start);
	hu_deal_release(&load);
	free(of);
	return st;
}

hu_status
hu_share_out(hu_sharing *s, hu_share_work *w, const hu_args *args, hu_status st, int *ends)
{
	*s = (hu_sharing){ .work = w, .args = args, .quiet = hu_args_given(args, "json") };
	*ends = hu_args_given(args, "shard") || hu_parts_only_asked();
	if (st == HU_OK)
		st = begin(s);
	if (st == HU_OK && s->own.n)
		hu_sharing_promise(s);
	if (hu_ranks_size() > 1) {
		*ends = hu_ranks_rank() != 0;
		HU_TRY(hu_ranks_agree(st));
		st = hu_share_ranks(s);
	} else if (st == HU_OK && s->shard.n)
		return one_shard(s);
	return st == HU_OK && (!*ends || hu_parts_only_asked()) ? all_units(s) : st;
}

void
hu_share_end(hu_sharing *s, hu_status st)
{
	int kept = hu_ranks_size() > 1 && s->work && !s->work->keeps;

	hu_ended_says(NULL, NULL);
	if (st == HU_OK && kept && s->path && !s->shard.n && !hu_ranks_rank()) {
		unlink(s->path);
		rmdir(s->work->folder); /* which fails where other parts are */
	}
	if (st == HU_OK && hu_ranks_size() > 1)
		hu_share_part();
	hu_parts_release(&s->own);
	free(s->path);
	free(s->there);
	memset(s, 0, sizeof *s);
}

int
hu_share_alone(const void *of)
{
	(void)of;
	return hu_ranks_started() == 1;
}

int
hu_share_is_shard(const void *of)
{
	return hu_args_given(of, "shard") > 0;
}
