/* SPDX-License-Identifier: Apache-2.0
   What an assignment costs: bytes of weights, or the time of products by a device's roofline. */
#include "analyzers/advise/search.h"

#include <math.h>
#include <string.h>

double
hu_search_cost(const hu_search *s, const hu_decision *d, int choice)
{
	return s->device ? d->seconds[choice] : d->bytes[choice];
}

/* Bits of an activation and of the result, and the operations in a second, under scheme P; NULL: float32. */
static double
rate(const hu_peaks *d, const hu_scheme *p, double *in, double *out)
{
	*in = *out = 32;
	if (!p)
		return hu_peaks_rate(d, HU_FP32);
	if (p->kind == HU_SCHEME_FLOAT) {
		*in = *out = p->bits;
		return hu_peaks_rate(d, p->format);
	}
	if (p->activations == HU_ACTIVATIONS_NONE)
		return hu_peaks_rate(d, HU_FP32);
	*in = p->bits;
	if (p->kind == HU_SCHEME_INTEGER)
		return 1e12 * (d->int8 > 0 ? d->int8 : d->fp32);
	return hu_peaks_rate(d, p->format);
}

double
hu_search_seconds(const hu_search *s, const hu_imported *m, const char *quantisable, const hu_decision *d, size_t k)
{
	const hu_program *p = m->p;
	double in, out, all = 0, flops = rate(s->device, k ? &s->scheme[k - 1] : NULL, &in, &out);

	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		int is = 0;
		for (size_t l = 0; l < d->n; l++)
			is |= !strcmp(c->layer, d->layers[l]);
		if (!quantisable[i] || !is)
			continue;
		double bytes = d->bytes[k] + (in * (double)hu_count(p->t[c->in[0]].shape) +
						     out * (double)hu_count(p->t[c->out[0]].shape)) /
						     8;
		all += fmax(fmax(hu_call_cost(p, c).flops / flops, bytes / hu_peaks_bandwidth(s->device, bytes)),
			1e-6 * s->device->launch_us);
	}
	return all;
}
