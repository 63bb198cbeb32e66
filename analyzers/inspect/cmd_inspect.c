/* SPDX-License-Identifier: Apache-2.0
   halfulp inspect FILE...: measures what each format would do to the tensors of files. What that means for a model
   cannot be told from weights alone. */
#include "analyzers/value/rows.h"
#include "analyzers/inspect/inspect_files.h"
#include "analyzers/inspect/inspect_pass.h"
#include "analyzers/inspect/inspect_rules.h"
#include "lib/base/build.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "to", "FORMATS", "fp16,bf16,e4m3",
				       "formats to cast to, to nearest even; only block formats scale" },
	{ "axis", "N", NULL, "axis along which block formats scale, -1 the last; tensors without it keep their own" },
	{ "tensors", "PATTERNS", NULL, "tensors with these names alone, such as *.weight,lm_head*" },
	{ "best-scale", NULL, NULL,
		"find the scale under which each cast errs least, and that error too: best_scale, best_sqnr_db" },
	{ "totals", NULL, NULL, "a row for each format over all tensors, named all, before the others" },
	{ "show", "RULE", NULL,
		"show rows of which this is true alone, such as sqnr<30 or zeroed>1%; repeatable: all are true" },
	{ "sort", "COLUMN", NULL, "order rows by a column, such as sqnr_db, from the smallest number" },
	{ "sort:reverse", NULL, NULL, "order them from the largest" },
	{ "fail-if", "RULE", NULL,
		"exit 1 where this is true of a row that is shown, such as sqnr<30, and name these; repeatable" },
	{ "tap", NULL, NULL, "print a TAP line for each row and rule of --fail-if, in place of the rows" },
	{ "threads", "N", "0", "threads; 0: one a core" },
	{ "out", "FILE.tsv", NULL, "write the rows to FILE.tsv too" }, { "json", NULL, NULL, "print an array of rows" },
	{ NULL, NULL, NULL, NULL } };

static int
sorts(const void *of)
{
	return hu_args_given(of, "sort");
}

static int
has_rules(const void *of)
{
	return hu_args_given(of, "fail-if");
}

static int
prints_rows(const void *of)
{
	return !hu_args_given(of, "tap");
}

static const hu_opt_need needs[] = { { "sort:reverse", sorts, "without --sort" },
	{ "tap", has_rules, "without --fail-if" }, { "json", prints_rows, "with --tap" }, { NULL, NULL, NULL } };

/* What the command line asks for, and what came of it. A format's total has the elements of all rows. */
typedef struct inspection {
	hu_target to[HU_FORMATS];
	int nto, sort, threads, axis, has_axis, best;
	hu_inspect_rules fail, where;
	hu_inspect_files files;
	hu_array all;
	hu_inspect_row *row;
	size_t n, out, passed; /* rows, tensors without floating-point numbers, tensors that no pattern names */
	char left[160];
	const char *note;
} inspection;

static hu_status
known(const inspection *s, int column, const char *option)
{
	return column >= 0 && !s->best && hu_inspect_column_is_best(column)
		       ? hu_fail(HU_EINVAL, "--%s: column %s is empty without --best-scale", option,
				 hu_inspect_column_name(column))
		       : HU_OK;
}

/* Nothing is asked of the best scales where they are not sought. */
static hu_status
known_columns(const inspection *s)
{
	HU_TRY(known(s, s->sort, "sort"));
	for (size_t i = 0; i < s->fail.n; i++)
		HU_TRY(known(s, s->fail.rule[i].column, "fail-if"));
	for (size_t i = 0; i < s->where.n; i++)
		HU_TRY(known(s, s->where.rule[i].column, "show"));
	return HU_OK;
}

/* Only blocks that are shorter than a tensor run along an axis. */
static hu_status
axis_counts(const inspection *s)
{
	int along = !s->has_axis;

	for (int k = 0; k < s->nto; k++)
		along |= hu_cast_has_axis(&s->to[k]);
	return along ? HU_OK
		     : hu_refuse("axis",
			       "where no format of --to has a scale for each block: mxfp8, nvfp4 and int4x32 have");
}

/* A rule of --fail-if that is true of no row, because there is none, would pass whatever the files hold. */
static hu_status
names_fit(const inspection *s, const char *patterns)
{
	char *idle = patterns ? hu_inspect_files_unmatched(&s->files, patterns) : NULL;

	if (!idle && s->fail.n && hu_inspect_files_rank(&s->files, patterns) < 0)
		return hu_refuse("fail-if", "where no tensor of these files holds floating-point numbers");
	if (!idle)
		return HU_OK;
	hu_fail(HU_EINVAL,
		"--tensors has no effect by the pattern '%s': no tensor of floating-point numbers in these files has "
		"such a name; without --tensors all are listed",
		hu_shown(idle));
	free(idle);
	return HU_EINVAL;
}

/* Refuses an axis that none of the tensors has, since all would keep their own. */
static hu_status
axis_fits(const inspection *s, const char *patterns)
{
	int most = hu_inspect_files_rank(&s->files, patterns);
	char why[128];

	if (!s->has_axis || (s->axis < 0 ? -s->axis <= most : s->axis < most))
		return HU_OK;
	snprintf(why, sizeof why,
		"at %d: of the tensors of floating-point numbers here none has more dimensions than %d", s->axis,
		most > 0 ? most : 0);
	return hu_refuse("axis", why);
}

static hu_status
read_options(inspection *s, const hu_args *a)
{
	const char *sort = hu_args_text(a, "sort");
	long long n;

	HU_TRY(hu_target_list(hu_args_text(a, "to"), s->to, HU_FORMATS, &s->nto));
	HU_TRY(hu_args_int(a, "threads", 0, 1024, &n));
	s->threads = (int)n;
	s->best = hu_args_given(a, "best-scale");
	if ((s->has_axis = hu_args_given(a, "axis"))) {
		HU_TRY(hu_args_int(a, "axis", -HU_SAFETENSORS_RANK, HU_SAFETENSORS_RANK - 1, &n));
		s->axis = (int)n;
	}
	HU_TRY(axis_counts(s));
	for (int k = 0; k < s->nto; k++) {
		const char *words = s->to[k].format == HU_NO_FORMAT ? strchr(s->to[k].block.name, ':') : NULL;
		if (words && s->best)
			return hu_fail(HU_EINVAL,
				"--best-scale: %s has a rule for its scale; leave out the option or '%s'",
				s->to[k].block.name, words);
	}
	HU_TRY(hu_inspect_rules_parse(&s->fail, a, "fail-if"));
	HU_TRY(hu_inspect_rules_parse(&s->where, a, "show"));
	s->sort = sort ? hu_inspect_column(sort) : -1;
	if (sort && s->sort < 0)
		return hu_fail(HU_EINVAL, "--sort %s: there is no such column; --json shows their names", sort);
	HU_TRY(known_columns(s));
	if (!a->nrest)
		return hu_fail(HU_EINVAL, "a file is needed: halfulp inspect "
					  "FILE.safetensors|FILE.index.json|FILE.npy|FILE.npz|MODEL.onnx...");
	HU_TRY(hu_inspect_files_open(&s->files, a->rest, a->nrest));
	HU_TRY(names_fit(s, hu_args_text(a, "tensors")));
	return axis_fits(s, hu_args_text(a, "tensors"));
}

static void
add_array(inspection *s, const hu_inspect_file *file, hu_array *a, hu_cast_effect *total)
{
	hu_cast_effect e[HU_FORMATS];

	if (s->has_axis)
		hu_array_set_axis(a, s->axis);
	hu_inspect_pass(e, a, s->to, s->nto, s->best);
	s->all.n += a->n;
	for (int k = 0; k < s->nto; k++) {
		s->row[s->n++] = (hu_inspect_row){ .a = a, .to = &s->to[k], .file = file->path, .e = e[k] };
		hu_cast_effect_merge(&total[k], &e[k]);
	}
}

static void
measure(inspection *s, const char *patterns, int totals)
{
	hu_cast_effect total[HU_FORMATS];
	size_t arrays = 1;

	for (size_t i = 0; i < s->files.n; i++)
		arrays += s->files.file[i].f->n;
	s->row = hu_xcalloc(arrays * (size_t)s->nto, sizeof *s->row);
	s->all = (hu_array){ .name = "all", .dtype = "", .axis = -1 };
	for (int k = 0; k < s->nto; k++)
		hu_cast_effect_init(&total[k]);
	s->n = totals ? (size_t)s->nto : 0;
	for (size_t i = 0; i < s->files.n; i++) {
		hu_inspect_file *f = &s->files.file[i];
		for (size_t k = 0; k < f->f->n; k++) {
			hu_array *a = &f->f->array[k];
			if (patterns && !hu_match(patterns, a->name))
				s->passed++;
			else if (a->format == HU_NO_FORMAT)
				s->out++;
			else
				add_array(s, f, a, total);
		}
	}
	for (int k = 0; k < s->nto && totals; k++)
		s->row[k] = (hu_inspect_row){ .a = &s->all, .to = &s->to[k], .file = "", .total = 1, .e = total[k] };
}

/* Leaves the rows of which every rule of --show is true. */
static void
filter(inspection *s)
{
	size_t kept = 0;
	double is;

	for (size_t k = 0; k < s->n; k++) {
		int all = 1;
		for (size_t i = 0; i < s->where.n; i++)
			all = all && hu_inspect_rule_holds(&s->where.rule[i], &s->row[k], &is);
		if (all)
			s->row[kept++] = s->row[k];
	}
	s->n = kept;
}

/* Says once which tensors have no rows, and what the rows are of. */
static void
remark(inspection *s)
{
	int activations = 0;
	size_t at = 0;

	for (size_t i = 0; i < s->files.n; i++)
		activations += s->files.file[i].f->activations;
	s->note = activations ? "a trace: weights, activations and gradients of one step"
			      : "weights only: activations not judged";
	if (s->out)
		at = (size_t)snprintf(s->left, sizeof s->left,
			s->out == 1 ? "%zu tensor holds no floating-point numbers and was left out"
				    : "%zu tensors hold no floating-point numbers and were left out",
			s->out);
	if (s->passed)
		snprintf(s->left + at, sizeof s->left - at, "%s%zu of other names were passed over", at ? "; " : "",
			s->passed);
}

static hu_status
save(const inspection *s, const char *path, const hu_args *a)
{
	hu_tsv t;

	hu_tsv_init(&t);
	hu_tsv_note(&t, "table", "inspect");
	hu_tsv_note(&t, "halfulp", "%s", hu_build_version());
	for (int i = 0; i < a->nrest; i++)
		hu_tsv_note(&t, "file", "%s", a->rest[i]);
	hu_tsv_note(&t, "note", "%s", s->note);
	if (*s->left)
		hu_tsv_note(&t, "left out", "%s", s->left);
	hu_inspect_tsv(&t, s->row, s->n, s->best);
	return hu_tsv_write(&t, path);
}

/* Each row's object says which rules of --fail-if are true of it, where there are any. */
static void
print_json(const inspection *s)
{
	json_t *rows = json_array();
	double is;

	for (size_t k = 0; k < s->n; k++) {
		json_t *o = hu_inspect_json(&s->row[k], s->best), *broken = json_array();
		json_object_set_new(o, "note", json_string(s->note));
		for (size_t i = 0; i < s->fail.n; i++)
			if (hu_inspect_rule_holds(&s->fail.rule[i], &s->row[k], &is))
				json_array_append_new(broken, json_string(s->fail.rule[i].text));
		if (s->fail.n)
			json_object_set(o, "failed", broken);
		json_decref(broken);
		json_array_append_new(rows, o);
	}
	hu_rows_print_json(rows);
}

/* Prints what was asked for. Returns how many rows satisfy a rule of --fail-if. */
static size_t
print(const inspection *s, const hu_args *a)
{
	int tap = hu_args_given(a, "tap"), json = hu_args_given(a, "json");
	size_t failed = 0;
	double is;

	if (json)
		print_json(s);
	else if (!tap)
		hu_inspect_print(s->row, s->n, s->files.n > 1, s->best);
	if (*s->left)
		fprintf(json || tap ? stderr : stdout, "%s\n", s->left);
	if (!json && !tap)
		puts(s->note);
	if (!json && s->fail.n)
		return hu_inspect_rules_print(&s->fail, s->row, s->n, a->rest[0], tap);
	for (size_t k = 0; k < s->n; k++) {
		int broken = 0;
		for (size_t i = 0; i < s->fail.n; i++)
			broken |= hu_inspect_rule_holds(&s->fail.rule[i], &s->row[k], &is);
		failed += (size_t)broken;
	}
	return failed;
}

static int
run(const hu_args *a)
{
	inspection s = { .sort = -1 };
	const char *tsv = hu_args_text(a, "out");
	size_t failed = 0;
	hu_status st = read_options(&s, a);

	if (st == HU_OK) {
		if (s.threads)
			hu_threads_set(s.threads);
		measure(&s, hu_args_text(a, "tensors"), hu_args_given(a, "totals"));
		filter(&s);
		if (s.sort >= 0)
			hu_inspect_sort(s.row, s.n, s.sort, hu_args_given(a, "sort:reverse"));
		remark(&s);
		failed = print(&s, a);
		if (tsv)
			st = save(&s, tsv, a);
	}
	free(s.row);
	hu_inspect_rules_release(&s.fail);
	hu_inspect_rules_release(&s.where);
	hu_inspect_files_release(&s.files);
	return st != HU_OK ? hu_complain(st) : failed ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

static void
say_columns(void)
{
	hu_fields_help(&hu_inspect_columns);
}

const hu_command hu_cmd_inspect = { "inspect",
	"[OPTION...] FILE.safetensors|INDEX.index.json|FILE.npy|FILE.npz|MODEL.onnx...",
	"count and measure what casts to number formats do to files' tensors",
	"Casts every floating-point tensor to each format, to nearest even and without scaling. Counts:\n"
	"nonfinite, elements that are infinite or NaN before the cast; elements that become zero, or subnormal;\n"
	"lost bits, elements below the smallest normal number that the cast changes; ftz, elements that become\n"
	"zero on hardware that flushes subnormals; overflow, finite elements that become infinite or NaN;\n"
	"saturated, elements that become the largest finite value in place of a larger one, or 0 in place of a\n"
	"negative one where the format has no sign.\n"
	"Errors are over the elements that are finite before and after: rel_l2 is the L2 norm of the errors over\n"
	"that of the values; sqnr_db is -20 log10 of it; max_error is the largest |error|, and at says at which\n"
	"element, counted from 0 in row-major order; mean_error is the mean |error|; l2_zeroed is the L2 norm of\n"
	"what becomes zero over that of the values; cosine is that of the values before and after.\n"
	"For Adam's second moments v (NAME_v, NAME.exp_avg_sq, ...), step_rel_l2 is the relative L2 error of the\n"
	"steps g / (sqrt(v) + 1e-8) with g = sqrt(v). What does not apply or is undefined is \"-\". Weights alone\n"
	"decide nothing about a model: only running it tells whether its answers change.\n"
	"A block format (mxfp8, mxfp4, nvfp4, int8, int4x128, ...) takes a tensor in fp32, scales blocks along\n"
	"its last axis (the last block of a row may be short; int8 and its like scale the whole tensor), and\n"
	"saturates. Weights of an ONNX model's Conv, ConvTranspose, Gemm and MatMul are scaled along the axis over\n"
	"which the product sums, as deployment does: the column axis says which, counted from 0 (a Conv also sums\n"
	"over the axes after it), and - of a format without blocks along it. Subnormal and lost bits are those of\n"
	"the elements under their scale, - where elements are integers. A NaN or an infinity makes its whole block\n"
	"NaN: the block's finite values are counted under overflow.\n"
	"--best-scale seeks the scale s under which s * cast(value / s) errs least: best_scale, and best_sqnr_db, "
	"which\n"
	"is sqnr_db under it. For a format of single numbers s is a power of two: the smallest under which nothing\n"
	"overflows, since no larger one errs less; where a format saturates (e2m1), all powers are tried that can\n"
	"err less. For int8 and others that scale the whole tensor, s is the best of those that follow from ranges\n"
	"2^(-i/16) as wide as the tensor's, i = 0, 1, ... (-16, ... where scales are rounded down to powers of two);\n"
	"formats that scale blocks choose so for each block, and best_scale is \"-\".\n"
	"A checkpoint in shards is inspected by its index, such as model.safetensors.index.json. A safetensors file\n"
	"is read in pieces, so that it may be larger than the memory; an .npy or .npz file is held. --fail-if and\n"
	"--show compare a column with a limit: sqnr<30, max_error>=1e-3, overflow>0; of a count, the limit may be\n"
	"a share of the tensor's elements, zeroed>1%. A column that does not apply satisfies no rule; a tensor with\n"
	"no element that is finite before and after the cast satisfies every rule on its errors.\n"
	"Exit 0 done, 1 a rule of --fail-if is true of a row that is shown.",
	opts, run, needs, say_columns };
