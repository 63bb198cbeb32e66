/* SPDX-License-Identifier: Apache-2.0
   halfulp round VALUE...: rounds single values to formats and prints the errors. */
#include "analyzers/value/rounding_args.h"
#include "analyzers/formats/round_blocks.h"
#include "analyzers/formats/targets.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/table/fields.h"

#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = { { "format", "LIST", "fp16",
				       "formats, also block formats; all: every format that is not a block format" },
	HU_ROUNDING_OPTS("rounding mode: RNE RNA RNZ RZ RU RD RO SR SRE"),
	{ "json", NULL, NULL, "print an array with an object for each value and format" }, { NULL, NULL, NULL, NULL } };

typedef struct rounding {
	hu_format_id format[HU_FORMATS];
	hu_arithmetic a[HU_FORMATS]; /* one for each format, so that the random draws of SR continue from value to
					value */
	hu_block block[HU_FORMATS];
	int formats, blocks, json, codes, printed;
	hu_round_blocks values; /* values, collected where there are block formats */
	json_t *rows;
} rounding;

static hu_status
targets(const char *list, rounding *o)
{
	hu_target t[HU_FORMATS];
	int n;

	if (!strcmp(list, "all")) {
		for (; o->formats < HU_FORMATS; o->formats++)
			o->format[o->formats] = (hu_format_id)o->formats;
		return HU_OK;
	}
	HU_TRY(hu_target_list(list, t, HU_FORMATS, &n));
	for (int i = 0; i < n; i++) {
		if (t[i].format == HU_NO_FORMAT)
			o->block[o->blocks++] = t[i].block;
		else
			o->format[o->formats++] = t[i].format;
	}
	return HU_OK;
}

/* Refuses rounding options that block formats do not have, and gives them the mode and its seed. */
static hu_status
round_blocks(const hu_args *args, rounding *o, const hu_arithmetic *how)
{
	static const char *const others[] = { "mode:propagate", "mode:ftz", "mode:daz", "mode:random_bits",
		"mode:variant" };

	if (!o->blocks)
		return HU_OK;
	for (int i = 0; i < o->blocks; i++)
		o->block[i].draws.seed = how->seed;
	for (int i = 0; i < o->blocks && hu_args_given(args, "mode"); i++) {
		if (o->block[i].element == HU_NO_FORMAT && how->mode != HU_RNE)
			return hu_fail(HU_EINVAL,
				"--mode %s: the integers of %s are rounded to nearest even, nothing else; leave out "
				"one of them",
				hu_mode_name(how->mode), o->block[i].name);
		o->block[i].mode = how->mode;
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (hu_args_given(args, others[i]))
			return hu_fail(HU_EINVAL,
				"--mode %s: block formats saturate, keep subnormal elements and compare 32 random "
				"bits; leave out %s or the option",
				strchr(others[i], ':') + 1, o->block[0].name);
	if (hu_args_given(args, "bits"))
		return hu_fail(HU_EINVAL, "--bits: a code of %s says nothing without its block's scale; give values",
			o->block[0].name);
	return HU_OK;
}

static hu_status
parse(const hu_args *args, rounding *o)
{
	hu_arithmetic how = { .notes = 0 };

	memset(o, 0, sizeof *o);
	HU_TRY(targets(hu_args_text(args, "format"), o));
	HU_TRY(hu_rounding_args(&how, args));
	HU_TRY(round_blocks(args, o, &how));
	for (int i = 0; i < o->formats; i++) {
		o->a[i] = how;
		o->a[i].f = hu_format_of(o->format[i]);
	}
	o->codes = hu_args_given(args, "bits") ? HU_EXPR_CODES : 0;
	o->json = hu_args_given(args, "json");
	if (!args->nrest)
		return hu_fail(HU_EINVAL, "a value is needed, or - to read them: halfulp round --format bf16 0.1");
	return HU_OK;
}

static hu_status
one(const char *text, void *to)
{
	rounding *o = to;
	hu_expr *e;
	hu_row r;
	hu_status st = hu_expr_parse(text, o->codes, &e);

	for (int i = 0; st == HU_OK && i < o->formats; i++) {
		o->a[i].notes = 0;
		st = hu_row_init(&r, text, e, &o->a[i], 1);
		if (st != HU_OK)
			break;
		if (o->json) {
			json_array_append_new(o->rows, hu_row_json(&r));
		} else {
			if (!o->printed++)
				hu_row_heading("");
			hu_row_print(&r);
		}
		hu_row_release(&r);
	}
	if (st == HU_OK && o->blocks)
		st = hu_round_blocks_add(&o->values, text, e);
	hu_expr_free(e);
	return st;
}

static int
run(const hu_args *args)
{
	rounding o;
	hu_status st = parse(args, &o);

	if (st != HU_OK)
		return hu_complain(st);
	o.rows = json_array();
	st = hu_rows_each(one, &o, args);
	for (int i = 0; st == HU_OK && i < o.blocks; i++) {
		if (o.json)
			hu_round_blocks_json(&o.values, &o.block[i], o.rows);
		else
			hu_round_blocks_print(&o.values, &o.block[i], !o.printed++);
	}
	hu_round_blocks_release(&o.values);
	hu_fields_complete(o.rows); /* what only blocks have is null in other rows */
	hu_rows_end_json(o.rows, o.json, st);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

/* 1 where the mode draws, or the word SR of a block format does. */
static int
draws(const void *args)
{
	hu_target t[HU_FORMATS];
	const char *list = hu_args_text(args, "format");
	int n = 0, drawn = hu_rounding_draws(args);

	if (strcmp(list, "all") && hu_target_list(list, t, HU_FORMATS, &n) != HU_OK)
		return 1; /* the list is refused where it is read */
	for (int i = 0; i < n; i++)
		drawn |= t[i].format == HU_NO_FORMAT && hu_mode_draws(t[i].block.mode);
	return drawn;
}

static const hu_opt_need needs[] = {
	{ "seed", draws, "in a --mode that draws no random bits (SR and SRE do)" },
	{ "mode:random_bits mode:variant", hu_rounding_compares, "in a --mode that compares none (SR does)" },
	{ "bits", hu_rounding_codes, "where no value is a hexadecimal integer, such as 0x3c00" }, { NULL, NULL, NULL }
};

const hu_command hu_cmd_round = { "round", "VALUE... [OPTION...]", "round values to number formats",
	"A value is a number in decimal or hex (0x1.8p3), pi, inf, nan, or an expression as calc takes it, whose\n"
	"exact value is rounded once. The argument - reads standard input, a value a line. Put -- before a\n"
	"negative value.\n"
	"A block format (mxfp4, nvfp4, int8, int4x32, ...) takes all values as one array: each is rounded once to\n"
	"fp32 (the flag fp32-inexact says that this changed it); the array is cut into blocks, which are scaled,\n"
	"rounded to nearest even and saturated (flag overflow); the flag underflow says that a nonzero value\n"
	"became zero. Errors are against the exact value, in ulps of the element times the scale; for integers,\n"
	"in steps. Words after a colon say how the scale is found, or whose way it is (mxfp8:rceil, nvfp4:te);\n"
	"`halfulp formats nvfp4` lists them.",
	opts, run, needs, NULL };
