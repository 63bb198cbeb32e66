/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/rows/tables.h"

#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "reports/rows/obey.h"
#include "reports/rows/sheet.h"

#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "export", "FILE", NULL,
		"write the rows that --json has to FILE.tex (LaTeX, booktabs), FILE.md (Markdown) or FILE.tsv" },
	{ "rows-of", "KEY", NULL,
		"with --export: the key of the JSON's array that is meant, . for the object around it, or a table "
		"FILE.tsv that the command wrote [its only array]" },
	{ "columns", "LIST", NULL,
		"with --export: the columns, in this order, separated by commas; a.b is key b of an object a [all]" },
	{ "where", "CONDITION", NULL,
		"with --export: the rows, as COLUMN=TEXT, COLUMN=TEXT|TEXT or COLUMN!=TEXT; repeatable [all]" },
	{ "digits", "N", NULL, "with --export: significant digits of reals [as many as read back to the same number]" },
	{ NULL, NULL, NULL, NULL }
};

static int
belongs(const hu_command *c)
{
	for (const hu_opt *o = c->opts; o->name; o++)
		if (!strcmp(o->name, "json"))
			return 1;
	return 0;
}

static int
asked(const hu_args *a)
{
	return hu_args_given(a, "export") > 0;
}

static int
exports(const void *a)
{
	return asked(a);
}

static const hu_opt_need needs[] = { { "rows-of columns where digits", exports, "without --export" },
	{ NULL, NULL, NULL } };

/* Returns 1 where the name ends so. */
static int
ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n > m && !strcmp(name + n - m, with);
}

static hu_status
kind_of(const char *file, hu_sheet_kind *kind)
{
	static const char *const end[] = { ".tex", ".md", ".tsv" };

	for (int k = 0; k < 3; k++)
		if (ends(file, end[k])) {
			*kind = (hu_sheet_kind)k;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "--export %s: a name that ends in .tex, .md or .tsv is needed", file);
}

/* Reads the rows and keeps those that are asked for. */
static hu_status
choose(hu_sheet *g, const hu_obeyed *o, const hu_args *a)
{
	const char *of = hu_args_text(a, "rows-of"), *text;

	if (of && ends(of, ".tsv"))
		HU_TRY(hu_sheet_of_tsv(g, of));
	else
		HU_TRY(hu_sheet_of_json(g, o->json, o->n, of));
	for (int i = 0; (text = hu_args_nth(a, "where", i)); i++)
		HU_TRY(hu_sheet_where(g, text));
	if (hu_args_given(a, "columns"))
		return hu_sheet_choose(g, hu_args_text(a, "columns"));
	hu_sheet_shown(g);
	return HU_OK;
}

static hu_status export(const hu_obeyed *o, const hu_args *a, hu_sheet_kind kind, int digits)
{
	const char *file = hu_args_text(a, "export");
	hu_sheet g = { 0 };
	hu_str b;
	hu_status st = choose(&g, o, a);

	hu_str_init(&b);
	if (st == HU_OK)
		hu_sheet_write(&b, &g, kind, digits, o->command);
	if (st == HU_OK)
		st = hu_file_write(file, b.s, b.len);
	if (st == HU_OK && hu_args_given(a, "json"))
		fwrite(o->json, 1, o->n, stdout);
	else if (st == HU_OK)
		printf("%s: %zu rows, %d columns\n", hu_shown(file), g.rows, g.columns);
	hu_str_release(&b);
	hu_sheet_release(&g);
	return st;
}

static int
run(const hu_command *c, const hu_args *a)
{
	hu_obeyed o = { 0 };
	hu_sheet_kind kind = HU_SHEET_TSV;
	long long digits = 0;
	hu_status st = kind_of(hu_args_text(a, "export"), &kind);

	if (st == HU_OK && hu_args_given(a, "digits"))
		st = hu_args_int(a, "digits", 1, 17, &digits);
	hu_progress_disable();
	if (st == HU_OK)
		st = hu_obey(&o, c, a, opts, "--json");
	if (st == HU_OK && o.json)
		st = export(&o, a, kind, (int)digits);
	int code = o.code;
	hu_obeyed_release(&o);
	return st == HU_OK ? code : hu_complain(st);
}

const hu_command_addition hu_tables = { opts, needs, belongs, asked, run };
