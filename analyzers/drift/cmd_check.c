/* SPDX-License-Identifier: Apache-2.0
   halfulp check RUN --baseline FILE: fails where numerics drift. The exit code is the product.
   Files of other programs are held to rules, in analyzers/drift/files. */
#include "analyzers/drift/baseline/record_run.h"
#include "analyzers/drift/check/check_out.h"
#include "analyzers/drift/contents/kind.h"
#include "analyzers/drift/history.h"
#include "analyzers/drift/files/files_commands.h"
#include "analyzers/drift/statistics/check_score.h"
#include "analyzers/drift/statistics/check_statistics.h"

#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hu_opt opts[] = { { "baseline", "FILE", NULL,
				       "the baseline to hold the run to; of a file, the file that it was" },
	{ "rule", "TEXT", NULL,
		"of files: 'NAMES: rel <= 1e-5'; repeatable, the first that matches counts; @FILE: rules, one a line, "
		"behind the others" },
	{ "step", "COLUMN", NULL, "of metrics: the column that tells rows apart (step, epoch, ... by itself)" },
	{ "format", "NAME", "text",
		"text (a table), tap, junit, json, github (annotations), gitlab (code quality), sarif (code scanning) "
		"or markdown (a job's summary)" },
	{ "history", "DIR", NULL,
		"of a run: keep its headline numbers for this commit in DIR, draw them, and say at which commit they "
		"moved" },
	{ "olympic", NULL, NULL, "of a score: means without the best and the worst run of each side" },
	{ "json", NULL, NULL, "the same as --format json" }, { "tap", NULL, NULL, "the same as --format tap" },
	{ NULL, NULL, NULL, NULL } };

/* What was obtained lies beside the baseline where the two differ, for whoever decides, and is gone where they agree.
 */
static char *
beside(const hu_args *a)
{
	return hu_xprintf("%s.obtained", hu_args_text(a, "baseline"));
}

static hu_status
write_obtained(const hu_baseline *b, const char *path)
{
	return hu_baseline_write(b, path, "obtained by a check, not recorded", "none", "");
}

/* The first run. */
static hu_status
obtained(const hu_args *a, const hu_baseline *b)
{
	const char *path = hu_args_text(a, "baseline");
	char *other = beside(a);
	hu_status st = write_obtained(b, other);

	if (st == HU_OK)
		st = hu_fail(HU_EFILE,
			"%s is not there; %s has what was obtained; where that is right: halfulp baseline %s -o %s "
			"--reason 'first baseline'",
			path, other, a->rest[0], path);
	free(other);
	return st;
}

/* Runs of another model, policy or data set are not compared at all. */
static hu_status
comparable(const hu_baseline *want, const hu_baseline *got, const char *path)
{
	static const char *const keys[] = { "model", "policy", "dataset" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *w = hu_baseline_env(want, keys[i]), *g = hu_baseline_env(got, keys[i]);
		if (w && (!g || strcmp(w, g)))
			return hu_fail(HU_EFILE,
				"%s is a baseline of %s %s, the run has %s: take the baseline that belongs to it", path,
				keys[i], w, g ? g : "none");
	}
	return HU_OK;
}

static int
compare(const hu_args *a, const hu_baseline *got, const char *format)
{
	const char *path = hu_args_text(a, "baseline");
	hu_baseline want;
	hu_check_report r = { .run = a->rest[0], .path = path, .want = &want, .got = got };
	hu_status st = hu_baseline_read(&want, path);

	if (st == HU_OK && (st = comparable(&want, got, path)) != HU_OK)
		hu_baseline_release(&want);
	if (st != HU_OK)
		return hu_complain(st);
	hu_finding *f = hu_drift_compare(&want, got, &r.n, &r.failed);
	char *other = beside(a);
	hu_str history;
	r.f = f;
	if (!r.failed)
		unlink(other);
	else if (write_obtained(got, other) == HU_OK)
		r.obtained = other;
	else /* a folder that cannot be written is no reason not to judge */
		hu_command_warn();
	hu_str_init(&history);
	if (hu_args_given(a, "history"))
		st = hu_history_add(&history, got, &want, hu_args_text(a, "history"));
	r.history = history.len ? history.s : NULL;
	int code = HU_EXIT_OK;
	if (st == HU_OK) {
		hu_outcomes v;
		hu_check_outcomes(&v, &r);
		code = hu_outcomes_end(&v, format);
	}
	hu_str_release(&history);
	free(other);
	free(f);
	hu_baseline_release(&want);
	return st == HU_OK ? code : hu_complain(st);
}

static int
of_files(const void *of)
{
	const hu_args *a = of;

	return hu_files_are(a->nrest ? a->rest[0] : NULL, hu_args_text(a, "baseline"));
}

static hu_kind
baseline_kind(const hu_args *a)
{
	return hu_kind_of(hu_args_text(a, "baseline"));
}

/* RUNs whose scores are held to those of other RUNs. */
static int
of_scores(const void *of)
{
	return baseline_kind(of) == HU_KIND_SCORES;
}

static const char *
format_of(const hu_args *a)
{
	return hu_args_given(a, "json") ? "json"
	       : hu_args_given(a, "tap")
		       ? "tap"
		       : hu_outcome_format(hu_args_given(a, "format") ? hu_args_text(a, "format") : NULL);
}

static int
judge(const hu_args *a)
{
	const char *format = format_of(a);
	hu_baseline got;
	hu_coverage_seen saw = { 0, 0 };
	hu_kind of = baseline_kind(a);
	hu_status st = hu_outcome_format_check(format);
	int code = HU_EXIT_OK, several = of == HU_KIND_STATISTICS || of == HU_KIND_SCORES;

	if (st == HU_OK && !hu_args_text(a, "baseline"))
		st = hu_fail(HU_EINVAL, "--baseline FILE is needed");
	else if (st == HU_OK && (!a->nrest || (a->nrest > 1 && !several)))
		st = hu_fail(HU_EINVAL, "one run directory is needed: halfulp check RUN --baseline FILE");
	if (st != HU_OK)
		return hu_complain(st);
	if (of == HU_KIND_STATISTICS)
		return hu_check_statistics(a, format);
	if (of == HU_KIND_SCORES)
		return hu_score_check(a, format);
	if (of_files(a))
		return hu_files_check(a, a->rest[0], hu_args_text(a, "baseline"), format);
	if ((st = hu_baseline_of_run(a->rest[0], &got, &saw)) != HU_OK)
		return hu_complain(st);
	if (!hu_exists(hu_args_text(a, "baseline")))
		st = obtained(a, &got);
	else
		code = compare(a, &got, format);
	hu_baseline_release(&got);
	return st == HU_OK ? code : hu_complain(st);
}

/* Whoever reads the results reads that there are none, and why: after a failure the document is whole as well. */
static int
run(const hu_args *a)
{
	const char *format = format_of(a);
	int code = judge(a);

	if (code > HU_EXIT_JUDGED && hu_outcomes_writer_find(format)) {
		hu_outcomes v;
		hu_outcomes_refuse(&v, "halfulp check", a->nrest ? a->rest[0] : "-", hu_reason());
		hu_outcomes_end(&v, format);
	}
	return code;
}

static int
writes_no_json(const void *of)
{
	return !hu_args_given(of, "json") && !hu_args_given(of, "tap");
}

static int
of_bits(const void *of)
{
	hu_kind kind = baseline_kind(of);

	return !of_files(of) && kind != HU_KIND_STATISTICS && kind != HU_KIND_SCORES;
}

static const hu_opt_need needs[] = { { "olympic", of_scores, "but where RUNs are held to a baseline of a score" },
	{ "history", of_bits,
		"beside statistics, scores and files: it keeps what a run has that is held to its baseline" },
	{ "format", writes_no_json, "beside --json or --tap, which says the format" },
	{ "rule step", of_files, "where a run is held to its baseline, whose rows say what may differ" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_check = { "check", "RUN|FILE --baseline FILE [--rule RULE...]",
	"hold a run, or a file of tensors or metrics, to what it was; exit 1 where it drifted",
	"A run: every quantity of the baseline is compared: bit-identical, else within the ulps that it allows; "
	"errors\n"
	"may shrink freely. Keys must match both ways, and what is not finite is drift unless the baseline declares\n"
	"it. A baseline of --statistics (halfulp baseline --help) holds what another seed, library or order of sums\n"
	"may move: some tens of means and norms of whole trainings, against RUNs of its seeds.\n"
	"A baseline of --score holds what whole trainings are worth: a one-sided t test at 1 % of the mean of RUNs\n"
	"of any policy, whose power is printed.\n"
	"A file: .safetensors, .npz, .npy, the constants of a .onnx, or metrics as TSV, CSV or JSON lines; two runs "
	"are\n"
	"compared likewise, by their checkpoints, traces and metrics. A rule is 'NAMES: CONDITIONS': names as a shell\n"
	"pattern, conditions\n"
	"differ, ulps(FORMAT), abs, rel, l2, nonfinite <= X; cosine, sqnr >= X; exact; optional; ignore. rel is the\n"
	"largest difference over the tensor's largest magnitude, l2 that of the norms. Without a rule integers, bool\n"
	"and texts are exact. Floating point of precision p then has l2 <= c*2^(1-p) and rel <= 4*c*2^(1-p), where c\n"
	"is 1 up to 16 bits and 16 above; metrics are held as fp32. Names must match both ways.\n"
	"Every failure is listed, worst first. Exit 0 pass, 1 drift, 2 usage, 3 baseline missing or of something "
	"else,\n"
	"4 environment.",
	opts, run, needs, NULL };
