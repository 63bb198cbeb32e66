/* SPDX-License-Identifier: Apache-2.0
   halfulp advise MODEL.onnx: the cheapest precision for each product that keeps a budget, and the model written so. */
#include "analyzers/advise/advice.h"
#include "analyzers/advise/advise_units.h"
#include "analyzers/advise/typed.h"
#include "analyzers/advise/written.h"
#include "analyzers/network/network.h"
#include "analyzers/validate/validate_typed.h"

#include "lib/base/console/show_json.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hu_opt opts[] = {
#include "analyzers/network/network_options.def"
	{ "accept", "RULE", NULL, "the budget, such as flips<=0.1%, sqnr>=30 or flips<=1% at 95%; repeatable" },
	{ "format", "LIST", "int8,fp16", "schemes that a product may have beside float32, separated by commas" },
	{ "by", "COST", "bytes", "what the choice saves: bytes of weights, or time of the products on --device" },
	{ "device", "NAME", NULL, "with --by time: the GPU, by a name that plan --device knows" },
	{ "out", "DIR", NULL, "write model.onnx, the plan for other tools, and advice.json for halfulp report there" },
	{ "runtime", "NAME", NULL,
		"with --out: what files of codes must keep the budget on, too, as validate has it: strict, node by "
		"node, or ort-cpu:all [ort-cpu:all, with :pairs16 on an x86 processor without VNNI]" },
	{ "calibrate", "FILE", NULL,
		"inputs that static scales are measured on [the first of those that the search runs on]" },
	{ "calibrate-inputs", "N", "32", "static scales are measured on at most so many inputs" },
	{ "top-k", "K", "5", "the budget's figure top counts inputs whose float32 class is not among the first K" },
#include "lib/base/parts/share_options.def"
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL }
};

typedef struct job {
	const hu_args *a;
	hu_network net;
	hu_variants formats;
	hu_search s;
	hu_assignment best;
	hu_advice advice;
	hu_peaks device;
	hu_progress bar;
	hu_advise_job units;
	hu_lists lists;
	hu_remedies remedies;
	hu_written written;
	char *command;
} job;

static hu_status
read_formats(job *j)
{
	char *all = hu_xstrdup(hu_args_text(j->a, "format")), *save = NULL;
	hu_scheme *scheme = hu_xcalloc(strlen(all) + 1, sizeof *scheme);
	hu_status st = HU_OK;

	j->s.scheme = scheme;
	for (char *w = strtok_r(all, ",", &save); w && st == HU_OK; w = strtok_r(NULL, ",", &save)) {
		hu_scheme *one = &scheme[j->s.nscheme];
		if ((st = hu_scheme_parse(one, w)) != HU_OK)
			break;
		if (one->activations == HU_ACTIVATIONS_DYNAMIC && one->kind == HU_SCHEME_FLOAT8)
			st = hu_fail(
				HU_EINVAL, "--format %s: give %s:static; dynamic scales have no typed file", w, w);
		else if (one->activations == HU_ACTIVATIONS_DYNAMIC)
			st = hu_fail(HU_EINVAL, "--format %s: dynamic scales have no typed file", hu_shown(w));
		else if (one->kind == HU_SCHEME_FLOAT && one->format == HU_FP32)
			st = hu_fail(HU_EINVAL, "--format %s: float32 is what products have otherwise", hu_shown(w));
		HU_GROW(j->formats.v, j->formats.n, j->formats.cap);
		j->formats.v[j->formats.n++] = (hu_variant){ .by_node = 1, .rest = *one };
		snprintf(j->formats.v[j->formats.n - 1].name, sizeof j->formats.v->name, "%s", w);
		j->s.nscheme++;
	}
	free(all);
	return st == HU_EABSENT ? HU_EINVAL : st;
}

static hu_status
read_budget(job *j)
{
	const char *text;

	j->s.accept = hu_xcalloc((size_t)hu_args_given(j->a, "accept") + 1, sizeof *j->s.accept);
	for (int i = 0; (text = hu_args_nth(j->a, "accept", i)); i++)
		HU_TRY(hu_accept_parse(&j->s.accept[j->s.naccept++], text));
	return j->s.naccept ? HU_OK
			    : hu_fail(HU_EINVAL, "the budget is missing: give --accept, as in --accept 'flips<=1%%'");
}

static hu_status
read_cost(job *j)
{
	const char *by = hu_args_text(j->a, "by"), *device = hu_args_text(j->a, "device");

	if (strcmp(by, "bytes") && strcmp(by, "time"))
		return hu_fail(HU_EINVAL, "--by %s: bytes or time", hu_shown(by));
	if (!strcmp(by, "bytes"))
		return HU_OK;
	if (!device)
		return hu_fail(HU_EINVAL, "--by time: give --device, whose time it is");
	j->s.device = &j->device;
	return hu_peaks_find(device, &j->device);
}

/* The first half of the inputs is searched on, the rest held apart. */
static hu_status
split(job *j)
{
	size_t n = j->net.s.n, first = (n + 1) / 2;
	long long top;

	if (n < 2)
		return hu_fail(HU_EFILE,
			"%s: two inputs or more are needed: one part is searched on, the other verifies",
			hu_shown(hu_args_text(j->a, "data")));
	HU_TRY(hu_args_int(j->a, "top-k", 1, 1 << 30, &top));
	hu_samples_part(&j->s.half[0], &j->net.s, 0, first);
	hu_samples_part(&j->s.half[1], &j->net.s, first, n - first);
	j->s.m = &j->net.m;
	j->s.batch = j->net.batch;
	j->s.d.top = (int)top;
	j->s.trials = (hu_trials){
		.n = &j->net, .half = j->s.half, .d = &j->s.d, .batch = j->s.batch, .bar = &j->bar
	};
	if (j->net.each) {
		HU_TRY(hu_each_refuse(j->a));
		HU_TRY(hu_trials_open(&j->s.trials, &j->s.float_bytes));
	} else {
		HU_TRY(hu_deciding_of(&j->s.d, &j->net.onnx, &j->net.m, j->net.batch, &j->net.s,
			hu_args_text(j->a, "output"), hu_args_text(j->a, "decision"), (int)top));
	}
	return hu_accept_known(j->s.accept, j->s.naccept, &j->s.d, &j->net.m, hu_args_given(j->a, "labels"));
}

static hu_status
search(job *j)
{
	hu_assignment greedy = { .choice = NULL };

	HU_TRY(hu_search_measure(&j->s));
	j->advice.exhaustive = hu_search_size(&j->s) <= HU_ADVISE_ALL;
	HU_TRY(hu_search_greedy(&j->s, j->advice.exhaustive ? &greedy : &j->best));
	j->advice.greedy_bytes = j->advice.exhaustive && greedy.choice ? greedy.bytes : NAN;
	j->advice.greedy_seconds = j->advice.exhaustive && greedy.choice ? greedy.seconds : NAN;
	hu_assignment_release(&greedy);
	return j->advice.exhaustive ? hu_search_all(&j->s, &j->best) : HU_OK;
}

static int
keeps(const void *of, const hu_effect *e, int h)
{
	return hu_search_keeps(of, e, h);
}

/* Changes of the graph, where float16 or codes with static scales are among the formats. */
static hu_status
remedy(job *j, const char *dir)
{
	hu_remedy_inputs in = { &j->s.trials, keeps, &j->s, j->lists.block.asked, j->lists.quantised.asked };

	j->advice.remedies = &j->remedies;
	return hu_remedies_find(&j->remedies, &j->net, &in, dir);
}

static hu_status
write_all(job *j, const char *dir)
{
	char *path = hu_xprintf("%s/model.onnx", dir);

	hu_status st = hu_lists_prove(&j->lists, &j->net, &j->s, &j->best);
	j->advice.lists = &j->lists;
	if (st == HU_OK)
		st = hu_make_dirs(dir);
	if (st == HU_OK)
		st = remedy(j, dir);
	if (st == HU_OK)
		st = hu_written_file(&j->written, &j->best, path);
	if (st == HU_OK)
		st = hu_advice_write(&j->advice, dir);
	free(path);
	return st;
}

/* Measures the ranges that schemes and tools need. */
static hu_status
calibrate(job *j)
{
	if (!j->net.each)
		return hu_network_calibrate(&j->net, &j->formats, &j->s.half[0], &j->bar);
	hu_network view = hu_trials_view(&j->s.trials, &j->net, 0);
	hu_status st = hu_each_calibrate(&view, &j->formats, j->s.trials.each[0].answers, &j->bar);
	j->net.ranges = view.ranges;
	return st;
}

/* Reads what runs the files that are written. */
static hu_status
read_runtime(job *j)
{
	hu_validate_typed t = { .asked = NULL };

	j->s.typing = HU_TYPING_ORT_CPU;
	j->s.fused = 2;
	j->s.pairs16 = hu_simd_lacks_vnni();
	if (!hu_args_text(j->a, "runtime"))
		return HU_OK;
	if (!hu_args_given(j->a, "out"))
		return hu_refuse("runtime", "without --out, whose files it runs");
	HU_TRY(hu_validate_runtime(&t, j->a));
	j->s.typing = t.typing;
	j->s.fused = t.fused;
	j->s.pairs16 = t.pairs16;
	return HU_OK;
}

/* Reads what is asked for, and measures the scales that schemes need. */
static hu_status
prepare(job *j)
{
	HU_TRY(read_formats(j));
	HU_TRY(read_budget(j));
	HU_TRY(read_cost(j));
	HU_TRY(read_runtime(j));
	HU_TRY(hu_network_open(&j->net, j->a, j->a->rest[0], 0));
	HU_TRY(split(j));
	hu_lists_ask(&j->lists, &j->s);
	if (hu_args_given(j->a, "out"))
		HU_TRY(hu_typed_writes(&j->net.onnx, j->s.scheme, j->s.nscheme));
	if (hu_args_given(j->a, "out") && j->lists.quantised.asked) /* the tool observes all values */
		HU_TRY(hu_variants_add(&j->formats, j->lists.quantised.tool));
	HU_TRY(calibrate(j));
	j->s.written = hu_args_given(j->a, "out") > 0;
	j->written = (hu_written){ .net = &j->net, .s = &j->s, .dir = hu_args_text(j->a, "out") };
	if (j->s.written && j->s.fused) {
		j->s.also = hu_written_keeps;
		j->s.also_of = &j->written;
	}
	j->s.range = j->net.ranges.range;
	return hu_search_list(&j->s);
}

static hu_status
tell(job *j)
{
	const char *out = hu_args_text(j->a, "out");

	j->advice.path = j->a->rest[0];
	j->advice.command = j->command = hu_args_line(j->a, "advise");
	j->advice.s = &j->s;
	j->advice.best = &j->best;
	j->advice.calibrated = j->net.ranges.inputs;
	j->advice.out = j->best.choice ? out : NULL;
	if (out && j->best.choice)
		HU_TRY(write_all(j, out));
	if (hu_args_given(j->a, "json")) {
		json_t *o = hu_advice_json(&j->advice);
		hu_json_write(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		puts("");
		json_decref(o);
	} else {
		hu_advice_print(&j->advice);
	}
	return HU_OK;
}

/* Searches on all ranks together, which share the inputs that each assignment is run on: what rank 0 was told of single
   nodes decides everywhere. */
static hu_status
search_together(job *j)
{
	for (size_t i = 0; i < j->s.n; i++)
		hu_ranks_broadcast(0, j->s.decision[i].damage, (j->s.nscheme + 1) * sizeof(double));
	hu_ranks_unite(1);
	hu_status st = search(j);
	hu_ranks_unite(0);
	return st;
}

/* st: how the command line was read. Where *ends another process tells what was found. */
static hu_status
advise(job *j, hu_status st, int *ends)
{
	hu_sharing s;

	if (st == HU_OK)
		st = prepare(j);
	j->units = (hu_advise_job){ .args = j->a, .s = &j->s };
	st = hu_advise_share(&j->units, &s, st, ends);
	if (st == HU_OK && (!*ends || hu_ranks_size() > 1)) {
		size_t batches = (j->s.half[0].n + j->s.batch - 1) / j->s.batch;
		hu_progress_start(&j->bar, "advise", 8 * batches);
		j->s.bar = &j->bar;
		st = search_together(j);
		hu_progress_end(&j->bar);
		if (st == HU_OK && !*ends)
			st = tell(j);
	}
	hu_share_end(&s, st);
	return st;
}

static int
run(const hu_args *a)
{
	job j = { .a = a };
	hu_status st = HU_OK;
	int ends = 0;

	if (a->nrest != 1)
		st = hu_fail(
			HU_EINVAL, "one model is needed: halfulp advise MODEL.onnx --data INPUTS.npz --accept RULE");
	else if (!hu_onnx_is(a->rest[0]))
		st = hu_fail(HU_EFILE,
			"%s: models are read from ONNX files, whose names end in .onnx; PyTorch writes one by "
			"torch.onnx.export(model, inputs, 'model.onnx')",
			hu_shown(a->rest[0]));
	else if (!hu_args_text(a, "data"))
		st = hu_fail(HU_EINVAL, "the model's inputs are missing: give --data INPUTS.npz");
	if (st == HU_OK)
		st = hu_ranks_open();
	if (hu_ranks_rank())
		hu_progress_disable();
	if (hu_ranks_size() > 1)
		hu_threads_set(hu_threads_of(hu_ranks_local()));
	st = advise(&j, st, &ends);
	int code = st == HU_OK ? (j.best.choice || ends ? HU_EXIT_OK : HU_EXIT_JUDGED) : hu_complain(st);
	hu_advise_job_release(&j.units);
	hu_assignment_release(&j.best);
	hu_lists_release(&j.lists);
	if (j.written.made) /* a folder with files in it stays */
		(void)rmdir(j.written.dir);
	hu_remedies_release(&j.remedies);
	free((hu_scheme *)(size_t)j.s.scheme);
	free(j.s.accept);
	hu_search_release(&j.s);
	free(j.command);
	hu_variants_release(&j.formats);
	hu_network_release(&j.net);
	return code;
}

static int
spares_time(const void *of)
{
	return !strcmp(hu_args_text(of, "by"), "time");
}

static const hu_opt_need needs[] = {
	{ "device", spares_time, "without --by time" },
#include "lib/base/parts/share_needs.def"
	{ NULL, NULL, NULL },
};

const hu_command hu_cmd_advise = { "advise",
	"MODEL.onnx --data INPUTS.npz --accept RULE... [--format LIST] [--out DIR]",
	"find the cheapest precision of each product that keeps a budget, and write the model so",
	"Chooses for each Conv, Gemm and MatMul node with constant weights float32 or one of the schemes of --format\n"
	"(halfulp validate --help lists them). The cheapest choice takes the fewest bytes of weights, or by --by time\n"
	"the least time of these products on --device by its roofline: each product takes as long as its operands and\n"
	"result at their widths, or its operations at their format's rate, whichever is longer. Other nodes and casts\n"
	"are left out. First each scheme is measured in each node alone, on the first half of the inputs. Whole\n"
	"choices are then run on that half. One that keeps the budget there is verified on the other half, which the\n"
	"search never saw; a confidence such as flips<=1% at 95% is asked of that half alone. Up to 4096 choices are\n"
	"tried in the order of their cost. Where there are more, the search begins with the\n"
	"cheapest scheme everywhere, raises the nodes whose damage is largest for their cost,\n"
	"and lowers them again one by one. Exit code 1: nothing keeps the budget.\n"
	"With --out: model.onnx has Casts around products in a format, and QuantizeLinear and DequantizeLinear around\n"
	"those of int8 and float8 codes; policy.json is for validate --policy; keep.py for PyTorch, trtexec.txt for\n"
	"TensorRT up to 10; halfulp report DIR makes a page of advice.json. block_list.txt has lists of nodes for\n"
	"onnxconverter-common (block_list) and quantize_static (nodes). These tools change other nodes than products,\n"
	"so each list is first applied as its tool applies it, and run on both halves. quantize_static's file and\n"
	"model.onnx must keep the budget node by node, and as --runtime runs them. block_list\n"
	"begins with the products in float32; it grows from the first node whose result is not finite, then by the\n"
	"operators that help most. nodes begins with the products in int8 and loses those that do most damage. A list\n"
	"that does not keep the budget is not defined. Where fp16 is among the formats the whole model is run in it\n"
	"too, as it is and as onnxconverter-common converts it. If that breaks the budget, changes of the graph are\n"
	"tried: a larger\n"
	"eps, a smaller mask, squares or sums that are scaled. Where int8 is among them, so are SmoothQuant's scales\n"
	"between norms and products, and a product for each part of a Concat, for the whole model as quantize_static\n"
	"writes it. remedied_fp16.onnx, remedied_occ-fp16.onnx and remedied_ort-static.onnx are the model in\n"
	"float32 with those that help.",
	opts, run, needs, NULL };
