/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/effect/measures.h"

#include "lib/base/mem.h"
#include "lib/judge/verdict/bias.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBABILITIES = 1024 }; /* rows sum to 1 within 1/1024 where they are probabilities */

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

/* -log of the probability that Y, probabilities or logits of N classes, gives to class AT. */
static double
surprise(const double *y, size_t n, size_t at)
{
	double sum = 0, top = y[0], all = 0;
	int probable = 1;

	for (size_t i = 0; i < n; i++) {
		probable &= y[i] >= 0;
		sum += y[i];
		top = fmax(top, y[i]);
	}
	if (probable && fabs(sum - 1) * PROBABILITIES < 1)
		return -log(y[at] / sum);
	for (size_t i = 0; i < n; i++)
		all += exp(y[i] - top);
	return log(all) - (y[at] - top);
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

/* A decision that is an index, WAS in float32 and IS now. */
static void
index_decision(hu_effect *r, size_t i, size_t k, double was, double is, int *out)
{
	int flips = is != was;

	if (flips && !r->flipped[i]) {
		HU_GROW(r->change, r->nchange, r->capchange);
		r->change[r->nchange++] = (hu_change){ i, k, (size_t)fmax(was, 0), (size_t)fmax(is, 0), NAN, NAN };
	}
	r->decision_flips += (size_t)flips;
	r->flipped[i] |= (char)flips;
	*out |= flips;
}

/* A decision between classes of Y, float32's of Y32. Returns the class that it is. */
static size_t
class_decision(hu_effect *r, const hu_deciding *d, size_t i, size_t k, const double *y, const double *y32, int *out)
{
	size_t is = hu_two_largest(y, d->classes, NULL), was = hu_two_largest(y32, d->classes, NULL);
	int flips = is != was || y[is] != y[is];

	if (flips && !r->flipped[i])
		keep_change(r, (hu_change){ i, k, was, is, 0, 0 }, y, y32, d->classes);
	r->decision_flips += (size_t)flips;
	r->flipped[i] |= (char)flips;
	*out |= !among(y, d->classes, was, d->top);
	return is;
}

/* What the N classes of PATH and of PATH32, float32's, read as: takes the flip of input I back where it is one text,
   and says whether it is the text of LABEL, of so many entries. */
static int
texts(hu_effect *r, const hu_deciding *d, size_t i, size_t *path, size_t *path32, const double *label, size_t labels)
{
	size_t n = hu_deciding_text(d, path, d->rows), n32 = hu_deciding_text(d, path32, d->rows), at = 0;
	int same = n == n32 && !memcmp(path, path32, n * sizeof *path), right = 1;

	if (same && r->flipped[i]) {
		r->flipped[i] = 0;
		r->nchange--;
	}
	for (size_t k = 0; k < labels; k++) {
		if (label[k] == d->ignored || label[k] == (double)d->blank)
			continue;
		right &= at < n && (double)path[at] == label[k];
		at++;
	}
	return right && at == n;
}

static void
decisions(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_deciding *d, const hu_samples *s)
{
	size_t right = 0, of = 0;
	double kl = 0, nats = 0, *room = hu_xmalloc(2 * (d->classes + 2) * sizeof *room);
	size_t *path = hu_xcalloc(2 * d->rows + 1, sizeof *path), *path32 = path + d->rows;
	int ctc = d->kind == HU_DECISION_CTC;

	for (size_t i = 0; i < e->n; i++) {
		const double *row = e->out[d->output] + i * e->each[d->output],
			     *row32 = base->out[d->output] + i * base->each[d->output];
		int out = 0, all = 1;
		for (size_t k = 0; k < d->rows; k++) {
			const double *y = hu_deciding_values(d, row, k, d->threshold, room),
				     *y32 = hu_deciding_values(d, row32, k, d->threshold, room + d->classes);
			double is = *y, label = s->label && !ctc ? s->label[i * d->rows + k] : NAN;
			int number = 1;
			if (d->kind == HU_DECISION_INDEX) {
				index_decision(r, i, k, *y32, is, &out);
			} else {
				size_t class = class_decision(r, d, i, k, y, y32, &out);
				number = y[class] == y[class];
				is = (double)class;
				kl += d->kind == HU_DECISION_CLASS || ctc ? divergence(y32, y, d->classes) : NAN;
				path[k] = class;
				path32[k] = hu_two_largest(y32, d->classes, NULL);
				all &= number;
			}
			if (s->label && !ctc && label != d->ignored) {
				right += is == label && number;
				of++;
				if (d->kind == HU_DECISION_CLASS)
					nats += surprise(y, d->classes, (size_t)label);
			}
		}
		if (ctc && all) {
			right += (size_t)texts(r, d, i, path, path32, s->label ? s->label + i * s->nlabel : NULL,
				s->label ? s->nlabel : 0);
		}
		of += ctc && s->label;
		r->flips += (size_t)r->flipped[i];
		r->top += (size_t)out;
	}
	hu_wilson(r->flips, e->n, &r->low, &r->high);
	r->kl = d->kind == HU_DECISION_CLASS || ctc ? kl / (double)(e->n * d->rows) : NAN;
	r->right = right;
	r->judged = of;
	r->alone = d->rows == 1;
	if (of)
		r->accuracy = (double)right / (double)of;
	if (of && d->kind == HU_DECISION_CLASS)
		r->perplexity = exp(nats / (double)of);
	free(path);
	free(room);
}

/* Whether the errors of an output have one direction. */
static void
direction(hu_distance *to, const double *y, const double *y32, size_t n)
{
	double sum[2][HU_BIAS_CLUSTERS] = { { 0 } }, all[2], square = 0;
	size_t finite = 0;

	for (size_t i = 0; i < n; i++) {
		double d = y[i] - y32[i];
		size_t k = hu_bias_cluster(i, n);
		if (!isfinite(d))
			continue;
		finite++;
		square += d * d;
		sum[0][k] += d;
		sum[1][k] += y32[i] > 0 ? d : y32[i] < 0 ? -d : 0;
	}
	double rms = sqrt(square / (double)finite), t = hu_bias_of_sums(sum[0], HU_BIAS_CLUSTERS, 0, &all[0]),
	       u = hu_bias_of_sums(sum[1], HU_BIAS_CLUSTERS, 0, &all[1]);
	int some = finite && rms > 0;
	to->signed_share = some ? all[0] / (double)finite / rms : NAN;
	to->outward_share = some ? all[1] / (double)finite / rms : NAN;
	to->bias_t = some ? fmax(t, u) : NAN;
}

/* Sums of squares of output k: of differences, and of float32's values. Sets what it tells of that output alone. */
static void
distance(hu_distance *to, long double *error, long double *all, const double *y, const double *y32, size_t n)
{
	*error = *all = 0;
	for (size_t i = 0; i < n; i++) {
		double d = fabs(y[i] - y32[i]);
		if (y[i] == y32[i] || (y[i] != y[i] && y32[i] != y32[i]))
			d = 0; /* equal infinities, and NaN for NaN */
		else if (!(d < INFINITY))
			d = INFINITY;
		to->max_error = fmax(to->max_error, d);
		to->nonfinite += !isfinite(y[i]);
		*error += (long double)d * d;
		*all += isfinite(y32[i]) ? (long double)y32[i] * y32[i] : 0;
	}
	direction(to, y, y32, n);
	to->rel_l2 = *error == 0 ? 0 : (double)sqrtl(*error / *all);
	to->sqnr_db = -20 * log10(to->rel_l2);
}

static void
distances(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_imported *m)
{
	long double error = 0, all = 0, own, own_all;

	r->nout = e->nout;
	r->out = hu_xcalloc(e->nout + 1, sizeof *r->out);
	for (size_t k = 0; k < e->nout; k++) {
		r->out[k].whole = m->p->t[m->out[k].tensor].cls == HU_OTHER;
		distance(&r->out[k], &own, &own_all, e->out[k], base->out[k], e->n * e->each[k]);
		if (r->out[k].whole)
			continue;
		r->max_error = fmax(r->max_error, r->out[k].max_error);
		error += own;
		all += own_all;
	}
	r->rel_l2 = error == 0 ? 0 : (double)sqrtl(error / all);
	r->sqnr_db = -20 * log10(r->rel_l2);
}

void
hu_effect_of(hu_effect *r, const hu_evaluated *e, const hu_evaluated *base, const hu_imported *m, const hu_deciding *d,
	const hu_samples *s)
{
	*r = (hu_effect){ .inputs = e->n,
		.nonfinite = e->nonfinite,
		.accuracy = NAN,
		.kl = NAN,
		.perplexity = NAN,
		.low = NAN,
		.high = NAN };
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
	free(r->out);
	r->out = NULL;
	r->flipped = NULL;
	r->change = NULL;
}
