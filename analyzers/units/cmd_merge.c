/* SPDX-License-Identifier: Apache-2.0
   halfulp merge: merges the parts that commands with --shard wrote. It hands them to the command that they are of,
   which goes its usual way and finds every unit computed. */
#include "lib/base/console/show_json.h"
#include "lib/base/console/command.h"
#include "lib/base/guard/input.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/parts/deal.h"
#include "lib/base/parts/parts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const hu_opt opts[] = {
	{ "list", NULL, NULL,
		"print how many units each part has, what they were expected to take and took, and how long 1 to 1024 "
		"processes would take for them as shards" },
	{ "json", NULL, NULL, "with --list: print the times of 1 to 1024 processes as an array of objects" },
	{ NULL, NULL, NULL, NULL },
};

static int
is_folder(const char *path)
{
	struct stat s;

	return hu_input_stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Reads the parts of a run directory, or those that are named. */
static hu_status
read_parts(hu_parts *p, const hu_args *args)
{
	int files = 0;

	if (!args->nrest)
		return hu_fail(
			HU_EINVAL, "a run directory or parts are needed: halfulp merge RUN, halfulp merge PART...");
	if (args->nrest == 1 && is_folder(args->rest[0])) {
		char *folder = hu_path(args->rest[0], "analysis/parts"), *flat = hu_path(args->rest[0], "parts");
		if (!is_folder(folder) && is_folder(flat)) {
			free(folder);
			folder = flat;
		} else
			free(flat);
		hu_status st = hu_parts_read_folder(p, folder, &files, NULL);
		if (st == HU_OK && !files)
			st = hu_fail(HU_EFILE, "%s: no part is there; halfulp analyze --shard I/N writes them", folder);
		free(folder);
		return st;
	}
	for (int i = 0; i < args->nrest; i++)
		HU_TRY(hu_parts_read(p, args->rest[i]));
	return HU_OK;
}

/* Prints a row for each part, in the order in which they were read. */
static void
list(const hu_parts *p)
{
	double all = 0;

	for (size_t i = 0; i < p->n; i++)
		all += p->u[i].seconds;
	printf("%-8s %8s %11s %9s %7s  %s\n", "shard", "units", "expected_s", "seconds", "share", "part");
	for (int f = 0; f < p->nfile; f++) {
		double cost = 0, seconds = 0;
		size_t n = 0;
		for (size_t i = 0; i < p->n; i++) {
			if (p->u[i].file != f)
				continue;
			n++;
			cost += p->u[i].cost;
			seconds += p->u[i].seconds;
		}
		printf("%-8s %8zu %11.4g %9.4g %6.2f%%  %s\n", p->file[f].shard, n, cost, seconds,
			all > 0 ? 100 * seconds / all : 0, hu_shown(p->file[f].path));
	}
}

/* Prints how long numbers of equal shards would take for the units as they were measured, dealt the largest first.
   Reading, sending and merging are not counted. A shard computes whole units; what ranks would take for one that they
   compute together nobody has measured, since they share only a part of what it does. */
static void
simulate(const hu_parts *p, int json)
{
	double *seconds = hu_xmalloc((p->n + 1) * sizeof *seconds);
	int *of = hu_xmalloc((p->n + 1) * sizeof *of);
	json_t *list = json_array();

	for (size_t i = 0; i < p->n; i++)
		seconds[i] = p->u[i].seconds > 0 ? p->u[i].seconds : 0;
	if (!json)
		printf("\n%-9s %9s %10s\n", "processes", "seconds", "efficiency");
	for (int n = 1; n <= 1024; n *= 2) {
		hu_deal d;
		hu_deal_out(&d, of, seconds, (int)p->n, n);
		double efficiency = d.most > 0 ? d.mean / d.most : 1;
		if (json)
			json_array_append_new(list, json_pack("{s:i s:f s:f s:f}", "processes", n, "seconds", d.most,
							    "efficiency", efficiency, "largest_unit_s", d.largest));
		else
			printf("%-9d %9.4g %9.2f%%\n", n, d.most, 100 * efficiency);
		hu_deal_release(&d);
	}
	if (json) {
		hu_json_write(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
		putchar('\n');
	}
	json_decref(list);
	free(of);
	free(seconds);
}

static int
is_shared(const hu_command *c)
{
	for (const hu_opt *o = c->opts; o->name; o++)
		if (!strcmp(o->name, "shard"))
			return 1;
	return 0;
}

/* Returns 1 where the command's last argument is the folder of its results. */
static int
moves(const char *command)
{
#define ALONE(name, why)
#define SHARES(name, moves)                                                                                            \
	if (!strcmp(command, #name))                                                                                   \
		return moves;
#include "lib/base/ranks/shares.def"
#undef SHARES
#undef ALONE
	return 0;
}

/* Runs the command of the parts on its options. A run directory on the line stands for the one that they name; a model
   that they name stays what it is, since it lies elsewhere. */
static int
run_command(const hu_parts *p, const hu_args *args)
{
	json_error_t e;
	json_t *words = json_loads(p->command, 0, &e), *w;
	const hu_command *c = hu_command_find(p->kind);
	char **argv = hu_xcalloc(json_array_size(words) + 3, sizeof *argv);
	int argc = 0, rest = 0, ok = words && c && is_shared(c);
	size_t i;

	argv[argc++] = (char *)(size_t)p->kind;
	json_array_foreach(words, i, w)
	{
		const char *s = json_string_value(w);
		ok &= s != NULL;
		if (rest == 1 && args->nrest == 1 && moves(p->kind) && is_folder(args->rest[0]) &&
			json_array_size(words) == i + 1 && (is_folder(s) || !hu_exists(s)))
			s = args->rest[0]; /* the folder of the results, wherever it was moved */
		rest |= s && !strcmp(s, "--");
		argv[argc++] = (char *)(size_t)s;
	}
	int code = ok ? hu_command_within(c, argc, argv)
		      : hu_complain(hu_fail(
				HU_EFILE, "the parts' line \"# command:\" is none of a command that can be cut"));
	free(argv);
	json_decref(words);
	return code;
}

static int
run(const hu_args *args)
{
	hu_parts p;

	hu_parts_init(&p, NULL, NULL, NULL);
	hu_status st = read_parts(&p, args);
	if (st != HU_OK) {
		hu_parts_release(&p);
		return hu_complain(st);
	}
	int lists = hu_args_given(args, "list"), json = hu_args_given(args, "json");
	if (lists && !json)
		list(&p);
	/* Only the command knows which units its work has, so that it looks for them where they are only listed too. */
	hu_parts_offer(&p, lists);
	int code = run_command(&p, args);
	hu_parts_offer(NULL, 0);
	if (lists && code == HU_EXIT_OK)
		simulate(&p, json);
	hu_parts_release(&p);
	return code;
}

static int
is_list(const void *of)
{
	return hu_args_given(of, "list");
}

static const hu_opt_need needs[] = {
	{ "json", is_list, "without --list: the command whose parts are merged prints what it prints" },
	{ NULL, NULL, NULL },
};

const hu_command hu_cmd_merge = { "merge", "[OPTION...] RUN | PART...",
	"merge the parts that commands with --shard wrote to the tables of one process",
	"Each part holds what some units of the work found. Whatever the number of shards, the tables are those\n"
	"that one process writes, byte for byte; exit codes are those of the command, too. Exit 3 where a part is\n"
	"missing, was changed, or belongs to other options, another run or another version of halfulp, with --list\n"
	"too. Of a run, shards of analyze compare what they judge with its checksums, and merge the other files.\n"
	"The folder of the results may have been moved since. Names of other files, such as a model and its inputs,\n"
	"are those that the shards were given: merge is called in the same folder. Once all parts are there,\n"
	"analyze --resume does the same, and has --json.",
	opts, run, needs, NULL };
