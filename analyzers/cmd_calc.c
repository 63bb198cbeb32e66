/* SPDX-License-Identifier: Apache-2.0
   halfulp calc EXPRESSION: what number formats make of an expression. */
#include "analyzers/explain.h"
#include "analyzers/rows.h"
#include "lib/base/opt.h"

#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "format", "LIST", "fp16,bf16,fp32", "formats, or all" },
	{ "mode", "MODE", "RNE", "rounding of literals and operations: RNE RNA RNZ RZ RU RD RO SR SRE" },
	{ "seed", "N", "0", "of stochastic rounding (SR, SRE)" },
	{ "bits", NULL, NULL, "hex integers such as 0x3c00 are codes of the format" },
	{ "saturate", NULL, NULL, "overflow gives the largest finite value" },
	{ "explain", NULL, NULL, "draw each sum: the significands aligned, what is shifted out, how it rounds" },
	{ "json", NULL, NULL, "print an array, a row an expression and format" },
	{ NULL, NULL, NULL, NULL }
};

typedef struct options {
	hu_format_id format[HU_FORMATS];
	int formats, json, codes;
	hu_arithmetic a;
} options;

static hu_status
parse(const hu_args *args, options *o)
{
	const char *list = hu_args_text(args, "format");
	long long seed;

	memset(o, 0, sizeof *o);
	if (!strcmp(list, "all"))
		for (; o->formats < HU_FORMATS; o->formats++)
			o->format[o->formats] = (hu_format_id)o->formats;
	else
		HU_TRY(hu_format_list(list, o->format, HU_FORMATS, &o->formats));
	HU_TRY(hu_mode_find(hu_args_text(args, "mode"), &o->a.mode));
	HU_TRY(hu_args_int(args, "seed", 0, 0x7fffffffffffffffLL, &seed));
	o->a.seed = (uint64_t)seed;
	o->a.flags = hu_args_given(args, "saturate") ? HU_SATURATE : 0;
	o->codes = hu_args_given(args, "bits") ? HU_EXPR_CODES : 0;
	o->json = hu_args_given(args, "json");
	if (hu_args_given(args, "explain")) {
		if (o->json)
			return hu_fail(HU_EINVAL, "--explain draws for people: leave out --json");
		o->a.seen = hu_explain_sum;
	}
	if (!args->nrest)
		return hu_fail(HU_EINVAL, "an expression is needed: halfulp calc '1 + 0.0001'");
	return HU_OK;
}

static hu_status
one(const char *text, const options *o, json_t *rows)
{
	hu_expr *e;
	hu_row r;
	hu_status st = hu_expr_parse(text, o->codes, &e);

	for (int i = 0; st == HU_OK && i < o->formats; i++) {
		hu_arithmetic a = o->a;
		a.f = hu_format_of(o->format[i]);
		st = hu_row_init(&r, text, e, &a, 0);
		if (st != HU_OK)
			break;
		if (o->json)
			json_array_append_new(rows, hu_row_json(&r));
		else {
			if (i == 0)
				printf("%s = %s\n", text, r.exact);
			if (i == 0 || o->a.seen)
				hu_row_heading();
			hu_row_print(&r);
			if (o->a.seen)
				putchar('\n');
		}
		hu_row_release(&r);
	}
	hu_expr_free(e);
	return st;
}

static int
run(const hu_args *args)
{
	options o;
	json_t *rows;
	hu_status st = parse(args, &o);

	if (st != HU_OK)
		return hu_complain(st);
	rows = json_array();
	for (int i = 0; st == HU_OK && i < args->nrest; i++)
		st = one(args->rest[i], &o, rows);
	if (st == HU_OK && o.json)
		hu_rows_print_json(rows);
	else
		json_decref(rows);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_calc = {
	"calc", "EXPRESSION... [OPTION...]", "evaluate an expression in number formats, beside the exact value",
	"Each literal is rounded to the format, then each operation. The exact value is that of the\n"
	"expression on the unrounded literals; errors are in units in the last place of it.\n"
	"Operators: + - * / ^ and brackets; pi, e, inf, nan; abs erf erfc exp expm1 fma log log1p\n"
	"max min rsqrt sigmoid sqrt sum tanh. Numbers in decimal or hex (0x1.8p3). Put -- before an\n"
	"expression that begins with a minus. swamped: a sum equals one of its nonzero operands.",
	opts, run
};
