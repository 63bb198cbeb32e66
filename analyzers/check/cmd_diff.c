/* SPDX-License-Identifier: Apache-2.0
   halfulp diff RUN1 RUN2: where two runs part. First by the digests of every step,
   then, in the first traced step that differs, by call and tensor. Files of other programs
   are compared by name, in analyzers/gate. */
#include "analyzers/gate/gate_files.h"
#include "analyzers/check/run_compare.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/show.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt.h"
#include "lib/number/round.h"
#include "lib/store/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "all", NULL, NULL, "list every tensor that differs, not the first alone; of files, also those that do not" },
	{ "step", "COLUMN", NULL, "of metrics: the column that tells rows apart (step, epoch, ... by itself)" },
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL }
};

/* Two versions of one tensor. */
typedef struct pair {
	size_t differ, first, worst;
	double ulps, a, b;
} pair;

/* First row whose digests differ; its step in *step. 1 found, 0 none, and *common rows compared. */
static hu_status
first_step(const char *one, const char *two, long long *step, int *common, int *lengths)
{
	hu_table a, b;
	char *pa = hu_path(one, "metrics.tsv"), *pb = hu_path(two, "metrics.tsv");
	hu_status st = hu_table_read(&a, pa);

	*step = -1;
	if (st == HU_OK && (st = hu_table_read(&b, pb)) != HU_OK)
		hu_table_release(&a);
	free(pa);
	free(pb);
	HU_TRY(st);
	int da = hu_table_column(&a, "digest"), db = hu_table_column(&b, "digest"), s = hu_table_column(&a, "step");
	*common = a.rows < b.rows ? a.rows : b.rows;
	lengths[0] = a.rows;
	lengths[1] = b.rows;
	for (int i = 0; i < *common && *step < 0; i++)
		if (strcmp(hu_table_cell(&a, i, da), hu_table_cell(&b, i, db)))
			*step = (long long)hu_table_real(&a, i, s);
	hu_table_release(&a);
	hu_table_release(&b);
	return HU_OK;
}

static double
apart(double x, double y, hu_format f)
{
	if (x == y || (x != x && y != y))
		return 0;
	return hu_isfinite(x) && hu_isfinite(y) ? ldexp(fabs(x - y), -hu_ulp_exponent(x, f)) : INFINITY;
}

/* Ulps are those of the coarser format, at the first run's value. Bits decide what differs: +0 and -0 do. */
static pair
compare(const hu_tensor *x, const hu_tensor *y)
{
	hu_format f = hu_format_of(x->format), g = hu_format_of(y->format);
	pair p = { 0, 0, 0, 0, 0, 0 };

	if (g.p < f.p)
		f = g;
	for (size_t i = 0; i < x->n; i++) {
		double u = hu_get(x, i), v = hu_get(y, i), ulps;
		if (hu_bits64(u) == hu_bits64(v))
			continue;
		ulps = apart(u, v, f);
		if (!p.differ++)
			p.first = i;
		if (p.differ == 1 || ulps > p.ulps) {
			p.ulps = ulps;
			p.worst = i;
			p.a = u;
			p.b = v;
		}
	}
	return p;
}

static json_t *
number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static void
tell(json_t *list, const hu_run *r, size_t step, int id, const char *kind, const pair *p, size_t n)
{
	const hu_info *t = &r->train->t[id];
	const hu_call *c = t->producer >= 0 ? &r->train->c[t->producer] : NULL;

	if (list)
		json_array_append_new(
			list, json_pack("{s:I s:i s:s s:s s:s s:s s:I s:I s:I s:o s:o s:o}", "step", (json_int_t)step,
				      "call", c ? c->id : -1, "op", c ? c->op->name : "-", "layer", t->layer, "tensor",
				      t->name, "kind", kind, "elements", (json_int_t)n, "differ", (json_int_t)p->differ,
				      "worst_element", (json_int_t)p->worst, "ulps", number(p->ulps), "first_run",
				      number(p->a), "second_run", number(p->b)));
	else {
		if (c)
			printf("step %zu, %s %d (%s, layer %s), tensor %s: ", step, kind, c->id, c->op->name, t->layer,
				t->name);
		else
			printf("step %zu, %s %s: ", step, kind, t->name);
		printf("%zu of %zu elements differ, the first is %zu, the worst %zu by %g ulps (%.9g and %.9g)\n",
			p->differ, n, p->first, p->worst, p->ulps, p->a, p->b);
	}
}

/* Tensors that both recorded, in the order in which the first run wrote them: inputs first. */
static size_t
tensors(const hu_run *r, const hu_run *s, size_t step, const hu_tensor *x, const hu_tensor *y, int all, json_t *list)
{
	size_t found = 0;

	for (int pass = -1; pass < r->train->nc; pass++)
		for (int i = 0; i < r->train->nt; i++) {
			int k;
			if (r->train->t[i].producer != pass || !x[i].data ||
				(k = hu_program_find(s->train, r->train->t[i].name)) < 0 || !y[k].data ||
				y[k].n != x[i].n)
				continue;
			pair p = compare(&x[i], &y[k]);
			if (!p.differ)
				continue;
			if (!found++ || all)
				tell(list, r, step, i, pass < 0 ? "input" : "call", &p, x[i].n);
		}
	return found;
}

static hu_status
traced(const hu_run *r, const hu_run *s, int all, json_t *list, int *common, size_t *found)
{
	*common = 0;
	*found = 0;
	for (int i = 0; i < r->nstep; i++)
		for (int k = 0; k < s->nstep && !*found; k++) {
			hu_tensor *x, *y;
			if (r->step[i] != s->step[k])
				continue;
			++*common;
			HU_TRY(hu_run_load_trace(r, r->step[i], &x));
			hu_status st = hu_run_load_trace(s, s->step[k], &y);
			if (st == HU_OK) {
				*found = tensors(r, s, r->step[i], x, y, all, list);
				hu_run_free_trace(s, y);
			}
			hu_run_free_trace(r, x);
			HU_TRY(st);
		}
	return HU_OK;
}

/* At most 20 LINES, or ALL. */
static void
print_lines(const hu_str *lines, size_t n, int all)
{
	size_t k = 0;

	for (const char *at = lines->s; *at && (all || k < 20); at += strcspn(at, "\n") + 1, k++)
		printf("  %.*s\n", (int)strcspn(at, "\n"), at);
	if (k < n)
		printf("  and %zu more, which --all lists\n", n - k);
}

/* What both were told and what they ran, before any number. */
static void
print_comparison(const hu_run_comparison *c, int all)
{
	if (c->nsettings) {
		printf("settings that differ, first run and second:\n");
		print_lines(&c->settings, c->nsettings, all);
	}
	if (c->nprogram) {
		printf("calls and tensors that differ, first run -> second:\n");
		print_lines(&c->program, c->nprogram, all);
	} else {
		printf("both run the same programs\n");
	}
}

static void
print_evaluation(const hu_run_comparison *c)
{
	if (c->evaluation >= 0)
		printf("the first evaluation that differs is behind step %lld: %s %.17g and %.17g\n", c->evaluation,
			c->column, c->a, c->b);
}

static json_t *
lines_json(const hu_str *lines)
{
	json_t *list = json_array();

	for (const char *at = lines->s; *at; at += strcspn(at, "\n") + 1) {
		char *line = hu_xprintf("%.*s", (int)strcspn(at, "\n"), at);
		json_array_append_new(list, json_string(hu_shown(line)));
		free(line);
	}
	return list;
}

/* What to trace, where no traced step shows which call parts the two. */
static void
advise(const hu_run_comparison *c, const hu_run *s, long long step, int common, size_t found)
{
	if (common && (found || step < 0))
		return;
	if (!common && c->traced >= 0)
		printf("no step was traced in both: train %s with --trace-steps %lld", hu_shown(s->dir), c->traced);
	else if (!common)
		printf("no step was traced in either: train both with --trace-steps %lld", step >= 0 ? step : 0);
	else
		printf("the first step that differs was not traced in both: train both with --trace-steps %lld", step);
	printf(", and diff names the call that parts them\n");
}

static hu_status
both(const hu_run *r, const hu_run *s, int all, int json, int *differ)
{
	long long step = -1;
	int rows = 0, lengths[2] = { 0, 0 }, common = 0;
	size_t found = 0;
	hu_run_comparison c;

	HU_TRY(hu_run_compare(&c, r, s));
	json_t *list = json ? json_array() : NULL;
	if (!json)
		print_comparison(&c, all);
	hu_status st = first_step(r->dir, s->dir, &step, &rows, lengths);
	if (st == HU_OK && !json && step >= 0)
		printf("the first step whose state differs is %lld (of %d common ones)\n", step, rows);
	else if (st == HU_OK && !json)
		printf("all %d common steps have the same digest%s\n", rows,
			lengths[0] == lengths[1] ? "" : ", and one run has more");
	if (st == HU_OK && !json)
		print_evaluation(&c);
	if (st == HU_OK)
		st = traced(r, s, all, list, &common, &found);
	if (st == HU_OK && !json && common && !found)
		printf("the %d steps traced in both are the same in every recorded bit\n", common);
	else if (st == HU_OK && !json && found > 1 && !all)
		printf("%zu more tensors differ after it; --all lists them\n", found - 1);
	if (st == HU_OK && !json)
		advise(&c, s, step, common, found);
	*differ = step >= 0 || found || lengths[0] != lengths[1] || c.nprogram || c.evaluation >= 0;
	if (st == HU_OK && json) {
		json_t *o = json_pack("{s:b s:o s:o s:I s:i s:o s:i s:o}", "same", !*differ, "settings",
			lines_json(&c.settings), "program", lines_json(&c.program), "first_step", (json_int_t)step,
			"common_steps", rows, "first_evaluation",
			c.evaluation >= 0 ? json_integer((json_int_t)c.evaluation) : json_null(), "common_traces",
			common, "tensors", list);
		json_dumpf(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
		putchar('\n');
		json_decref(o);
	} else {
		json_decref(list);
	}
	hu_run_comparison_release(&c);
	return st;
}

/* Two runs are compared call by call, whatever else by name. */
static int
of_files(const void *of)
{
	const hu_args *a = of;

	return a->nrest == 2 && (hu_are_files(a->rest[0], NULL) || hu_are_files(a->rest[1], NULL));
}

static int
run(const hu_args *a)
{
	hu_run r, s;
	int differ = 0;
	hu_status st = HU_OK;

	if (a->nrest != 2)
		return hu_complain(hu_fail(HU_EINVAL, "two runs or two files are needed: halfulp diff RUN1 RUN2"));
	if (of_files(a))
		return hu_diff_files(a, a->rest[0], a->rest[1]);
	if ((st = hu_run_open(&r, a->rest[0])) != HU_OK)
		return hu_complain(st);
	if ((st = hu_run_open(&s, a->rest[1])) == HU_OK) {
		st = both(&r, &s, hu_args_given(a, "all"), hu_args_given(a, "json"), &differ);
		hu_run_release(&s);
	}
	hu_run_release(&r);
	return st != HU_OK ? hu_complain(st) : differ ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

static const hu_opt_need needs[] = { { "step", of_files, "between runs, whose rows are steps" }, { NULL, NULL, NULL } };

const hu_command hu_cmd_diff = { "diff", "[OPTION...] RUN1 RUN2",
	"find where two runs part: first step, first call, by how many ulps; or compare two files by name",
	"Compares what the runs were told and the programs they ran, call by call with every attribute; then the\n"
	"digests of all steps and the evaluations; then the recorded tensors of the traced steps in the order in "
	"which\n"
	"they were written; ulps are those of the coarser format. Runs of two models are refused. Files (.safetensors, "
	".npz, .npy, metrics as TSV, "
	"CSV\n"
	"or JSON lines) are compared by name, a row a tensor, the farthest first; halfulp help check says what the\n"
	"columns are. Exit 0 where nothing differs, 1 where something does.",
	opts, run, needs };
