/* SPDX-License-Identifier: Apache-2.0
   halfulp diff RUN1 RUN2: where two runs diverge. First by the digests of every step,
   then, in the first traced step that differs, by call and tensor. Files of other programs
   are compared by name, in analyzers/drift/files. */
#include "analyzers/drift/files/files_commands.h"
#include "analyzers/drift/divergence.h"
#include "lib/base/console/show_json.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt.h"
#include "lib/base/table/fields.h"
#include "lib/judge/kernel/verdict.h"
#include "lib/judge/parts/bias_sum.h"
#include "lib/number/ulps.h"
#include "lib/store/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "all", NULL, NULL, "list every tensor that differs, not the first alone; of files, also those that do not" },
	{ "step", "COLUMN", NULL, "of metrics: the column that tells rows apart (step, epoch, ... by itself)" },
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL }
};

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

/* A recorded tensor that differs. */
typedef struct row {
	long long step, elements, differ, worst;
	int call;
	const char *op, *layer, *tensor, *kind;
	double ulps, first, second;
	hu_bias_found bias;
} row;

#define COLUMN(...) HU_FIELD_OF(row, __VA_ARGS__)
static const hu_table_field columns[] = {
	COLUMN("step", COUNT, step, ANYWHERE, "the traced step"),
	COLUMN("call", INT, call, ANYWHERE, "the call that makes it, -1 for an input"),
	COLUMN("op", TEXT, op, ANYWHERE, "its operator"),
	COLUMN("layer", TEXT, layer, ANYWHERE, "its layer"),
	COLUMN("tensor", TEXT, tensor, ANYWHERE, "its name"),
	COLUMN("kind", TEXT, kind, ANYWHERE, "call or input"),
	COLUMN("elements", COUNT, elements, ANYWHERE, "its elements"),
	COLUMN("differ", COUNT, differ, ANYWHERE, "those that differ"),
	COLUMN("worst_element", COUNT, worst, ANYWHERE, "the one that is farthest apart"),
	COLUMN("ulps", MEASURED, ulps, ANYWHERE, "how far, in ulps of the coarser format"),
	COLUMN("first_run", REAL, first, ANYWHERE, "its value in the first run"),
	COLUMN("second_run", REAL, second, ANYWHERE, "its value in the second run"),
	COLUMN("signed_ulp_mean", MEASURED, bias.signed_mean, ANYWHERE, "the mean difference in ulps"),
	COLUMN("outward_ulp_mean", MEASURED, bias.outward_mean, ANYWHERE,
		"the mean difference away from zero, in ulps"),
	COLUMN("bias_t", MEASURED, bias.t, ANYWHERE, "the statistic of whether differences have one direction"),
};

/* Adds a tensor to LIST, or a line about it to LINES where that is NULL. */
static void
tell(json_t *list, hu_str *lines, const hu_run *r, size_t step, int id, const char *kind, const hu_apart *p,
	const hu_bias_found *b)
{
	const hu_fields fields = HU_FIELDS(columns, row);
	const hu_info *t = &r->train->t[id];
	const hu_call *c = t->producer >= 0 ? &r->train->c[t->producer] : NULL;
	char ulps[32];

	if (list) {
		row x = { (long long)step, (long long)p->n, (long long)p->differ, (long long)p->worst, c ? c->id : -1,
			c ? c->op->name : "-", t->layer, t->name, kind, p->ulps, p->a, p->b, *b };
		json_array_append_new(list, hu_fields_object(&fields, &x));
	} else {
		if (c)
			hu_str_addf(lines, "step %zu, %s %d (%s, layer %s), tensor %s: ", step, kind, c->id,
				c->op->name, t->layer, t->name);
		else
			hu_str_addf(lines, "step %zu, %s %s: ", step, kind, t->name);
		hu_str_addf(lines,
			"%zu of %zu elements differ, the first is %zu, the worst %zu by %s ulps (%.9g and %.9g)",
			p->differ, p->n, p->first, p->worst,
			hu_ulps_text(ulps, p->ulps, hu_format_of(p->format), 6), p->a, p->b);
		if (b->t > HU_BIAS_T)
			hu_str_addf(lines,
				"; differences have one direction: %+.4g ulps on the mean, %+.4g away from zero, T = "
				"%.4g",
				b->signed_mean, b->outward_mean, b->t);
		hu_str_add(lines, "\n");
	}
}

/* What traced steps show. */
typedef struct traces {
	int all;
	json_t *list; /* of --json, or NULL */
	hu_str lines;
	hu_divergence first; /* where something was found */
} traces;

/* Tensors that both recorded, in the order in which the first run wrote them: inputs first. */
static size_t
tensors(traces *to, const hu_run *r, const hu_run *s, size_t step, const hu_tensor *x, const hu_tensor *y)
{
	size_t found = 0;

	for (int pass = -1; pass < r->train->nc; pass++)
		for (int i = 0; i < r->train->nt; i++) {
			int k;
			if (r->train->t[i].producer != pass || !x[i].data ||
				(k = hu_program_find(s->train, r->train->t[i].name)) < 0 || !y[k].data ||
				y[k].n != x[i].n)
				continue;
			hu_apart p = hu_apart_of(&x[i], &y[k]);
			if (!p.differ)
				continue;
			if (!found++)
				to->first = (hu_divergence){ .step = step, .tensor = i, .apart = p };
			if (found > 1 && !to->all)
				continue;
			hu_bias_found b;
			hu_bias_of_versions(&b, &x[i], &y[k], hu_format_of(p.format));
			tell(to->list, &to->lines, r, step, i, pass < 0 ? "input" : "call", &p, &b);
		}
	return found;
}

static hu_status
traced(traces *to, const hu_run *r, const hu_run *s, int *common, size_t *found)
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
				*found = tensors(to, r, s, r->step[i], x, y);
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
		printf("no step was traced in both: train %s with --trace steps=%lld", hu_shown(s->dir), c->traced);
	else if (!common)
		printf("no step was traced in either: train both with --trace steps=%lld", step >= 0 ? step : 0);
	else
		printf("the first step that differs was not traced in both: train both with --trace steps=%lld", step);
	printf(", and diff names the call where they diverge\n");
}

/* What two runs have in common and where they diverge. */
typedef struct outcome {
	hu_run_comparison c;
	traces recorded;
	long long step; /* the first whose digest differs, or -1 */
	int rows, lengths[2], common;
	size_t found;
	char *why;
	int differ;
} outcome;

static hu_status
look(outcome *o, const hu_run *r, const hu_run *s)
{
	hu_divergence *first = &o->recorded.first;

	HU_TRY(first_step(r->dir, s->dir, &o->step, &o->rows, o->lengths));
	HU_TRY(traced(&o->recorded, r, s, &o->common, &o->found));
	if (!o->found) /* a weight that no digest and no trace shows */
		HU_TRY(hu_divergence_of_states(first, r, s));
	o->differ = o->step >= 0 || o->found || first->apart.differ || o->lengths[0] != o->lengths[1] ||
		    o->c.nprogram || o->c.evaluation >= 0;
	o->why = o->differ ? hu_divergence_text(first, &o->c, r, o->step, o->rows) : NULL;
	return HU_OK;
}

static void
print_json(const outcome *o)
{
	json_t *j = json_pack("{s:b s:s? s:o s:o s:I s:i s:o s:i s:O}", "same", !o->differ, "why", o->why, "settings",
		lines_json(&o->c.settings), "program", lines_json(&o->c.program), "first_step", (json_int_t)o->step,
		"common_steps", o->rows, "first_evaluation",
		o->c.evaluation >= 0 ? json_integer((json_int_t)o->c.evaluation) : json_null(), "common_traces",
		o->common, "tensors", o->recorded.list);

	hu_json_write(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(j);
}

static void
print(const outcome *o, const hu_run *s)
{
	if (o->why)
		puts(o->why);
	print_comparison(&o->c, o->recorded.all);
	if (o->step >= 0)
		printf("the first step whose state differs is %lld (of %d common ones)\n", o->step, o->rows);
	else
		printf("all %d common steps have the same digest%s\n", o->rows,
			o->lengths[0] == o->lengths[1] ? "" : ", and one run has more");
	print_evaluation(&o->c);
	fputs(o->recorded.lines.s, stdout);
	if (o->common && !o->found)
		printf("the %d steps traced in both are the same in every recorded bit\n", o->common);
	else if (o->found > 1 && !o->recorded.all)
		printf("%zu more tensors differ after it; --all lists them\n", o->found - 1);
	advise(&o->c, s, o->step, o->common, o->found);
}

static hu_status
both(const hu_run *r, const hu_run *s, int all, int json, int *differ)
{
	outcome o = { .step = -1 };

	HU_TRY(hu_run_compare(&o.c, r, s));
	o.recorded.all = all;
	o.recorded.list = json ? json_array() : NULL;
	hu_str_init(&o.recorded.lines);
	hu_status st = look(&o, r, s);
	if (st == HU_OK && json)
		print_json(&o);
	else if (st == HU_OK)
		print(&o, s);
	*differ = o.differ;
	free(o.why);
	json_decref(o.recorded.list);
	hu_str_release(&o.recorded.lines);
	hu_run_comparison_release(&o.c);
	return st;
}

/* Two runs are compared call by call, whatever else by name. */
static int
of_files(const void *of)
{
	const hu_args *a = of;

	return a->nrest == 2 && (hu_files_are(a->rest[0], NULL) || hu_files_are(a->rest[1], NULL));
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
		return hu_files_diff(a, a->rest[0], a->rest[1]);
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
	"find where two runs diverge: first step, first call, by how many ulps; or compare two files by name",
	"Compares what the runs were told and the programs they ran, call by call with every attribute; then the\n"
	"digests of all steps and the evaluations; then the recorded tensors of the traced steps in the order in "
	"which\n"
	"they were written; ulps are those of the coarser format. Runs of two models are refused. Files (.safetensors, "
	".npz, .npy, metrics as TSV, "
	"CSV\n"
	"or JSON lines) are compared by name, a row a tensor, the farthest first; halfulp check --help says what the\n"
	"columns are. Exit 0 where nothing differs, 1 where something does.",
	opts, run, needs, NULL };
