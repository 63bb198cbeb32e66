/* SPDX-License-Identifier: Apache-2.0
   halfulp op NAME: runs an operator on the user's arrays, or compares another program's result with ours. */
#include "analyzers/op/op_idle.h"
#include "analyzers/op/op_list.h"
#include "analyzers/op/op_sums.h"
#include "analyzers/op/op_verdict.h"
#include "analyzers/value/rows.h"
#include "lib/base/table/fields.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "in", "NAME=FILE", NULL,
				       "read operand a, b, c, ... from a .npy file or FILE.npz:NAME; sa and sb are the "
				       "scales of block-scaled operands; repeatable" },
	{ "set", "KEY=VALUE", NULL,
		"set an attribute of the operator, a format (in=, in.b=, out=, compute=) or the rounding (mode=); "
		"repeatable" },
	{ "sum", "MODEL", NULL,
		"summation model [fma in fp32; in fp64 for fp64 operands]; all: with --got, say which model gives "
		"these bits" },
	{ "as", "HOW", "emulate",
		"what is computed: emulate, the result in the formats; reference, the exact result rounded once; "
		"bound, the error bound; or a back end: "
		"cuda" },
	{ "as:gemm", "WAY", "auto", hu_gemm_help },
	{ "result", "K", "0", "which of the operator's results, counted from 0" },
	{ "out", "FILE", NULL, "write the result as .npy; it is printed where neither this nor --got is given" },
	{ "packed", NULL, NULL,
		"write codes: float16, float32 or float64 where NumPy has the format, else uint8, uint16, uint32" },
	{ "got", "FILE", NULL, "compare with this result of another program; exit 1 where it or its shape is wrong" },
	{ "confidence", "P", "0.99",
		"probability with which every result satisfies the probabilistic bound, beside the proven one" },
	{ "bits", NULL, NULL, "arrays of integers hold codes (bit patterns) of their format, as --packed writes them" },
	{ "seed", "K", "0", "seed of stochastic rounding" },
	{ "json", NULL, NULL,
		"print an object: the comparison, or the result's shape, format and values; for list an array of "
		"rows" },
	{ NULL, NULL, NULL, NULL } };

/* Prints a line for each result with its bounds, and below them what the second bound rests on. */
static void
print_bounds(const hu_op_run *r)
{
	char words[300];

	hu_op_probable_words(r, words, sizeof words);
	printf("# probabilistic: %s\nproven\tprobabilistic\n", words);
	for (size_t i = 0; i < r->n; i++)
		if (isnan(r->probable[i]))
			printf("%.17g\t-\n", r->bound[i]);
		else
			printf("%.17g\t%.17g\n", r->bound[i], r->probable[i]);
}

/* Prints a value a line, as the shortest decimal that identifies it. */
static void
print(const hu_op_run *r)
{
	char text[40];

	if (r->as == HU_AS_BOUND) {
		print_bounds(r);
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		hu_row_shortest(r->value[i], r->out, text);
		puts(text);
	}
}

/* Returns one result as JSON; a bound has no format and so no code. */
static json_t *
element_json(const hu_op_run *r, size_t i)
{
	double x = r->as == HU_AS_BOUND ? r->bound[i] : r->value[i];
	char hex[40], bits[24];
	json_t *o = json_object();

	hu_row_hex(x, hex);
	hu_row_code(hu_op_codes_of(r, x), r->out, bits);
	json_object_set_new(o, "value", hu_fields_number(x));
	json_object_set_new(o, "hex", json_string(hex));
	if (r->as == HU_AS_BOUND)
		json_object_set_new(o, "probabilistic", hu_fields_measured(r->probable[i]));
	else
		json_object_set_new(o, "bits", json_string(bits));
	return o;
}

/* Prints the result as an object, with its values where no file `out` receives them. */
static void
print_json(const hu_op_run *r, const char *name, const char *out)
{
	static const char *const as[] = { "backend", "reference", "bound" };
	json_t *o = json_object(), *shape = json_array(), *values = json_array();

	for (int d = 0; d < r->shape.rank; d++)
		json_array_append_new(shape, json_integer((json_int_t)r->shape.d[d]));
	json_object_set_new(o, "operator", json_string(name));
	json_object_set_new(o, "result", json_integer(r->result));
	json_object_set_new(o, "as", json_string(r->as == HU_AS_BACKEND ? r->backend->name : as[r->as]));
	json_object_set_new(o, "shape", shape);
	json_object_set_new(o, "format", json_string(hu_format_name(r->as == HU_AS_BOUND ? HU_FP64 : r->out.id)));
	if (r->as == HU_AS_BOUND)
		json_object_set_new(o, "probabilistic", hu_op_probable_json(r));
	for (size_t i = 0; !out && i < r->n; i++)
		json_array_append_new(values, element_json(r, i));
	json_object_set_new(o, out ? "out" : "values", out ? json_string(hu_shown(out)) : json_incref(values));
	json_decref(values);
	hu_rows_print_json(o);
}

/* Runs the operator, writes the result, and compares it with got unless that is NULL. */
static hu_status
one_run(const hu_args *args, hu_op_run *r, const hu_npy *got, int *wrong)
{
	const char *out = hu_args_text(args, "out");

	HU_TRY(hu_op_run_all(r, got != NULL));
	if (hu_args_given(args, "confidence") && r->roundings.none) {
		char why[160];
		snprintf(why, sizeof why, "where there is no probabilistic bound: %s", r->roundings.none);
		return hu_refuse("confidence", why);
	}
	if (out)
		HU_TRY(hu_op_codes_write(r, out, hu_args_given(args, "packed")));
	if (got)
		return hu_op_verdict(r, got, hu_args_given(args, "json"), wrong);
	if (hu_args_given(args, "json"))
		print_json(r, args->rest[0], out);
	else if (!out)
		print(r);
	return HU_OK;
}

static hu_status
all(const hu_args *args, int *wrong)
{
	hu_op_run r;
	hu_npy got = { .data = NULL };
	const char *path = hu_args_text(args, "got");
	hu_status st = hu_op_run_open(&r, args);

	if (st == HU_OK && path)
		st = hu_npz_pick(&got, path);
	if (st == HU_OK)
		st = hu_op_idle_refuse(args, &r, &got);
	if (st == HU_OK)
		st = r.every_sum ? hu_op_sums(&r, &got, hu_args_given(args, "json"), wrong)
				 : one_run(args, &r, path ? &got : NULL, wrong);
	if (got.data)
		hu_npy_release(&got);
	hu_op_run_close(&r);
	return st;
}

static int
run(const hu_args *args)
{
	int wrong = 0;

	if (args->nrest == 1 && !strcmp(args->rest[0], "list"))
		return hu_op_list(hu_args_given(args, "json"));
	hu_status st = all(args, &wrong);
	mpfr_free_cache();
	return st == HU_OK ? (wrong ? HU_EXIT_JUDGED : HU_EXIT_OK) : hu_complain(st);
}

static int
runs(const void *of)
{
	return !(((const hu_args *)of)->nrest == 1 && !strcmp(((const hu_args *)of)->rest[0], "list"));
}
static int
emulates(const void *of)
{
	const char *as = hu_args_text(of, "as");

	return strcmp(as, "reference") && (strcmp(as, "bound") || hu_args_given(of, "got"));
}
static int tells_bounds(const void *of) { return hu_args_given(of, "got") || !strcmp(hu_args_text(of, "as"), "bound"); }
static int one_sum(const void *of) { return !hu_op_every_sum(of); }
static int packs(const void *of) { return hu_args_text(of, "out") && strcmp(hu_args_text(of, "as"), "bound"); }

static int
on_device(const void *of)
{
	static const char *const others[] = { "emulate", "reference", "bound", "cpu" };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(hu_args_text(of, "as"), others[i]))
			return 0;
	return 1;
}

static const hu_opt_need needs[] = {
	{ "in set sum as as:gemm result out packed got bits seed confidence", runs, "on op list" },
	{ "as:gemm", on_device, "on the CPU, which has one way, the summation model; --as cuda has several" },
	{ "confidence", tells_bounds, "where no bound is told: --got and --as bound tell them" },
	{ "as as:gemm result out packed confidence seed", one_sum,
		"with --sum all, which names the summation model of --got's bits on the CPU and judges nothing else" },
	{ "packed", packs, "where no result is written as codes: --out FILE does, of results and not of bounds" },
	{ "seed", emulates, "with --as reference, or --as bound alone, which draw no random bits" },
	{ NULL, NULL, NULL }
};

static void
say_columns(void)
{
	hu_op_list_help();
}

const hu_command hu_cmd_op = { "op", "NAME|list --in a=A.npy [--in b=B.npy ...] [--out D.npy] [--got MINE.npy]",
	"run an operator on .npy arrays, or compare another program's result with it",
	"Operands are first rounded to the format in= [fp32; fp64 for arrays of doubles], or one of them to\n"
	"in.a=, in.b=, ...; operand c of dot is rounded to out=.\n"
	"dot: d[i] = sum over k of a[i,k] b[i,k] + c[i], in the shape of a without its last axis. Any other name\n"
	"is an operator of the table, such as matmul; `op list` prints them. conv2d takes images NHWC and kernels\n"
	"[height, width, channels / groups, filters]. With --set padding=1 (or padding_top, padding_bottom,\n"
	"padding_left, padding_right), stride, dilation (or _h, _w) and groups it is PyTorch's convolution;\n"
	"without any padding it is TensorFlow's SAME. The same holds for its gradients conv2d_dx and conv2d_dw.\n"
	"The result holds the values exactly, in float32 where it can. With --sum tc:ARCH,in=...,out=... dot\n"
	"returns what a tensor core returns, and a NaN keeps its code. --sum tc:blackwell,in=mxfp8 (mxfp4, nvfp4,\n"
	"...) quantises the operands along k, or takes them as elements where sa= and sb= give a scale for each\n"
	"group: codes of the scale's format with --bits.\n"
	"--got: exit 1 where the bits (any NaN equals any NaN) or the shape differ. With --as bound, only another\n"
	"shape and errors beyond the proven bound are wrong. With --sum all the summation models are tried one\n"
	"after another: the answer is the model that gives these bits. Where a library's kernel has another order\n"
	"for the last columns, it is the model of each stripe of columns or rows. Exit 1 where elements are left\n"
	"that no model gives. A result that is ours transposed, or NCHW in place of NHWC, is named as that.\n"
	"Beside the proven bound of a sum stands a probabilistic one: Higham and\n"
	"Mary's gamma(lambda sqrt(n) u) times the sum of the terms' magnitudes, which holds with probability\n"
	"--confidence if rounding errors are independent with mean zero. A result outside it is named, but is no\n"
	"error. --as bound alone prints both; the second is - where it has no meaning: for tensor cores, directed\n"
	"rounding, compensated sums, and operators that do not sum.",
	opts, run, needs, say_columns };
