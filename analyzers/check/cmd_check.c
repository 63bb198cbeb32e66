/* SPDX-License-Identifier: Apache-2.0
   halfulp check RUN --baseline FILE: fails where numerics drift. The exit code is the product.
   Files of other programs are held to rules, in analyzers/gate. */
#include "analyzers/check/blessing.h"
#include "analyzers/check/check_out.h"
#include "analyzers/gate/gate_files.h"
#include "analyzers/statistics/check_statistics.h"
#include "analyzers/statistics/statistics.h"

#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/console/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "baseline", "FILE", NULL,
				       "the baseline to hold the run to; of a file, the file that it was" },
	{ "rule", "TEXT", NULL, "of files: 'NAMES: rel <= 1e-5'; repeatable, the first that matches counts" },
	{ "rules", "FILE", NULL, "of files: rules, one a line, behind those of --rule" },
	{ "step", "COLUMN", NULL, "of metrics: the column that tells rows apart (step, epoch, ... by itself)" },
	{ "format", "NAME", "tap", "tap, junit, json, github (annotations) or gitlab (code quality)" },
	{ "bless", NULL, NULL, "write the baseline from RUN; more RUNs measure the noise" },
	{ "reason", "TEXT", NULL, "with --bless: why this is right" },
	{ "statistics", NULL, NULL,
		"with --bless: RUNs of 3 seeds or more, each twice, bound what may move by chance" },
	{ "ulps", "K", "0", "with --bless: ulps that each quantity may move" },
	{ "allow-nonfinite", NULL, NULL, "with --bless: declare the quantities that are not finite" },
	{ "json", NULL, NULL, "the same as --format json" }, { NULL, NULL, NULL, NULL } };

/* What the runs of a line SAW, of STEPS steps. */
typedef struct seen {
	unsigned saw;
	size_t steps;
} seen;

static hu_status
collect(const char *dir, hu_baseline *b, seen *s)
{
	hu_run r;
	unsigned saw;

	HU_TRY(hu_run_open(&r, dir));
	hu_status st = hu_run_finished(&r);
	if (st == HU_OK)
		st = hu_baseline_collect(b, &r);
	if (st == HU_OK && (st = hu_coverage(&saw, &r)) != HU_OK)
		hu_baseline_release(b);
	if (st == HU_OK) {
		s->saw |= saw;
		s->steps += (size_t)json_integer_value(json_object_get(r.manifest, "steps_done"));
	}
	hu_run_release(&r);
	return st;
}

/* What is not finite must be declared by whoever blesses it. */
static hu_status
refuse_nonfinite(const hu_baseline *b)
{
	size_t n = 0;
	const char *first = NULL;

	for (size_t i = 0; i < b->n; i++)
		if (b->q[i].number && b->q[i].side != HU_SIDE_ANY && !isfinite(b->q[i].value)) {
			first = first ? first : b->q[i].key;
			n++;
		}
	return n ? hu_fail(HU_EINVAL,
			   "%zu quantities are not finite, %s first; --allow-nonfinite declares that this is right", n,
			   first)
		 : HU_OK;
}

/* The range of the metrics whose name ends with SUFFIX, the most that one of them may differ by, and their number. */
static size_t
range_of(const hu_baseline *b, const char *suffix, double *range, double *allowed)
{
	double low = INFINITY, high = -INFINITY;
	size_t end = strlen(suffix), found = 0;

	*allowed = 0;
	for (size_t i = 0; i < b->n; i++) {
		const hu_baseline_quantity *q = &b->q[i];
		size_t n = strlen(q->key);
		if (strncmp(q->key, "metrics/", 8) || n < end || strcmp(q->key + n - end, suffix))
			continue;
		if (!isfinite(q->value))
			continue;
		low = fmin(low, q->value);
		high = fmax(high, q->value);
		*allowed = fmax(*allowed, q->noise);
		found++;
	}
	*range = high - low;
	return found;
}

/* A reference that barely moved proves nothing: the loss must have moved ten times what it may differ. Evaluations say
   so where there are two; one batch's loss differs from the next one's by more than training moves it. */
static hu_status
refuse_idle(const hu_baseline *b)
{
	double range, allowed;

	if (range_of(b, "/eval_loss", &range, &allowed) < 2)
		range_of(b, "/loss", &range, &allowed);
	if (allowed > 0 && !(range >= 10 * allowed))
		return hu_fail(HU_EINVAL,
			"the loss moved by %g and may differ by %g: such a baseline would pass a model that does not "
			"train; train longer",
			range, allowed);
	return HU_OK;
}

/* What the analysis found wrong may be blessed, and not in silence. */
static void
warn_over_bound(const hu_baseline *b, const char *run)
{
	static const char end[] = "/over_bound";
	double over = 0;

	for (size_t i = 0; i < b->n; i++) {
		size_t n = strlen(b->q[i].key);
		if (n >= sizeof end && strncmp(b->q[i].key, "summary/", 8) &&
			!strcmp(b->q[i].key + n + 1 - sizeof end, end) && b->q[i].value > 0)
			over += b->q[i].value;
	}
	if (over > 0)
		fprintf(stderr,
			"halfulp check: warning: %.0f judged outputs of %s left their bound (analysis/faults.tsv), and "
			"the baseline takes that for right\n",
			over, hu_shown(run));
}

/* What moved since the baseline that PATH has, if it has one; a file of another kind is replaced all the same. */
static void
say_moved(hu_str *s, const char *path, const hu_baseline *b)
{
	hu_baseline before;

	if (!hu_exists(path))
		return;
	if (hu_baseline_read(&before, path) != HU_OK) {
		hu_str_addf(s, "what moved cannot be said: %s\n", hu_reason());
		return;
	}
	hu_moved_text(s, &before, b);
	hu_baseline_release(&before);
}

static hu_status
bless(const hu_args *a, hu_baseline *b, seen *saw)
{
	size_t more = (size_t)a->nrest - 1, read = 0;
	hu_baseline *others = hu_xcalloc(more + 1, sizeof *others);
	char measured[128] = "one run: every quantity keeps its bits, or the ulps in its row";
	double ulps;
	hu_str moved, unseen;
	hu_status st = hu_args_real(a, "ulps", 0, 0x1p52, &ulps);

	if (st == HU_OK && !hu_args_text(a, "reason"))
		st = hu_fail(HU_EINVAL, "--bless needs --reason TEXT: why these numbers are right");
	for (; st == HU_OK && read < more; read++)
		st = collect(a->rest[read + 1], &others[read], saw);
	if (st == HU_OK && more) {
		hu_baseline_measure(b, others, more);
		snprintf(measured, sizeof measured,
			"noise is 2.8 standard deviations over %zu runs (ISO 5725-2, repeatability limit)", more + 1);
	}
	for (size_t i = 0; i < b->n; i++)
		b->q[i].ulps = st == HU_OK ? ulps : 0;
	if (st == HU_OK && !hu_args_given(a, "allow-nonfinite"))
		st = refuse_nonfinite(b);
	if (st == HU_OK)
		st = refuse_idle(b);
	hu_str_init(&moved);
	hu_str_init(&unseen);
	if (st == HU_OK) {
		hu_coverage_text(&unseen, saw->saw, saw->steps);
		say_moved(&moved, hu_args_text(a, "baseline"), b);
		st = hu_baseline_write(b, hu_args_text(a, "baseline"), hu_args_text(a, "reason"), measured, unseen.s);
	}
	for (size_t k = 0; k < read; k++)
		hu_baseline_release(&others[k]);
	free(others);
	if (st == HU_OK)
		warn_over_bound(b, a->rest[0]);
	if (st == HU_OK)
		printf("%zu quantities blessed in %s\n%s%s%s", b->n, hu_shown(hu_args_text(a, "baseline")), moved.s,
			unseen.len ? "what this baseline could not see:\n" : "", unseen.s);
	hu_str_release(&moved);
	hu_str_release(&unseen);
	return st;
}

/* The first run: what was obtained is written beside, for whoever decides. */
static hu_status
obtained(const hu_args *a, const hu_baseline *b)
{
	const char *path = hu_args_text(a, "baseline");
	char *beside = hu_xprintf("%s.obtained", path);
	hu_status st = hu_baseline_write(b, beside, "obtained, not blessed", "none", "");

	if (st == HU_OK)
		st = hu_fail(HU_EFILE,
			"%s is not there; %s has what was obtained; to bless it: halfulp check %s --baseline %s "
			"--bless --reason 'first baseline'",
			path, beside, a->rest[0], path);
	free(beside);
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
	r.f = f;
	hu_check_write(stdout, &r, format);
	free(f);
	hu_baseline_release(&want);
	return r.failed || !r.n ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

static int
of_files(const void *of)
{
	const hu_args *a = of;

	return hu_are_files(a->nrest ? a->rest[0] : NULL, hu_args_text(a, "baseline"));
}

static int
of_statistics(const hu_args *a)
{
	return hu_args_given(a, "bless") ? hu_args_given(a, "statistics")
					 : hu_is_statistics(hu_args_text(a, "baseline"));
}

static int
run(const hu_args *a)
{
	const char *format = hu_args_given(a, "json") ? "json" : hu_args_text(a, "format");
	hu_baseline got;
	seen saw = { 0, 0 };
	hu_status st = HU_OK;
	int code = HU_EXIT_OK;

	if (strcmp(format, "json") && !hu_outcomes_writer_find(format))
		st = hu_fail(HU_EINVAL, "--format %s: tap, junit, json, github or gitlab is needed",
			hu_args_text(a, "format"));
	else if (!hu_args_text(a, "baseline"))
		st = hu_fail(HU_EINVAL, "--baseline FILE is needed");
	else if (!a->nrest || (a->nrest > 1 && !hu_args_given(a, "bless") && !of_statistics(a)))
		st = hu_fail(HU_EINVAL, "one run directory is needed: halfulp check RUN --baseline FILE");
	else if (!hu_args_given(a, "bless") &&
		 (hu_args_given(a, "ulps") || hu_args_given(a, "reason") || hu_args_given(a, "allow-nonfinite")))
		st = hu_fail(HU_EINVAL, "--%s says what a baseline is to hold: it goes with --bless",
			hu_args_given(a, "ulps")     ? "ulps"
			: hu_args_given(a, "reason") ? "reason"
						     : "allow-nonfinite");
	if (st == HU_OK && of_statistics(a))
		return hu_args_given(a, "bless") ? hu_bless_statistics(a) : hu_check_statistics(a, format);
	if (st == HU_OK && of_files(a))
		return hu_args_given(a, "bless") ? hu_complain(hu_fail(HU_EINVAL,
							   "--bless is for runs; a file that is right becomes the "
							   "baseline by itself: cp %s %s",
							   a->rest[0], hu_args_text(a, "baseline")))
						 : hu_check_files(a, a->rest[0], hu_args_text(a, "baseline"), format);
	if (st != HU_OK || (st = collect(a->rest[0], &got, &saw)) != HU_OK)
		return hu_complain(st);
	if (hu_args_given(a, "bless"))
		st = bless(a, &got, &saw);
	else if (!hu_exists(hu_args_text(a, "baseline")))
		st = obtained(a, &got);
	else
		code = compare(a, &got, format);
	hu_baseline_release(&got);
	return st == HU_OK ? code : hu_complain(st);
}

static int
blesses(const void *of)
{
	return hu_args_given(of, "bless");
}

static int
keeps_rows(const void *of)
{
	return !hu_args_given(of, "statistics");
}

static int
judges(const void *of)
{
	return !hu_args_given(of, "bless");
}
static int
writes_no_json(const void *of)
{
	return !hu_args_given(of, "json");
}

static const hu_opt_need needs[] = { { "format json", judges,
					     "beside --bless, which writes the baseline and judges nothing" },
	{ "statistics", blesses, "without --bless: the baseline itself says what it holds" },
	{ "ulps allow-nonfinite", keeps_rows, "beside --statistics, which measures what may move" },
	{ "format", writes_no_json, "beside --json, which says the format" },
	{ "rule rules step", of_files, "where a run is held to its baseline, whose rows say what may differ" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_check = { "check", "RUN|FILE --baseline FILE [--rule RULE...] [--bless --reason TEXT [RUN...]]",
	"hold a run, or a file of tensors or metrics, to what it was; exit 1 where it drifted",
	"A run: every quantity of the baseline is compared: bit-identical, else within its ulps, else within the\n"
	"noise measured when it was blessed; errors and losses may shrink freely. Keys must match both ways, and what\n"
	"is not finite is drift unless the baseline declares it. A baseline of --statistics holds what another seed,\n"
	"library or order of sums may move: some tens of means and norms of whole trainings, against RUNs of its "
	"seeds.\n"
	"A file: .safetensors, .npz, .npy, or metrics as TSV, CSV or JSON lines; two runs are compared likewise, by\n"
	"their checkpoints, traces and metrics. A rule is 'NAMES: CONDITIONS': names as a shell pattern, conditions\n"
	"differ, ulps(FORMAT), abs, rel, l2, nonfinite <= X; cosine, sqnr >= X; exact; optional; ignore. rel is the\n"
	"largest difference over the tensor's largest magnitude, l2 that of the norms. Without a rule integers, bool\n"
	"and texts are exact, and floating point of precision p has l2 <= c*2^(1-p) and rel <= 4*c*2^(1-p), c being 1\n"
	"up to 16 bits and 16 above; metrics are held as fp32. Names must match both ways.\n"
	"Every failure is listed, worst first. Exit 0 pass, 1 drift, 2 usage, 3 baseline missing or of something "
	"else,\n"
	"4 environment.",
	opts, run, needs };
