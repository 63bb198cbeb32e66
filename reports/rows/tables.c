/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/rows/tables.h"

#include "lib/base/show.h"
#include "lib/base/file.h"
#include "reports/rows/rerun.h"
#include "reports/rows/json_table.h"

#include <stdio.h>
#include <string.h>

/* Reads the rows and keeps those that are asked for. */
static hu_status
choose(hu_json_table *g, const hu_rerun *o, const hu_args *a, const char *of)
{
	const char *text;

	if (of && strlen(of) > 4 && !strcmp(of + strlen(of) - 4, ".tsv"))
		HU_TRY(hu_json_table_of_tsv(g, of));
	else
		HU_TRY(hu_json_table_of_json(g, o->json, o->n, of));
	for (int i = 0; (text = hu_args_nth(a, "where", i)); i++)
		HU_TRY(hu_json_table_where(g, text));
	if (hu_args_given(a, "columns"))
		return hu_json_table_choose(g, hu_args_text(a, "columns"));
	hu_json_table_shown(g);
	return HU_OK;
}

static hu_status
write_rows(const hu_rerun *o, const hu_args *a, const hu_output *to, int digits)
{
	hu_json_table g = { 0 };
	hu_str b;
	hu_status st = choose(&g, o, a, to->key);

	hu_str_init(&b);
	if (st == HU_OK)
		hu_json_table_write(&b, &g, (hu_json_table_kind)to->kind, digits, o->command);
	if (st == HU_OK)
		st = hu_file_write(to->file, b.s, b.len);
	if (st == HU_OK && !hu_args_given(a, "json"))
		printf("%s: %zu row%s, %d column%s\n", hu_shown(to->file), g.rows, g.rows == 1 ? "" : "s",
		       g.columns, g.columns == 1 ? "" : "s");
	hu_str_release(&b);
	hu_json_table_release(&g);
	return st;
}

static hu_status
write_json(const hu_rerun *o, const hu_args *a, const hu_output *to)
{
	HU_TRY(hu_file_write(to->file, o->json, o->n));
	if (!hu_args_given(a, "json"))
		printf("%s\n", hu_shown(to->file));
	return HU_OK;
}

hu_status
hu_tables_make(const hu_command *c, const hu_args *a, const hu_outputs *files, int *code)
{
	hu_rerun o = { 0 };
	long long digits = 0;
	hu_status st = hu_args_given(a, "digits") ? hu_args_int(a, "digits", 1, 17, &digits) : HU_OK;

	if (st == HU_OK)
		st = hu_rerun_run(&o, c, a, "--json");
	for (int i = 0; i < files->n && st == HU_OK && o.json; i++)
		if (files->of[i].kind == HU_OUTPUT_JSON)
			st = write_json(&o, a, &files->of[i]);
		else if (!hu_output_is_drawn(&files->of[i]))
			st = write_rows(&o, a, &files->of[i], (int)digits);
	if (st == HU_OK && o.json && hu_args_given(a, "json"))
		fwrite(o.json, 1, o.n, stdout);
	*code = o.code;
	hu_rerun_release(&o);
	return st;
}
