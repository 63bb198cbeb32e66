/* SPDX-License-Identifier: Apache-2.0
   Decides how the exact step is computed: in double-double with a running error bound; in MPFR if that bound is too
   wide or the user asks for it; in MPFR with more bits if only agreement of two precisions tells what is exact.
   exact_step.c computes one call. */
#include "lib/judge/propagate.h"

#include "lib/judge/agreement.h"
#include "lib/judge/exact_step.h"
#include "lib/exact/judge.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one computation of a step passes to the next: the marks of double-double, and MPFR's doubles that wait for
   comparison with another precision; both by tensor id. */
typedef struct escalation {
	const char *keep;
	short **mark;
	double **before;
	int again; /* before holds values to compare with and is not to be filled */
} escalation;

static hu_status
get_room(void *to, size_t bytes)
{
	return hu_room_get(to, bytes + 1, "the exact step's values (--no-propagate goes on without)");
}

/* Frees marks that only say that there are digits. */
static void
keep_marks(short **mark, size_t n)
{
	size_t i = 0;

	while (i < n && (*mark)[i] == HU_STEP_DIGITS)
		i++;
	if (i < n)
		return;
	hu_room_free(*mark);
	*mark = NULL;
}

static hu_status
compare(hu_exact_step *x, int id, const escalation *k, hu_errors_step *m)
{
	const hu_tensor *t = &x->t[id];
	hu_step_values v = { t->data, t->low, x->low[id].err, k->again ? k->before[id] : NULL, k->mark[id] };

	if (v.err) {
		HU_TRY(get_room(&k->mark[id], t->n * sizeof(short)));
		v.mark = k->mark[id];
	}
	hu_errors_propagated(m, &x->recorded[id], &v);
	if (v.err)
		keep_marks(&k->mark[id], t->n);
	if (m->doubtful && !k->again) {
		HU_TRY(get_room(&k->before[id], t->n * sizeof(double)));
		memcpy(k->before[id], t->data, t->n * sizeof(double));
	}
	return HU_OK;
}

/* After call i: computes the errors of its recorded outputs, and frees what is no longer read or kept. */
static hu_status
settle(hu_exact_step *x, int i, const int *last, const escalation *k, hu_errors_step *errors)
{
	const hu_call *c = &x->q->c[i];

	for (int j = 0; j < c->nout; j++)
		if (x->known[c->out[j]] && x->recorded[c->out[j]].data)
			HU_TRY(compare(x, c->out[j], k, &errors[c->out[j]]));
	for (int j = 0; j < c->nin + c->nout; j++) {
		int id = j < c->nin ? c->in[j] : c->out[j - c->nin];
		if (last[id] > i)
			continue;
		if (!x->known[id] || (k->keep && !k->keep[id]))
			hu_exact_step_drop(x, id);
		else {
			if (x->recorded[id].data && k->mark[id])
				HU_TRY(hu_exact_step_own(x, id));
			if (x->recorded[id].data)
				hu_errors_zeros(&x->recorded[id], x->t[id].data, k->mark[id]);
			hu_exact_step_round(x, id);
		}
	}
	return HU_OK;
}

/* Computes the whole step in one arithmetic. g, if not NULL, bounds products by their agreement with the recorded
   ones. */
static hu_status
one_precision(hu_exact_step *x, const escalation *k, hu_agreement *g, hu_errors_step *errors)
{
	int *last = hu_program_last_uses(x->q);
	hu_status st;

	for (int i = 0; i < x->q->nt; i++)
		errors[i] = (hu_errors_step){ .known = 0 };
	st = hu_exact_step_begin(x);
	for (int i = 0; st == HU_OK && i < x->q->nc; i++) {
		st = hu_exact_step_call(x, i);
		if (st == HU_OK && g)
			hu_agreement_after(g, x, &x->q->c[i]);
		if (st == HU_OK)
			st = settle(x, i, last, k, errors);
		if (st == HU_OK && g)
			hu_agreement_round(g, x, &x->q->c[i]);
	}
	free(last);
	return st;
}

static double
share(double off, double figure)
{
	return off == 0 ? 0 : figure > 0 ? off / figure : INFINITY;
}

/* Counts the tensors whose bound is too wide for their figures. */
static size_t
open_ones(const hu_program *q, const hu_errors_step *errors, hu_propagation *how)
{
	size_t open = 0;

	for (int i = 0; i < q->nt; i++) {
		const hu_errors_step *m = &errors[i];
		if (!m->known)
			continue;
		if (!m->settled) {
			open++;
			continue;
		}
		how->widest = fmax(how->widest,
			fmax(share(m->off_max, m->ulp_max),
				fmax(share(m->off_mean, m->ulp_mean), share(m->off_rel, m->rel_normwise))));
	}
	return open;
}

/* The three figures by name. */
typedef struct figure {
	const char *name;
	double value, off;
} figure;
enum { NORM = 2, FIGURES };

static void
figures(figure *f, const hu_errors_step *m)
{
	f[0] = (figure){ "the largest error in ulps", m->ulp_max, m->off_max };
	f[1] = (figure){ "the mean error in ulps", m->ulp_mean, m->off_mean };
	f[2] = (figure){ "the relative error of the norm", m->rel_normwise, m->off_rel };
}

/* Returns 1 if a and b agree within off. MPFR's values have an error of 2^-200 of the terms they sum, and an ulp is at
   least 2^-52 of a value, so errors below 2^-100 ulps mean nothing. */
static int
within(double a, double b, double off)
{
	return a == b || fabs(a - b) <= off * (1 + 0x1p-30) + 0x1p-40 * fabs(b) + 0x1p-100;
}

/* Takes MPFR's figures for tensors whose bound was too wide, and for those where MPFR knows better which values are 0
   (which changes the size of ulps); for the others the bounds must contain MPFR's figures. A tensor for which they do
   not has no figures. */
static void
join(hu_exact_step *step, hu_errors_step *errors, const hu_errors_step *mpfr, hu_propagation *how)
{
	const hu_program *q = step->q;

	for (int i = 0; i < q->nt; i++) {
		hu_errors_step *m = &errors[i];
		const hu_errors_step *x = &mpfr[i];
		int agreed = 1;
		figure mine[FIGURES], other[FIGURES];
		if (!m->known)
			continue;
		int sure = m->settled && x->known, zeros = m->vanished == x->vanished;
		figures(mine, m);
		figures(other, x);
		for (int k = 0; sure && k < FIGURES; k++)
			if ((zeros || (k == NORM && m->off_rel < HU_STEP_SETTLED && m->rel_normwise < INFINITY)) &&
				!within(mine[k].value, other[k].value, mine[k].off + other[k].off)) {
				agreed = 0;
				hu_mpfr_disagrees(
					"the exact step (--no-propagate goes on without): of %s, %s is %.17g by MPFR, "
					"but %.17g within %.3g by double-double",
					q->t[i].name, mine[k].name, other[k].value, mine[k].value, mine[k].off);
			}
		if (!agreed) {
			m->known = step->known[i] = 0;
			how->disagreed++;
			continue;
		}
		if (sure && zeros)
			continue;
		*m = *x;
		how->escalated += (size_t)m->known;
	}
}

/* Returns 1 if four doubles are not enough: double-double said nothing of some values although they are finite, so
   nobody knows how much of them is rounding errors, or tiny values may be nothing else. */
static int
needs_five(const hu_program *q, const hu_errors_step *two, const hu_errors_step *four)
{
	for (int i = 0; i < q->nt; i++) {
		const hu_errors_step *few = &two[i], *many = &four[i];
		if (many->known && (many->doubtful || (few->known && few->unknown > many->nonfinite)))
			return 1;
	}
	return 0;
}

/* Takes the figures of five doubles if those of four agree with them; otherwise the tensor is not known. A tensor whose
   values have meanwhile become 0 has no other figures to agree with. */
static void
agree(const hu_program *q, hu_errors_step *four, const hu_errors_step *five, hu_propagation *how)
{
	for (int i = 0; i < q->nt; i++) {
		figure a[FIGURES], b[FIGURES];
		int good = four[i].known && five[i].known;
		figures(a, &four[i]);
		figures(b, &five[i]);
		for (int k = 0; k < FIGURES && four[i].vanished == five[i].vanished; k++)
			good &= within(a[k].value, b[k].value, HU_STEP_SETTLED * b[k].value);
		how->unreported += four[i].known && !good;
		four[i] = five[i];
		four[i].known = good;
	}
}

static hu_status
by_mpfr(hu_exact_step *x, escalation *k, hu_errors_step *two, hu_errors_step *four, hu_propagation *how)
{
	hu_exact_step y, z;
	hu_errors_step *five = hu_xcalloc((size_t)x->q->nt + 1, sizeof *five);

	hu_exact_step_init(&y, x->q, x->recorded, x->engine, x->seed, HU_STEP_FOUR);
	hu_status st = one_precision(&y, k, NULL, four);
	how->by_mpfr = 1;
	if (st == HU_OK && needs_five(x->q, two, four)) {
		hu_exact_step_init(&z, x->q, x->recorded, x->engine, x->seed, HU_STEP_FIVE);
		k->again = 1;
		how->twice = 1;
		st = one_precision(&z, k, NULL, five);
		if (st == HU_OK)
			agree(x->q, four, five, how);
		hu_exact_step_release(&y);
		y = z;
	}
	how->disagreed = y.disagreed > how->disagreed ? y.disagreed : how->disagreed;
	if (st == HU_OK) /* also for the kept values */
		for (int i = 0; i < x->q->nt; i++)
			y.known[i] = (char)(y.known[i] &&
					    (!x->recorded[i].data || x->q->t[i].producer < 0 || four[i].known));
	if (st == HU_OK) {
		hu_exact_step t = *x;
		*x = y;
		y = t;
	}
	hu_exact_step_release(&y);
	free(five);
	return st;
}

static int
affordable(const hu_program *q)
{
	double operations = 0;

	for (int i = 0; i < q->nc; i++)
		operations += hu_call_cost(q, &q->c[i]).flops;
	return operations <= HU_PROPAGATE_OPERATIONS;
}

/* Leaves the tensors without figures whose bound is too wide for them. */
static void
leave_open(hu_exact_step *x, hu_errors_step *errors, hu_propagation *how)
{
	for (int i = 0; i < x->q->nt; i++) {
		if (!errors[i].known || errors[i].settled)
			continue;
		errors[i].known = x->known[i] = 0;
		how->left++;
	}
}

/* A step too large for MPFR. The recorded values are its second precision: PyTorch's or the program's own formats,
   rounded after each call. */
static hu_status
by_agreement(hu_exact_step *x, escalation *k, hu_errors_step *errors, hu_propagation *how)
{
	hu_agreement g;

	hu_agreement_init(&g, x, x->recorded, 1);
	hu_status st = one_precision(x, k, &g, errors);
	if (st == HU_OK) {
		open_ones(x->q, errors, how);
		leave_open(x, errors, how);
	}
	for (int i = 0; i < x->q->nt; i++)
		how->agreed += errors[i].known && g.rests[i];
	hu_agreement_release(&g);
	how->judged = x->judged;
	how->disagreed = x->disagreed;
	return st;
}

/* Runs all the computations that a step needs. */
static hu_status
escalate(hu_exact_step *x, escalation *k, hu_errors_step *errors, hu_propagation *how)
{
	int throughout = x->engine->throughout;

	if (!throughout && !affordable(x->q))
		return by_agreement(x, k, errors, how);
	hu_errors_step *four = hu_xcalloc((size_t)x->q->nt + 1, sizeof *four);
	hu_status st = one_precision(x, k, NULL, errors);
	how->judged = x->judged;
	how->disagreed = x->disagreed;
	if (st == HU_OK && (throughout || open_ones(x->q, errors, how))) {
		st = by_mpfr(x, k, errors, four, how);
		if (st == HU_OK && throughout)
			memcpy(errors, four, (size_t)x->q->nt * sizeof *four);
		else if (st == HU_OK)
			join(x, errors, four, how);
	}
	free(four);
	return st;
}

void
hu_propagation_merge(hu_propagation *how, const hu_propagation *one)
{
	how->steps += one->steps;
	how->by_mpfr += one->by_mpfr;
	how->twice += one->twice;
	how->tensors += one->tensors;
	how->escalated += one->escalated;
	how->unreported += one->unreported;
	how->left += one->left;
	how->agreed += one->agreed;
	how->judged += one->judged;
	how->disagreed += one->disagreed;
	how->vanished += one->vanished;
	how->widest = fmax(how->widest, one->widest);
}

hu_status
hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed, const char *keep,
	hu_errors_step *errors, double ***ideal, hu_propagation *how)
{
	hu_program *q = hu_exact_step_program(p);
	size_t n = (size_t)p->nt + 1;
	hu_errors_step *mine = errors ? errors : hu_xcalloc(n, sizeof *mine);
	escalation k = { keep, hu_xcalloc(n, sizeof *k.mark), hu_xcalloc(n, sizeof *k.before), 0 };
	hu_propagation one = { .steps = 1 };
	hu_exact_step x;

	hu_exact_step_init(&x, q, recorded, engine, seed, HU_STEP_TWO);
	hu_status st = escalate(&x, &k, mine, &one);
	for (int i = 0; i < q->nt && st == HU_OK; i++)
		if (x.known[i] && (!keep || keep[i]))
			st = hu_exact_step_own(&x, i);
	if (st == HU_OK) {
		*ideal = hu_xcalloc(n, sizeof **ideal);
		for (int i = 0; i < q->nt; i++) {
			if (x.known[i] && (!keep || keep[i])) {
				(*ideal)[i] = x.t[i].data;
				x.t[i].data = NULL;
			}
			one.tensors += mine[i].known != 0;
			one.vanished += mine[i].known ? mine[i].vanished : 0;
		}
	}
	if (st == HU_OK && how)
		hu_propagation_merge(how, &one);
	for (int i = 0; i < q->nt; i++) {
		hu_room_free(k.mark[i]);
		hu_room_free(k.before[i]);
	}
	free(k.mark);
	free(k.before);
	if (!errors)
		free(mine);
	hu_exact_step_release(&x);
	hu_program_free(q);
	return st;
}
