/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/output/output.h"

#include "lib/base/terminal/progress.h"
#include "reports/pictures/picture.h"
#include "reports/rows/outputs.h"
#include "reports/rows/tables.h"

#include <string.h>

static const hu_opt rows[] = { { "out", "FILE", NULL,
				       "write the rows that --json has to FILE.tsv, FILE.md (Markdown) or FILE.tex "
				       "(LaTeX, booktabs), or all that "
				       "it prints to FILE.json; KEY=FILE names the JSON's array that is meant, .=FILE "
				       "the object around it, and "
				       "NAME.tsv=FILE a table that the command wrote [the only array]; repeatable" },
	{ "columns", "LIST", NULL,
		"of -o: the columns, in this order, separated by commas; a.b is key b of an object a [all]" },
	{ "where", "CONDITION", NULL,
		"of -o: the rows, as COLUMN=TEXT, COLUMN=TEXT|TEXT or COLUMN!=TEXT; repeatable [all]" },
	{ "digits", "N", NULL, "of -o: significant digits of reals [as many as read back to the same number]" },
	{ NULL, NULL, NULL, NULL } };

static const hu_opt looks[] = { { "style", "STYLE", "print",
					"of -o FILE.svg, FILE.png (192 pixels to the inch) or FILE.pdf, which draw the "
					"rows: print: dark on white; "
					"dark: light on a dark ground; talk: twice as large, 16:9; beside NAME.pdf, "
					"NAME.tex is a LaTeX figure" },
	{ "width", "WxH", NULL,
		"width of the picture, or width and height, in pixels at 96 to the inch or as 84mm or 84x60mm; text "
		"keeps its size, and a picture of rows is never lower than these need [640 wide]" },
	{ NULL, NULL, NULL, NULL } };

static int
has_json(const hu_command *c)
{
	const hu_opt *o = c->opts;

	while (o->name && strcmp(o->name, "json"))
		o++;
	return o->name != NULL;
}

static int
asked(const hu_command *c, const hu_args *a)
{
	const char *value;

	for (int i = 0; (value = hu_args_nth(a, "out", i)); i++)
		if (!hu_outputs_is_own(c, a, value))
			return 1;
	return 0;
}

/* Counts the outputs that have such a kind. */
static int
count(const hu_outputs *o, hu_output_kind first, hu_output_kind last)
{
	int n = 0;

	for (int i = 0; i < o->n; i++)
		n += o->of[i].kind >= first && o->of[i].kind <= last;
	return n;
}

/* Refuses what says how files look that are not asked for, and pictures of a command that has none. */
static hu_status
fits(const hu_command *c, const hu_args *a, const hu_outputs *o)
{
	int drawn = count(o, HU_OUTPUT_SVG, HU_OUTPUT_FIGURE);

	if (!count(o, HU_OUTPUT_TEX, HU_OUTPUT_TSV))
		HU_TRY(hu_addition_idle(&hu_output_rows, a));
	if (!drawn && hu_picture_has(c))
		HU_TRY(hu_addition_idle(&hu_output_pictures, a));
	for (int i = 0; i < o->n; i++)
		if (hu_output_is_drawn(&o->of[i]) && !hu_picture_has(c))
			return hu_fail(HU_EINVAL,
				"-o %s: %s has no picture; the name of a file of its rows ends in .tsv, .json, .md or "
				".tex",
				o->of[i].file, c->name);
	return HU_OK;
}

static int
run(const hu_command *c, const hu_args *a)
{
	hu_outputs o;
	int code = HU_EXIT_OK;
	hu_status st = hu_outputs_read(&o, c, a);

	if (st == HU_OK)
		st = fits(c, a, &o);
	int drawn = count(&o, HU_OUTPUT_SVG, HU_OUTPUT_FIGURE);
	hu_progress_disable();
	if (st == HU_OK && drawn < o.n)
		st = hu_tables_make(c, a, &o, &code);
	if (st == HU_OK && drawn && code <= HU_EXIT_JUDGED)
		st = hu_picture_make(c, a, &o, drawn == o.n, &code);
	hu_outputs_release(&o);
	return st == HU_OK ? code : hu_complain(st);
}

static int
never(const hu_command *c, const hu_args *a)
{
	(void)c;
	(void)a;
	return 0;
}

const hu_command_addition hu_output_rows = { rows, "without -o FILE.tsv, FILE.md or FILE.tex", has_json, asked, run };
const hu_command_addition hu_output_pictures = { looks, "without -o FILE.svg, FILE.png or FILE.pdf", hu_picture_has,
	never, NULL };
