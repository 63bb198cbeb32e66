/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/compare.h"

#include "lib/base/console/show_json.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[HU_RESULTS] = { "accuracy", "precision", "recall", "dice", "iou", "hit_rate", "ndcg",
	"eval_loss", "ms_a_step", "bytes", "swamped_share", "underflowed_share", "judged_share" };

/* The columns of metrics.tsv that the first of them are read from. */
static const char *const measured[] = { "eval_accuracy", "eval_precision", "eval_recall", "eval_dice", "eval_iou",
	"eval_hit_rate", "eval_ndcg", "eval_loss" };

/* Of kinds of models: the first row whose first score was measured holds, and the last, accuracy's, where none was. */
static const hu_compare_scores scores[] = {
	{ { HU_RESULT_HIT_RATE, HU_RESULT_NDCG, HU_RESULT_ACCURACY }, { "hit rate", "NDCG", "accuracy" } },
	{ { HU_RESULT_DICE, HU_RESULT_IOU, HU_RESULT_ACCURACY }, { "Dice", "IoU", "accuracy" } },
	{ { HU_RESULT_ACCURACY, HU_RESULT_PRECISION, HU_RESULT_RECALL }, { "accuracy", "precision", "recall" } },
};

const char *
hu_result_name(int k)
{
	return names[k];
}

static hu_status
read_metrics(hu_compare_result *r)
{
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_table t;
	hu_status st = hu_table_read(&t, path);

	free(path);
	HU_TRY(st);
	int ms = hu_table_column(&t, "ms");
	double sum = 0;
	for (size_t k = 0; k < sizeof measured / sizeof *measured; k++)
		r->v[k] = t.rows ? hu_table_real(&t, t.rows - 1, hu_table_column(&t, measured[k])) : NAN;
	for (int i = 1; i < t.rows; i++)
		sum += hu_table_real(&t, i, ms);
	r->v[HU_RESULT_MS] = t.rows > 1 ? sum / (t.rows - 1) : NAN;
	hu_table_release(&t);
	return HU_OK;
}

static double
number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void
read_memory(hu_compare_result *r, const json_t *manifest)
{
	const char *key;
	json_t *v;

	r->v[HU_RESULT_BYTES] = 0;
	json_object_foreach(json_object_get(manifest, "memory_bytes"), key, v) r->v[HU_RESULT_BYTES] +=
		json_number_value(v);
}

/* A run that was not analyzed has no summary, and one that cannot be read is a failure. */
static hu_status
read_summary(hu_compare_result *r)
{
	char *path = hu_path(r->dir, "analysis/summary.json");
	json_t *j = NULL, *n;
	hu_status st = hu_exists(path) ? hu_json_read(path, &j) : HU_OK;

	n = json_object_get(j, "numbers");
	if (j && !n)
		st = hu_fail(HU_EFILE, "%s: it has no numbers; halfulp analyze writes it anew", path);
	if (st != HU_OK) {
		json_decref(j);
		free(path);
		return st;
	}
	r->v[HU_RESULT_SWAMPED] = number(n, "swamped_share_updates");
	r->v[HU_RESULT_UNDERFLOWED] = number(n, "zeroed_share");
	r->v[HU_RESULT_JUDGED] = number(n, "update_l2_share_judged");
	json_decref(j);
	free(path);
	return HU_OK;
}

const hu_compare_scores *
hu_compare_scores_of(const hu_compare_result *r)
{
	size_t at = 0;

	while (at + 1 < sizeof scores / sizeof *scores && (!r || isnan(r->v[scores[at].k[0]])))
		at++;
	return &scores[at];
}

const char *
hu_compare_score(const hu_compare_result *r, double *score)
{
	const hu_compare_scores *own = hu_compare_scores_of(r);

	*score = r->v[own->k[0]];
	return own->title[0];
}

hu_status
hu_result_read(hu_compare_result *r, const char *dir)
{
	json_t *m;

	free(r->dir);
	r->dir = hu_xstrdup(dir);
	char *path = hu_path(dir, "manifest.json");
	hu_status st = hu_json_read(path, &m);
	free(path);
	HU_TRY(st);
	read_memory(r, m);
	json_decref(m);
	HU_TRY(read_summary(r));
	return read_metrics(r);
}

const char *
hu_result_failure(const hu_compare_result *r, char *text)
{
	if (!r->train && !r->analyze)
		return "-";
	snprintf(text, 24, "%s %d", r->train ? "train" : "analyze", r->train ? r->train : r->analyze);
	return text;
}

int
hu_comparison_rows(const hu_comparison *c)
{
	return c->policies * c->rates;
}

const char *
hu_comparison_rate(const hu_comparison *c, int row)
{
	return c->rate ? c->rate[row % c->rates] : "-";
}

int
hu_comparison_failed(const hu_comparison *c, int row, int *code)
{
	int n = 0, most = 0;

	for (int i = 0; i < c->seeds; i++) {
		const hu_compare_result *r = &c->result[row * c->seeds + i];
		int mine = r->train ? r->train : r->analyze;
		n += mine != 0;
		most = mine > most ? mine : most;
	}
	if (code)
		*code = most;
	return n;
}

int
hu_result_gave(const hu_compare_result *r, int k)
{
	return !r->train && (k < HU_RESULT_SWAMPED || r->analyze <= HU_EXIT_JUDGED);
}

void
hu_comparison_mean(const hu_comparison *c, int row, int k, int paired, double *mean, double *error)
{
	const hu_compare_result *own = &c->result[row * c->seeds], *firsts = &c->result[row % c->rates * c->seeds];
	int n = 0;
	double sum = 0, squares = 0;

	for (int i = 0; i < c->seeds; i++) {
		const hu_compare_result *r = &own[i], *first = &firsts[i];
		if (!hu_result_gave(r, k) || (paired && !hu_result_gave(first, k)))
			continue;
		sum += r->v[k] - (paired ? first->v[k] : 0);
		n++;
	}
	*mean = n ? sum / n : NAN;
	for (int i = 0; i < c->seeds; i++) {
		const hu_compare_result *r = &own[i], *first = &firsts[i];
		if (!hu_result_gave(r, k) || (paired && !hu_result_gave(first, k)))
			continue;
		double d = r->v[k] - (paired ? first->v[k] : 0) - *mean;
		squares += d * d;
	}
	*error = n > 1 ? sqrt(squares / (n - 1) / n) : NAN;
}

int
hu_split_policies(const char *text, char ***out)
{
	char *all = hu_xstrdup(text), *save = NULL;
	int n = 0, cap = 0;

	*out = NULL;
	for (char *s = strtok_r(all, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		if (n && strchr(s, '=') && strncmp(s, "compute=", 8)) {
			char *longer = hu_xprintf("%s,%s", (*out)[n - 1], s);
			free((*out)[n - 1]);
			(*out)[n - 1] = longer;
			continue;
		}
		HU_GROW(*out, n, cap);
		(*out)[n++] = hu_xstrdup(s);
	}
	free(all);
	return n;
}
