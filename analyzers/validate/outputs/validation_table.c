/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/outputs/validation_table.h"

#include "lib/base/terminal/fitted.h"
#include "lib/base/show.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
add_row(hu_fitted *t, const hu_validation *v, const hu_judgement *j, int nonfinite)
{
	const hu_effect *r = &j->r;
	int decides = v->d.classes > 1;
	char interval[64] = "-", open[48] = "-";

	if (decides)
		snprintf(interval, sizeof interval, "%.2f..%.2f", 100 * r->low, 100 * r->high);
	if (decides && v->exact)
		snprintf(open, sizeof open, "%zu/%zu", r->open, r->flips_judged);
	hu_fitted_cell(t, hu_validation_verdict(v, j));
	hu_fitted_cell(t, hu_shown(j->policy));
	hu_fitted_number(t, "%.0f", decides ? (double)r->flips : NAN);
	hu_fitted_cell(t, interval);
	hu_fitted_cell(t, open);
	hu_fitted_number(t, "%.2f", 100 * r->accuracy);
	hu_fitted_number(t, "%.3g", r->rel_l2);
	hu_fitted_number(t, "%.1f", r->sqnr_db);
	hu_fitted_number(t, "%.3g", r->max_error);
	hu_fitted_number(t, "%.3g", r->kl);
	hu_fitted_number(t, "%.0f", nonfinite ? (double)r->nonfinite : NAN);
	hu_fitted_number(t, "%.4g", j->e.weight_bytes / 1e6);
}

void
hu_validation_table(const hu_validation *v)
{
	/* Ranks: distances that other columns imply go first, then what the sentences below tell as well. */
	static const struct {
		const char *heading;
		int left, rank;
	} columns[] = { { "verdict", 1, 0 }, { "policy", 1, 0 }, { "flips", 0, 0 }, { "flips %, 95 %", 0, 2 },
		{ "open", 0, 4 }, { "right %", 0, 1 }, { "rel_l2", 0, 5 }, { "sqnr dB", 0, 1 }, { "max_error", 0, 3 },
		{ "kl", 0, 6 }, { "nonfinite", 0, 1 }, { "weights MB", 0, 1 } };
	hu_fitted t = { 0 };
	size_t nonfinite = 0;

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		hu_fitted_add(&t, columns[i].heading, columns[i].left, columns[i].rank);
	for (size_t i = 0; i < v->nrow; i++)
		nonfinite += v->row[i].r.nonfinite;
	for (size_t i = 0; i < v->nrow; i++)
		add_row(&t, v, &v->row[i], nonfinite > 0);
	hu_fitted_print(&t, hu_fitted_width());
	hu_fitted_release(&t);
}

const hu_judgement *
hu_validation_best(const hu_validation *v)
{
	const hu_judgement *best = NULL;

	for (size_t i = 1; i < v->nrow; i++) {
		const hu_judgement *j = &v->row[i];
		if (!strcmp(hu_validation_verdict(v, j), "pass") && (!best || j->e.weight_bytes < best->e.weight_bytes))
			best = j;
	}
	return best;
}

/* The rules, each with its figure of policy j, if that is not NULL. */
static void
add_rules(hu_str *b, const hu_validation *v, const hu_judgement *j)
{
	for (size_t k = 0; k < v->naccept; k++) {
		const hu_accept *a = &v->accept[k];
		hu_str_addf(b, "%s%s", k ? " and " : " ", hu_shown(a->text));
		if (!j)
			continue;
		hu_str_add(b, " (");
		char is[HU_ACCEPT_TEXT];
		hu_accept_figure(is, a, j->is[k]);
		if (!hu_accept_tell(b, a, &j->r))
			hu_str_add(b, is);
		hu_str_add(b, ")");
		if (!a->confidence && (k + 1 == v->naccept || a[1].confidence))
			hu_str_add(b, " on these inputs");
	}
}

char *
hu_validation_sentence(const hu_validation *v)
{
	const hu_judgement *best = hu_validation_best(v);
	hu_str b;

	hu_str_init(&b);
	if (!v->naccept)
		hu_str_add(&b, "No budget was named: with --accept 'flips<=1%' halfulp decides.");
	else if (v->nrow < 2)
		hu_str_add(&b, "No policy beside float32 was run, so nothing is decided.");
	else if (!best) {
		hu_str_add(&b, "No policy keeps");
		add_rules(&b, v, NULL);
		hu_str_add(&b, ".");
	} else {
		double times = v->row[0].e.weight_bytes / best->e.weight_bytes;
		hu_str_addf(&b, "%s keeps", hu_shown(best->policy));
		add_rules(&b, v, best);
		if (times > 1.05)
			hu_str_addf(&b, ", %.1f times smaller", times);
		hu_str_add(&b, ".");
	}
	return b.s;
}
