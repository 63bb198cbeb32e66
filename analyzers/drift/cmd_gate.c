/* SPDX-License-Identifier: Apache-2.0
   halfulp gate: trains, analyzes and checks in one command, each in a process of its own, and writes every document
   that a CI job asks for. Its exit code is the last word. */
#include "analyzers/drift/contents/kind.h"
#include "analyzers/drift/gate_analyze.h"
#include "analyzers/drift/gate_append.h"
#include "analyzers/drift/gate_documents.h"
#include "analyzers/drift/gate_figures.h"
#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/statistics/seeds.h"
#include "lib/base/failed.h"
#include "lib/base/guard/guard.h"
#include "lib/base/console/command.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const hu_opt opts[] = { { "baseline", "FILE", NULL, "the baseline that check holds the run to" },
	{ "format", "NAME", "text",
		"on standard output: text (a table), tap, junit, json, github, gitlab, sarif or markdown" },
	{ "out", "KIND=FILE", NULL,
		"also write a document: junit (XML), tap, gitlab (a code quality report), sarif, whose results stand "
		"at the "
		"baseline's lines, or summary, which appends Markdown, e.g. to $GITHUB_STEP_SUMMARY; repeatable" },
	{ "history", "DIR", NULL, "keep headline numbers of each commit in DIR, draw them, say where they moved" },
	{ "runs", "N", "1", "train RUN-1 to RUN-N with the seeds 1 to N, for a baseline of statistics or of a score" },
	{ "quiet", NULL, NULL, "print nothing but errors; the exit code is the answer" }, { NULL, NULL, NULL, NULL } };

typedef struct gate {
	const hu_args *a;
	char *run;
	char **runs; /* what is trained and checked: RUN, or RUN-1 to RUN-N */
	int nruns;
	char **train; /* what is behind the RUN goes to train */
	int ntrain;
} gate;

/* The format of standard output. */
static const char *
format_of(const gate *g)
{
	return hu_outcome_format(hu_args_given(g->a, "format") ? hu_args_text(g->a, "format") : NULL);
}

static const char *
name_of(const gate *g)
{
	return g->run ? g->run : "-";
}

/* Standard output too says that nothing was judged. */
static int
give_up(const gate *g, int code, const char *reason)
{
	const char *format = format_of(g);

	if (!hu_args_given(g->a, "quiet") && hu_outcomes_writer_find(format))
		hu_gate_refuse(stdout, name_of(g), reason, format);
	return hu_gate_documents_refuse(g->a, name_of(g), code, reason);
}

/* The same after a failure of the gate's own, which is printed. */
static int
complain(const gate *g, hu_status st)
{
	char *reason = hu_xstrdup(hu_reason());
	int code = give_up(g, hu_complain(st), reason);

	free(reason);
	return code;
}

/* check in FORMAT; its document in *TEXT (to be freed) where that is not NULL, else on standard output. */
static hu_status
check(const gate *g, const char *format, int say, hu_command_end *end, char **text, size_t *n)
{
	char *option = hu_xprintf("--format=%s", format),
	     *baseline = hu_xprintf("--baseline=%s", hu_args_text(g->a, "baseline"));
	/* A commit is kept once, by the check whose exit code counts */
	const char *dir = say ? hu_args_text(g->a, "history") : NULL;
	char *history = dir ? hu_xprintf("--history=%s", dir) : NULL;
	char **argv = hu_xcalloc((size_t)g->nruns + 6, sizeof *argv);
	int argc = 0;
	argv[argc++] = "check";
	argv[argc++] = baseline;
	argv[argc++] = option;
	if (history)
		argv[argc++] = history;
	argv[argc++] = "--";
	for (int i = 0; i < g->nruns; i++)
		argv[argc++] = g->runs[i];
	*end = (hu_command_end){ .code = HU_EXIT_ENV };
	FILE *f = text ? tmpfile() : NULL;
	hu_status st = text && !f ? hu_fail(HU_EIO, "no temporary file can be made: is TMPDIR's disk full?") : HU_OK;

	if (st == HU_OK)
		st = hu_command_run(end, argc, argv, f ? fileno(f) : 1, say);
	if (st == HU_OK && f) {
		long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
		*n = size > 0 ? (size_t)size : 0;
		*text = hu_xcalloc(*n + 1, 1);
		rewind(f);
		if (size < 0 || fread(*text, 1, *n, f) != *n)
			st = hu_fail(HU_EIO, "what check wrote cannot be read back");
	}
	if (f)
		fclose(f);
	free(argv);
	free(option);
	free(history);
	free(baseline);
	return st;
}

/* The document of a check that ended in another way than the one whose exit code counts is not of that verdict: the
   system failed, or the run or the baseline is another by now. WHAT says which document it is. */
static hu_status
differs(const char *what, int code, const hu_command_end *end)
{
	if (end->code > HU_EXIT_JUDGED)
		return hu_fail(HU_EUNABLE, "%s: the check for it failed: %s", what, end->reason);
	return hu_fail(HU_EUNABLE,
		"%s: the check for it ended with exit code %d and the first one with %d: the run or the baseline was "
		"changed between the two",
		what, end->code, code);
}

/* Figures of a drift are for whoever reads the summary; without gnuplot the summary says so. */
static hu_status
add_figures(const gate *g, int code)
{
	hu_command_end end = { .code = 0 };
	const char *path = hu_gate_document_path(g->a, hu_gate_summary);
	char *text = NULL;
	size_t n = 0;
	hu_str s;

	hu_str_init(&s);
	hu_status st = check(g, "json", 0, &end, &text, &n);
	if (st == HU_OK && end.code != code)
		st = differs("summary", code, &end);
	if (st == HU_OK)
		hu_gate_figures(&s, g->run, text);
	if (s.len)
		st = hu_gate_append(path, s.s, s.len);
	hu_str_release(&s);
	free(end.reason);
	free(text);
	return st;
}

/* The verdict on standard output, then the files. */
static int
judge(const gate *g)
{
	hu_command_end end = { .code = 0 };
	int quiet = hu_args_given(g->a, "quiet");
	char *unread = NULL;
	size_t n = 0;
	hu_status st = check(g, format_of(g), 1, &end, quiet ? &unread : NULL, &n);
	int code = end.code;

	free(unread);
	if (st == HU_OK && code > HU_EXIT_JUDGED)
		code = hu_gate_documents_refuse(g->a, name_of(g), code, end.reason);
	free(end.reason);
	if (st == HU_OK && code > HU_EXIT_JUDGED)
		return code;
	for (int i = 0; i < HU_GATE_DOCUMENTS && st == HU_OK; i++) {
		const hu_gate_document *d = &hu_gate_documents[i];
		char *text = NULL;
		if (!hu_gate_document_path(g->a, d))
			continue;
		st = check(g, d->format, 0, &end, &text, &n);
		if (st == HU_OK && end.code != code)
			st = differs(d->kind, code, &end);
		if (st == HU_OK)
			st = hu_gate_document_put(g->a, d, text, n);
		free(end.reason);
		free(text);
	}
	if (st == HU_OK && code == HU_EXIT_JUDGED && g->nruns == 1 && hu_gate_document_path(g->a, hu_gate_summary))
		st = add_figures(g, code);
	if (st == HU_OK)
		return code;
	char *reason = hu_xstrdup(hu_reason());
	code = hu_complain(st);
	hu_failed_forget(); /* so that the documents can be written that say so */
	code = hu_gate_documents_refuse(g->a, name_of(g), code, reason);
	free(reason);
	return code;
}

/* Trains run I. */
static hu_status
train(const gate *g, int i, hu_command_end *end)
{
	char **argv = hu_xcalloc((size_t)g->ntrain + 6, sizeof *argv), *seed = hu_xprintf("--seed=%d", i + 1);
	int n = 0;

	argv[n++] = "train";
	argv[n++] = "--quiet";
	for (int k = 0; k < g->ntrain; k++)
		argv[n++] = g->train[k];
	if (hu_args_given(g->a, "runs"))
		argv[n++] = seed;
	argv[n++] = "--";
	argv[n++] = g->runs[i];
	hu_status st = hu_command_run(end, n, argv, -1, 1);
	free(argv);
	free(seed);
	return st;
}

/* What a part said last goes into the documents where it ended in another way than LEAST and below; its code. */
static int
part(const gate *g, hu_status st, hu_command_end *end, int least)
{
	if (st != HU_OK)
		return complain(g, st);
	int code = end->code > least ? give_up(g, end->code, end->reason) : HU_EXIT_OK;
	free(end->reason);
	return code;
}

static int
is_there(const char *run)
{
	char *manifest = hu_path(run, "manifest.json");
	int there = hu_exists(manifest);

	free(manifest);
	return there;
}

/* Scores stand in what training wrote. Exit 1 of an analysis says that outputs left their bound, which check counts;
   what else ends it ends the gate. */
static int
work(const gate *g)
{
	hu_command_end end = { .code = HU_EXIT_OK };
	int code = HU_EXIT_OK, scores = hu_kind_of(hu_args_text(g->a, "baseline")) == HU_KIND_SCORES;

	for (int i = 0; i < g->nruns && code == HU_EXIT_OK; i++) {
		if (!is_there(g->runs[i]))
			code = part(g, train(g, i, &end), &end, HU_EXIT_OK);
		if (code == HU_EXIT_OK && !scores)
			code = part(g, hu_gate_analyze(g->runs[i], &end), &end, HU_EXIT_JUDGED);
	}
	return code != HU_EXIT_OK ? code : judge(g);
}

/* runs/gate-N for the first N that is free. */
static char *
free_name(void)
{
	for (int n = 1;; n++) {
		char *name = hu_xprintf("runs/gate-%d", n);
		if (!hu_exists(name))
			return name;
		free(name);
	}
}

/* The runs by name. Those that are there are taken as they are, so options to train them are a mistake. */
static hu_status
name_runs(gate *g)
{
	long long n;

	HU_TRY(hu_args_int(g->a, "runs", 1, HU_SEEDS, &n));
	g->nruns = (int)n;
	g->runs = hu_xcalloc((size_t)n, sizeof *g->runs);
	for (int i = 0; i < g->nruns; i++)
		g->runs[i] = hu_args_given(g->a, "runs") ? hu_xprintf("%s-%d", g->run, i + 1) : hu_xstrdup(g->run);
	for (int i = 0; i < g->ntrain && hu_args_given(g->a, "runs"); i++)
		if (!strncmp(g->train[i], "--seed", 6))
			return hu_fail(HU_EINVAL, "--runs gives each run a seed of its own: leave out %s", g->train[i]);
	for (int i = 0; i < g->nruns; i++) {
		if (hu_run_is_of_ranks(g->runs[i]))
			return hu_run_absent(g->runs[i]);
		if (g->ntrain && is_there(g->runs[i]))
			return hu_fail(HU_EINVAL,
				"%s is there already, and %s would train it: leave out what is behind its name to "
				"check it as it is, or name another run",
				g->runs[i], g->train[0]);
	}
	return HU_OK;
}

static int
run(const hu_args *a)
{
	int named = a->nrest && a->rest[0][0] != '-';
	gate g = { .a = a,
		.run = named ? hu_xstrdup(a->rest[0]) : free_name(),
		.train = a->rest + named,
		.ntrain = a->nrest - named };
	const char *format = format_of(&g);
	hu_status st = hu_gate_documents_check(a);

	if (st == HU_OK)
		st = hu_outcome_format_check(format);
	if (st == HU_OK && !hu_args_text(a, "baseline"))
		st = hu_fail(
			HU_EINVAL, "--baseline FILE is needed: halfulp baseline RUN -o FILE --reason TEXT writes one");
	else if (st == HU_OK)
		st = name_runs(&g);
	int code = st == HU_OK ? work(&g) : complain(&g, st);
	for (int i = 0; i < g.nruns; i++)
		free(g.runs[i]);
	free(g.runs);
	free(g.run);
	return code;
}

static int
speaks(const void *of)
{
	return !hu_args_given(of, "quiet");
}

static const hu_opt_need needs[] = { { "format", speaks, "beside --quiet, which prints nothing" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_gate = { "gate", "--baseline FILE [OPTION...] [RUN] [-- OPTIONS OF train...]",
	"train, analyze and check in one command; its exit code is the last word",
	"What stands behind -- goes to train, which makes RUN [runs/gate-N]; a RUN that is there is taken as it is. "
	"Then\n"
	"halfulp analyze and halfulp check follow, each in a process of its own. Documents for CI are whole on every\n"
	"exit: where nothing could be judged they say that, and why. -o summary= appends Markdown; where the check "
	"fails\n"
	"and gnuplot is there, RUN/gate/ gets figures of the drift, which the Markdown shows. --runs N trains N\n"
	"seeds, as a baseline of statistics or of a score wants them.\n"
	"Exit 0 pass, 1 drift, 2 usage, 3 baseline missing or of something else, 4 environment.",
	opts, run, needs, NULL };
