/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/measures.h"

#include "lib/base/console/show.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBABILITIES = 1024 }; /* rows sum to 1 within 1/1024 where they are probabilities */

hu_status
hu_deciding_of(hu_deciding *d, const hu_imported *m, size_t batch, const char *name, int top)
{
	*d = (hu_deciding){ .top = top };
	for (size_t k = 0; k < m->nout; k++) {
		const hu_port *o = &m->out[k];
		hu_shape s = m->p->t[o->tensor].shape;
		size_t classes = s.rank ? s.d[s.rank - 1] : 1;
		if (name ? strcmp(o->name, name) : classes < 2 || m->p->t[o->tensor].cls == HU_OTHER)
			continue;
		if (s.rank < 2 && batch > 1)
			classes = 1; /* one number for each input */
		*d = (hu_deciding){ k, classes, hu_count(s) / batch / classes, top };
		return HU_OK;
	}
	return name ? hu_fail(HU_EINVAL, "--output: the model has no output called '%s'", hu_shown(name)) : HU_OK;
}

void
hu_wilson(size_t k, size_t n, double *low, double *high)
{
	const double z = 1.9599639845400545; /* the normal distribution's 97.5 % quantile */
	double p = (double)k / (double)n, m = (double)n, mid = p + z * z / (2 * m),
	       half = z * sqrt(p * (1 - p) / m + z * z / (4 * m * m)), all = 1 + z * z / m;

	*low = k ? (mid - half) / all : 0;
	*high = k < n ? (mid + half) / all : 1;
}

size_t
hu_two_largest(const double *y, size_t n, size_t *second)
{
	size_t best = 0, next = n > 1 ? 1 : 0;

	for (size_t i = 1; i < n; i++)
		if (y[i] > y[best] || (y[i] != y[i] && y[best] == y[best]))
			best = i;
	next = best ? 0 : next;
	for (size_t i = 0; i < n; i++)
		if (i != best && (y[i] > y[next] || (y[i] != y[i] && y[next] == y[next])))
			next = i;
	if (second)
		*second = next;
	return best;
}

/* 1 where value AT is among the TOP largest of Y. */
static int
among(const double *y, size_t n, size_t at, int top)
{
	int above = 0;

	for (size_t i = 0; i < n; i++)
		above += y[i] > y[at] || (y[i] == y[at] && i < at) || y[i] != y[i];
	return y[at] == y[at] && above < top;
}

/* The divergence of the classes of got from those of want, in nats. Values that are probabilities are divided by their
   sum first, which rounding in a narrow format moves away from 1, so that it is never negative; others are logits. */
static double
divergence(const double *want, const double *got, size_t n)
{
	double sum = 0, sum_got = 0, a = 0, b = 0, most = want[0], top = got[0], kl = 0;
	int probable = 1;

	for (size_t i = 0; i < n; i++) {
		probable &= want[i] >= 0;
		sum += want[i];
		sum_got += got[i];
		most = fmax(most, want[i]);
		top = fmax(top, got[i]);
	}
	if (probable && fabs(sum - 1) * PROBABILITIES < 1) {
		for (size_t i = 0; i < n; i++)
			kl += want[i] > 0 ? want[i] / sum * log(want[i] / sum / (got[i] / sum_got)) : 0;
		return kl;
	}
	for (size_t i = 0; i < n; i++) {
		a += exp(want[i] - most);
		b += exp(got[i] - top);
	}
	for (size_t i = 0; i < n; i++) {
		double p = want[i] - most - log(a), q = got[i] - top - log(b);
		kl += exp(p) > 0 ? exp(p) * (p - q) : 0;
	}
	return kl;
}

/* Keeps that class IS of Y came in WAS's place, which is float32's. */
static void
keep_change(hu_effect *r, hu_change c, const double *y, const double *y32, size_t classes)
{
	size_t second;

	(void)hu_two_largest(y32, classes, &second);
	c.margin32 = y32[c.was] - y32[second];
	c.margin = y[c.is] - y[c.was];
	HU_GROW(r->change, r->nchange, r->capchange);
	r->change[r->nchange++] = c;
}

static void
decisions(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_deciding *d, const hu_samples *s)
{
	size_t right = 0, of = 0, C = d->classes;
	double kl = 0;

	for (size_t i = 0; i < e->n; i++) {
		int out = 0;
		for (size_t k = 0; k < d->rows; k++) {
			const double *y = e->out[d->output] + (i * d->rows + k) * C,
				     *y32 = base->out[d->output] + (i * d->rows + k) * C;
			size_t is = hu_two_largest(y, C, NULL), was = hu_two_largest(y32, C, NULL);
			if (!r->flipped[i] && (is != was || y[is] != y[is]))
				keep_change(r, (hu_change){ i, k, was, is, 0, 0 }, y, y32, C);
			r->flipped[i] |= is != was || y[is] != y[is];
			out |= !among(y, C, was, d->top);
			kl += divergence(y32, y, C);
			if (s->label && s->nlabel == d->rows) {
				right += (double)is == s->label[i * d->rows + k] && y[is] == y[is];
				of++;
			}
		}
		r->flips += (size_t)r->flipped[i];
		r->top += (size_t)out;
	}
	hu_wilson(r->flips, e->n, &r->low, &r->high);
	r->kl = kl / (double)(e->n * d->rows);
	if (of)
		r->accuracy = (double)right / (double)of;
}

static void
distances(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_imported *m)
{
	long double error = 0, all = 0;

	for (size_t k = 0; k < e->nout; k++) {
		if (m->p->t[m->out[k].tensor].cls == HU_OTHER)
			continue;
		for (size_t i = 0; i < e->n * e->each[k]; i++) {
			double y = e->out[k][i], y32 = base->out[k][i], d = fabs(y - y32);
			if (y == y32 || (y != y && y32 != y32))
				d = 0; /* equal infinities, and NaN for NaN */
			else if (!(d < INFINITY))
				d = INFINITY;
			r->max_error = fmax(r->max_error, d);
			error += (long double)d * d;
			all += isfinite(y32) ? (long double)y32 * y32 : 0;
		}
	}
	r->rel_l2 = error == 0 ? 0 : (double)sqrtl(error / all);
	r->sqnr_db = -20 * log10(r->rel_l2);
}

void
hu_effect_of(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_imported *m,
	const hu_deciding *d, const hu_samples *s)
{
	*r = (hu_effect){
		.inputs = e->n, .nonfinite = e->nonfinite, .accuracy = NAN, .kl = NAN, .low = NAN, .high = NAN
	};
	r->flipped = hu_xcalloc(e->n + 1, 1);
	if (d->classes > 1)
		decisions(r, e, base, d, s);
	distances(r, e, base, m);
}

void
hu_effect_release(hu_effect *r)
{
	free(r->flipped);
	free(r->change);
	r->flipped = NULL;
	r->change = NULL;
}
