/* SPDX-License-Identifier: Apache-2.0
   halfulp formats [FORMAT|VALUE...]: prints the number formats, the page of one, or values in each. */
#include "analyzers/formats/format_page.h"
#include "analyzers/value/rows.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"

#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = { { "mode", "MODE", "RNE", "rounding mode of the values: RNE RNA RNZ RZ RU RD RO" },
	{ "table", "KIND", NULL, "print the list alone, for a document: latex, markdown or tsv" },
	{ "json", NULL, NULL, "print an array with an object for each value and format, or for each format" },
	{ NULL, NULL, NULL, NULL } };

static hu_status
one(const char *text, hu_mode mode, json_t *rows)
{
	hu_expr *e;
	hu_row r;
	hu_status st = hu_expr_parse(text, 0, &e);

	for (int i = 0; st == HU_OK && i < HU_FORMATS; i++) {
		hu_arithmetic a = { hu_format_of((hu_format_id)i), mode, 0, 0, 0, 0, NULL, NULL, NULL };
		st = hu_row_init(&r, text, e, &a, 1);
		if (st != HU_OK)
			break;
		if (rows) {
			json_array_append_new(rows, hu_row_json(&r));
		} else {
			if (i == 0) {
				printf("\n%s = %s\n", text, r.exact);
				hu_row_heading("");
			}
			hu_row_print(&r);
		}
		hu_row_release(&r);
	}
	hu_expr_free(e);
	return st;
}

/* Recognises `text`. HU_OK: *id is the format that it names; or HU_NO_FORMAT where it names a block format, *b, or is a
   value, where the bits of *b are 0. */
static hu_status
what_is(const char *text, hu_format_id *id, hu_block *b)
{
	hu_expr *e;

	memset(b, 0, sizeof *b);
	hu_status st = hu_format_find(text, id);
	if (st == HU_OK)
		return HU_OK;
	*id = HU_NO_FORMAT;
	if (hu_block_find(text, b) == HU_OK)
		return HU_OK;
	if (st != HU_EABSENT) /* `text` looks like a format's or block format's name with wrong parameters */
		return hu_format_find(text, id);
	memset(b, 0, sizeof *b);
	HU_TRY(hu_expr_parse(text, 0, &e));
	hu_expr_free(e);
	return HU_OK;
}

static hu_status
print_each(const hu_args *args, hu_mode mode, json_t *rows)
{
	hu_format_id id;
	hu_block b;
	int values = 0;

	for (int i = 0; i < args->nrest; i++) { /* a wrong word is refused before anything is printed */
		HU_TRY(what_is(args->rest[i], &id, &b));
		values += id == HU_NO_FORMAT && !b.bits;
	}
	if (args->nrest && !values && hu_args_given(args, "mode"))
		return hu_refuse("mode", "on the page of a format; a value in each format is rounded by it");
	if (!rows && (values || !args->nrest))
		hu_formats_print();
	if (!args->nrest)
		return one("pi", mode, rows);
	for (int i = 0; i < args->nrest; i++) {
		HU_TRY(what_is(args->rest[i], &id, &b));
		if (id == HU_NO_FORMAT && !b.bits) {
			HU_TRY(one(args->rest[i], mode, rows));
			continue;
		}
		if (rows) {
			json_array_append_new(rows, b.bits ? hu_block_json(&b) : hu_format_json(hu_format_of(id)));
			continue;
		}
		if (i)
			putchar('\n');
		if (b.bits)
			hu_block_page(&b);
		else
			hu_format_page(hu_format_of(id));
	}
	return HU_OK;
}

static int
run(const hu_args *args)
{
	const char *table = hu_args_text(args, "table");
	json_t *rows = hu_args_given(args, "json") ? json_array() : NULL;
	hu_mode mode;
	hu_status st = hu_mode_find(hu_args_text(args, "mode"), &mode);

	if (st == HU_OK && hu_mode_draws(mode))
		st = hu_fail(HU_EINVAL, "--mode %s draws random bits: halfulp round --mode %s --seed N VALUE does that",
			hu_mode_name(mode), hu_mode_name(mode));
	if (st == HU_OK && table && (args->nrest || rows))
		st = hu_fail(HU_EINVAL, "--table prints the list alone; leave out the values, formats and --json");
	if (st == HU_OK)
		st = table ? hu_formats_table(table) : print_each(args, mode, rows);
	if (st == HU_OK && rows)
		hu_rows_print_json(rows);
	else if (rows)
		json_decref(rows);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int lists_values(const void *of) { return !hu_args_given(of, "table"); }

static const hu_opt_need needs[] = {
	{ "mode", lists_values, "beside --table, which prints the list alone" },
	{ NULL, NULL, NULL }
};

const hu_command hu_cmd_formats = { "formats", "[FORMAT|VALUE...] [OPTION...]",
	"list the number formats, with pi or VALUE in each, or the page of FORMAT",
	"The precision p counts the implicit bit: a value is an integer below 2^p times 2^(e-p+1), with an\n"
	"exponent e from emin to emax. Block formats, such as mxfp4, nvfp4, int4x32 and bfp8, have a page too.",
	opts, run, needs, NULL };
