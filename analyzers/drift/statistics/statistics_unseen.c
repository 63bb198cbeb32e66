/* SPDX-License-Identifier: Apache-2.0
   What a baseline of statistics cannot see, said when it is recorded: what no baseline run did, and for the quantities
   that speak for the rest by how much one candidate, and five, may move them and still pass. */
#include "analyzers/drift/statistics/statistics.h"

#include <math.h>
#include <string.h>

/* NAME, what moves it, and an example of what moves it by less. */
static const struct {
	const char *name, *moves, *such;
} said[] = {
	{ "eval_loss/last", "what moves the loss of the last evaluation",
		"another eps of the evaluation's batch normalization may" },
	{ "error/casts", "what raises the error of casts", "another rounding of small tensors alone may" },
	{ "error/products_forward", "what raises the error of forward products",
		"sums toward zero may, where results are then rounded to 16 bits" },
	{ "error/products_forward_p99", "what raises the 99th percentile of their errors in ulps",
		"sums that are a few bits more precise than their results may" },
	{ "error/weights", "what raises the error of updates", "another order of an update's operations may" },
};

/* ln of a factor as a change in percent. */
static double
percent(double x)
{
	return 100 * expm1(x);
}

static const hu_statistic *
find(const hu_statistics *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (!strcmp(s->q[i].name, name))
			return &s->q[i];
	return NULL;
}

static double
largest(const hu_statistics *s, const hu_statistic *q)
{
	double most = 0;

	for (int i = 0; q && i < s->by.n; i++)
		most = fmax(most, fmax(q->value[i], q->repeat[i]));
	return most;
}

void
hu_statistics_unseen(hu_str *text, const hu_statistics *s)
{
	if (largest(s, find(s, "exact/last_loss_scale")) > 1 && largest(s, find(s, "exact/skipped_steps")) == 0)
		hu_str_addf(text, "no step overflowed and none was skipped: a finite check that never fires passes\n");
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		const hu_statistic *q = find(s, said[i].name);
		if (q)
			hu_str_addf(text, "%s by less than %.3g %% passes (%.3g %% with five candidates), as %s\n",
				said[i].moves, percent(hu_statistics_allowed(s, q, 1)),
				percent(hu_statistics_allowed(s, q, 5)), said[i].such);
	}
	hu_str_add(text, "a baseline of bits (halfulp baseline without --statistics) of a run with --exercise sees all "
			 "of that\n");
}
