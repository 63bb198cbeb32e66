/* SPDX-License-Identifier: Apache-2.0
   halfulp baseline RUN... -o FILE writes what check and gate hold later runs to; a file of tensors or metrics becomes
   the baseline as it is. */
#include "analyzers/drift/baseline/record_run.h"
#include "analyzers/drift/contents/contents.h"
#include "analyzers/drift/contents/kind.h"
#include "analyzers/drift/files/files_commands.h"
#include "analyzers/drift/statistics/check_score.h"
#include "analyzers/drift/statistics/check_statistics.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/file.h"
#include "lib/base/guard/input.h"
#include "lib/base/show.h"

#include <errno.h>
#include <string.h>

static const hu_opt opts[] = { { "out", "FILE", NULL, "the baseline that is written; -o is short for it" },
	{ "reason", "TEXT", NULL, "of RUNs: why these numbers are right" },
	{ "statistics", NULL, NULL, "RUNs of 3 seeds or more, each twice, bound what may move by chance" },
	{ "score", "NAME", NULL,
		"RUNs of 3 seeds or more bound how far the score of a training may drop by chance; accuracy, "
		"precision, recall, dice, iou, hit_rate, ndcg or loss" },
	{ "ulps", "K", "0", "ulps of its own format that each element may move" },
	{ "allow-nonfinite", NULL, NULL, "declare the quantities that are not finite" }, { NULL, NULL, NULL, NULL } };

/* Writes the baseline PATH of A's runs by A's options, prints what was recorded, and returns the exit code. */
static int
record(const hu_args *a, const char *path)
{
	hu_baseline b;
	hu_coverage_seen saw = { 0, 0 };

	if (hu_args_given(a, "statistics"))
		return hu_statistics_record(a, path);
	if (hu_args_given(a, "score"))
		return hu_score_record(a, path);
	hu_status st = hu_baseline_of_run(a->rest[0], &b, &saw);
	if (st == HU_OK) {
		st = hu_baseline_record_run(a, path, &b, &saw);
		hu_baseline_release(&b);
	}
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static hu_status
copy(const char *from, const char *path)
{
	static char piece[1 << 16];
	FILE *f;
	hu_outfile o;
	size_t n;

	HU_TRY(hu_input_open(from, &f));
	hu_status st = hu_outfile_open(&o, path);
	if (st == HU_OK) {
		while ((n = fread(piece, 1, sizeof piece, f)) && fwrite(piece, 1, n, o.f) == n)
			;
		if (ferror(f)) {
			st = hu_fail(HU_EIO, "%s cannot be read: %s", hu_shown(from), strerror(errno));
			hu_outfile_abandon(&o);
		} else {
			st = hu_outfile_commit(&o);
		}
	}
	fclose(f);
	return st;
}

/* Copies the file FROM to PATH, byte for byte, where check can read it, and prints how many names it has. Returns the
   exit code; nothing is written where it is not HU_EXIT_OK. */
static int
record_file(const char *from, const char *path)
{
	hu_contents c;

	if (hu_kind_of(from) > HU_KIND_FILE)
		return hu_complain(hu_fail(HU_EFILE, "%s is a baseline already: cp %s %s", from, from, path));
	hu_status st = hu_contents_open(&c, from, NULL);

	if (st == HU_OK)
		st = copy(from, path);
	if (st == HU_OK)
		printf("%s, %zu %s, is recorded as %s\n", hu_shown(from), c.n, c.n == 1 ? "name" : "names",
			hu_shown(path));
	hu_contents_release(&c);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

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
		return record(a, path);
	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "%s is a file, and one file is the baseline of one", a->rest[0]));
	return record_file(a->rest[0], path);
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
