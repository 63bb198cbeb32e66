/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/metrics.h"

#include "lib/base/mem.h"
#include "reports/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const hu_number hu_numbers[] = { { "Evaluation accuracy", "eval_accuracy", HU_UNIT_SHARE, "", "training ",
					 "final_accuracy", HU_UNIT_SHARE, "" },
	{ "Final loss", "final_loss", HU_UNIT_REAL, "", NULL, NULL, 0, NULL },
	{ "Steps", "steps", HU_UNIT_COUNT, "", "", "skipped_steps", HU_UNIT_COUNT, " skipped for overflow" },
	{ "Loss scale at the end", "loss_scale_final", HU_UNIT_POWER, "", NULL, NULL, 0, NULL },
	{ "Safe loss scales", "safe_log2_scale_min", HU_UNIT_REAL, "", "nothing of note lost, no overflow", NULL,
		0, NULL },
	{ "Largest rounding error", "worst_ulp_bound_ratio", HU_UNIT_REAL, " of its bound", "in ", "worst_ulp_tensor",
		HU_UNIT_REAL, "" },
	{ "Worst error against bound", "worst_bound_ratio", HU_UNIT_REAL, "", "", "over_bound", HU_UNIT_COUNT,
		" outputs over their bound" },
	{ "Updates swamped", "swamped_share_updates", HU_UNIT_SHARE, "", "of weight updates changed nothing", NULL, 0,
		NULL },
	{ "Update's norm lost", "update_l2_share_lost", HU_UNIT_SHARE, "",
		"cosine to the same update unrounded ", "update_cosine", HU_UNIT_COSINE, "" },
	{ "Beside the exact step", "weights_cosine", HU_UNIT_COSINE, "", "cosine of the weights' updates; norm lost ",
		"weights_l2_share_lost", HU_UNIT_SHARE, "" },
	{ "Gradients turned zero", "zeroed_gradients", HU_UNIT_COUNT, "", "", "zeroed_share", HU_UNIT_SHARE,
		" of the nonzero ones" },
	{ "Gradient's norm lost", "gradient_l2_share_lost", HU_UNIT_SHARE, "", "cosine to the exact gradient ",
		"gradient_cosine", HU_UNIT_COSINE, "" },
	{ "Update judged", "update_l2_share_judged", HU_UNIT_SHARE, "",
		"of its norm at the least seen step; of the calls ", "calls_judged_share", HU_UNIT_SHARE, "" },
	{ "Weights that kept their bits", "weights_kept_share", HU_UNIT_SHARE, "", "of those with a gradient", NULL, 0,
		NULL },
	{ "Time a step", "ms", HU_UNIT_REAL, " ms", "median", NULL, 0, NULL },
	{ NULL, NULL, 0, NULL, NULL, NULL, 0, NULL } };

static const json_t *
number_at(const hu_report_run *r, const char *key)
{
	return json_object_get(json_object_get(r->summary, "numbers"), key);
}

/* Returns 1 where the analysis looked for an interval of safe scales over all gradients; no interval then means that no
   scale is safe. */
static int
swept(const hu_report_run *r)
{
	hu_selection s;

	if (hu_select(&s, "analysis/loss-scale-safe.tsv step where tensor=all", &r->dir, 1) != HU_OK)
		return 0;
	int found = s.rows > 0;
	hu_selection_release(&s);
	return found;
}

static char *
interval(const hu_report_run *r)
{
	const json_t *min = number_at(r, "safe_log2_scale_min"), *max = number_at(r, "safe_log2_scale_max");

	if (!min || !max)
		return hu_xstrdup("–");
	if (!json_is_number(min) || !json_is_number(max))
		return hu_xstrdup(swept(r) ? "none" : "–");
	char *low = hu_human(exp2(json_number_value(min)), HU_UNIT_POWER),
	     *high = hu_human(exp2(json_number_value(max)), HU_UNIT_POWER);
	char *s = hu_xprintf("%s to %s", low, high);
	free(low);
	free(high);
	return s;
}

char *
hu_number_value(const hu_report_run *r, const hu_number *n)
{
	if (!strcmp(n->key, "safe_log2_scale_min"))
		return interval(r);
	char *s = !strcmp(n->key, "ms") ? hu_human(hu_metrics_median(r, "ms"), n->unit)
					: hu_human_json(number_at(r, n->key), n->unit);
	char *whole = hu_xprintf("%s%s", s, strcmp(s, "–") && !json_is_string(number_at(r, n->key)) ? n->suffix : "");
	free(s);
	return whole;
}

char *
hu_number_note(const hu_report_run *r, const hu_number *n)
{
	int no_interval = !strcmp(n->key, "safe_log2_scale_min") && !json_is_number(number_at(r, n->key));

	if (!n->before || no_interval)
		return hu_xstrdup("");
	if (!n->note_key)
		return hu_xstrdup(n->before);
	char *s = hu_human_json(number_at(r, n->note_key), n->note_unit);
	char *whole = strcmp(s, "–") ? hu_xprintf("%s%s%s", n->before, s, n->after) : hu_xstrdup("");
	free(s);
	return whole;
}

double
hu_metrics_last(const hu_report_run *r, const char *column)
{
	int at = hu_table_column(&r->metrics, column);

	for (int i = r->metrics.rows; at >= 0 && i-- > 0;) {
		double x = hu_table_real(&r->metrics, i, at);
		if (isfinite(x))
			return x;
	}
	return NAN;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
hu_metrics_median(const hu_report_run *r, const char *column)
{
	int at = hu_table_column(&r->metrics, column), n = 0;
	double *x = hu_xmalloc((size_t)(r->metrics.rows + 1) * sizeof *x), median = NAN;

	for (int i = 0; at >= 0 && i < r->metrics.rows; i++) {
		x[n] = hu_table_real(&r->metrics, i, at);
		n += isfinite(x[n]) != 0;
	}
	if (n) {
		qsort(x, (size_t)n, sizeof *x, ascending);
		median = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
	}
	free(x);
	return median;
}

double
hu_metrics_sum(const hu_report_run *r, const char *column)
{
	int at = hu_table_column(&r->metrics, column), any = 0;
	double sum = 0;

	for (int i = 0; at >= 0 && i < r->metrics.rows; i++) {
		double x = hu_table_real(&r->metrics, i, at);
		if (isfinite(x)) {
			sum += x;
			any = 1;
		}
	}
	return any ? sum : NAN;
}

int
hu_metrics_diverged(const hu_report_run *r, const char *column)
{
	int at = hu_table_column(&r->metrics, column);

	for (int i = r->metrics.rows; at >= 0 && i-- > 0;)
		if (strcmp(hu_table_cell(&r->metrics, i, at), "-"))
			return !isfinite(hu_table_real(&r->metrics, i, at));
	return 0;
}

int
hu_metrics_nonfinite(const hu_report_run *r, const char *column, const char **step)
{
	int at = hu_table_column(&r->metrics, column), n = 0;

	for (int i = 0; at >= 0 && i < r->metrics.rows; i++) {
		const char *text = hu_table_cell(&r->metrics, i, at);
		if (strcmp(text, "-") && !isfinite(hu_table_real(&r->metrics, i, at)) && n++ == 0)
			*step = hu_table_cell(&r->metrics, i, hu_table_column(&r->metrics, "step"));
	}
	return n;
}
