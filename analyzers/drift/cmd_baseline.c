/* SPDX-License-Identifier: Apache-2.0
   halfulp baseline RUN... -o FILE writes what check and gate hold later runs to; a file of tensors or metrics becomes
   the baseline as it is. */
#include "analyzers/drift/record.h"
#include "analyzers/drift/files/files_commands.h"
#include "lib/base/console/opt_need.h"

static const hu_opt opts[] = { { "out", "FILE", NULL, "the baseline that is written; -o is short for it" },
	{ "reason", "TEXT", NULL, "of RUNs: why these numbers are right" },
	{ "statistics", NULL, NULL, "RUNs of 3 seeds or more, each twice, bound what may move by chance" },
	{ "score", "NAME", NULL,
		"RUNs of 3 seeds or more bound how far the score of a training may drop by chance; accuracy, "
		"precision, recall, dice, iou, hit_rate, ndcg or loss" },
	{ "ulps", "K", "0", "ulps of its own format that each element may move" },
	{ "allow-nonfinite", NULL, NULL, "declare the quantities that are not finite" }, { NULL, NULL, NULL, NULL } };

static int
is_file(const hu_args *a)
{
	return a->nrest && hu_files_are(a->rest[0], NULL);
}

static int
run(const hu_args *a)
{
	const char *path = hu_args_text(a, "out");

	if (!a->nrest)
		return hu_complain(hu_fail(HU_EINVAL, "a RUN is needed: halfulp baseline RUN... -o FILE"));
	if (!path)
		return hu_complain(hu_fail(HU_EINVAL, "-o FILE is needed: where the baseline is to be written"));
	if (!is_file(a))
		return hu_record_baseline(a, path);
	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "%s is a file, and one file is the baseline of one", a->rest[0]));
	return hu_record_baseline_file(a->rest[0], path);
}

static int
of_runs(const void *of)
{
	return !is_file(of);
}

static int
has_no_statistics(const void *of)
{
	return of_runs(of) && !hu_args_given(of, "statistics");
}

static int
keeps_rows(const void *of)
{
	return has_no_statistics(of) && !hu_args_given(of, "score");
}

static const hu_opt_need needs[] = { { "reason statistics", of_runs,
					     "for a file of tensors or metrics, which is its own baseline" },
	{ "score", has_no_statistics,
		"beside --statistics, and for a file: a baseline holds one of these, and says which" },
	{ "ulps allow-nonfinite", keeps_rows,
		"beside --statistics and --score, which measure what may move, and for a file, whose rules say it" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_baseline = { "baseline", "RUN|FILE... -o FILE [--reason TEXT] [--statistics | --score NAME]",
	"write the baseline that check holds later runs or files to",
	"The quantities of one run keep their bits, and RUNs that agree bit for bit share one entry. RUNs that do not\n"
	"are refused: --statistics measures what another seed, library or order of sums may move, --score what\n"
	"trainings are worth, and --ulps says how far elements may be apart. It prints what moved since the baseline\n"
	"that was there, and what no run showed. A file of tensors or metrics (.safetensors, .npz, .npy, .onnx, TSV,\n"
	"CSV, JSON lines) is copied where check can read it: what may differ is said by rules when it is checked.\n"
	"Exit 0 written, 2 usage or numbers that cannot be recorded, 3 a bad RUN or file, 4 environment.",
	opts, run, needs, NULL };
