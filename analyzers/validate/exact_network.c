/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/exact_network.h"

#include "lib/base/mem.h"
#include "lib/base/room.h"
#include "lib/judge/propagate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An input to be tried: flipped ones first, then those with the smallest margins. */
typedef struct candidate {
	size_t i;
	int flipped;
	double margin;
} candidate;

static int
by_need(const void *a, const void *b)
{
	const candidate *x = a, *y = b;

	if (x->flipped != y->flipped)
		return y->flipped - x->flipped;
	if (x->margin != y->margin)
		return x->margin < y->margin ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* The smallest difference between the two largest values of a row of input I. */
static double
margin(const hu_evaluated *base, const hu_deciding *d, size_t i)
{
	double least = INFINITY;

	for (size_t k = 0; k < d->rows && d->classes > 1; k++) {
		const double *y = base->out[d->output] + (i * d->rows + k) * d->classes;
		size_t second, first = hu_two_largest(y, d->classes, &second);
		least = fmin(least, y[first] - y[second]);
	}
	return least;
}

/* Compares one input's outputs: exact[k] of output k. */
static void
compare(hu_exact_network *x, const hu_evaluated *base, const hu_deciding *d, double *const *exact, size_t i)
{
	int changed = 0;

	for (size_t k = 0; k < base->nout; k++) {
		const double *y = base->out[k] + i * base->each[k];
		double most = 0, worst = 0;
		for (size_t j = 0; exact[k] && j < base->each[k]; j++) {
			worst = fmax(worst, fabs(y[j] - exact[k][j]));
			most = fmax(most, fabs(exact[k][j]));
		}
		x->worst = fmax(x->worst, worst);
		x->relative = fmax(x->relative, most > 0 ? worst / most : 0);
	}
	for (size_t k = 0; exact[d->output] && d->classes > 1 && k < d->rows; k++) {
		const double *y = base->out[d->output] + (i * d->rows + k) * d->classes,
			     *e = exact[d->output] + k * d->classes;
		size_t second, first = hu_two_largest(y, d->classes, &second);
		double error = fabs(y[first] - e[first]) + fabs(y[second] - e[second]);
		x->undecided[i] |= y[first] - y[second] <= error;
		changed |= hu_two_largest(e, d->classes, NULL) != first;
	}
	x->changed += (size_t)changed;
	x->done[i] = 1;
	x->n++;
}

static hu_status
one(hu_exact_network *x, hu_exec *run, const hu_imported *m, const hu_evaluated *base, const hu_deciding *d,
	const hu_samples *s, const hu_engine *engine, const char *keep, size_t i)
{
	hu_errors_step *errors = hu_xcalloc((size_t)m->p->nt + 1, sizeof *errors);
	double **ideal = NULL, **exact = hu_xcalloc(m->nout + 1, sizeof *exact);
	hu_tensor *recorded = hu_xcalloc((size_t)m->p->nt + 1, sizeof *recorded);

	for (size_t k = 0; k < m->nin; k++)
		if (m->in[k].tensor >= 0)
			hu_samples_fill(s, k, i, 1, &run->t[m->in[k].tensor]);
	hu_status st = hu_exec_run(run, &(hu_env){ 0, 0 });
	for (int k = 0; k < m->p->nt; k++) {
		recorded[k] = run->t[k];
		if (m->p->t[k].producer >= 0 && !keep[k])
			recorded[k].data = NULL; /* what the network is computed from, and what it is compared with */
	}
	st = st != HU_OK ? st : hu_propagate(m->p, recorded, engine, 0, keep, errors, &ideal, NULL);
	if (st == HU_OK) {
		for (size_t k = 0; k < m->nout; k++)
			exact[k] = ideal[m->out[k].tensor];
		compare(x, base, d, exact, i);
		for (int k = 0; k < m->p->nt; k++)
			hu_room_free(ideal[k]);
	}
	free(ideal);
	free(errors);
	free(exact);
	free(recorded);
	return st;
}

hu_status
hu_exact_network_run(hu_exact_network *x, const hu_imported *m, const hu_evaluated *base, const hu_deciding *d,
	const hu_samples *s, const char *flipped, size_t limit, hu_progress *bar)
{
	candidate *c = hu_xcalloc(s->n + 1, sizeof *c);
	char *keep = hu_xcalloc((size_t)m->p->nt + 1, 1);
	const hu_engine *engine;
	hu_exec run;
	hu_status st;

	*x = (hu_exact_network){ .done = hu_xcalloc(s->n + 1, 1), .undecided = hu_xcalloc(s->n + 1, 1) };
	for (size_t i = 0; i < s->n; i++)
		c[i] = (candidate){ i, flipped[i], margin(base, d, i) };
	qsort(c, s->n, sizeof *c, by_need);
	for (size_t k = 0; k < m->nout; k++)
		keep[m->out[k].tensor] = 1;
	if ((st = hu_engine_find("auto", &engine)) == HU_OK && (st = hu_exec_init(&run, m->p)) == HU_OK) {
		hu_imported_load(m, &run);
		for (size_t i = 0; i < s->n && i < limit && st == HU_OK; i++) {
			st = one(x, &run, m, base, d, s, engine, keep, c[i].i);
			hu_progress_step(bar, 1);
		}
		hu_exec_release(&run);
	}
	free(c);
	free(keep);
	if (st != HU_OK)
		hu_exact_network_release(x);
	return st;
}

void
hu_exact_network_release(hu_exact_network *x)
{
	free(x->done);
	free(x->undecided);
	memset(x, 0, sizeof *x);
}
