/* SPDX-License-Identifier: Apache-2.0
   halfulp verify: checks the promise that a run repeats bit for bit. */
#include "lib/base/console/show_json.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/program/gemm.h"
#include "trainer/verify/verify.h"

#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "trace", NULL, NULL,
		"execute each traced call again from its recorded inputs and name every element that differs" },
	{ "threads", "N", "0", "most threads that a call may use; small calls use fewer; 0: one a core" },
	{ "backend", "NAME", NULL, "back end that executes the program [the run's own]" },
	{ "backend:gemm", "WAY", NULL, hu_gemm_help },
	{ "backend:simd", "LEVEL", "auto", "instruction set: auto, scalar, avx2 or avx512" },
	{ "steps", "S", NULL, "stop after S steps [all]" },
	{ "quiet", NULL, NULL, "print nothing; the exit code is the answer" },
	{ "json", NULL, NULL, "print the result as JSON" }, { NULL, NULL, NULL, NULL }
};

static void
print_json(const hu_verified *v, const char *dir)
{
	int digest = strcmp(v->got, v->recorded) != 0, same = !digest && !v->column;
	json_t *lines = json_array();

	for (const char *at = v->why ? v->why : ""; *at; at += strcspn(at, "\n") + 1) {
		char *line = hu_xprintf("%.*s", (int)strcspn(at, "\n"), at);
		json_array_append_new(lines, json_string(hu_shown(line)));
		free(line);
	}
	json_t *j = json_pack("{s:s s:b s:I s:o s:s s:s s:I s:I s:o s:s? s:s?}", "run", hu_shown(dir), "equal",
		!v->differs, "steps", (json_int_t)v->steps, "first_differing_step",
		same ? json_null() : json_integer((json_int_t)v->step), "recorded", v->recorded, "got", v->got,
		"evaluations", (json_int_t)v->evaluations, "program_differences", (json_int_t)v->program, "program",
		lines, "evaluation", v->column, "where", digest ? v->where : NULL);

	hu_json_write(j, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(j);
}

/* The first line of a failure: where, how far, and why, as far as what was recorded shows it. */
static void
print_where(const hu_verified *v, const char *dir)
{
	size_t n = v->why ? strcspn(v->why, "\n") : 0;

	if (!strcmp(v->got, v->recorded))
		return;
	if (v->where)
		printf("%s", v->where);
	else
		printf("step %zu is the first that differs, and it was not traced: a run with --trace steps=%zu names "
		       "the "
		       "call",
			v->step, v->step);
	if (n)
		printf(". Most likely cause: this version runs another program (%.*s)\n", (int)n, v->why);
	else if (v->where)
		putchar('\n');
	else
		printf("; %s runs the same program now, so the arithmetic of a call is another one\n", hu_shown(dir));
}

static void
print_run(const hu_verified *v, const char *dir, int json)
{
	enum { LINES = 20 };
	int k = 0;

	if (json) {
		print_json(v, dir);
		return;
	}
	print_where(v, dir);
	for (const char *at = v->why ? v->why : ""; *at && k < LINES; at += strcspn(at, "\n") + 1, k++)
		printf("%.*s\n", (int)strcspn(at, "\n"), at);
	if (v->program > LINES)
		printf("… and %zu more\n", v->program - LINES);
	if (v->program)
		printf("%s: this program would not run what was recorded: %zu differences above, as recorded -> now\n",
			hu_shown(dir), v->program);
	if (strcmp(v->got, v->recorded))
		printf("%s: step %zu is the first that differs: digest %s, recorded %s\n", hu_shown(dir), v->step,
			v->got, v->recorded);
	else if (v->column)
		printf("%s: step %zu is the first whose evaluation differs: %s %.17g, recorded %.17g; its state is the "
		       "recorded one\n",
			hu_shown(dir), v->step, v->column, v->evaluated, v->want);
	else
		printf("%s: %zu steps re-executed, every digest is the recorded one; %zu evaluations likewise\n",
			hu_shown(dir), v->steps, v->evaluations);
}

static hu_status
verify_run(const hu_args *a, const hu_run *r, int *differs)
{
	hu_verified v = { .steps = 0 };
	long long steps = 0;

	if (hu_args_given(a, "steps"))
		HU_TRY(hu_args_int(a, "steps", 1, 1000000000, &steps));
	hu_status st = hu_verify_run(&v, r, hu_args_text(a, "backend"), hu_args_text(a, "backend:gemm"), (size_t)steps);
	if (st != HU_OK) {
		hu_verified_release(&v);
		return st;
	}
	*differs = v.differs;
	if (!hu_args_given(a, "quiet") && hu_run_finished(r) != HU_OK)
		hu_command_warn();
	if (!hu_args_given(a, "quiet"))
		print_run(&v, r->dir, hu_args_given(a, "json"));
	hu_verified_release(&v);
	return HU_OK;
}

static hu_status
verify_trace(const hu_args *a, const hu_run *r, int *differs)
{
	hu_differences d = { .list = NULL };
	int json = hu_args_given(a, "json"), quiet = hu_args_given(a, "quiet");
	hu_status st = hu_verify_trace(&d, r);

	if (st == HU_OK && json && !quiet) {
		json_t *j = hu_differences_to_json(&d, r);
		hu_json_write(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
	} else if (st == HU_OK && !quiet)
		hu_differences_print(&d, r, stdout);
	*differs = d.n > 0;
	hu_differences_release(&d);
	return st;
}

static int
run(const hu_args *a)
{
	hu_run r;
	int differs = 0;
	long long threads;

	if (hu_args_given(a, "quiet") || hu_args_given(a, "json"))
		hu_progress_disable();
	if (a->nrest != 1)
		return hu_complain(hu_fail(HU_EINVAL, "one RUN is needed"));
	hu_status st = hu_args_int(a, "threads", 0, 4096, &threads);
	if (st == HU_OK && hu_args_given(a, "backend:simd"))
		st = hu_simd_set(hu_args_text(a, "backend:simd"));
	if (st == HU_OK)
		st = hu_run_open(&r, a->rest[0]);
	if (st != HU_OK)
		return hu_complain(st);
	hu_threads_set((int)threads);
	st = hu_args_given(a, "trace") ? verify_trace(a, &r, &differs) : verify_run(a, &r, &differs);
	hu_run_release(&r);
	return st != HU_OK ? hu_complain(st) : differs ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

static int
repeats(const void *of)
{
	return !hu_args_given(of, "trace");
}
static int
speaks(const void *of)
{
	return !hu_args_given(of, "quiet");
}

static const hu_opt_need needs[] = { { "backend backend:gemm steps", repeats,
					     "beside --trace, which runs each traced call alone on the CPU" },
	{ "json", speaks, "beside --quiet" }, { NULL, NULL, NULL } };

const hu_command hu_cmd_verify = { "verify", "[--trace] [OPTION...] RUN",
	"execute a run again and compare bits; exit 1 names where they differ",
	"Without --trace the whole training is repeated from its manifest: first the programs that this version\n"
	"would run are compared with the recorded ones, call by call with their attributes; then each step's\n"
	"digest (a checksum of the state) and each evaluation are compared with metrics.tsv. With --trace every\n"
	"traced call runs alone on its recorded inputs. A difference is marked `inherited` where an input of that\n"
	"call already differs from what its own call computes again.",
	opts, run, needs, NULL };
