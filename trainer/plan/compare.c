/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/compare.h"

#include "lib/base/build.h"
#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"
#include "trainer/plan/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACCURACY, PRECISION, RECALL, DICE, IOU, HIT_RATE, NDCG, EVAL_LOSS, MS, BYTES, SWAMPED, UNDERFLOWED };

static const char *const names[HU_RESULTS] = { "accuracy", "precision", "recall", "dice", "iou", "hit_rate", "ndcg",
	"eval_loss", "ms_a_step", "bytes", "swamped_share", "underflowed_share" };

/* The columns of metrics.tsv that the first of them are read from. */
static const char *const measured[] = { "eval_accuracy", "eval_precision", "eval_recall", "eval_dice", "eval_iou",
	"eval_hit_rate", "eval_ndcg", "eval_loss" };

/* What is printed of a model: the score that counts, and two beside it. The first row whose score was measured
   holds, and the last, accuracy's, where none was. */
enum { SCORES = 3 };
static const struct { int k[SCORES]; const char *title[SCORES]; } scores[] = {
	{ { HIT_RATE, NDCG, ACCURACY }, { "hit rate", "NDCG", "accuracy" } },
	{ { DICE, IOU, ACCURACY }, { "Dice", "IoU", "accuracy" } },
	{ { ACCURACY, PRECISION, RECALL }, { "accuracy", "precision", "recall" } },
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
	r->v[MS] = t.rows > 1 ? sum / (t.rows - 1) : NAN;
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

	r->v[BYTES] = 0;
	json_object_foreach(json_object_get(manifest, "memory_bytes"), key, v)
		r->v[BYTES] += json_number_value(v);
}

static void
read_summary(hu_compare_result *r)
{
	char *path = hu_path(r->dir, "analysis/summary.json");
	json_t *j = hu_exists(path) ? json_load_file(path, 0, NULL) : NULL, *n = json_object_get(j, "numbers");

	r->v[SWAMPED] = number(n, "swamped_share_updates");
	r->v[UNDERFLOWED] = number(n, "zeroed_share");
	json_decref(j);
	free(path);
}

/* Returns the row of `scores` that holds for the run. */
static size_t
scores_of(const hu_compare_result *r)
{
	size_t at = 0;

	while (at + 1 < sizeof scores / sizeof *scores && isnan(r->v[scores[at].k[0]]))
		at++;
	return at;
}

const char *
hu_compare_score(const hu_compare_result *r, double *score)
{
	size_t at = scores_of(r);

	*score = r->v[scores[at].k[0]];
	return scores[at].title[0];
}

hu_status
hu_result_read(hu_compare_result *r, const char *dir)
{
	json_error_t e;

	free(r->dir);
	r->dir = hu_xstrdup(dir);
	char *path = hu_path(dir, "manifest.json");
	json_t *m = json_load_file(path, 0, &e);
	hu_status st = m ? HU_OK : hu_fail(HU_EFILE, "%s: %s", path, e.text);
	free(path);
	HU_TRY(st);
	read_memory(r, m);
	json_decref(m);
	read_summary(r);
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

/* Returns 1 where a run has result k: its training succeeded and, for the shares, its analysis finished, whatever it
   found. */
static int
gave(const hu_compare_result *r, int k)
{
	return !r->train && (k < SWAMPED || r->analyze <= HU_EXIT_JUDGED);
}

void
hu_comparison_mean(const hu_comparison *c, int row, int k, int paired, double *mean, double *error)
{
	const hu_compare_result *own = &c->result[row * c->seeds], *firsts = &c->result[row % c->rates * c->seeds];
	int n = 0;
	double sum = 0, squares = 0;

	for (int i = 0; i < c->seeds; i++) {
		const hu_compare_result *r = &own[i], *first = &firsts[i];
		if (!gave(r, k) || (paired && !gave(first, k)))
			continue;
		sum += r->v[k] - (paired ? first->v[k] : 0);
		n++;
	}
	*mean = n ? sum / n : NAN;
	for (int i = 0; i < c->seeds; i++) {
		const hu_compare_result *r = &own[i], *first = &firsts[i];
		if (!gave(r, k) || (paired && !gave(first, k)))
			continue;
		double d = r->v[k] - (paired ? first->v[k] : 0) - *mean;
		squares += d * d;
	}
	*error = n > 1 ? sqrt(squares / (n - 1) / n) : NAN;
}

static void
cell(hu_tsv *t, double x)
{
	if (isnan(x))
		hu_tsv_none(t);
	else
		hu_tsv_real(t, x);
}

static void
begin(hu_tsv *t, const hu_comparison *c, const char *table, const char *columns)
{
	hu_str seeds;

	hu_str_init(&seeds);
	for (int i = 0; i < c->seeds; i++)
		hu_str_addf(&seeds, "%s%lld", i ? "," : "", c->seed[i]);
	hu_tsv_init(t);
	hu_tsv_note(t, "table", "%s", table);
	hu_tsv_note(t, "halfulp", "%s", hu_build_version());
	hu_tsv_note(t, "seeds", "%s", seeds.s);
	hu_tsv_note(t, "differences", "to %s at the same %sseed", c->policy[0], c->rate ? "learning rate and " : "");
	hu_tsv_header(t, columns);
	hu_str_release(&seeds);
}

static hu_status
write_means(const hu_comparison *c, const char *dir)
{
	char *path = hu_path(dir, "compare.tsv");
	hu_str columns;
	hu_tsv t;

	hu_str_init(&columns);
	hu_str_add(&columns, "policy lr runs failed");
	for (int k = 0; k < HU_RESULTS; k++)
		hu_str_addf(
			&columns, " %s %s_se %s_difference %s_difference_se", names[k], names[k], names[k], names[k]);
	begin(&t, c, "compare", columns.s);
	for (int p = 0; p < hu_comparison_rows(c); p++) {
		hu_tsv_text(&t, c->policy[p / c->rates]);
		hu_tsv_text(&t, hu_comparison_rate(c, p));
		hu_tsv_int(&t, c->seeds);
		hu_tsv_int(&t, hu_comparison_failed(c, p, NULL));
		for (int k = 0; k < HU_RESULTS; k++)
			for (int paired = 0; paired < 2; paired++) {
				double mean, error;
				hu_comparison_mean(c, p, k, paired, &mean, &error);
				cell(&t, mean);
				cell(&t, error);
			}
	}
	hu_status st = hu_tsv_write(&t, path);
	hu_str_release(&columns);
	free(path);
	return st;
}

hu_status
hu_comparison_write(const hu_comparison *c, const char *dir)
{
	hu_str columns;
	hu_tsv t;
	char failure[24];

	HU_TRY(write_means(c, dir));
	hu_str_init(&columns);
	hu_str_add(&columns, "policy lr seed run failed");
	for (int k = 0; k < HU_RESULTS; k++)
		hu_str_addf(&columns, " %s", names[k]);
	begin(&t, c, "compare-runs", columns.s);
	for (int i = 0; i < hu_comparison_rows(c) * c->seeds; i++) {
		hu_tsv_text(&t, c->policy[i / c->seeds / c->rates]);
		hu_tsv_text(&t, hu_comparison_rate(c, i / c->seeds));
		hu_tsv_int(&t, c->seed[i % c->seeds]);
		hu_tsv_text(&t, c->result[i].dir);
		hu_tsv_text(&t, hu_result_failure(&c->result[i], failure));
		for (int k = 0; k < HU_RESULTS; k++)
			cell(&t, gave(&c->result[i], k) ? c->result[i].v[k] : NAN);
	}
	char *path = hu_path(dir, "compare-runs.tsv");
	hu_status st = hu_tsv_write(&t, path);
	free(path);
	hu_str_release(&columns);
	return st;
}

static json_t *
real_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *
hu_comparison_to_json(const hu_comparison *c)
{
	json_t *list = json_array();

	for (int p = 0; p < hu_comparison_rows(c); p++) {
		double rate = NAN;
		if (c->rate)
			hu_parse_real(hu_comparison_rate(c, p), &rate);
		json_t *j = json_pack("{s:s s:o s:i s:i}", "policy", c->policy[p / c->rates], "lr", real_or_null(rate),
			"runs", c->seeds, "failed", hu_comparison_failed(c, p, NULL));
		for (int k = 0; k < HU_RESULTS; k++) {
			double mean, error, difference, paired_error;
			hu_comparison_mean(c, p, k, 0, &mean, &error);
			hu_comparison_mean(c, p, k, 1, &difference, &paired_error);
			json_object_set_new(j, names[k],
				json_pack("{s:o s:o s:o s:o}", "mean", real_or_null(mean), "standard_error",
					real_or_null(error), "difference", real_or_null(difference),
					"difference_standard_error", real_or_null(paired_error)));
		}
		json_array_append_new(list, j);
	}
	return list;
}

/* Prints numbers times scale as "93.42 ± 0.11", or without the error where there is none. */
static void
print_pair(FILE *f, int width, const char *format, double mean, double error, double scale)
{
	char a[32], b[32], both[80];

	snprintf(a, sizeof a, format, mean * scale);
	snprintf(b, sizeof b, format, error * scale);
	snprintf(both, sizeof both, isnan(mean) ? "-" : isnan(error) ? "%s" : "%s ± %s", a, b[0] == '+' ? b + 1 : b);
	int shown = (int)strlen(both) - (strstr(both, "±") ? 1 : 0);
	fprintf(f, " %*s%s", width > shown ? width - shown : 0, "", both);
}

void
hu_comparison_print(const hu_comparison *c, FILE *f)
{
	int first = 0, runs = hu_comparison_rows(c) * c->seeds;

	while (first < runs && c->result[first].train)
		first++;
	/* A run that failed holds no scores: its zeros are nothing that was measured */
	size_t at = first < runs ? scores_of(&c->result[first]) : sizeof scores / sizeof *scores - 1;
	const char *const *title = scores[at].title;
	const int *k = scores[at].k;

	fprintf(f, "%-24s%s %14s %% %18s %14s %% %14s %% %9s %9s %9s %9s\n", "policy", c->rate ? "       lr" : "",
		title[0], "difference", title[1], title[2], "ms a step", "bytes", "swamped", "underflow");
	for (int p = 0; p < hu_comparison_rows(c); p++) {
		double mean, error;
		char bytes[16];
		fprintf(f, "%-24s", c->policy[p / c->rates]);
		if (c->rate)
			fprintf(f, " %8s", hu_comparison_rate(c, p));
		for (int i = 0; i < SCORES; i++) {
			hu_comparison_mean(c, p, k[i], 0, &mean, &error);
			print_pair(f, 16, "%.2f", mean, error, 100);
			if (i)
				continue;
			hu_comparison_mean(c, p, k[i], 1, &mean, &error);
			print_pair(f, 18, "%+.2f", p / c->rates ? mean : NAN, error, 100);
		}
		hu_comparison_mean(c, p, MS, 0, &mean, &error);
		print_pair(f, 9, "%.1f", mean, NAN, 1);
		hu_comparison_mean(c, p, BYTES, 0, &mean, &error);
		fprintf(f, " %9s", isnan(mean) ? "-" : hu_bytes_text(mean, bytes, sizeof bytes));
		for (int i = SWAMPED; i <= UNDERFLOWED; i++) {
			hu_comparison_mean(c, p, i, 0, &mean, &error);
			print_pair(f, 9, "%.4f", mean, NAN, 1);
		}
		fputc('\n', f);
	}
	for (int i = 0; i < hu_comparison_rows(c) * c->seeds; i++) {
		const hu_compare_result *r = &c->result[i];
		if (r->train)
			fprintf(f, "%s: training failed with exit code %d, so that the row is without it\n", r->dir,
				r->train);
		else if (r->analyze == HU_EXIT_JUDGED)
			fprintf(f, "%s: outputs left their bound, see %s/analysis/faults.tsv\n", r->dir, r->dir);
		else if (r->analyze)
			fprintf(f, "%s: analysis failed with exit code %d, so that the shares are without it\n", r->dir,
				r->analyze);
	}
	fprintf(f,
		"%d seed%s; ± is the standard error of the mean; difference: in %s, points, to %s at the same %sseed\n",
		c->seeds, c->seeds > 1 ? "s" : "", title[0], c->policy[0], c->rate ? "learning rate and " : "");
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
