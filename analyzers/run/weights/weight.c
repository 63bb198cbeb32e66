/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/weights/weight.h"

#include "lib/judge/parts/packs.h"
#include "lib/number/round.h"
#include "lib/program/compensation.h"
#include "lib/program/links.h"

#include <math.h>
#include <string.h>

int
hu_weight_is_studied(const hu_program *p, const hu_trace *t, int i, int next)
{
	/* a single number that nobody trains is a loss scale or a count of steps */
	if (next < 0 || next == i || (t->t[i].n < 2 && !p->t[i].trainable) || hu_program_compensates(p, t->step, i))
		return 0;
	if (!t->t[i].data || !t->t[next].data)
		return 0;
	const hu_call *c = p->t[next].producer >= 0 ? &p->c[p->t[next].producer] : NULL;
	/* moments and running statistics are of the analyzer state */
	return p->t[i].trainable || !c ||
	       (!c->op->moments && c->op->cls != HU_CLASS_NORM && c->op->role != HU_ROLE_SCALE_UPDATE);
}

int
hu_weight_gradient(const hu_program *p, const hu_trace *t, int i, int next)
{
	int grad = hu_program_grad(p, t->step, i);

	if (grad >= 0)
		return t->t[grad].data ? grad : -1;
	const hu_call *c = p->t[i].trainable || p->t[next].producer < 0 ? NULL : &p->c[p->t[next].producer];
	for (int k = 0; c && k < c->nin; k++)
		if (p->t[c->in[k]].cls == HU_WGRAD && t->t[c->in[k]].data &&
			hu_same_shape(p->t[c->in[k]].shape, p->t[i].shape))
			return c->in[k];
	return -1;
}

/* Whether all recorded gradients are 0 although some exact one is not; *zero: whether they are 0. */
static int
vanished(const hu_tensor *g, const double *exact, int *zero)
{
	int some = 0;

	*zero = g != NULL;
	for (size_t k = 0; *zero && k < g->n; k++)
		*zero = hu_get(g, k) == 0;
	for (size_t k = 0; *zero && exact && !some && k < g->n; k++)
		some = exact[k] != 0;
	return some;
}

/* The values of the exact step. What no recorded call wrote came from outside, and has none. */
static const double *
exact_of(const hu_program *p, const hu_trace *t, int id)
{
	return id >= 0 && t->ideal && p->t[id].producer >= 0 ? t->ideal[id] : NULL;
}

/* The most that a rounding takes of a step to x. */
static double
last_place(double x, hu_format f)
{
	int e = x != 0 && isfinite(x) ? ilogb(x) : f.emin;

	return ldexp(1, (e > f.emin ? e : f.emin) - f.p + 1);
}

enum { BLOCK = 256 }; /* elements whose harm is added at once */

void
hu_weight_compute(hu_weight *w, const hu_program *p, const hu_trace *t, int i, int next, int grad)
{
	const hu_tensor *before = &t->t[i], *after = &t->t[next], *g = grad >= 0 ? &t->t[grad] : NULL;
	const double *exact = exact_of(p, t, next), *gradient = exact_of(p, t, grad);
	hu_compensation c;
	int paired = hu_program_compensation(p, t->step, i, &c) && t->t[c.rest].data && t->t[c.after].data;
	const double *exact_rest = paired ? exact_of(p, t, c.after) : NULL;
	int zero, all = vanished(g, gradient, &zero);

	memset(w, 0, sizeof *w);
	w->n = before->n;
	w->with_gradient = g ? w->n : 0;
	w->gradient_judged = gradient ? w->n : 0;
	w->gradient_tensors = w->gradient_judged != 0;
	w->judged = exact ? w->n : 0;
	w->silent = !exact && zero ? w->n : 0;
	hu_weight sum = *w; /* the compiler may keep its sums in registers */
	size_t n = w->n, some = 0, unknown = 0;
	hu_format f = hu_format_of(before->format);
	double got[BLOCK], wanted[BLOCK];
	char gone[BLOCK];
	for (size_t k = 0; k < n; k++) {
		double x = hu_get(before, k), y = hu_get(after, k), moved = y - x, d = exact ? exact[k] - x : NAN;
		int kept = hu_bits64(x) == hu_bits64(y), pulled = g && hu_get(g, k) != 0;
		/* a weight and its compensation are one value */
		if (paired) {
			double old = hu_get(&t->t[c.rest], k), new = hu_get(&t->t[c.after], k);
			kept = kept && new == old;
			moved += c.factor * (new - old);
			d = exact && exact_rest ? (exact[k] - x) + c.factor * (exact_rest[k] - old) : NAN;
		}
		/* what is undefined of the values that were stored, as a root of what rounding made negative is, says
		   nothing of a step that is a number */
		int known = exact && (isfinite(d) || !isfinite(moved));
		unknown += exact && !known;
		sum.moved += !kept;
		sum.gradients += (size_t)pulled;
		sum.kept += pulled && kept;
		sum.gradients_unjudged += pulled && !known;
		sum.kept_unjudged += pulled && kept && !known;
		long double pull = pulled && isfinite(hu_get(g, k)) ? hu_get(g, k) : 0;
		sum.pull2 += pull * pull;
		if (pull != 0 && kept && !known) {
			sum.pull2_kept += pull * pull;
			sum.kept2 += powl(last_place(y, f), 2);
		}
		long double real = isfinite(moved) ? (long double)moved * moved : 0;
		sum.real2 += real;
		sum.real2_judged += known ? real : 0;
		if (!known) {
			sum.harm.nonfinite += !isfinite(moved);
			continue;
		}
		int lost = d != 0 && isfinite(d) && (kept || all);
		sum.exact_moves += d != 0;
		sum.lost += (size_t)lost;
		got[some] = lost ? 0 : moved;
		wanted[some] = d;
		gone[some] = (char)lost;
		if (++some == BLOCK) {
			hu_harm_add_some(&sum.harm, got, wanted, gone, some);
			some = 0;
		}
	}
	hu_harm_add_some(&sum.harm, got, wanted, gone, some);
	sum.judged -= unknown;
	sum.judged_tensors = exact && !unknown;
	*w = sum;
}

void
hu_weight_merge(hu_weight *to, const hu_weight *w)
{
	hu_harm_merge(&to->harm, &w->harm);
	to->n += w->n;
	to->moved += w->moved;
	to->with_gradient += w->with_gradient;
	to->gradients += w->gradients;
	to->kept += w->kept;
	to->gradient_judged += w->gradient_judged;
	to->judged += w->judged;
	to->exact_moves += w->exact_moves;
	to->lost += w->lost;
	to->kept_unjudged += w->kept_unjudged;
	to->gradients_unjudged += w->gradients_unjudged;
	to->silent += w->silent;
	to->gradient_tensors += w->gradient_tensors;
	to->judged_tensors += w->judged_tensors;
	to->real2 += w->real2;
	to->real2_judged += w->real2_judged;
	to->pull2 += w->pull2;
	to->pull2_kept += w->pull2_kept;
	to->kept2 += w->kept2;
}

void
hu_weight_pack(hu_pack *r, hu_weight *w)
{
	size_t *count[] = { &w->n, &w->moved, &w->with_gradient, &w->gradients, &w->kept, &w->gradient_judged,
		&w->judged, &w->exact_moves, &w->lost, &w->kept_unjudged, &w->gradients_unjudged, &w->silent,
		&w->gradient_tensors, &w->judged_tensors };

	hu_pack_harm(r, &w->harm);
	for (size_t i = 0; i < sizeof count / sizeof *count; i++)
		hu_pack_size(r, count[i]);
	hu_pack_wide(r, &w->real2);
	hu_pack_wide(r, &w->real2_judged);
	hu_pack_wide(r, &w->pull2);
	hu_pack_wide(r, &w->pull2_kept);
	hu_pack_wide(r, &w->kept2);
}

double
hu_weight_seen(const hu_weight *w)
{
	if (w->judged == w->n && w->n)
		return 1;
	return w->real2 > 0 ? (double)sqrtl(w->real2_judged / w->real2) : w->judged ? 0 : NAN;
}

/* Adam turns the rounding errors of gradients near 0 into whole steps, so that a cosine alone, of steps that were
   taken, costs at most: gradients have a verdict of their own. Such steps are as long as the exact ones; those that a
   second moment of 0 makes are not. */
static int
rank_of_harm(const hu_harm *h)
{
	double share = hu_harm_share(h), cosine = hu_harm_cosine(h), length = hu_harm_length(h);

	if (h->nonfinite || share >= 0.5 || (cosine <= 0.9 && share > 0.1) || length >= 2)
		return 3;
	if (isnan(share) || isnan(cosine))
		return 0;
	return share <= 0.1 && cosine >= HU_WEIGHT_WHOLE && fabs(length - 1) <= 0.1 ? 1 : 2;
}

/* The rank by elements that kept their bits, where exact values are not known. Of gradients that differ in size, many
   small ones may be little of an update; and what a rounding takes of an element is at most its last place, which may
   be little beside the step that the others took. */
static int
rank_of_bits(const hu_weight *w)
{
	double kept = w->gradients_unjudged ? (double)w->kept_unjudged / (double)w->gradients_unjudged : 0;
	int most = !(w->pull2_kept < w->pull2 / 4);
	double lost = w->kept2 > 0 ? (double)sqrtl(w->kept2 / (w->kept2 + w->real2)) : 0;

	return kept >= 0.5 && most && lost >= 0.5 ? 3 : kept > 0.1 ? 2 : 0;
}

const char *
hu_weight_verdict(const hu_weight *w, int parameter)
{
	static const char *const words[] = { "-", "harmless", "costs", "fatal" };
	int rank = rank_of_harm(&w->harm), by_bits = rank_of_bits(w);

	rank = by_bits > rank ? by_bits : rank;
	return words[!parameter && rank == 3 && !w->harm.nonfinite ? 2 : rank];
}
