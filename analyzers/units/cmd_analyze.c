/* SPDX-License-Identifier: Apache-2.0
   halfulp analyze RUN: runs the analyzers and prints what they found. */
#include "analyzers/run/analyzer.h"
#include "analyzers/units/walk.h"

#include "lib/base/mem.h"
#include "lib/base/terminal/fitted.h"
#include "lib/base/console/show_json.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"
#include "lib/store/run_check.h"

#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "only", "LIST", NULL, "run these analyzers alone, separated by commas:"
#define ANALYZER(id, name, flags, reads) " " name
#include "analyzers/run/analyzers.def"
#undef ANALYZER
			       },
	{ "accumulate", "SUM", NULL,
		"accumulate-what-if: summation model that the recorded products are summed by again, e.g. "
		"chunk:64,acc=fp16; repeatable" },
	{ "sample", "N", "2048", "elements of each output that are judged, chosen at random; all: every one" },
	{ "seed", "K", "1", "seed of that choice" },
	{ "steps", "LIST", "all", "traced steps to look at, as in 100,200-400" },
	{ "engine", "NAME", "auto", "engine that computes the exact values: auto, exact or mpfr" },
	{ "lost", "SHARE", "1e-3",
		"share of a tensor's nonzero values that may become zero under a loss scale that is called safe" },
	{ "no-propagate", NULL, NULL, "do not execute whole steps exactly, and leave out every comparison with them" },
	{ "elements", "FILE", NULL,
		"write a row for every judged element to FILE, and a row for every judged sum to FILE.swamping" },
	{ "out", "DIR", NULL,
		"of a program and its tensors: folder whose analysis/ gets the tables [the tensors' file without "
		".safetensors]" },
#include "lib/base/parts/share_options.def"
	{ "threads", "N", "0", "threads; 0: one a core" },
	{ "json", NULL, NULL, "print the object of summary.json with the list of tables" },
	{ NULL, NULL, NULL, NULL } };

/* Collects every --accumulate in one array that ends with NULL; HU_EINVAL names an unknown model. */
static hu_status
accumulators(const hu_args *a, hu_analysis_options *o)
{
	static const char *list[65];
	int n = hu_args_given(a, "accumulate");
	hu_sum sum;

	if (n > 64)
		return hu_fail(HU_EINVAL, "--accumulate: more than 64 models");
	for (int i = 0; i < n; i++) {
		list[i] = hu_args_nth(a, "accumulate", i);
		HU_TRY(hu_sum_parse(list[i], &sum));
	}
	list[n] = NULL;
	o->accumulate = n ? list : NULL;
	return HU_OK;
}

static hu_status
parse(const hu_args *a, hu_analysis_options *o)
{
	const char *sample = hu_args_text(a, "sample");
	long long n = 0, threads;

	memset(o, 0, sizeof *o);
	if (strcmp(sample, "all"))
		HU_TRY(hu_args_int(a, "sample", 1, 1LL << 40, &n));
	o->sample = (size_t)n;
	HU_TRY(hu_args_int(a, "seed", 0, (1LL << 62), &n));
	o->seed = (uint64_t)n;
	HU_TRY(hu_args_int(a, "threads", 0, 4096, &threads));
	HU_TRY(hu_args_real(a, "lost", 0, 1, &o->lost));
	HU_TRY(hu_engine_find(hu_args_text(a, "engine"), &o->engine));
	o->propagate = !hu_args_given(a, "no-propagate");
	o->elements = hu_args_text(a, "elements");
	HU_TRY(accumulators(a, o));
	if (hu_ranks_started() > 1)
		HU_TRY(hu_ranks_open());
	hu_threads_set(threads ? (int)threads : hu_threads_of(hu_ranks_local()));
	if (a->nrest < 1 || a->nrest > 2)
		return hu_fail(HU_EINVAL,
			"a run directory is needed, halfulp analyze RUN, or a program and its tensors, halfulp analyze "
			"PROGRAM.json TENSORS.safetensors");
	return HU_OK;
}

/* Returns 1 where some option on the line is read by row i, an analyzer that runs only where it is asked for, and by no
   analyzer that runs by default. */
static int
asked_by_option(const hu_args *a, int i)
{
	for (int k = 0; a->opts[k].name; k++) {
		int others = 0;
		if (!a->given[k] || !hu_word_in(hu_analyzer_reads(i), a->opts[k].name))
			continue;
		for (int j = 0; j < HU_ANALYZERS; j++)
			others += !(hu_analyzer_flags(j) & HU_ANALYZER_ASKED) &&
				  hu_word_in(hu_analyzer_reads(j), a->opts[k].name);
		if (!others)
			return 1;
	}
	return 0;
}

/* Marks the rows named by --only; without it, all except those that must be asked for. */
static hu_status
choose(const hu_args *a, char *take)
{
	const char *list = hu_args_text(a, "only"), *names[HU_ANALYZERS];
	char *all = hu_xstrdup(list ? list : ""), *save = NULL;
	int n = HU_ANALYZERS;
	hu_status st = HU_OK;

	for (int i = 0; i < n; i++) {
		int asked = hu_analyzer_flags(i) & HU_ANALYZER_ASKED;
		names[i] = hu_analyzer_at(i)->name;
		take[i] = asked ? asked_by_option(a, i) : !list;
	}
	for (char *s = strtok_r(all, ",", &save); s && st == HU_OK; s = strtok_r(NULL, ",", &save)) {
		int i = 0;
		while (i < n && strcmp(names[i], s))
			i++;
		if (i == n) {
			const char *near = hu_nearest(s, names, (size_t)n);
			st = hu_fail(HU_EINVAL, "--only %s: no analyzer of that name%s%s%s", s,
				near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		} else
			take[i] = 1;
	}
	free(all);
	return st;
}

/* Refuses options that none of the chosen analyzers reads. */
static hu_status
refuse_idle(const hu_args *args, const char *take)
{
	for (int k = 0; args->opts[k].name; k++) {
		const char *option = args->opts[k].name;
		int some = 0, taken = 0;
		hu_str by;
		hu_str_init(&by);
		for (int i = 0; hu_analyzer_at(i); i++)
			if (hu_word_in(hu_analyzer_reads(i), option)) {
				hu_str_addf(&by, "%s%s", some++ ? ", " : "on the analyzers of --only; these read it: ",
					hu_analyzer_at(i)->name);
				taken |= take[i];
			}
		hu_status st = args->given[k] && some && !taken ? hu_refuse(option, by.s) : HU_OK;
		hu_str_release(&by);
		HU_TRY(st);
	}
	return HU_OK;
}

static void
say(const char *name, const char *found, double seconds)
{
	char *line = hu_xprintf("%-11s %s  (%.1f s)", name, found, seconds);

	hu_fitted_prose(line, 12);
	free(line);
}

/* Writes the tables of all units. */
static hu_status
write_tables(hu_walk *w, int quiet)
{
	hu_analysis *a = w->a;

	for (int i = 0; i < HU_ANALYZERS; i++) {
		double start = hu_now();
		if (!w->take[i])
			continue;
		a->said.len = 0;
		*a->said.s = 0;
		HU_TRY(hu_analyzer_at(i)->end(a, w->tables[i]));
		if (!quiet && a->said.len)
			say(hu_analyzer_at(i)->name, a->said.s, w->seconds[i] + hu_now() - start);
		fflush(stdout);
	}
	return HU_OK;
}

/* Returns 1 where a chosen analyzer has the flag. */
static int
takes(const char *take, int flag)
{
	for (int i = 0; i < HU_ANALYZERS; i++)
		if (take[i] && hu_analyzer_flags(i) & flag)
			return 1;
	return 0;
}

/* Prints the findings. summed says that summary.json belongs to these tables and not to earlier ones. */
static void
report(const hu_analysis *a, int summed, int json)
{
	char *path = hu_path(a->run->dir, "analysis/summary.json");
	json_error_t why;
	json_t *o = summed ? json_load_file(path, 0, &why) : NULL, *v;
	size_t i;

	if (summed && !o) /* what was just written; main ends with this */
		hu_fail(HU_EIO, "%s: cannot be read: %s", path, why.text);
	free(path);
	if (json) {
		if (!o)
			o = json_object();
		json_object_set_new(o, "over_bound", json_integer((json_int_t)a->over_bound));
		hu_json_write(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
		putchar('\n');
	} else if (o) {
		putchar('\n');
		json_array_foreach(json_object_get(o, "verdict"), i, v) printf("%s\n", json_string_value(v));
		json_array_foreach(json_object_get(o, "remedies"), i, v) printf(
			"%sAgainst %s: %s; to see it at work: %s\n", i ? "" : "\n",
			json_string_value(json_object_get(v, "cause")), json_string_value(json_object_get(v, "remedy")),
			json_string_value(json_object_get(v, "command")));
		printf("\ntables in %s/analysis", hu_shown(a->run->dir));
		if (!a->run->tensors)
			printf("; next: halfulp report %s", hu_shown(a->run->dir));
		putchar('\n');
	}
	json_decref(o);
}

/* Whether this process is one of several that share the work: a shard, a rank, or who merges their parts. */
static int
is_shared(const hu_args *args)
{
	return hu_args_given(args, "shard") || hu_parts_offered() || hu_ranks_size() > 1;
}

/* Compares with their checksums the files that nobody judges: each rank some of them, and of shards who merges them. */
static hu_status
check_rest(const hu_analysis *a)
{
	int by_ranks = hu_ranks_size() > 1;

	if (!by_ranks && !hu_parts_offered())
		return HU_OK;
	return hu_run_check_rest(
		a->run, a->step, a->nstep, by_ranks ? hu_ranks_rank() : 0, by_ranks ? hu_ranks_size() : 1);
}

/* Opens what the command line names: a run directory, or the two files of a step, of which a line says what they
   lack. */
static hu_status
open_run(hu_run *r, const hu_args *args)
{
	const char *out = hu_args_text(args, "out"), *tensors = args->rest[1], *end = ".safetensors";
	hu_str lacks;

	if (args->nrest == 1) {
		HU_TRY(is_shared(args) ? hu_run_open_shared(r, args->rest[0]) : hu_run_open(r, args->rest[0]));
		if (hu_run_finished(r) != HU_OK && !hu_ranks_rank())
			hu_command_warn();
		return HU_OK;
	}
	size_t n = strlen(tensors), tail = strlen(end);
	if (!out && (n <= tail || strcmp(tensors + n - tail, end)))
		return hu_fail(HU_EINVAL,
			"%s: its name does not end in .safetensors; --out DIR says where the tables are to be written",
			tensors);
	char *dir = out ? hu_xstrdup(out) : hu_xprintf("%.*s", (int)(n - tail), tensors);
	hu_str_init(&lacks);
	hu_status st = hu_run_open_files(r, args->rest[0], tensors, dir, &lacks);
	if (st == HU_OK && !hu_ranks_rank())
		fprintf(stderr, "halfulp analyze: %s\n", lacks.s);
	hu_str_release(&lacks);
	free(dir);
	return st;
}

/* Computes and writes all tables, or one shard's part, for which it sets *part. */
static hu_status
walk(hu_analysis *a, const hu_args *args, const char *take, int *part)
{
	hu_sharing s;
	hu_walk w;
	hu_status st = hu_walk_init(&w, a, take);

	st = hu_walk_share(&w, &s, args, st, part);
	if (st == HU_OK && !*part)
		st = write_tables(&w, s.quiet);
	hu_share_end(&s, st);
	hu_walk_release(&w);
	return st;
}

static hu_status
begin(hu_analysis *a, const hu_run *r, const hu_analysis_options *opt, const hu_args *args)
{
	HU_TRY(hu_analysis_init(a, r, opt, hu_args_text(args, "steps")));
	hu_status st = check_rest(a);
	if (st != HU_OK)
		hu_analysis_release(a);
	return st;
}

static int
run(const hu_args *args)
{
	hu_analysis_options opt;
	hu_analysis a;
	hu_run r;
	char take[HU_ANALYZERS] = { 0 };
	int json = hu_args_given(args, "json");
	hu_status st = parse(args, &opt);

	if (json || hu_ranks_own())
		hu_progress_disable();
	if (st == HU_OK)
		st = choose(args, take);
	if (st == HU_OK)
		st = refuse_idle(args, take);
	if (st == HU_OK)
		st = open_run(&r, args);
	if ((st = hu_ranks_agree(st)) != HU_OK)
		return hu_complain(st);
	opt.gradients = takes(take, HU_ANALYZER_GRADIENTS);
	hu_status own = begin(&a, &r, &opt, args);
	if ((st = hu_ranks_agree(own)) != HU_OK && own == HU_OK)
		hu_analysis_release(&a);
	if (st == HU_OK) {
		int part = 0;
		st = walk(&a, args, take, &part);
		if (st == HU_OK && !part)
			report(&a, takes(take, HU_ANALYZER_VERDICT), json);
		size_t over = a.over_bound;
		hu_analysis_release(&a);
		if (st == HU_OK && over) {
			hu_fail(HU_OK,
				"%zu outputs left their call's bound; %s/analysis/faults.tsv names them, worst first",
				over, r.dir);
			hu_complain(HU_OK);
			hu_run_release(&r);
			return HU_EXIT_JUDGED;
		}
	}
	hu_run_release(&r);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
propagates(const void *of)
{
	return !hu_args_given(of, "no-propagate");
}

static int
is_of_files(const void *of)
{
	return ((const hu_args *)of)->nrest == 2;
}

static const hu_opt_need needs[] = {
#include "lib/base/parts/share_needs.def"
	{ "out", is_of_files,
		"on a run, whose tables belong in RUN/analysis; it needs PROGRAM.json TENSORS.safetensors" },
	{ "lost", propagates, "beside --no-propagate: the safe loss scale is that of the exact step's gradients" },
	{ NULL, NULL, NULL }
};

const hu_command hu_cmd_analyze = { "analyze", "[OPTION...] RUN | PROGRAM.json TENSORS.safetensors",
	"measure the rounding errors of a run's traced steps and write tables to RUN/analysis/",
	"Every traced call is computed again exactly from its recorded inputs. The tables say where rounding\n"
	"errors, swamped additions (a nonzero term that leaves its sum as it was) and underflowed gradients\n"
	"arose, and what harm they did. Exit 1 where an output exceeds the error bound that is proven for its\n"
	"call. The analyzer accumulate-what-if takes some seconds a traced step and runs only where --only or\n"
	"--accumulate asks for it. A program and the tensors of one step of it are enough: what else a run\n"
	"directory would tell is left out, and a line says so.",
	opts, run, needs, NULL };
