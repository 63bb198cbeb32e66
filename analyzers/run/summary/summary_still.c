/* SPDX-License-Identifier: Apache-2.0
   Trainings in which no weight moves although the weights have gradients, because the update is zero by itself and not
   by rounding: nothing is lost then, and nothing is learned either. */
#include "analyzers/run/summary/summary.h"

#include <math.h>
#include <string.h>

/* Returns 1 where a call counts Adam's steps with a beta2 of 1: all its updates have the factor sqrt(1 - beta2^t). */
static int
is_corrected_away(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (!strcmp(p->c[i].op->name, "adam_clock") && hu_attr_num(&p->c[i], "beta2", 0.999) == 1)
			return 1;
	return 0;
}

void
hu_summary_judge_still(const hu_run *r, hu_summary *n)
{
	const struct hu_seen *seen = &n->seen;

	n->still = n->rank < 2 && seen->known && seen->pulled > 0 && seen->kept == seen->pulled &&
		   isnan(n->update_cosine) && isnan(n->weight_cosine);
	if (!n->still)
		return;
	n->rank = 0;
	if (!is_corrected_away(r->train))
		return;
	n->rank = 3;
	n->cause_step = seen->step;
	snprintf(n->cause, sizeof n->cause, "constants");
}

void
hu_summary_say_still(hu_str *s, const hu_run *r, const hu_summary *n)
{
	const char *format = json_string_value(json_object_get(json_object_get(r->manifest, "policy"), "variable"));

	hu_str_addf(s,
		"Fatal: none of the %.0f elements of weights that have a gradient moved in the traced steps: beta2 is "
		"1 in %s, to which Keras's Adam casts it, and every update has the factor sqrt(1 - beta2^t).",
		n->seen.pulled, format ? format : "the variables' format");
}
