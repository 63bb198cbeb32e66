/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/allreduce/reduce.h"

#include "lib/base/mem.h"
#include "lib/sum/bound.h"
#include "lib/sum/table/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one element contributes, over all steps; summed afterwards in the elements' order, so that threads change no
   bit. exact: the sum of the exact means; error: that of what the results are above them; bound: of |error|. */
typedef struct element {
	size_t underflowed, nonzeros;
	uint64_t additions, swamped;
	int stagnated, overflowed, undefined;
	double exact, error, bound;
} element;

/* One step of an element: sums over ranks of |gradient|, of |what is cast|, of |what is sent| and of |what the casts
   left|. */
typedef struct sums {
	double exact, magnitude, cast, sent, left;
} sums;

/* Sets x[k] to what rank k puts on the wire. kept[k] is what its casts left so far, NULL without feedback. */
static void
contributions(element *to, sums *of, double *x, double *kept, unsigned char *loud, const hu_reduce *how,
	const hu_records *r, size_t step, size_t e)
{
	hu_format wire = hu_format_of(how->sum.outer), fp32 = hu_format_of(HU_FP32);
	size_t n = (size_t)how->sum.n;
	double sum = 0, low = 0;

	*of = (sums){ .exact = 0 };
	for (size_t k = 0; k < n; k++) {
		double g = hu_records_value(r, k, n, step, e), s = sum + g, z = s - sum, v;
		low += (sum - (s - z)) + (g - z);
		sum = s;
		of->magnitude += fabs(g);
		v = hu_round(ldexp(g, how->scale) / how->before, fp32, HU_RNE, 0, 0);
		if (kept)
			v = hu_round(v + kept[k], fp32, HU_RNE, 0, 0);
		x[k] = hu_round(v, wire, HU_RNE, 0, 0);
		of->cast += fabs(v);
		of->sent += fabs(x[k]);
		if (kept) { /* exact: both have at most 24 bits */
			kept[k] = hu_isfinite(x[k]) && hu_isfinite(v) ? v - x[k] : 0;
			of->left += fabs(kept[k]);
		}
		to->nonzeros += g != 0;
		to->underflowed += g != 0 && x[k] == 0;
		if (!hu_isfinite(x[k]))
#pragma omp atomic write
			loud[k] = 1;
	}
	of->exact = (hu_isfinite(sum) ? sum + low : sum) / (double)n;
}

/* Moves the terms so that rank `start` is the first. */
static void
rotate(double *to, const double *x, size_t n, size_t start)
{
	memcpy(to, x + start, (n - start) * sizeof *x);
	memcpy(to + n - start, x, start * sizeof *x);
}

/* Bounds |result - exact| of a step of an element, infinite where a value may leave the range of a format that it
   passes through. Casts lose at most u of
   themselves and h, or u32 and h32 in fp32; the collective adds its a-priori bound of what was cast. With feedback what
   casts lose comes back in the next step, so that only the roundings to fp32 stay here; what the last step's casts left
   is added at the end. */
static double
bound_of(const hu_reduce *how, const hu_sum_bound *b, const sums *of)
{
	hu_format wire = hu_format_of(how->sum.outer);
	double n = how->sum.n, u32 = 0x1p-24, h32 = 0x1p-150, u = hu_unit(wire), h = hu_smallest(wire),
	       terms = ldexp(of->magnitude, how->scale) / how->before,
	       cast = terms * ((1 + u32) * (1 + u) - 1) + n * (h + h32 * (1 + u)), most = terms + cast, sum;

	if (how->feedback) {
		cast = terms * u32 + of->cast * u32 / (1 - u32) + 2 * n * h32;
		most = of->sent * (1 + n * 0x1p-52);
	}
	sum = b->relative * most + b->absolute;
	/* The scaled gradients, which are known, and the mean are fp32's, whose range may be less than the wire's. */
	if (!(b->peak * most + b->absolute < b->limit) || !hu_isfinite(of->cast) ||
		!(ldexp((most + sum) / how->after, -how->scale) < hu_format_of(HU_FP32).max))
		return INFINITY;
	return (ldexp((cast + sum) / how->after, -how->scale) * (1 + u32) + u32 * fabs(of->exact) + h32) *
		       (1 + 0x1p-30) +
	       0x1p-51 * (fabs(of->exact) + of->magnitude / n);
}

/* The final rounding to fp32 is of the result, which with feedback is not near this step's exact mean alone. */
static double
rounding_of(const hu_reduce *how, double got)
{
	return how->feedback && hu_isfinite(got) ? 0x1p-23 * fabs(got) : 0;
}

static void
one_step(element *to, double *room, unsigned char *loud, const hu_reduce *how, const hu_sum_bound *b,
	const hu_records *r, size_t step, size_t e)
{
	size_t n = (size_t)how->sum.n;
	double *x = room, *y = room + n, *ones = room + 2 * n, *kept = how->feedback ? room + 3 * n : NULL;
	hu_draw draw = { r->seed, hu_draw_stream("allreduce"), step, r->place[e] * n, how->sum.bits };
	hu_sum_count count = { 0, 0, 0, 0, 0 };
	sums of;

	contributions(to, &of, x, kept, loud, how, r, step, e);
	rotate(y, x, n, how->sum.id == HU_SUM_RING ? (size_t)((double)r->place[e] / (double)r->of * (double)n) : 0);
	double sum = hu_model_run(y, ones, n, how->sum, &draw, &count),
	       got = hu_round(ldexp(sum / how->after, -how->scale), hu_format_of(HU_FP32), HU_RNE, 0, 0);
	to->additions += count.additions;
	to->swamped += count.swamped;
	to->stagnated |= count.run >= HU_STAGNANT_RUN;
	to->undefined |= !hu_isfinite(of.exact);
	to->overflowed |= !hu_isfinite(got);
	to->exact += of.exact;
	to->error += got - of.exact;
	to->bound += bound_of(how, b, &of) + rounding_of(how, got);
	if (step + 1 == (size_t)how->steps && how->feedback)
		to->bound += ldexp(of.left / how->after, -how->scale) * (1 + 0x1p-20);
}

static void
one_element(element *to, double *room, unsigned char *loud, const hu_reduce *how, const hu_sum_bound *b,
	const hu_records *r, size_t e)
{
	size_t n = (size_t)how->sum.n;

	memset(to, 0, sizeof *to);
	memset(room + 3 * n, 0, n * sizeof *room);
	for (size_t step = 0; step < (size_t)how->steps; step++)
		one_step(to, room, loud, how, b, r, step, e);
	if (how->steps > 1 && hu_isfinite(to->error)) /* the sums over steps are doubles' */
		to->bound += 0x1p-52 * how->steps * (fabs(to->exact) + fabs(to->error)) * how->steps;
}

static void
collect(hu_reduced *out, const element *all, const hu_records *r)
{
	double error = 0, norm = 0, bound = 0;

	for (size_t e = 0; e < r->elements; e++) {
		const element *x = &all[e];
		out->underflowed += x->underflowed;
		out->nonzeros += x->nonzeros;
		out->additions += x->additions;
		out->swamped += x->swamped;
		out->stagnated += (size_t)x->stagnated;
		out->overflowed += (size_t)x->overflowed;
		bound += x->undefined ? INFINITY : x->bound * x->bound;
		if (x->undefined)
			continue;
		norm += x->exact * x->exact;
		if (!x->overflowed)
			error += x->error * x->error;
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
	hu_sum_bound b = hu_sum_apriori(how->sum, n, 0);
	int failed = 0;

	memset(out, 0, sizeof *out);
#pragma omp parallel
	{
		double *room = malloc(4 * n * sizeof *room);
		for (size_t k = 0; room && k < n; k++)
			room[2 * n + k] = 1;
#pragma omp for schedule(dynamic, 1)
		for (size_t e = 0; e < r->elements; e++) {
			if (room)
				one_element(&all[e], room, loud, how, &b, r, e);
			else
#pragma omp atomic write
				failed = 1;
		}
		free(room);
	}
	if (!failed) {
		collect(out, all, r);
		for (size_t k = 0; k < n; k++) {
			out->loud_ranks += loud[k];
			out->nonfinite += !hu_records_finite(r, k, (size_t)how->steps);
		}
	}
	free(all);
	free(loud);
	return failed ? hu_fail(HU_ENOMEM, "no memory for the gradients of %zu ranks", n) : HU_OK;
}
