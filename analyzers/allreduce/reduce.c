/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/allreduce/reduce.h"

#include "lib/base/mem.h"
#include "lib/sum/bound.h"
#include "lib/sum/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one element contributes; summed afterwards in the elements' order, so that threads change no bit. */
typedef struct element {
	size_t underflowed, nonzeros;
	hu_sum_count count;
	double exact, magnitude, got;
} element;

/* Sets x[k] to what rank k puts on the wire. */
static void
contributions(element *to, double *x, unsigned char *loud, const hu_reduce *how, const hu_records *r, size_t e)
{
	hu_format wire = hu_format_of(how->sum.outer), fp32 = hu_format_of(HU_FP32);
	size_t n = (size_t)how->sum.n;
	double sum = 0, low = 0;

	for (size_t k = 0; k < n; k++) {
		double g = hu_records_value(r, k, e), s = sum + g, z = s - sum;
		low += (sum - (s - z)) + (g - z);
		sum = s;
		to->magnitude += fabs(g);
		x[k] = hu_round(hu_round(ldexp(g, how->scale) / how->before, fp32, HU_RNE, 0, 0), wire, HU_RNE, 0, 0);
		to->nonzeros += g != 0;
		to->underflowed += g != 0 && x[k] == 0;
		if (hu_isfinite(g) && !hu_isfinite(x[k]))
#pragma omp atomic write
			loud[k] = 1;
	}
	to->exact = (hu_isfinite(sum) ? sum + low : sum) / (double)n;
}

/* Moves the terms so that rank `start` is the first. */
static void
rotate(double *to, const double *x, size_t n, size_t start)
{
	memcpy(to, x + start, (n - start) * sizeof *x);
	memcpy(to + n - start, x, start * sizeof *x);
}

static void
one_element(element *to, double *room, unsigned char *loud, const hu_reduce *how, const hu_records *r, size_t e)
{
	size_t n = (size_t)how->sum.n;
	double *x = room, *y = room + n, *ones = room + 2 * n;
	hu_draw draw = { r->seed, hu_draw_stream("allreduce"), 0, r->place[e] * n, how->sum.bits };

	memset(to, 0, sizeof *to);
	contributions(to, x, loud, how, r, e);
	rotate(y, x, n, how->sum.id == HU_SUM_RING ? (size_t)((double)r->place[e] / (double)r->of * (double)n) : 0);
	double sum = hu_model_run(y, ones, n, how->sum, &draw, &to->count);
	to->got = hu_round(ldexp(sum / how->after, -how->scale), hu_format_of(HU_FP32), HU_RNE, 0, 0);
}

/* Bounds |got - exact| of an element whose gradients' magnitudes sum to mag over all ranks. Casts lose at most u of
   themselves and h, or u32 and h32 in fp32; the collective adds its a-priori bound of what was cast; infinite where a
   value may leave the range. */
static double
bound_of(const hu_reduce *how, const hu_sum_bound *b, double mag, double exact)
{
	hu_format wire = hu_format_of(how->sum.outer);
	double n = how->sum.n, u32 = 0x1p-24, h32 = 0x1p-150, u = hu_unit(wire), h = hu_smallest(wire),
	       terms = ldexp(mag, how->scale) / how->before,
	       cast = terms * ((1 + u32) * (1 + u) - 1) + n * (h + h32 * (1 + u)), most = terms + cast,
	       sum = b->relative * most + b->absolute;

	if (!(b->peak * most + b->absolute < b->limit))
		return INFINITY;
	return (ldexp((cast + sum) / how->after, -how->scale) * (1 + u32) + u32 * fabs(exact) + h32) * (1 + 0x1p-30) +
	       0x1p-51 * (fabs(exact) + mag / n);
}

static void
collect(hu_reduced *out, const element *all, const hu_reduce *how, const hu_records *r)
{
	hu_sum_bound b = hu_sum_apriori(how->sum, (size_t)how->sum.n, 0);
	double error = 0, norm = 0, bound = 0;

	for (size_t e = 0; e < r->elements; e++) {
		const element *x = &all[e];
		out->underflowed += x->underflowed;
		out->nonzeros += x->nonzeros;
		out->additions += x->count.additions;
		out->swamped += x->count.swamped;
		out->stagnated += x->count.run >= HU_STAGNANT_RUN;
		if (!hu_isfinite(x->exact))
			continue;
		double most = bound_of(how, &b, x->magnitude, x->exact);
		bound += most * most;
		norm += x->exact * x->exact;
		if (hu_isfinite(x->got))
			error += (x->got - x->exact) * (x->got - x->exact);
		else
			out->overflowed++;
	}
	out->rel_l2 = norm > 0 ? sqrt(error / norm) : error > 0 ? INFINITY : NAN;
	out->bound = norm > 0 ? sqrt(bound / norm) : INFINITY;
}

hu_status
hu_reduce_run(hu_reduced *out, const hu_reduce *how, const hu_records *r)
{
	size_t n = (size_t)how->sum.n;
	element *all = hu_xcalloc(r->elements + 1, sizeof *all);
	unsigned char *loud = hu_xcalloc(n + 1, 1);
	int failed = 0;

	memset(out, 0, sizeof *out);
#pragma omp parallel
	{
		double *room = malloc(3 * n * sizeof *room);
		for (size_t k = 0; room && k < n; k++)
			room[2 * n + k] = 1;
#pragma omp for schedule(dynamic, 1)
		for (size_t e = 0; e < r->elements; e++) {
			if (room)
				one_element(&all[e], room, loud, how, r, e);
			else
#pragma omp atomic write
				failed = 1;
		}
		free(room);
	}
	if (!failed) {
		collect(out, all, how, r);
		for (size_t k = 0; k < n; k++)
			out->loud_ranks += loud[k];
	}
	free(all);
	free(loud);
	return failed ? hu_fail(HU_ENOMEM, "no memory for the gradients of %zu ranks", n) : HU_OK;
}
