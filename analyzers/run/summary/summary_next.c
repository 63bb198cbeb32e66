/* SPDX-License-Identifier: Apache-2.0
   What the states that a step stored do to the next one, where that is the cause of a verdict. */
#include "analyzers/run/summary/summary.h"

#include <math.h>

void
hu_summary_say_next(hu_str *s, const hu_summary *n)
{
	hu_str_addf(s, "It costs: with the states that step %zu stored the next one has", n->cause_step);
	if (!isnan(n->next_cosine))
		hu_str_addf(s, " a cosine of %.4f to that with exact states, and %.3g times its length", n->next_cosine,
			n->verdict_length);
	if (n->next_dead > 0)
		hu_str_addf(s, "%s %.0f element%s that exact states give and that %s infinite or NaN",
			isnan(n->next_cosine) ? "" : "; it has", n->next_dead, n->next_dead == 1 ? "" : "s",
			n->next_dead == 1 ? "is" : "are");
	hu_str_add(s, ".");
}
