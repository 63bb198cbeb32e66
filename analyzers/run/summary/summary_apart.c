/* SPDX-License-Identifier: Apache-2.0
   What takes from a weight's update apart from the rounding of that update itself: gradients that clipping shortens,
   and second moments whose own updates are swamped. Weight decay is told with the updates (summary_sentences.c). */
#include "analyzers/run/summary/summary.h"

#include "lib/base/tsv.h"

#include <math.h>
#include <stdlib.h>

hu_status
hu_summary_read_clipping(const hu_run *r, hu_summary *n)
{
	double most = json_number_value(json_object_get(json_object_get(r->manifest, "config"), "clip-norm"));
	hu_table t;

	if (!(most > 0))
		return HU_OK;
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_status st = hu_table_read(&t, path);
	free(path);
	HU_TRY(st);
	int column = hu_table_column(&t, "grad_norm");
	n->clip_norm = most;
	n->clipped = 0;
	for (int i = 0; column >= 0 && i < t.rows; i++) {
		double norm = hu_table_real(&t, i, column);
		if (!isfinite(norm))
			continue; /* the step is skipped, or was not measured */
		n->clipped += norm > most;
		n->clip_least = fmin(n->clip_least, norm > most ? most / norm : 1); /* NaN gives way */
	}
	hu_table_release(&t);
	return HU_OK;
}

void
hu_summary_say_apart(hu_str *s, const hu_summary *n)
{
	if (n->v_swamped_share > 0)
		hu_str_addf(s, " Of the second moments' own updates %.3g %% were swamped.", 100 * n->v_swamped_share);
	if (n->clipped > 0)
		hu_str_addf(s,
			" Clipping to a norm of %g shortened the gradients of %.0f of %.0f steps, to %.3g of their "
			"length at "
			"the least.",
			n->clip_norm, n->clipped, n->steps, n->clip_least);
}
