/* SPDX-License-Identifier: Apache-2.0
   A run's tables as quantities with keys. */
#include "analyzers/run/analyzer.h"
#include "analyzers/drift/baseline/baseline.h"
#include "analyzers/drift/baseline/baseline_begin.h"
#include "analyzers/drift/baseline/baseline_common.h"
#include "analyzers/drift/baseline/baseline_headline.h"
#include "analyzers/drift/baseline/baseline_program.h"

#include "lib/base/build.h"
#include "lib/base/show.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/op/reduce/summed.h"

#include <stdlib.h>
#include <string.h>

/* A cell as a quantity. Its key is TABLE/step/layer/call/tensor/…/COLUMN with the table's own naming columns. */
static void
add_cell(hu_baseline *b, const hu_held_column *h, const hu_table *t, int row)
{
	hu_str key;
	char *ids = hu_xstrdup(h->ids), *save = NULL;

	hu_str_init(&key);
	hu_str_add(&key, h->table);
	for (char *s = strtok_r(ids, " ", &save); s; s = strtok_r(NULL, " ", &save))
		hu_str_addf(&key, "/%s", hu_table_cell(t, row, hu_table_column(t, s)));
	hu_str_addf(&key, "/%s", h->column);
	hu_baseline_add(b, key.s, hu_table_cell(t, row, hu_table_column(t, h->column)),
		h->against == HU_HELD_AGAINST_UP ? HU_SIDE_UP : HU_SIDE_DOWN, HU_FP64);
	free(ids);
	hu_str_release(&key);
}

/* RUN/analysis/NAME.tsv, which must be of the run as it is now, and of the same analysis as the tables read before it:
   one that was killed leaves new tables beside old ones. */
static hu_status
read_table(hu_baseline *b, const hu_run *r, const char *name, hu_table *t)
{
	char *path = hu_path(r->dir, "analysis/%s.tsv", name);
	hu_status st = hu_exists(path) ? hu_table_read_sealed(t, path, "halfulp analyze")
				       : hu_fail(HU_EFILE, "%s is missing; run halfulp analyze %s first", path, r->dir);

	if (st == HU_OK) {
		const char *of = hu_table_note(t, HU_RUN_MANIFEST_NOTE), *how = hu_table_note(t, HU_ANALYSIS_NOTE),
			   *before = hu_baseline_env(b, HU_ANALYSIS_NOTE);
		if (!of || strcmp(of, r->xxh3))
			st = hu_fail(HU_EFILE,
				"%s was not made from this run as it is now; run halfulp analyze %s again", path,
				r->dir);
		else if (!how || (before && strncmp(how, before, strlen(before))))
			st = hu_fail(HU_EFILE,
				"%s belongs to another analysis than the tables beside it (%s; %s); run halfulp "
				"analyze %s again",
				path, how ? how : "-", before ? before : "-", r->dir);
		else if (!before)
			hu_baseline_set(b, HU_ANALYSIS_NOTE, "%s", how);
		if (st != HU_OK)
			hu_table_release(t);
	}
	free(path);
	return st;
}

/* The held columns of one analyzer, whose rows of a table stand together. */
static hu_status
collect_held(hu_baseline *b, const hu_run *r, const hu_held_column *held)
{
	hu_table t;

	for (const hu_held_column *h = held; h && h->table; h++) {
		if (h == held || strcmp(h[-1].table, h->table))
			HU_TRY(read_table(b, r, h->table, &t));
		for (int k = 0; k < t.rows; k++)
			add_cell(b, h, &t, k);
		if (!h[1].table || strcmp(h[1].table, h->table))
			hu_table_release(&t);
	}
	return HU_OK;
}

static hu_status
collect_tables(hu_baseline *b, const hu_run *r)
{
	const hu_analyzer *a;

	for (int i = 0; (a = hu_analyzer_at(i)); i++)
		HU_TRY(collect_held(b, r, a->held));
	return HU_OK;
}

/* Whether the state's digest behind this row is held: steps 0, 1, 2, 4, 8, …, which say between which two a training
   diverged from the one of the baseline. */
static int
held_digest(size_t row)
{
	return (row & (row - 1)) == 0;
}

/* TABLE/STEP/COLUMN of these columns. OPTIONAL ones are left out where they were not measured. */
static void
add_columns(hu_baseline *b, const char *table, const hu_table *t, int row, const char *const *columns, int optional)
{
	for (; *columns; columns++) {
		const char *cell = hu_table_cell(t, row, hu_table_column(t, *columns));
		if (optional && !strcmp(cell, "-"))
			continue;
		char *key = hu_xprintf("%s/%s/%s", table, hu_table_cell(t, row, hu_table_column(t, "step")), *columns);
		hu_baseline_add(b, key, cell, HU_SIDE_BOTH, HU_FP32);
		free(key);
	}
}

/* What an evaluation may have besides: by model. */
static const char *const scores[] = { "eval_precision", "eval_recall", "eval_dice", "eval_iou", "eval_hit_rate",
	"eval_ndcg", NULL };

/* Losses, accuracies and scores where an epoch ended, the state's digest there, at steps of powers of two, and at the
   end. */
static hu_status
collect_metrics(hu_baseline *b, const hu_run *r)
{
	static const char *const columns[] = { "loss", "accuracy", "eval_loss", "eval_accuracy", "loss_scale", NULL };
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_table t;
	hu_status st = hu_table_read(&t, path);

	free(path);
	HU_TRY(st);
	int step = hu_table_column(&t, "step"), eval = hu_table_column(&t, "eval_loss"),
	    digest = hu_table_column(&t, "digest");
	for (int i = 0; i < t.rows; i++) {
		int ends = i == 0 || i + 1 == t.rows || strcmp(hu_table_cell(&t, i, eval), "-");
		if (ends || held_digest((size_t)i)) {
			char *key = hu_xprintf("metrics/%s/digest", hu_table_cell(&t, i, step));
			hu_baseline_add(b, key, hu_table_cell(&t, i, digest), HU_SIDE_BOTH, HU_FP64);
			free(key);
		}
		if (!ends)
			continue;
		add_columns(b, "metrics", &t, i, columns, 0);
		add_columns(b, "metrics", &t, i, scores, 1);
	}
	if (t.rows)
		hu_baseline_add(b, "metrics/last/digest", hu_table_cell(&t, t.rows - 1, digest), HU_SIDE_BOTH, HU_FP64);
	hu_table_release(&t);
	return HU_OK;
}

/* Every step updates the parameters of the first one, in its order: row i is of the parameter of row i % n. */
static hu_status
check_updates(const hu_table *t, const char *path, int n, int of)
{
	for (int i = n; i < t->rows; i++)
		if (strcmp(hu_table_cell(t, i, of), hu_table_cell(t, i % n, of)))
			return hu_fail(HU_EFILE,
				"%s: row %d is of %s, and of %s in the first step: every step updates the same "
				"parameters in one order",
				hu_shown(path), i + 1, hu_shown(hu_table_cell(t, i, of)),
				hu_shown(hu_table_cell(t, i % n, of)));
	return HU_OK;
}

/* How many updates a parameter had in all steps, and how many of them were swamped: TABLE/PARAMETER/COLUMN. A run that
   another framework recorded counts none, and its manifest names no such table. */
static hu_status
collect_updates(hu_baseline *b, const hu_run *r, const char *table)
{
	static const char *const columns[] = { "updates", "swamped" };
	hu_table t;
	char *path = hu_path(r->dir, "updates.tsv");

	if (!hu_exists(path) && !json_object_get(json_object_get(r->manifest, "files"), "updates.tsv")) {
		free(path);
		return HU_OK;
	}
	hu_status st = hu_table_read(&t, path);

	if (st != HU_OK) {
		free(path);
		return st;
	}
	int n = 0, of = hu_table_column(&t, "tensor"), step = hu_table_column(&t, "step");
	while (n < t.rows && !strcmp(hu_table_cell(&t, n, step), hu_table_cell(&t, 0, step)))
		n++;
	st = check_updates(&t, path, n, of);
	free(path);
	for (int k = 0; k < 2 && st == HU_OK; k++) {
		double *sum = hu_xcalloc((size_t)n + 1, sizeof *sum);
		int column = hu_table_column(&t, columns[k]);
		for (int i = 0; i < t.rows; i++)
			sum[i % n] += hu_table_real(&t, i, column);
		for (int i = 0; i < n; i++) {
			char *key = hu_xprintf("%s/%s/%s", table, hu_table_cell(&t, i, of), columns[k]),
			     *text = hu_xprintf("%.0f", sum[i]);
			hu_baseline_add(b, key, text, HU_SIDE_BOTH, HU_FP64);
			free(key);
			free(text);
		}
		free(sum);
	}
	hu_table_release(&t);
	return st;
}

static void
from_manifest(hu_baseline *b, const json_t *m, const char *key)
{
	const json_t *v = json_object_get(m, key);

	if (json_is_object(v) && json_object_get(v, "name"))
		v = json_object_get(v, "name");
	if (!v)
		return;
	char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT);
	size_t n = text ? strlen(text) : 0;
	int quoted = n > 1 && *text == '"';
	if (text)
		hu_baseline_set(b, key, "%.*s", (int)(quoted ? n - 2 : n), text + quoted);
	free(text);
}

/* What else the training was told: a learning rate that differs is why all the rest does. */
static void
options(hu_baseline *b, const json_t *config)
{
	const char *key;
	const json_t *v;

	json_object_foreach((json_t *)(size_t)config, key, v) if (strncmp(key, "trace-", 6) && !hu_baseline_env(b, key))
		from_manifest(b, config, key);
}

/* What decides bits: the order of every sum, the places of every cast, and all calls. */
static void
hashes(hu_baseline *b, const hu_program *p)
{
	uint64_t sums = 0, casts = 0, calls = 0;

	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		char text[2 * HU_NAME + 64], sum[96];
		hu_sum_print(c->sum, sum, sizeof sum);
		snprintf(text, sizeof text, "%d %s part=%g", i, sum, hu_attr_num(c, "part", 0));
		if (hu_summed_or_product(c))
			sums = hu_mix64(sums ^ hu_fnv1a64(text));
		/* an opaque call may have no operand */
		snprintf(text, sizeof text, "%s %s>%s %s", c->op->name, c->nin ? p->t[c->in[0]].name : "-",
			p->t[c->out[0]].name, hu_format_name(p->t[c->out[0]].format));
		if (c->op->role == HU_ROLE_CAST)
			casts = hu_mix64(casts ^ hu_fnv1a64(text));
		calls = hu_mix64(calls ^ hu_fnv1a64(text));
	}
	hu_baseline_set(b, "summation_tree", "0x%016llx", (unsigned long long)sums);
	hu_baseline_set(b, "casts", "0x%016llx", (unsigned long long)casts);
	hu_baseline_set(b, "calls", "0x%016llx", (unsigned long long)calls);
}

void
hu_baseline_environment(hu_baseline *b, const hu_run *r)
{
	static const char *const keys[] = { "model", "policy", "dataset", "optimizer", "batch", "epochs", "loss_weight",
		"seed", "backend", "device", "compiler", "simd", NULL };

	const char *data = json_string_value(json_object_get(json_object_get(r->manifest, "dataset"), "digest"));

	memset(b, 0, sizeof *b);
	hu_baseline_set(b, "halfulp", "%s", hu_build_version());
	if (data)
		hu_baseline_set(b, "dataset_digest", "%s", data);
	for (int i = 0; keys[i]; i++)
		from_manifest(b, r->manifest, keys[i]);
	options(b, json_object_get(r->manifest, "config"));
	hashes(b, r->train);
}

/* Every step of RUN/exercise, where train --exercise made it: loss, loss scale, whether it was skipped and what
   overflowed, digest, and its evaluations. */
static hu_status
collect_exercise(hu_baseline *b, const hu_run *r)
{
	static const char *const columns[] = { "loss", "loss_scale", "skipped", "digest", NULL }, *const rare[] = {
		"overflow_call", "overflow_tensor", "overflow_count", "eval_loss", "eval_accuracy", NULL
	};
	char *dir = hu_path(r->dir, "exercise"), *path = hu_path(r->dir, "exercise/metrics.tsv");
	hu_status st = HU_OK;
	hu_run own;
	hu_table t;

	if (hu_exists(dir) && (st = hu_run_open(&own, dir)) == HU_OK) {
		if ((st = hu_run_finished(&own)) == HU_OK && (st = hu_table_read(&t, path)) == HU_OK) {
			for (int i = 0; i < t.rows; i++) {
				add_columns(b, "exercise", &t, i, columns, 0);
				add_columns(b, "exercise", &t, i, rare, 1);
				add_columns(b, "exercise", &t, i, scores, 1);
			}
			hu_table_release(&t);
			st = collect_updates(b, &own, "exercise/updates");
		}
		hu_run_release(&own);
	}
	free(path);
	free(dir);
	return st;
}

hu_status
hu_baseline_collect(hu_baseline *b, const hu_run *r)
{
	hu_baseline_environment(b, r);
	hu_baseline_collect_programs(b, r);
	hu_status st = collect_metrics(b, r);
	if (st == HU_OK)
		st = collect_updates(b, r, "updates");
	if (st == HU_OK)
		st = collect_exercise(b, r);
	if (st == HU_OK)
		st = hu_baseline_collect_begin(b, r);
	if (st == HU_OK)
		st = collect_tables(b, r);
	hu_baseline_sort(b);
	hu_baseline_summarize(b);
	if (st != HU_OK)
		hu_baseline_release(b);
	return st;
}
