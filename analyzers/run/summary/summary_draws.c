/* SPDX-License-Identifier: Apache-2.0
   Noise and bias of steps that round stochastically. What one draw of a step turned away averages out over steps where
   it is noise, so that the verdict on such a step is that of its expected gradient and update (stochastic.tsv). */
#include "analyzers/run/summary/summary.h"

#include "lib/base/mem.h"
#include "lib/judge/harm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *
text(const hu_table *t, int i, const char *column)
{
	return hu_table_cell(t, i, hu_table_column(t, column));
}

static double
cell(const hu_table *t, int i, const char *column)
{
	return hu_table_real(t, i, hu_table_column(t, column));
}

hu_status
hu_summary_read_draws(const hu_run *r, hu_summary *n)
{
	struct hu_expected_of *d = &n->draws;
	hu_table t;
	int there;

	HU_TRY(hu_summary_table(r, "stochastic.tsv", &t, &there));
	for (int i = 0; there && i < t.rows; i++)
		d->most = fmax(d->most, cell(&t, i, "draws"));
	for (int i = 0; there && i < t.rows; i++) {
		int update = !strcmp(text(&t, i, "kind"), "update"),
		    written = update && strcmp(text(&t, i, "l2_share_lost"), "-");
		if (strcmp(text(&t, i, "tensor"), "all"))
			continue;
		double *one = update ? &d->one_update : &d->one;
		if (cell(&t, i, "draws") == 1)
			*one = fmin(*one, cell(&t, i, "cosine")); /* NaN gives way */
		if (cell(&t, i, "draws") != d->most)
			continue;
		d->written |= written;
		if (update)
			d->update = fmin(d->update, cell(&t, i, "cosine"));
		else {
			d->cosine = fmin(d->cosine, cell(&t, i, "cosine"));
			d->noise = fmax(d->noise, cell(&t, i, "l2_noise"));
			d->bias = fmax(d->bias, cell(&t, i, "l2_bias"));
		}
		d->row = hu_xrealloc(d->row, ((size_t)d->n + 1) * sizeof *d->row);
		d->row[d->n++] = (hu_expected_row){ .step = (size_t)cell(&t, i, "step"),
			.update = update,
			.rank = hu_verdict_rank(text(&t, i, "verdict")),
			.zero = cell(&t, i, written ? "l2_share_lost" : "l2_share_zero"),
			.written = written,
			.cosine = cell(&t, i, "cosine") };
	}
	if (there)
		hu_table_release(&t);
	return HU_OK;
}

const hu_expected_row *
hu_summary_expected(const hu_summary *n, double step, int update)
{
	for (int i = 0; i < n->draws.n; i++)
		if (n->draws.row[i].step == (size_t)step && n->draws.row[i].update == update && n->draws.row[i].rank)
			return &n->draws.row[i];
	return NULL;
}

void
hu_summary_say_draws(hu_str *s, const hu_summary *n)
{
	const struct hu_expected_of *d = &n->draws;

	if (!d->n || isnan(d->cosine))
		return;
	hu_str_addf(s,
		" Calls round stochastically, and the verdict follows what %.0f draws of a step are on average: the "
		"gradient of one draw has a cosine of %.4f and the expected one %.4f; the noise of a draw is %.3g of "
		"its L2 norm and averages out over steps, the bias is %.3g and stays",
		d->most, d->one, d->cosine, d->noise, d->bias);
	if (d->written)
		hu_str_addf(s,
			"; weights are rounded so too, and the update of one draw has a cosine of %.4f, the expected "
			"one %.4f",
			d->one_update, d->update);
	hu_str_add(s, ".");
}
