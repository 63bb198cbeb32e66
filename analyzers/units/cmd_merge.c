/* SPDX-License-Identifier: Apache-2.0
   halfulp merge: merges the parts that commands with --shard wrote. It hands them to the command that they are of,
   which goes its usual way and finds every unit computed. */
#include "lib/base/console/show_json.h"
#include "lib/base/console/command.h"
#include "lib/base/guard/input.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/parts/deal.h"
#include "lib/base/parts/parts.h"
#include "lib/base/table/fields.h"

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

/* A part, and what its units were expected to take and took. */
typedef struct part_row {
	const char *shard, *path;
	long long units;
	double expected, seconds, share;
} part_row;

#define PART(name, kind, member, means, ...) HU_FIELD_OF(part_row, name, kind, member, ANYWHERE, means, __VA_ARGS__)
static const hu_table_field part_field[] = {
	PART("shard", TEXT, shard, "the shard that wrote the part"),
	PART("units", COUNT, units, "how many units it has"),
	PART("expected_s", REAL, expected, "the seconds that they were expected to take", .digits = 4),
	PART("seconds", REAL, seconds, "the seconds that they took", .digits = 4),
	PART("share", REAL, share, "their share of the seconds of all parts", .heading = "share %", .digits = -2),
	PART("part", TEXT, path, "the file"),
};
static const hu_fields part_table = HU_FIELDS(part_field, part_row);

/* Prints a row for each part, in the order in which they were read. */
static void
list(const hu_parts *p)
{
	part_row *row = hu_xcalloc((size_t)p->nfile + 1, sizeof *row);
	double all = 0;

	for (int f = 0; f < p->nfile; f++)
		row[f] = (part_row){ .shard = p->file[f].shard, .path = p->file[f].path };
	for (size_t i = 0; i < p->n; i++) {
		part_row *of = &row[p->u[i].file];
		all += p->u[i].seconds;
		of->units++;
		of->expected += p->u[i].cost;
		of->seconds += p->u[i].seconds;
	}
	for (int f = 0; f < p->nfile; f++)
		row[f].share = all > 0 ? 100 * row[f].seconds / all : 0;
	hu_fields_print(&part_table, row, (size_t)p->nfile, NULL);
	free(row);
}

/* What so many processes would take. */
typedef struct process_row {
	int processes;
	double seconds, efficiency, percent, largest;
} process_row;

#define PROCESS(name, kind, member, place, means, ...)                                                                 \
	HU_FIELD_OF(process_row, name, kind, member, place, means, __VA_ARGS__)
static const hu_table_field process_field[] = {
	PROCESS("processes", INT, processes, ANYWHERE, "how many processes share the units"),
	PROCESS("seconds", REAL, seconds, ANYWHERE, "the seconds of the one that takes longest", .digits = 4),
	PROCESS("efficiency", REAL, percent, SHOWN, "the mean of all processes over that", .heading = "efficiency %",
		.digits = -2),
	PROCESS("efficiency", REAL, efficiency, WRITTEN, "the mean of all processes over that"),
	PROCESS("largest_unit_s", REAL, largest, WRITTEN, "the seconds of the largest unit"),
};
static const hu_fields process_table = HU_FIELDS(process_field, process_row);

/* Prints how long numbers of equal shards would take for the units as they were measured, dealt the largest first.
   Reading, sending and merging are not counted. A shard computes whole units; what ranks would take for one that they
   compute together nobody has measured, since they share only a part of what it does. */
static void
simulate(const hu_parts *p, int json)
{
	double *seconds = hu_xmalloc((p->n + 1) * sizeof *seconds);
	int *of = hu_xmalloc((p->n + 1) * sizeof *of);
	process_row row[11];
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		seconds[i] = p->u[i].seconds > 0 ? p->u[i].seconds : 0;
	for (int processes = 1; processes <= 1024; processes *= 2) {
		hu_deal d;
		hu_deal_out(&d, of, seconds, (int)p->n, processes);
		double efficiency = d.most > 0 ? d.mean / d.most : 1;
		row[n++] = (process_row){ processes, d.most, efficiency, 100 * efficiency, d.largest };
		hu_deal_release(&d);
	}
	if (json) {
		json_t *rows = hu_fields_array(&process_table, row, n);
		hu_json_write(rows, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
		putchar('\n');
		json_decref(rows);
	} else {
		putchar('\n');
		hu_fields_print(&process_table, row, n, NULL);
	}
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
