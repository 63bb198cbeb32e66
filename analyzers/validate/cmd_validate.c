/* SPDX-License-Identifier: Apache-2.0
   halfulp validate MODEL.onnx: what precision policies do to a model's outputs and decisions; or, with --list, what
   a model is made of, and for how much of it the arithmetic is known. */
#include "analyzers/validate/list_ops.h"
#include "analyzers/network/network.h"
#include "analyzers/validate/each/each.h"
#include "analyzers/validate/outputs/outputs.h"
#include "analyzers/validate/validate_typed.h"
#include "analyzers/validate/validate_units.h"

#include "lib/base/console/show_json.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
#include "analyzers/network/network_options.def"
#include "analyzers/validate/validate_options.def"
#include "lib/base/parts/share_options.def"
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL }
};

/* What the command line asks for, and what belongs to it. */
typedef struct job {
	const hu_args *a;
	const char *path;
	hu_network net;
	hu_validate_typed typed;
	hu_variants policies;
	size_t surveyed, exact;
	hu_sum products, reductions;
	hu_evaluate_sums sums; /* of these two, those that options name */
	hu_validation v;
	hu_exact_network network;
	hu_validate_job units;
	hu_each_job each;
	char *command;
} job;

static void
dump(json_t *o)
{
	hu_json_write(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	puts("");
	json_decref(o);
}

/* *MODEL is SUM, the summation model that OPTION names, or NULL. */
static hu_status
read_sum(const hu_args *a, const char *option, hu_sum *sum, const hu_sum **model)
{
	const char *text = hu_args_text(a, option);

	*model = text ? sum : NULL;
	return text ? hu_sum_parse(text, sum) : HU_OK;
}

static hu_status
read_options(job *j)
{
	const hu_args *a = j->a;
	long long exact, top, surveyed;
	const char *text;

	exact = 4;
	if (hu_args_given(a, "exact"))
		HU_TRY(hu_args_int(a, "exact", 0, 1 << 30, &exact));
	HU_TRY(hu_args_int(a, "top-k", 1, 1 << 30, &top));
	j->exact = (size_t)exact;
	j->v.d.top = (int)top;
	HU_TRY(hu_args_int(a, "sensitivity-inputs", 1, 1 << 30, &surveyed));
	j->surveyed = (size_t)surveyed;
	HU_TRY(hu_validate_runtime(&j->typed, a));
	HU_TRY(hu_variants_add(&j->policies, "float32"));
	if (!hu_args_given(a, "policy"))
		HU_TRY(hu_variants_add(&j->policies, hu_args_text(a, "policy")));
	for (int i = 0; (text = hu_args_nth(a, "policy", i)); i++)
		HU_TRY(hu_variants_add(&j->policies, text));
	hu_variants_once(&j->policies, "float32");
	j->v.accept = hu_xcalloc((size_t)hu_args_given(a, "accept") + 1, sizeof *j->v.accept);
	for (int i = 0; (text = hu_args_nth(a, "accept", i)); i++)
		HU_TRY(hu_accept_parse(&j->v.accept[j->v.naccept++], text));
	if (!j->v.naccept && hu_args_given(a, "tap")) /* TAP says ok or not ok, and so must the exit code */
		HU_TRY(hu_accept_parse(&j->v.accept[j->v.naccept++], "nonfinite<=0"));
	HU_TRY(read_sum(a, "accumulate", &j->products, &j->sums.products));
	return read_sum(a, "reductions", &j->reductions, &j->sums.reductions);
}

/* What the exact network's inputs show. */
static void
judge_exact(job *j)
{
	hu_exact_network_of(&j->network, j->units.trial);
	j->v.exact = &j->network;
	for (size_t i = 0; i < j->v.nrow; i++)
		for (size_t k = 0; k < j->net.s.n; k++) {
			hu_effect *r = &j->v.row[i].r;
			r->flips_judged += r->flipped[k] && j->network.done[k];
			r->open += r->flipped[k] && j->network.undecided[k];
		}
}

/* Refuses --sensitivity where no policy has nodes of its own. */
static hu_status
may_survey(const job *j)
{
	size_t nodes = 0;

	if (!hu_args_given(j->a, "sensitivity"))
		return HU_OK;
	for (size_t i = 0; i < j->policies.n && !nodes; i++) {
		hu_sensitivity r = { .n = 0 };
		hu_variant policy = j->policies.v[i];
		if (!j->policies.v[i].by_node || j->policies.v[i].as || j->policies.v[i].file)
			continue;
		policy.some = j->net.each;
		hu_status st = hu_sensitivity_list(&r, &policy, &j->net.m);
		nodes = r.n;
		hu_sensitivity_release(&r);
		HU_TRY(st);
	}
	return nodes ? HU_OK : hu_refuse("sensitivity", "where no policy is a scheme or a format of more than 8 bits");
}

/* Which rules the row keeps. */
static void
judge_rules(const job *j, hu_judgement *row)
{
	row->keeps = hu_xcalloc(j->v.naccept + 1, 1);
	row->is = hu_xcalloc(j->v.naccept + 1, sizeof *row->is);
	for (size_t k = 0; k < j->v.naccept; k++)
		row->keeps[k] = (char)hu_accept_keeps(&j->v.accept[k], &row->r, &row->is[k]);
}

/* What policy I, all of whose outputs are there, changed. */
static hu_status
judge_policy(void *of, size_t i)
{
	job *j = of;
	hu_judgement *row = &j->v.row[i];

	j->v.nrow = i + 1;
	hu_effect_of(&row->r, &row->e, &j->v.row[0].e, &j->net.m, &j->v.d, &j->net.s);
	judge_rules(j, row);
	return HU_OK;
}

/* Every policy of a model whose inputs have a program each. */
static hu_status
evaluate_each(job *j)
{
	hu_progress bar;

	j->v.row = hu_xcalloc(j->policies.n + 1, sizeof *j->v.row);
	HU_TRY(may_survey(j));
	hu_progress_start(&bar, "validate", j->policies.n * j->net.s.n);
	hu_status st = hu_each_judge(&j->each, &j->v, &j->net, &j->policies,
		&j->sums,
		hu_args_given(j->a, "sensitivity") ? j->surveyed : 0, &bar);
	hu_progress_end(&bar);
	HU_TRY(st);
	j->v.calibrated = j->net.ranges.inputs;
	j->v.calibration = hu_args_text(j->a, "calibrate");
	HU_TRY(hu_accept_known(j->v.accept, j->v.naccept, &j->v.d, &j->net.m, hu_args_given(j->a, "labels")));
	for (size_t i = 0; i < j->v.nrow; i++)
		judge_rules(j, &j->v.row[i]);
	return HU_OK;
}

/* Every policy, and the exact network; or this process's share of the policies, where *ends. */
static hu_status
evaluate(job *j, hu_sharing *s, hu_status st, int *ends)
{
	hu_progress bar;

	j->v.row = hu_xcalloc(j->policies.n + 1, sizeof *j->v.row);
	if (st == HU_OK)
		st = may_survey(j);
	if (st == HU_OK) {
		hu_progress_start(&bar, "validate", 1);
		st = hu_network_calibrate(&j->net, &j->policies, &j->net.s, &bar);
		hu_progress_end(&bar);
	}
	j->v.calibrated = j->net.ranges.inputs;
	j->v.calibration = hu_args_text(j->a, "calibrate");
	j->units = (hu_validate_job){ .args = j->a,
		.net = &j->net,
		.policies = &j->policies,
		.row = j->v.row,
		.sums = &j->sums,
		.judged = judge_policy,
		.of = j,
		.d = &j->v.d,
		.surveyed = hu_args_given(j->a, "sensitivity") ? j->surveyed : 0 };
	if (j->units.surveyed > j->net.s.n)
		j->units.surveyed = j->net.s.n;
	j->units.exact = j->exact;
	if (st == HU_OK)
		st = hu_validate_exact_limit(&j->units, hu_args_given(j->a, "exact"), &j->v.too_long);
	if (st == HU_OK)
		st = hu_validate_fits(&j->units);
	HU_TRY(hu_validate_share(&j->units, s, st, ends));
	HU_TRY(hu_validate_exact_together(&j->units));
	if (j->units.exact && !*ends)
		judge_exact(j);
	return HU_OK;
}

static hu_status
tell(job *j)
{
	const char *dir = hu_args_text(j->a, "outputs"), *report = hu_args_text(j->a, "report");

	if (hu_args_given(j->a, "sensitivity") && !j->net.each)
		HU_TRY(hu_validate_typed_tools(&j->typed, &j->net, &j->policies));
	for (size_t i = 0; i < j->typed.nagainst && !j->net.each; i++) /* else values have no shape in common */
		HU_TRY(hu_against_measure(&j->typed.against[i], &j->net, j->surveyed));
	j->v.against = j->typed.against;
	j->v.nagainst = j->net.each ? 0 : j->typed.nagainst;
	if (dir) {
		HU_TRY(j->net.each ? hu_each_write_all(&j->each, &j->v, dir) : hu_validation_write(&j->v, dir));
		HU_TRY(hu_validation_report(&j->v, dir));
	}
	if (report)
		HU_TRY(hu_validation_report(&j->v, report));
	if (hu_args_given(j->a, "json"))
		dump(hu_validation_json(&j->v));
	else if (hu_args_given(j->a, "tap"))
		hu_validation_tap(&j->v);
	else
		hu_validation_print(&j->v);
	return HU_OK;
}

static hu_status
open_all(job *j)
{
	int top = j->v.d.top;

	HU_TRY(hu_network_open(&j->net, j->a, j->path, hu_args_given(j->a, "sensitivity") ? j->surveyed : 0));
	if (j->net.each)
		HU_TRY(hu_each_refuse(j->a));
	else
		HU_TRY(hu_deciding_of(&j->v.d, &j->net.onnx, &j->net.m, j->net.batch, &j->net.s,
			hu_args_text(j->a, "output"), hu_args_text(j->a, "decision"), top));
	HU_TRY(hu_validate_typed_add(&j->typed, &j->net, &j->policies, j->a));
	j->v.runtime = j->typed.runtime;
	j->v.typed = j->typed.own;
	if (hu_args_text(j->a, "outputs"))
		HU_TRY(hu_validation_files(&j->policies, j->exact > 0, hu_args_text(j->a, "outputs")));
	if (!j->net.each)
		HU_TRY(hu_accept_known(j->v.accept, j->v.naccept, &j->v.d, &j->net.m, hu_args_given(j->a, "labels")));
	j->v.path = j->path;
	j->v.command = j->command = hu_args_line(j->a, "validate");
	j->v.data = hu_args_text(j->a, "data");
	j->v.m = &j->net.m;
	j->v.s = &j->net.s;
	j->v.batch = j->net.batch;
	j->v.alone = j->net.alone;
	return HU_OK;
}

/* Returns the exit code of what was judged. */
static int
verdict(const job *j)
{
	for (size_t i = 0; i < j->v.nrow; i++)
		if (!strcmp(hu_validation_verdict(&j->v, &j->v.row[i]), "fail"))
			return HU_EXIT_JUDGED;
	return HU_EXIT_OK;
}

/* st: how the command line was read. *code: the exit code, where this process tells what was found; a shard judges
   nothing, so that whoever started it goes on to merge. */
static hu_status
judge(job *j, hu_status st, int *code)
{
	hu_sharing s;
	int ends = 0;

	if (st == HU_OK)
		st = open_all(j);
	if (st == HU_OK && j->net.each) {
		if ((st = evaluate_each(j)) == HU_OK && (st = tell(j)) == HU_OK)
			*code = verdict(j);
		return st;
	}
	st = evaluate(j, &s, st, &ends);
	if (st == HU_OK && !ends) {
		st = tell(j);
		*code = verdict(j);
	}
	hu_share_end(&s, st);
	return st;
}

static void
release(job *j)
{
	hu_validate_job_release(&j->units);
	for (size_t i = 0; j->v.row && i < j->policies.n; i++)
		hu_judgement_release(&j->v.row[i]);
	hu_each_job_release(&j->each);
	hu_exact_network_release(&j->network);
	hu_validate_typed_release(&j->typed);
	hu_network_release(&j->net);
	hu_variants_release(&j->policies);
	free(j->v.row);
	free(j->v.accept);
	free(j->command);
}

static int
run(const hu_args *a)
{
	job j = { .a = a };
	hu_status st = HU_OK;
	int code = HU_EXIT_OK;

	if (a->nrest != 1)
		st = hu_fail(HU_EINVAL, "one model is needed: halfulp validate MODEL.onnx --data INPUTS.npz");
	else if (!hu_onnx_is(a->rest[0]))
		st = hu_fail(HU_EFILE,
			"%s: models are read from ONNX files, whose names end in .onnx; PyTorch "
			"writes one by torch.onnx.export(model, inputs, 'model.onnx')",
			a->rest[0]);
	if (st == HU_OK && hu_args_given(a, "list")) {
		if (!hu_ranks_own())
			st = hu_op_list_tell(a->rest[0], hu_args_given(a, "json"));
		return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
	}
	if (st == HU_OK && !hu_args_text(a, "data"))
		st = hu_fail(HU_EINVAL, "the model's inputs are missing: give --data INPUTS.npz, or --list");
	j.path = st == HU_OK ? a->rest[0] : NULL;
	if (st == HU_OK)
		st = hu_ranks_open();
	if (hu_ranks_rank())
		hu_progress_disable();
	if (hu_ranks_size() > 1)
		hu_threads_set(hu_threads_of(hu_ranks_local()));
	if (st == HU_OK)
		st = read_options(&j);
	st = judge(&j, st, &code);
	if (st != HU_OK)
		code = hu_complain(st);
	release(&j);
	return code;
}

static int
runs(const void *of)
{
	return !hu_args_given(of, "list");
}

static int
prints(const void *of)
{
	return !hu_args_given(of, "json");
}

static int
surveys(const void *of)
{
	return hu_args_given(of, "sensitivity") > 0 || hu_args_given(of, "against") > 0;
}

static int
compares_alone(const void *of)
{
	return !hu_args_given(of, "against");
}

static const hu_opt_need needs[] = {
	{ "sensitivity-inputs", surveys, "without --sensitivity or --against" },
	{ "until", compares_alone, "with --against, whose files have other graphs" },
	{ "data until labels policies runtime against calibrate calibrate-inputs sensitivity sensitivity-inputs accept "
	  "accumulate reductions "
	  "shape "
	  "batch batch-axis decision output top-k exact outputs report tap shard shard:part resume",
		runs, "with --list, which runs nothing" },
	{ "tap", prints, "with --json" },
#include "lib/base/parts/share_needs.def"
	{ NULL, NULL, NULL },
};

const hu_command hu_cmd_validate = { "validate", "MODEL.onnx --data INPUTS.npz [--policy LIST] [--accept RULE]",
	"say what precision policies change in the answers of an ONNX model",
#include "analyzers/validate/validate_details.def"
	, opts, run, needs, NULL };
