/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/agreement.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <math.h>
#include <stdlib.h>

/* float32's digits, for which HU_BOUNDED_AGREE is made; finer formats are taken for it. */
enum { FINE = 24 };

void
hu_agreement_init(hu_agreement *g, const hu_exact_step *x, const hu_tensor *second, int formats)
{
	size_t n = (size_t)x->q->nt + 1;

	*g = (hu_agreement){ second, formats, hu_xcalloc(n, 1), hu_xcalloc(n, 1), hu_xcalloc(n, 1),
		hu_xmalloc(n * sizeof *g->digits), { .judged = 0 } };
	for (size_t i = 0; i < n; i++)
		g->digits[i] = FINE;
}

void
hu_agreement_release(hu_agreement *g)
{
	free(g->open);
	free(g->rests);
	free(g->exact);
	free(g->digits);
}

/* What is known of a tensor's values: the largest magnitude, trailing part, bound and distance from the other
   precision; Inf where one of them is not finite. */
typedef struct extent {
	double most, low, err, apart;
} extent;

/* The size of a number as bits, which ascend as sizes do; those of a NaN are above infinity's. */
static uint64_t
size_of(double x)
{
	return hu_bits64(x) & 0x7fffffffffffffff;
}

static double
finite_or_not(uint64_t size)
{
	return size < hu_bits64(INFINITY) ? hu_from_bits64(size) : INFINITY;
}

static extent
extent_of(const hu_exact_step *x, int id, const hu_tensor *second)
{
	const hu_tensor *t = &x->t[id];
	const double *h = t->data, *l = x->low[id].lo, *e = x->low[id].err;
	uint64_t most = 0, low = 0, err = 0, apart = 0;

#pragma omp parallel for schedule(static) num_threads(hu_threads())                                                    \
	reduction(max                                                                                                  \
		  : most, low, err, apart) if (t->n > 16384)
	for (size_t i = 0; i < t->n; i++) {
		uint64_t size = size_of(h[i]), rest = size_of(l[i]), off = size_of(e[i]),
			 d = second ? size_of(hu_get(second, i) - h[i]) : 0;
		low = rest > low ? rest : low;
		most = size > most ? size : most;
		err = off > err ? off : err;
		apart = d > apart ? d : apart;
	}
	return (extent){ finite_or_not(most), finite_or_not(low), finite_or_not(err), finite_or_not(apart) };
}

/* Lowers the bounds of a tensor to at most cap; returns 1 if one was above it. */
static int
cap_bounds(hu_exact_step *x, int id, double cap)
{
	double *e = (double *)(size_t)x->low[id].err;
	int lowered = 0;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) reduction(| : lowered) if (x->t[id].n > 16384)
	for (size_t i = 0; i < x->t[id].n; i++) {
		lowered |= e[i] > cap;
		e[i] = e[i] > cap ? cap : e[i];
	}
	return lowered;
}

void
hu_agreement_after(hu_agreement *g, hu_exact_step *x, const hu_call *c)
{
	int before = 0, jumps = 0, rests = 0, digits = FINE;

	for (int k = 0; k < c->nin; k++) {
		before |= g->open[c->in[k]];
		rests |= g->rests[c->in[k]];
		digits = g->digits[c->in[k]] < digits ? g->digits[c->in[k]] : digits;
	}
	for (int k = 0; k < c->nout; k++) {
		int id = c->out[k];
		g->open[id] = (char)before;
		g->rests[id] = (char)rests;
		int own = g->formats ? hu_format_of(x->q->t[id].format).p : FINE;
		g->digits[id] = own < digits ? own : digits;
		if (before || !x->known[id] || !x->low[id].err)
			continue;
		int product = c->op->cls == HU_CLASS_GEMM && g->second && g->second[id].data;
		extent m = extent_of(x, id, product ? &g->second[id] : NULL);
		g->exact[id] = m.low == 0 && m.err == 0 && m.most < INFINITY;
		if (g->exact[id]) {
			g->rests[id] = 0;
			g->digits[id] = FINE;
		}
		double cap = fmax(
			ldexp(m.apart, -HU_BOUNDED_AGREE - FINE + g->digits[id]), ldexp(m.most, -HU_BOUNDED_FLOOR));
		if (product && m.most < INFINITY && m.apart < INFINITY && m.err > cap) {
			int lowered = cap_bounds(x, id, cap);
			g->how.agreed += (size_t)lowered;
			g->rests[id] |= (char)lowered;
		} else if (!(m.err <= ldexp(m.most, -HU_BOUNDED_JUMP)))
			g->open[id] = 1;
		jumps |= g->open[id];
	}
	g->how.jumps += (size_t)jumps;
}

void
hu_agreement_round(const hu_agreement *g, hu_exact_step *x, const hu_call *c)
{
	for (int k = 0; k < c->nout; k++)
		if (g->exact[c->out[k]] && x->low[c->out[k]].err)
			hu_exact_step_round(x, c->out[k]);
}
