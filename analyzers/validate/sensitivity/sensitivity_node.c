/* SPDX-License-Identifier: Apache-2.0
   What a node's results and operands hold: ranges, outlier channels, and what its own codes and roundings lose. */
#include "analyzers/validate/sensitivity/sensitivity.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A channel is an outlier whose maximum is above so many times the channels' median maximum. LLM.int8() speaks of
   features beyond 6 standard deviations; channels are compared by maxima here. */
#define OUTLIER 8

void
hu_sensitivity_survey(hu_node_damage *n, const hu_tensor *t, int counting)
{
	size_t channels = hu_last(t->shape);

	if (counting) {
		hu_range_count(&n->range, t);
		return;
	}
	hu_range_extend(&n->range, t);
	if (!n->channel) {
		n->channels = channels;
		n->channel = hu_xcalloc(channels + 1, sizeof *n->channel);
	}
	for (size_t i = 0; i < t->n && channels == n->channels; i++)
		n->channel[i % channels] = fmax(n->channel[i % channels], fabs(hu_get(t, i)));
}

void
hu_sensitivity_count_lost(hu_node_damage *n, const hu_share *s)
{
	const hu_program *p = s->v->p;

	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		int codes = !strcmp(c->op->name, "quantise"), cast = c->op->role == HU_ROLE_CAST;
		if ((!codes && !cast) || strcmp(c->layer, n->layer) || s->same[c->in[0]] < 0 ||
			p->t[c->in[0]].producer < 0 || s->same[c->out[0]] >= 0)
			continue;
		const hu_tensor *x = &s->t[c->in[0]], *y = &s->t[c->out[0]];
		double scale = codes ? hu_get(&s->t[c->in[1]], 0) : 1,
		       zero = c->nin > 2 ? hu_get(&s->t[c->in[2]], 0) : 0,
		       top = hu_format_of(p->t[c->out[0]].format).max,
		       low = c->nin > 2 ? hu_attr_num(c, "low", 0) - zero : -top,
		       high = c->nin > 2 ? hu_attr_num(c, "high", 255) - zero : top;
		for (size_t k = 0; k < x->n; k++) {
			double v = hu_get(x, k), q = hu_get(y, k);
			n->operands++;
			n->zeroed += v != 0 && q == 0;
			n->saturated += hu_isfinite(v) &&
					((v / scale > high + 0.5 && q >= high) || (v / scale < low - 0.5 && q <= low));
		}
	}
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void
hu_sensitivity_finish(hu_node_damage *n)
{
	hu_scheme p999 = { .calibration = HU_CALIBRATION_PERCENTILE, .percent = 99.9 };
	double *sorted = hu_xcalloc(n->channels + 1, sizeof *sorted);

	n->p999 = hu_range_clip(&n->range, &p999);
	for (size_t c = 0; c < n->channels; c++)
		sorted[c] = n->channel[c];
	qsort(sorted, n->channels, sizeof *sorted, ascending);
	for (size_t c = 0; c < n->channels; c++)
		n->outliers += n->channel[c] > OUTLIER * sorted[n->channels / 2];
	free(sorted);
}
