/* SPDX-License-Identifier: Apache-2.0
   halfulp calc EXPRESSION: evaluates an expression in number formats. */
#include "analyzers/expression/array.h"
#include "analyzers/expression/evaluate_sum.h"
#include "analyzers/explain/explain.h"
#include "analyzers/value/rounding_args.h"
#include "analyzers/value/rows.h"
#include "lib/base/table/fields.h"
#include "analyzers/expression/vary.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "format", "LIST", "fp16,bf16,fp32", "formats, or all" },
	{ "sum", "MODEL", NULL,
		"summation model that executes sum(...), as in fma, chunk:32 or tc:hopper,in=e4m3,path=wgmma; "
		"products in it "
		"are not rounded" },
	HU_ROUNDING_OPTS("rounding of literals and operations: RNE RNA RNZ RZ RU RD RO SR SRE"),
	{ "vary", "x=A..B:N", NULL,
		"evaluate at N values of x from A to B, in equal steps or, with ,log behind N, in equal ratios" },
	{ "explain", NULL, NULL,
		"draw each operation: the aligned significands, what is shifted out, how the result is rounded" },
	{ "out", "FILE.svg", NULL, "write the drawing of --explain as SVG, for a slide" },
	{ "step", NULL, NULL,
		"with -o FILE.svg: write a picture an operation, of 16:9, FILE-01.svg and so on; the last says how "
		"far the whole expression is off" },
	{ "style", "STYLE", "print", "of -o FILE.svg: print: dark on white; talk: light on a dark ground" },
	{ "json", NULL, NULL, "print an array with an object for each expression and format" },
	{ NULL, NULL, NULL, NULL } };

typedef struct options {
	hu_format_id format[HU_FORMATS];
	int formats, json, codes, text, step, dark;
	const char *svg, *sum;
	hu_arithmetic a;
	json_t *rows;
	hu_vary vary;     /* n is 0 where nothing varies */
	hu_explain drawn; /* drawings of every operation, where -o FILE.svg collects them */
} options;

static hu_status
parse(const hu_args *args, options *o)
{
	const char *list = hu_args_text(args, "format");
	hu_sum s;
	int unit = hu_args_text(args, "sum") && hu_sum_parse(hu_args_text(args, "sum"), &s) == HU_OK &&
		   hu_sum_is_unit(s.id);

	memset(o, 0, sizeof *o);
	if (unit && !hu_args_given(args, "format")) /* what it returns */
		list = hu_sum_takes_of(s.id) == HU_TAKES_ARCH ? "fp32" : hu_format_name(s.out);
	if (!strcmp(list, "all"))
		for (; o->formats < HU_FORMATS; o->formats++)
			o->format[o->formats] = (hu_format_id)o->formats;
	else
		HU_TRY(hu_format_list(list, o->format, HU_FORMATS, &o->formats));
	HU_TRY(hu_rounding_args(&o->a, args));
	o->codes = hu_args_given(args, "bits") ? HU_EXPR_CODES : 0;
	o->json = hu_args_given(args, "json");
	o->sum = hu_args_text(args, "sum");
	if (hu_args_given(args, "vary"))
		HU_TRY(hu_vary_parse(&o->vary, hu_args_text(args, "vary")));
	o->text = hu_args_given(args, "explain");
	o->svg = hu_args_text(args, "out");
	o->step = hu_args_given(args, "step");
	o->dark = !strcmp(hu_args_text(args, "style"), "talk");
	if (!o->dark && strcmp(hu_args_text(args, "style"), "print"))
		return hu_fail(HU_EINVAL, "--style %s is none of print, talk", hu_args_text(args, "style"));
	if (o->text && o->json)
		return hu_fail(HU_EINVAL, "--explain prints drawings, which have no JSON: leave out --json");
	if ((o->text || o->svg) && (o->a.flags & HU_DAZ))
		return hu_fail(HU_EINVAL, "--explain draws operands as they are stored: leave out daz");
	if (o->sum && (o->a.flags & (HU_FTZ | HU_DAZ)))
		return hu_fail(HU_EINVAL, "--sum %s: the models keep subnormal numbers: leave out ftz and daz", o->sum);
	if (o->text || o->svg) {
		o->a.seen = hu_explain_seen;
		o->a.to = &o->drawn;
	}
	if (!args->nrest)
		return hu_fail(HU_EINVAL, "an expression is needed, or - to read them: halfulp calc '1 + 0.0001'");
	return HU_OK;
}

/* Refuses a drawing where the sum's steps are not drawn. */
static hu_status
drawable(const options *o, const hu_sum *s)
{
	hu_str drawn;
	hu_status st = HU_OK;

	if (!o->svg || hu_explain_draws(s))
		return HU_OK;
	hu_str_init(&drawn);
	hu_explain_models(&drawn);
	st = hu_fail(HU_EINVAL, "-o %s: the steps of --sum %s are not drawn (%s are): leave out -o", o->svg, o->sum,
		drawn.s);
	hu_str_release(&drawn);
	return st;
}

static void
print(const hu_row *r, int first, options *o, int drawn, const double *at)
{
	hu_drawing new = { drawn ? o->drawn.d.item + drawn : o->drawn.d.item, o->drawn.d.n - drawn, 0 };

	if (o->json) {
		json_t *row = hu_row_json(r);
		if (at)
			json_object_set_new(row, "at", hu_fields_number(*at));
		json_array_append_new(o->rows, row);
		return;
	}
	if (first)
		printf("%s = %s\n", r->input, r->exact);
	if (first || o->text)
		hu_row_heading("");
	hu_row_print(r);
	if (o->text) {
		hu_drawing_text(&new, stdout, hu_drawing_colour(stdout));
		putchar('\n');
	}
}

/* Evaluates the expression in every format. input is how rows call it; *at is the value that its name has, NULL where
   nothing varies. */
static hu_status
in_formats(const char *text, const char *input, const double *at, options *o)
{
	hu_expr *e;
	hu_row r;
	hu_status st = hu_expr_parse(text, o->codes, &e);

	if (st == HU_OK && (o->text || o->svg) && hu_expr_has_cast(e))
		st = hu_fail(HU_EINVAL, "--explain draws operations of one format: leave out the cast in '%s'", text);
	o->drawn.root = e;
	for (int i = 0; st == HU_OK && i < o->formats; i++) {
		hu_arithmetic a = o->a;
		hu_sum sum;
		int drawn = o->drawn.d.n;
		a.f = hu_format_of(o->format[i]);
		if (o->sum) {
			st = hu_expr_sum_model(o->sum, a.f, a.mode, a.flags, &sum);
			a.sum = &sum;
			if (st == HU_OK)
				st = drawable(o, &sum);
		}
		if (st == HU_OK)
			st = hu_row_init(&r, input, e, &a, 0);
		if (st != HU_OK)
			break;
		print(&r, i == 0, o, drawn, at);
		if (o->step)
			hu_explain_whole(&o->drawn, drawn, &a,
				&(hu_explain_result){ input, r.value, r.ulps, r.relative, r.exact });
		hu_row_release(&r);
	}
	hu_expr_free(e);
	return st;
}

static hu_status
one(const char *text, void *to)
{
	options *o = to;
	hu_status st = HU_OK;

	if (!o->vary.n)
		return in_formats(text, text, NULL, o);
	for (int i = 0; st == HU_OK && i < o->vary.n; i++) {
		double x = hu_vary_at(&o->vary, i);
		char *put = hu_vary_put(&o->vary, text, x);
		if (i == 0 && !strcmp(put, text))
			st = hu_fail(HU_EINVAL, "--vary: '%s' has no %s in it", text, o->vary.name);
		if (st == HU_OK)
			st = in_formats(put, o->json ? text : put, &x, o);
		free(put);
	}
	return st;
}

/* Returns the command line that makes the drawing again, for the foot of the picture. */
static char *
command(const hu_args *args, const options *o)
{
	hu_str s;

	hu_str_init(&s);
	hu_str_add(&s, o->step ? "halfulp calc -o FILE.svg --step --format " : "halfulp calc --explain --format ");
	for (int i = 0; i < o->formats; i++)
		hu_str_addf(&s, "%s%s", i ? "," : "", hu_format_name(o->format[i]));
	char *rounding = hu_rounding_text(&o->a);
	hu_str_add(&s, rounding);
	free(rounding);
	if (o->sum)
		hu_str_addf(&s, " --sum %s", o->sum);
	if (o->vary.n)
		hu_str_addf(&s, " --vary %s", hu_args_text(args, "vary"));
	hu_str_add(&s, o->codes ? " --bits" : "");
	hu_str_add(&s, o->dark ? " --style talk" : "");
	for (int i = 0; i < args->nrest; i++)
		hu_str_addf(&s, " %s'%s'", !i && args->rest[i][0] == '-' ? "-- " : "", args->rest[i]);
	return s.s;
}

static hu_status
write_svg(const hu_drawing *d, const char *file, const char *line, const hu_drawing_look *look)
{
	char *svg = hu_drawing_svg(d, line, look);
	hu_status st = hu_file_write(file, svg, strlen(svg));

	free(svg);
	return st;
}

/* Names the slides that were written, which have other names than the file that was asked for. */
static void
say_written(const options *o, int stem, int slides)
{
	char *name = hu_xprintf("%.*s", stem, o->svg);
	const char *shown = hu_shown(name);

	if (slides > 1)
		printf("%s-01.svg to %s-%02d.svg: a slide for each operation, and the last one of the whole\n", shown,
			shown, slides);
	else
		printf("%s-01.svg\n", shown);
	free(name);
}

/* Writes the drawing; with --step its parts, each of which begins with a title. */
static hu_status
write_drawing(const hu_args *args, const options *o)
{
	const hu_drawing *d = &o->drawn.d;
	const hu_drawing_look look = { o->dark, o->step };
	char *line = command(args, o);
	int stem = (int)strlen(o->svg) - 4, slides = 0;
	hu_status st = HU_OK;

	if (!o->step)
		st = write_svg(d, o->svg, line, &look);
	for (int i = 0, end; o->step && st == HU_OK && i < d->n; i = end) {
		for (end = i + 1; end < d->n && d->item[end].kind != HU_DRAWN_TITLE;)
			end++;
		char *file = hu_xprintf("%.*s-%02d.svg", stem, o->svg, ++slides);
		st = write_svg(&(hu_drawing){ d->item + i, end - i, 0 }, file, line, &look);
		free(file);
	}
	free(line);
	if (st == HU_OK && o->step && !o->json)
		say_written(o, stem, slides);
	return st;
}

static int
run(const hu_args *args)
{
	options o;
	hu_status st = parse(args, &o);

	if (st != HU_OK)
		return hu_complain(st);
	o.rows = json_array();
	st = hu_rows_each(one, &o, args);
	if (st == HU_OK && o.svg)
		st = write_drawing(args, &o);
	hu_rows_end_json(o.rows, o.json, st);
	hu_drawing_release(&o.drawn.d);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
asks_a_sum(const void *of)
{
	const hu_args *a = of;

	for (int i = 0; i < a->nrest; i++)
		if (!strcmp(a->rest[i], "-") || hu_array_asks_sum(a->rest[i]))
			return 1;
	return !a->nrest;
}

static int
draws(const void *of)
{
	const char *text = hu_args_text(of, "sum");
	hu_sum sum;

	return hu_rounding_draws(of) || (text && (hu_sum_parse(text, &sum) != HU_OK || hu_mode_draws(sum.mode)));
}

static int
pictures(const void *of)
{
	return hu_args_given(of, "out");
}

static const hu_opt_need needs[] = { { "step style", pictures, "without -o FILE.svg" },
	{ "sum", asks_a_sum, "on an expression without sum(...)" },
	{ "seed", draws, "where neither --mode nor --sum draws random bits (SR and SRE do)" },
	{ "mode:random_bits mode:variant", hu_rounding_compares, "in a --mode that compares none (SR does)" },
	{ "bits", hu_rounding_codes, "where no literal is a hexadecimal integer, such as 0x3c00" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_calc = { "calc", "EXPRESSION... [OPTION...]",
	"evaluate an expression in number formats, beside the exact value",
	"Each literal is rounded to the format, together with its sign, then the result of each operation. The exact\n"
	"value is that of the expression on the unrounded literals; errors are in ulps (units in the last place) of\n"
	"the exact value.\n"
	"Operators: + - * / ^ and brackets; pi, e, inf, nan; abs cos erf erfc exp exp2 expm1 fma log log1p max\n"
	"min rsqrt sigmoid sin sqrt sum tanh. Numbers are decimal or hexadecimal (0x1.8p3). A format's name\n"
	"casts: fp16(fp32(x)) computes x in fp32 and rounds it to fp16. The argument - reads standard input, an\n"
	"expression a line; put -- before an expression that begins with a minus. `swamped` says that a sum\n"
	"equals one of its nonzero operands,\n"
	"`zeroed` that a literal became 0 when it was rounded, `divide-by-zero` that an infinity is exact. --sum\n"
	"executes sum(...) by a summation model: a*b in it is then a product of two rounded factors that enters as\n"
	"the model takes products, and any other argument is a term times 1; a tensor core's first argument is its\n"
	"C where it is no product. daz takes a literal or operand below the smallest normal number as zero; ftz\n"
	"makes such a result zero. With --vary, rows of --json have the value of x as `at`.\n"
	"  halfulp calc --explain --format fp16 'sum(1, 2^-11, 2^-11)'\n"
	"  halfulp calc --explain --sum tc:hopper 'sum(1, 0.1*0.2, 0.3*-0.0001, 3*100)' -o block.svg",
	opts, run, needs, NULL };
