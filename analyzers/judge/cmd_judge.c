/* SPDX-License-Identifier: Apache-2.0
   halfulp judge KERNEL: whether a kernel's result is right, by exact values and proven bounds of the whole kernel. */
#include "analyzers/judge/kernel/judge_args.h"
#include "analyzers/judge/make.h"
#include "analyzers/judge/order/order.h"

#include "analyzers/value/rows.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"

#include <jansson.h>
#include <limits.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = { { "in", "NAME=FILE", NULL,
				       "read an operand from a .npy file or FILE.npz:NAME; repeatable" },
	{ "data", "FILE.npz", NULL, "a model's or a program's inputs, by name" },
	{ "got", "[NAME=]FILE", NULL, "the kernel's result, or one of its results by name; repeatable" },
	{ "given", "NAME=FILE", NULL,
		"the kernel's own intermediate value, which what follows is judged from; repeatable" },
	{ "set", "'KEY=VALUE ...'", NULL,
		"declare facts: formats, the order of sums, errors of functions, the kernel's own settings; "
		"repeatable" },
	{ "bits", NULL, NULL, "arrays of integers hold codes (bit patterns) of the declared formats in= and out=" },
	{ "confidence", "P", "0.999999", "the probability with which all results keep the probable bound" },
	{ "fail-if", "WORDS", "proven",
		"exit 1 for this verdict or a worse one: undeclared, biased, probable, proven" },
	{ "sum", "all", NULL, "say which order of additions gives the result's bits, of a product or of attention" },
	{ "exact", "FILE", NULL,
		"write the exact values of the first result, before its last rounding, as .npy of doubles" },
	{ "bound", "FILE", NULL, "write the proven bounds of the first result's errors as .npy of doubles" },
	{ "make", "DIR", NULL,
		"draw operands on which kernels break into a new folder: boundary shapes, numbers at the edges" },
	{ "with", "'NAMES'", "", "optional operands that --make draws too" },
	{ "seed", "K", "0", "seed of what --make draws, or --sample" },
	{ "sample", "N", NULL,
		"judge about N elements of the results, in tiles that --seed draws, so that large arrays take "
		"seconds" },
	{ "no-culprit", NULL, NULL,
		"do not look for what a result that is not right has done, nor for narrower facts" },
	{ "json", NULL, NULL, "print an object; for list an array of rows" }, { NULL, NULL, NULL, NULL } };

/* The rows of one name alone, or all of them where it is NULL. */
static int
is_listed(const char *only, const char *name)
{
	return !only || !strcmp(only, name);
}

static json_t *
list_json(const char *only)
{
	json_t *rows = json_array();
	const hu_composite *c;
	const hu_ball_row *r;
	const hu_fact_row *f;

	for (int i = 0; (c = hu_composite_at(i)); i++) {
		if (!is_listed(only, c->name))
			continue;
		json_array_append_new(rows, json_pack("{s:s s:s s:s s:s s:s s:s s:s}", "kind", "kernel", "name",
						    c->name, "operands", c->operands, "results", c->results, "facts",
						    c->facts, "graph", c->graph, "summary", c->summary));
	}
	for (int i = 0; (r = hu_ball_row_at(i)); i++) {
		if (!is_listed(only, r->name))
			continue;
		json_array_append_new(rows,
			json_pack("{s:s s:s s:i s:i s:s s:s}", "kind", "operator", "name", r->name, "operands_least",
				r->least, "operands_most", r->most, "keys", r->keys, "summary", r->summary));
	}
	for (int i = 0; (f = hu_fact_at(i)); i++) {
		if (!is_listed(only, f->key))
			continue;
		json_array_append_new(rows, json_pack("{s:s s:s s:s s:s}", "kind", "fact", "name", f->key, "default",
						    f->preset, "summary", f->summary));
	}
	return rows;
}

/* A row below its heading, which is printed before the first. */
static int
heads(const char *only, const char *name, int *n, const char *heading)
{
	if (!is_listed(only, name))
		return 0;
	if (!(*n)++)
		printf("%s\n", heading);
	return 1;
}

static void
list(const char *only)
{
	const hu_composite *c;
	const hu_ball_row *r;
	const hu_fact_row *f;
	int kernels = 0, operators = 0, facts = 0;

	for (int i = 0; (c = hu_composite_at(i)); i++) {
		if (!heads(only, c->name, &kernels,
			    "kernels: operands -> results, where ? may be left out; behind a colon stands the shape\n"
			    "that --make draws, with %L for whole numbers below L, /L for offsets of sequences of L\n"
			    "rows, + for positive numbers, ! for numbers that are added to scores"))
			continue;
		printf("  %-18s %s -> %s\n  %-18s %s\n  %-18s facts: %s\n", c->name, c->operands, c->results, "",
			c->summary, "", *c->facts ? c->facts : "none");
		if (only)
			printf("  %-18s graph: %s\n", "", c->graph);
	}
	for (int i = 0; (r = hu_ball_row_at(i)); i++)
		if (heads(only, r->name, &operators, "operators of graphs"))
			printf("  %-18s %s%s%s%s\n", r->name, r->summary, *r->keys ? " (" : "", r->keys,
				*r->keys ? ")" : "");
	for (int i = 0; (f = hu_fact_at(i)); i++)
		if (heads(only, f->key, &facts, "facts of every kernel"))
			printf("  %-18s %s%s%s%s\n", f->key, f->summary, *f->preset ? " [" : "", f->preset,
				*f->preset ? "]" : "");
}

/* Prints what judge knows: all, or what has the one name that is behind `list`. */
static hu_status
tell(const hu_args *args)
{
	const char *only = args->nrest > 1 ? args->rest[1] : NULL;
	const hu_composite *c;
	json_t *rows = list_json(only);
	hu_status st = HU_OK;

	if (args->nrest > 2)
		st = hu_fail(HU_EINVAL, "judge list %s: one name at most is possible", hu_shown(args->rest[2]));
	else if (!json_array_size(rows))
		st = hu_composite_find(only, &c);
	if (st == HU_OK && hu_args_given(args, "json")) {
		hu_rows_print_json(rows);
		return HU_OK;
	}
	json_decref(rows);
	if (st == HU_OK)
		list(only);
	return st;
}

static hu_status
least_word(const hu_args *args, hu_kernel_word *w)
{
	const char *s = hu_args_text(args, "fail-if");

	for (int i = HU_KERNEL_UNDECLARED; i < HU_KERNEL_WORDS; i++)
		if (!strcmp(s, hu_kernel_word_name(i))) {
			*w = i;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "--fail-if %s: undeclared, biased, probable or proven is needed", s);
}

/* Draws operands, in the format of the fact `in`. */
static hu_status
make(const hu_args *args)
{
	const hu_composite *c;
	const char *s, *in = "fp32";
	hu_format_id f;
	long long seed;
	int n = 0;

	if (args->nrest != 1)
		return hu_fail(HU_EINVAL, "one kernel is needed, by name");
	HU_TRY(hu_composite_find(args->rest[0], &c));
	for (int i = 0; (s = hu_args_nth(args, "set", i)); i++) {
		if (strncmp(s, "in=", 3))
			return hu_fail(HU_EINVAL, "--set %s: --make takes in=FORMAT alone", s);
		in = s + 3;
	}
	HU_TRY(hu_format_find(in, &f));
	HU_TRY(hu_args_int(args, "seed", 0, LLONG_MAX, &seed));
	HU_TRY(hu_judge_make(
		c, hu_args_text(args, "make"), hu_format_of(f), (uint64_t)seed, hu_args_text(args, "with"), &n));
	printf("%d cases in %s, listed in cases.json (seed %lld)\n", n, hu_shown(hu_args_text(args, "make")), seed);
	return HU_OK;
}

static int
lists(const hu_args *args)
{
	return args->nrest >= 1 && !strcmp(args->rest[0], "list");
}

static hu_status
judge_job(hu_kernel_job *j)
{
	int done = 0;

	if (j->sample)
		return hu_kernel_sample(j);
	HU_TRY(hu_kernel_tiles(j, &done));
	return done ? HU_OK : hu_kernel_job_run(j);
}

static int
run(const hu_args *args)
{
	hu_kernel_job j;
	hu_kernel_word least = HU_KERNEL_WRONG;

	if (lists(args)) {
		hu_status told = tell(args);
		return told == HU_OK ? HU_EXIT_OK : hu_complain(told);
	}
	if (hu_args_text(args, "make")) {
		hu_status made = make(args);
		return made == HU_OK ? HU_EXIT_OK : hu_complain(made);
	}
	hu_status st = hu_kernel_job_open(&j, args);
	if (st == HU_OK)
		st = least_word(args, &least);
	if (st == HU_OK && hu_args_text(args, "sum") && strcmp(hu_args_text(args, "sum"), "all"))
		st = hu_fail(HU_EINVAL,
			"--sum %s: only all is possible, which tries the orders; what is known is declared by --set",
			hu_args_text(args, "sum"));
	j.whole = hu_args_text(args, "sum") != NULL;
	if (st == HU_OK)
		st = judge_job(&j);
	if (st == HU_OK && hu_args_text(args, "sum"))
		st = hu_order_judge(&j);
	int failed = st == HU_OK && hu_kernel_job_word(&j) >= least;
	if (st == HU_OK && hu_args_given(args, "json"))
		hu_judge_report_json(&j);
	else if (st == HU_OK)
		hu_judge_report(&j);
	hu_kernel_job_close(&j);
	mpfr_free_cache();
	return st != HU_OK ? hu_complain(st) : failed ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

static int
judges(const void *of)
{
	return !lists(of);
}

static int
makes(const void *of)
{
	return judges(of) && hu_args_text(of, "make") != NULL;
}
static int
is_printed(const void *of)
{
	return !hu_args_text(of, "make");
}
static int
has_result(const void *of)
{
	return judges(of) && !hu_args_text(of, "make");
}

static int
samples(const void *of)
{
	return has_result(of) && hu_args_text(of, "sample") != NULL;
}
static int
judges_all(const void *of)
{
	return has_result(of) && !hu_args_text(of, "sample");
}
static int
draws(const void *of)
{
	return makes(of) || samples(of);
}

static const hu_opt_need needs[] = {
	{ "set make", judges, "on judge list" },
	{ "in data got given bits confidence fail-if sum exact bound no-culprit sample", has_result,
		"where no result is judged" },
	{ "given sum exact bound", judges_all, "with --sample" },
	{ "json", is_printed, "with --make, which writes cases.json" },
	{ "with", makes, "without --make" },
	{ "seed", draws, "without --make or --sample" },
	{ NULL, NULL, NULL },
};

const hu_command hu_cmd_judge = { "judge",
	"KERNEL|'GRAPH' --in NAME=X.npy ... --got Y.npy [--set 'KEY=VALUE ...'] | list [NAME]",
	"say whether a kernel's result is right, by exact values and proven bounds",
	"KERNEL is a name of `judge list`, such as attention, or a graph of known operators as a text:\n"
	"halfulp judge 'h = matmul(x, w); y = gelu(h)' --in x=x.npy --in w=w.npy --got y.npy --set out=bf16\n"
	"The verdict is right; right, but not by the declared roundings (an intermediate value was stored in\n"
	"another format than was declared); biased (errors do not have mean zero); beyond the probable bound\n"
	"(which holds if rounding errors are independent with mean zero); or beyond the proven bound, which no\n"
	"kernel that computes as declared can leave. Exit 1 for the last, for a wrong shape, and with --fail-if\n"
	"for others. What was assumed stands in the answer, and is never widened to make a result right.",
	opts, run, needs, NULL };
