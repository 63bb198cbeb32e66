/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/replay/replay_rows.h"

#include "lib/op/attr.h"
#include "lib/op/reduce/summed.h"

#include <math.h>
#include <stdio.h>

static void
propagated(hu_tsv *out, const hu_errors_step *m)
{
	if (!m || !m->known) {
		for (int i = 0; i < 3; i++)
			hu_tsv_none(out);
		return;
	}
	hu_tsv_real(out, m->ulp_max);
	hu_tsv_real(out, m->ulp_mean);
	if (isinf(m->rel_normwise)) /* the exact tensor is 0, as the gradient of a bias before batchnorm is, or no value
				       is finite */
		hu_tsv_none(out);
	else
		hu_tsv_real(out, m->rel_normwise);
}

void
hu_replay_row(hu_tsv *out, const hu_analysis *a, const hu_step_facts *s, int id, size_t judged, const hu_errors *m,
	const hu_bias_found *b)
{
	const hu_info *info = &a->run->train->t[id];
	const hu_call *c = &a->run->train->c[info->producer];
	char sum[96] = "-";

	if (hu_attr_library(c) > 0)
		snprintf(sum, sizeof sum, "a library's");
	else if (hu_summed_or_product(c))
		hu_sum_print(c->sum, sum, sizeof sum);
	hu_tsv_int(out, (long long)s->step);
	hu_analysis_call(out, c, NULL, NULL, info->name, hu_format_name(info->format));
	hu_tsv_text(out, hu_format_name(c->fmt.compute));
	hu_tsv_text(out, sum);
	hu_tsv_int(out, (long long)hu_count(info->shape));
	hu_tsv_int(out, (long long)judged);
	hu_tsv_real(out, m->ulp_max);
	hu_tsv_real(out, m->ulp_mean);
	hu_tsv_real(out, m->ulp_p99);
	hu_tsv_real(out, m->rel_max);
	hu_tsv_real(out, m->normwise);
	hu_tsv_real(out, m->componentwise);
	hu_tsv_real(out, m->condition_max);
	hu_tsv_real(out, m->ratio_max);
	hu_tsv_int(out, (long long)m->over);
	hu_tsv_int(out, (long long)m->worst);
	propagated(out, s->propagated ? &s->propagated[id] : NULL);
	hu_tsv_real(out, m->ci95);
	const double bias[] = { b->signed_mean, b->outward_mean, b->t, b->t_declared };
	for (size_t i = 0; i < sizeof bias / sizeof *bias; i++)
		if (isnan(bias[i]))
			hu_tsv_none(out);
		else
			hu_tsv_real(out, bias[i]);
	hu_tsv_int(out, b->biased);
}

void
hu_replay_elements(hu_tsv *out, const hu_analysis *a, const hu_trace *t, int id, const hu_judged *j)
{
	for (size_t i = 0; i < j->n; i++) {
		hu_tsv_int(out, (long long)t->step);
		hu_tsv_int(out, a->run->train->t[id].producer);
		hu_tsv_text(out, a->run->train->t[id].name);
		hu_tsv_int(out, (long long)j->element[i]);
		hu_tsv_real(out, j->got[i]);
		hu_tsv_text(out, j->hex[i]);
		hu_tsv_real(out, j->ulps[i]);
	}
}
