/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/compare_out.h"

#include "lib/base/table/fields.h"
#include "lib/base/build.h"
#include "lib/base/console/opt.h"
#include "lib/base/terminal/fitted.h"
#include "lib/base/tsv.h"
#include "trainer/run/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* NaN stands for what was not measured, unless it is a value. */
static void
cell(hu_tsv *t, double x, int is_value)
{
	if (isnan(x) && !is_value)
		hu_tsv_none(t);
	else
		hu_tsv_real(t, x);
}

/* Whether result k of the run is a value although it may be NaN: a loss that diverged is one. */
static int
is_value(const hu_compare_result *r, int k)
{
	return k == HU_RESULT_EVAL_LOSS && hu_result_gave(r, k);
}

/* The same of the mean over a row's runs. */
static int
is_mean(const hu_comparison *c, int row, int k)
{
	int gave = 0;

	for (int i = 0; i < c->seeds; i++)
		gave |= is_value(&c->result[row * c->seeds + i], k);
	return gave;
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
	for (int k = 0; k < HU_RESULTS; k++) {
		const char *name = hu_result_name(k);
		hu_str_addf(&columns, " %s %s_se %s_difference %s_difference_se", name, name, name, name);
	}
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
				cell(&t, mean, !paired && is_mean(c, p, k));
				cell(&t, error, 0);
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
		hu_str_addf(&columns, " %s", hu_result_name(k));
	begin(&t, c, "compare-runs", columns.s);
	for (int i = 0; i < hu_comparison_rows(c) * c->seeds; i++) {
		hu_tsv_text(&t, c->policy[i / c->seeds / c->rates]);
		hu_tsv_text(&t, hu_comparison_rate(c, i / c->seeds));
		hu_tsv_int(&t, c->seed[i % c->seeds]);
		hu_tsv_text(&t, c->result[i].dir);
		hu_tsv_text(&t, hu_result_failure(&c->result[i], failure));
		for (int k = 0; k < HU_RESULTS; k++)
			cell(&t, hu_result_gave(&c->result[i], k) ? c->result[i].v[k] : NAN,
				is_value(&c->result[i], k));
	}
	char *path = hu_path(dir, "compare-runs.tsv");
	hu_status st = hu_tsv_write(&t, path);
	free(path);
	hu_str_release(&columns);
	return st;
}

json_t *
hu_comparison_to_json(const hu_comparison *c)
{
	json_t *list = json_array();

	for (int p = 0; p < hu_comparison_rows(c); p++) {
		double rate = NAN;
		if (c->rate)
			hu_parse_real(hu_comparison_rate(c, p), &rate);
		json_t *j = json_pack("{s:s s:o s:i s:i}", "policy", c->policy[p / c->rates], "lr",
			hu_fields_measured(rate), "runs", c->seeds, "failed", hu_comparison_failed(c, p, NULL));
		for (int k = 0; k < HU_RESULTS; k++) {
			double mean, error, difference, paired_error;
			hu_comparison_mean(c, p, k, 0, &mean, &error);
			hu_comparison_mean(c, p, k, 1, &difference, &paired_error);
			json_object_set_new(j, hu_result_name(k),
				json_pack("{s:o s:o s:o s:o}", "mean",
					is_mean(c, p, k) ? hu_fields_number(mean) : hu_fields_measured(mean),
					"standard_error", hu_fields_measured(error), "difference",
					hu_fields_measured(difference), "difference_standard_error",
					hu_fields_measured(paired_error)));
		}
		json_array_append_new(list, j);
	}
	return list;
}

/* Adds numbers times scale as "93.42 ± 0.11", or without the error where there is none. */
static void
add_pair(hu_fitted *t, const char *format, double mean, double error, double scale)
{
	char a[32], b[32], both[80];

	snprintf(a, sizeof a, format, mean * scale);
	snprintf(b, sizeof b, format, error * scale);
	snprintf(both, sizeof both, isnan(mean) ? "-" : isnan(error) ? "%s" : "%s ± %s", a, b[0] == '+' ? b + 1 : b);
	hu_fitted_cell(t, both);
}

static void
add_head(hu_fitted *t, const char *heading, int left, int rank)
{
	hu_fitted_column_add(t, (hu_fitted_column){ .heading = heading, .left = left, .rank = rank, .keep = 1 });
}

static void
add_heads(hu_fitted *t, const hu_comparison *c, const char *const *title)
{
	static const int rank[] = { 0, 2, 3 };
	char head[64];

	add_head(t, "policy", 1, 0);
	if (c->rate)
		add_head(t, "lr", 0, 0);
	for (int i = 0; i < HU_SCORES; i++) {
		snprintf(head, sizeof head, "%s %%", title[i]);
		add_head(t, head, 0, rank[i]);
		if (!i)
			add_head(t, "difference", 0, 0);
	}
	add_head(t, "ms a step", 0, 1);
	add_head(t, "bytes", 0, 4);
	add_head(t, "swamped", 0, 5);
	add_head(t, "underflow", 0, 6);
	add_head(t, "judged", 0, 7);
}

static void
add_row(hu_fitted *t, const hu_comparison *c, int p, const int *k)
{
	double mean, error;
	char bytes[16];

	hu_fitted_cell(t, c->policy[p / c->rates]);
	if (c->rate)
		hu_fitted_cell(t, hu_comparison_rate(c, p));
	for (int i = 0; i < HU_SCORES; i++) {
		hu_comparison_mean(c, p, k[i], 0, &mean, &error);
		add_pair(t, "%.2f", mean, error, 100);
		if (i)
			continue;
		hu_comparison_mean(c, p, k[i], 1, &mean, &error);
		add_pair(t, "%+.2f", p / c->rates ? mean : NAN, error, 100);
	}
	hu_comparison_mean(c, p, HU_RESULT_MS, 0, &mean, &error);
	add_pair(t, "%.1f", mean, NAN, 1);
	hu_comparison_mean(c, p, HU_RESULT_BYTES, 0, &mean, &error);
	hu_fitted_cell(t, isnan(mean) ? "-" : hu_bytes_text(mean, bytes, sizeof bytes));
	for (int i = HU_RESULT_SWAMPED; i <= HU_RESULT_JUDGED; i++) {
		hu_comparison_mean(c, p, i, 0, &mean, &error);
		add_pair(t, "%.4f", mean, NAN, 1);
	}
}

void
hu_comparison_print(const hu_comparison *c, FILE *f)
{
	int first = 0, runs = hu_comparison_rows(c) * c->seeds;

	while (first < runs && c->result[first].train)
		first++;
	/* A run that failed holds no scores: its zeros are nothing that was measured */
	const hu_compare_scores *scores = hu_compare_scores_of(first < runs ? &c->result[first] : NULL);
	const char *const *title = scores->title;
	const int *k = scores->k;

	hu_fitted t = { .to = f };
	add_heads(&t, c, title);
	for (int p = 0; p < hu_comparison_rows(c); p++)
		add_row(&t, c, p, k);
	hu_fitted_print(&t, f == stdout ? hu_fitted_width() : SIZE_MAX);
	hu_fitted_left_out(&t, "--json has all");
	hu_fitted_release(&t);
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
