/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/bench/bench_units.h"

#include "lib/base/build.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/failed.h"
#include "lib/base/mem.h"
#include "lib/base/parts/share.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a benchmark asks for, and this process's share of it. */
typedef struct job {
	hu_bench_sink *sink;
	const hu_bench *bench;
	hu_bench_work work;
	hu_share_work share;
	int turns; /* other processes on this machine may measure too */
	char machine[64];
} job;

static hu_status
rows_of(job *j, int i, json_t *rows)
{
	hu_status st = j->bench->measure(&j->work, i, rows);

	for (size_t k = 0; k < json_array_size(rows); k++)
		if (!json_object_get(json_array_get(rows, k), "machine"))
			json_object_set_new(json_array_get(rows, k), "machine", json_string(j->machine));
	return st;
}

/* Measures unit i here, while no process that shares the benchmark measures on this machine. */
static hu_status
compute(void *of, int i, hu_str *found)
{
	job *j = of;
	json_t *rows = json_array();
	int turn = -1;

	if (j->turns)
		hu_bench_turn_take(&turn);
	hu_ranks_withdraw(1);
	hu_status st = rows_of(j, i, rows);
	hu_ranks_withdraw(0);
	hu_bench_turn_give(turn);
	char *text = st == HU_OK ? json_dumps(rows, JSON_COMPACT) : NULL;

	hu_str_add(found, text ? text : "");
	free(text);
	json_decref(rows);
	return st;
}

static hu_status
add(job *j, int i, json_t *rows)
{
	if (j->bench->merge)
		j->bench->merge(&j->work, i, rows);
	return hu_bench_rows_take(j->sink, rows);
}

static char *
name_of(const void *of, int i)
{
	const job *j = of;

	return j->bench->unit(&j->work, i);
}

static hu_status
merge(void *of, int i, const char *found)
{
	job *j = of;
	json_error_t e;
	json_t *rows = json_loads(found, 0, &e);

	if (!json_is_array(rows)) {
		char *name = name_of(j, i);
		hu_status st = hu_fail(HU_EFILE, "unit %s: what its part has are no rows: %s", name, e.text);
		free(name);
		json_decref(rows);
		return st;
	}
	hu_status st = add(j, i, rows);
	json_decref(rows);
	return st;
}

/* All ranks measure one unit after another together; rank 0 has the rows. */
static hu_status
together(job *j, int *ends)
{
	hu_status st = HU_OK;
	size_t steps = 0;

	*ends = hu_ranks_rank() != 0;
	for (int i = 0; i < j->work.n; i++)
		steps += j->work.steps ? j->work.steps[i] : 1;
	hu_progress_start(&j->share.bar, "bench", steps);
	for (int i = 0; i < j->work.n && st == HU_OK; i++) {
		json_t *rows = json_array();
		st = rows_of(j, i, rows);
		if (st == HU_OK && !*ends)
			st = add(j, i, rows);
		json_decref(rows);
	}
	hu_progress_end(&j->share.bar);
	return st;
}

/* A line that only processes have in common that measure the same units. */
static char *
text_of(const job *j, const hu_args *given)
{
	char *options, *text;

	hu_parts_options(&options, given, "shard shard:part resume json tsv", NULL); /* cannot fail */
	text = hu_xprintf("by halfulp %s, %s, options %s%s%s", hu_build_version(), j->bench->name,
		*options ? options : "none", j->work.setting ? ", on " : "", j->work.setting ? j->work.setting : "");
	free(options);
	return text;
}

static hu_status
deal(job *j, const hu_args *given, hu_status st, int *ends)
{
	double *cost = hu_xcalloc((size_t)j->work.n + 1, sizeof *cost);
	char *text = text_of(j, given), *place = hu_xprintf("runs/bench-%s", j->bench->name),
	     *folder = hu_xprintf("%s/parts", place);
	hu_sharing s;

	for (int i = 0; i < j->work.n; i++)
		cost[i] = j->work.cost ? j->work.cost[i] : 1;
	j->share = (hu_share_work){ .command = "bench",
		.text = text,
		.folder = folder,
		.place = place,
		.n = j->work.n,
		.threaded = 1,
		.cost = cost,
		.steps = j->work.steps,
		.group = j->work.group,
		.name = name_of,
		.compute = compute,
		.merge = merge,
		.of = j };
	st = hu_share_out(&s, &j->share, given, st, ends);
	hu_share_end(&s, st);
	if (st == HU_OK && hu_ranks_size() > 1 && !hu_ranks_rank())
		rmdir(place); /* unless anything else is there */
	free(cost);
	free(text);
	free(place);
	free(folder);
	return st;
}

hu_status
hu_bench_share(hu_bench_sink *sink, const hu_args *given, const hu_args *a, int *ends)
{
	job j = { .sink = sink, .bench = sink->bench };
	int one = j.bench->together && hu_ranks_size() > 1;
	hu_status st = j.bench->begin(&j.work, a);

	if (gethostname(j.machine, sizeof j.machine - 1))
		hu_failed_note(HU_EXIT_ENV, "the system does not say the name of this machine");
	j.turns = !one && (hu_ranks_size() > 1 || hu_args_given(given, "shard"));
	j.work.bar = sink->bar = &j.share.bar;
	if (!one)
		st = deal(&j, given, st, ends);
	else if ((st = hu_ranks_agree(st)) == HU_OK)
		st = together(&j, ends);
	if (st == HU_OK && !*ends && j.bench->after) {
		json_t *rows = json_array();
		st = j.bench->after(&j.work, rows);
		if (st == HU_OK)
			st = hu_bench_rows_take(sink, rows);
		json_decref(rows);
	}
	sink->bar = NULL;
	j.bench->end(&j.work);
	free(j.work.group);
	free(j.work.cost);
	free(j.work.steps);
	free(j.work.setting);
	return st;
}
