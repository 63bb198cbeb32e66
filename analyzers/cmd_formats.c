/* SPDX-License-Identifier: Apache-2.0
   halfulp formats [VALUE...]: the number formats, and values in each. */
#include "analyzers/rows.h"
#include "lib/base/opt.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>

static const hu_opt opts[] = {
	{ "mode", "MODE", "RNE", "rounding of the values: RNE RNA RZ RU RD RO" },
	{ "json", NULL, NULL, "print an array, a row a value and format" },
	{ NULL, NULL, NULL, NULL }
};

static void
print_formats(void)
{
	printf("%-6s %4s %4s %4s %6s %6s %-13s %-13s %-13s %-11s %-18s %s\n", "format", "bits", "exp", "p", "emin", "emax", "max finite",
	       "min normal", "min subnormal", "unit rnd.", "NaN code", "infinity; also known as");
	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format f = hu_format_of((hu_format_id)i);
		char unit[16], nan[24];
		snprintf(unit, sizeof unit, "2^-%d", f.p);
		hu_row_code(hu_nan_code(f), f, nan);
		printf("%-6s %4d %4d %4d %6d %6d %-13.6g %-13.6g %-13.6g %-11s %-18s %s; %s\n", hu_format_name(f.id), f.bits, f.ebits, f.p, f.emin,
		       f.emax, f.max, hu_smallest_normal(f), hu_smallest(f), unit, nan, hu_has_inf(f) ? "yes" : "no", hu_format_aliases(f.id));
	}
}

static hu_status
one(const char *text, hu_mode mode, json_t *rows)
{
	hu_expr *e;
	hu_row r;
	hu_status st = hu_expr_parse(text, 0, &e);

	for (int i = 0; st == HU_OK && i < HU_FORMATS; i++) {
		hu_arithmetic a = { hu_format_of((hu_format_id)i), mode, 0, 0, 0, 0, NULL };
		st = hu_row_init(&r, text, e, &a, 1);
		if (st != HU_OK)
			break;
		if (rows) {
			json_array_append_new(rows, hu_row_json(&r));
		} else {
			if (i == 0) {
				printf("\n%s = %s\n", text, r.exact);
				hu_row_heading();
			}
			hu_row_print(&r);
		}
		hu_row_release(&r);
	}
	hu_expr_free(e);
	return st;
}

/* So that a wrong value is refused before anything is printed. */
static hu_status
check(const hu_args *args)
{
	for (int i = 0; i < args->nrest; i++) {
		hu_expr *e;
		HU_TRY(hu_expr_parse(args->rest[i], 0, &e));
		hu_expr_free(e);
	}
	return HU_OK;
}

static int
run(const hu_args *args)
{
	json_t *rows = hu_args_given(args, "json") ? json_array() : NULL;
	hu_mode mode;
	hu_status st = hu_mode_find(hu_args_text(args, "mode"), &mode);

	if (st == HU_OK && mode == HU_SR)
		st = hu_fail(HU_EINVAL, "--mode SR draws random bits: halfulp round --mode SR --seed N VALUE does that");
	if (st == HU_OK)
		st = check(args);
	if (st == HU_OK && !rows)
		print_formats();
	if (st == HU_OK && !args->nrest)
		st = one("pi", mode, rows);
	for (int i = 0; st == HU_OK && i < args->nrest; i++)
		st = one(args->rest[i], mode, rows);
	if (st == HU_OK && rows)
		hu_rows_print_json(rows);
	else if (rows)
		json_decref(rows);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_formats = {
	"formats", "[VALUE...] [OPTION...]", "list the number formats, with pi or VALUE in each",
	"p counts the implicit bit; a value is an integer below 2^p times 2^(e-p+1) with emin <= e <= emax.",
	opts, run
};
