/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/exact_step.h"

#include "lib/judge/judge.h"
#include "lib/exact/judge.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"
#include "lib/base/thread.h"
#include "lib/op/contract/contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SAMPLE = 8,      /* values of a call that MPFR judges if that is cheap: */
	TERMS = 1 << 13, /* up to this many terms of sums; otherwise it judges one value, */
	NORMS = 4 /* for norms, in one call out of so many, since each value sums over a whole channel more than once */
};

hu_program *
hu_exact_step_program(const hu_program *p)
{
	hu_program *q = hu_program_copy(p);

	for (int i = 0; i < q->nc; i++) {
		hu_call *c = &q->c[i];
		c->fmt.in = c->fmt.compute = c->fmt.acc = c->fmt.out = HU_FP64;
		c->mode = HU_RNE;
		c->flags = 0;
		c->sum = hu_sum_default();
		c->sum.acc = HU_FP64;
		c->sum.outer = HU_NO_FORMAT;
	}
	return q;
}

void
hu_exact_step_init(hu_exact_step *x, const hu_program *q, const hu_tensor *recorded, const hu_engine *engine,
	uint64_t seed, hu_step_precision precision)
{
	size_t n = (size_t)q->nt + 1;

	*x = (hu_exact_step){ q, hu_xcalloc(n, sizeof *x->t), hu_xcalloc(n, sizeof *x->low), hu_xcalloc(n, 1), recorded,
		engine, seed, precision, 0, 0, hu_xmalloc(n * sizeof *x->next) };
	for (int i = 0; i < q->nt; i++)
		x->next[i] = i;
}

void
hu_exact_step_release(hu_exact_step *x)
{
	for (int i = 0; i < x->q->nt; i++)
		hu_exact_step_drop(x, i);
	free(x->t);
	free(x->low);
	free(x->known);
	free(x->next);
}

static void
widen(hu_tensor *to, const hu_tensor *from)
{
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (to->n > 16384)
	for (size_t i = 0; i < to->n; i++)
		((double *)to->data)[i] = hu_get(from, i);
}

hu_status
hu_exact_step_begin(hu_exact_step *x)
{
	for (int i = 0; i < x->q->nt; i++) {
		hu_tensor *t = &x->t[i];
		t->format = HU_FP64;
		t->shape = x->q->t[i].shape;
		t->n = hu_count(t->shape);
		if (x->q->t[i].producer >= 0 || (x->known[i] = x->recorded[i].data != NULL) == 0)
			continue;
		HU_TRY(hu_exact_step_make(x, i));
		widen(t, &x->recorded[i]);
	}
	return HU_OK;
}

/* Returns 1 for the finite check and the scale's update: what the run decided from its own roundings stays decided. */
static int
is_decision(const hu_call *c)
{
	return c->op->role == HU_ROLE_CHECK || c->op->role == HU_ROLE_SCALE_UPDATE;
}

static hu_status
decided(hu_exact_step *x, const hu_call *c)
{
	for (int k = 0; k < c->nout; k++) {
		HU_TRY(hu_exact_step_make(x, c->out[k]));
		if ((x->known[c->out[k]] = x->recorded[c->out[k]].data != NULL) != 0)
			widen(&x->t[c->out[k]], &x->recorded[c->out[k]]);
	}
	return HU_OK;
}

/* A cast without its rounding. In a scaled format the values keep the recorded factor, a power of two. A value that
   this moves beyond double's range is not known. */
static hu_status
cast_exactly(hu_exact_step *x, const hu_call *c)
{
	double s = c->nout > 1 && x->recorded[c->out[1]].data ? hu_get(&x->recorded[c->out[1]], 0) : 1, *to;
	const hu_tensor *from = &x->t[c->in[0]];
	int held = 1;

	if (c->nout > 1) {
		HU_TRY(hu_exact_step_make(x, c->out[1]));
		((double *)x->t[c->out[1]].data)[0] = s;
	}
	if (s == 1) {
		hu_exact_step_share(x, c->out[0], c->in[0]);
		return HU_OK;
	}
	HU_TRY(hu_exact_step_make(x, c->out[0]));
	to = x->t[c->out[0]].data;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) reduction(&& : held) if (from->n > 16384)
	for (size_t i = 0; i < from->n; i++) {
		to[i] = ((const double *)from->data)[i] * s;
		held = held && (hu_isfinite(to[i]) || !hu_isfinite(((const double *)from->data)[i]));
	}
	x->known[c->out[0]] = (char)held;
	if (from->low) {
		size_t n = from->n * hu_exact_step_lows(x);
		double *low;
		HU_TRY(hu_exact_step_make_low(x, c->out[0], &low));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 16384)
		for (size_t i = 0; i < n; i++)
			low[i] = from->low[i] * s;
		for (size_t i = 0; x->precision == HU_STEP_TWO && s < 1 && i < from->n;
			i++) /* a trailing part may have become subnormal */
			low[from->n + i] +=
				fabs(to[i]) < 0x1p-900 && (to[i] != 0 || low[from->n + i] != 0) ? 0x1p-1070 : 0;
	}
	return HU_OK;
}

static void
take(hu_sink *s, const hu_tile *t)
{
	if (t->hi == s->hi + t->first && !t->at) /* computed where it is wanted */
		return;
	HU_ASSERT(!t->at); /* whole outputs are asked for, and of operands with low parts they come in rows */
	memcpy(s->hi + t->first, t->hi, t->n * sizeof *t->hi);
	memcpy(s->lo + t->first, t->lo, t->n * sizeof *t->lo);
	memcpy(s->err + t->first, t->err, t->n * sizeof *t->err);
}

/* Judges a sample of want values of output k of a call by MPFR, with the operands as they are, leading and trailing
   parts. A reference is exact or off by at most 2^-200 of itself, or of the magnitudes that it sums (op.h). */
static hu_status
judge(hu_exact_step *x, const hu_call *c, hu_tensor *const *in, int k, size_t want)
{
	const hu_tensor *y = &x->t[c->out[k]];
	const hu_low *low = &x->low[c->out[k]];
	size_t n, *element = hu_sample(x->seed, x->q->t[c->out[k]].name, 0, y->n, want, &n);
	mpfr_t d, *e = hu_xmalloc((n + 1) * sizeof *e);

	mpfr_init2(d, 1024);
	for (size_t i = 0; i < n; i++)
		mpfr_init2(e[i], 256);
	double *magnitude = hu_xcalloc(n + 1, sizeof *magnitude);
	hu_status st = HU_COLUMN(c->op, reference)(c, in, k, element, n, e);
	if (st == HU_OK && HU_COLUMN(c->op, magnitude))
		st = HU_COLUMN(c->op, magnitude)(c, in, k, element, n, magnitude);
	for (size_t i = 0; i < n; i++) {
		double h = hu_get(y, element[i]), l = low->lo[element[i]], off = low->err[element[i]];
		if (st == HU_OK && hu_isfinite(h) && fabs(l) < INFINITY && off < INFINITY) {
			mpfr_sub_d(d, e[i], h, MPFR_RNDN);
			mpfr_sub_d(d, d, l, MPFR_RNDN);
			mpfr_abs(d, d, MPFR_RNDN);
			mpfr_abs(e[i], e[i], MPFR_RNDN); /* the reference's own rounding */
			if (magnitude[i] < INFINITY && mpfr_cmp_d(e[i], magnitude[i]) < 0)
				mpfr_set_d(e[i], magnitude[i], MPFR_RNDN);
			mpfr_mul_2si(e[i], e[i], -200, MPFR_RNDN);
			mpfr_sub(d, d, e[i], MPFR_RNDN);
			x->judged++;
			if (!(mpfr_cmp_d(d, off) <= 0 && !mpfr_nan_p(d)))
				hu_mpfr_disagrees(
					"the exact step (--no-propagate goes on without): %s, element %zu of %s: %a + "
					"%a is not within %a of what MPFR makes of the same operands",
					c->op->name, element[i], x->q->t[c->out[k]].name, h, l, off);
		}
		mpfr_clear(e[i]);
	}
	mpfr_clear(d);
	free(magnitude);
	free(e);
	free(element);
	return st;
}

/* The number of values of a call that are judged. */
static size_t
wanted(const hu_exact_step *x, const hu_call *c, uint64_t draw)
{
	enum { SHAPES = 4 }; /* a product reads two operands and perhaps their scales */
	hu_shape in[SHAPES];
	hu_cost cost = { .macs = 0 };

	if (c->op->cls == HU_CLASS_NORM)
		return draw % NORMS == 0;
	if (c->op->cls != HU_CLASS_GEMM)
		return c->op->cls == HU_CLASS_POINTWISE ? SAMPLE : 1;
	for (int k = 0; k < c->nin && k < SHAPES; k++)
		in[k] = x->t[c->in[k]].shape;
	HU_COLUMN(c->op, cost)(c, in, NULL, &cost);
	double some = TERMS * (double)x->t[c->out[0]].n / (cost.macs + 1);
	return some >= SAMPLE ? SAMPLE : some > 1 ? (size_t)some : 1;
}

/* Output id of a call by its operator's enclosures. Where ranks are united each computes rows of a product. */
static hu_status
enclose(hu_exact_step *x, const hu_call *c, hu_tensor *const *in, int k, hu_sink *s)
{
	size_t n = x->t[c->out[k]].n, grain = 0;
	hu_shape *shape = hu_xcalloc((size_t)c->nin + (size_t)c->nout + 1, sizeof *shape);
	int cut = 0;

	hu_call_shapes(x->q, c, shape, shape + c->nin);
	if (hu_ranks_united() > 1)
		cut = hu_contract_cut(c, shape, 1, HU_CONTRACT_ROWS, &grain) > 1;
	free(shape);
	if (!cut)
		return HU_COLUMN(c->op, enclose)(c, in, k, NULL, n, s);
	hu_ranks_slice(n, grain, &s->some.first, &s->some.last);
	hu_status st = HU_OK;
	if (s->some.first < s->some.last)
		st = HU_COLUMN(c->op, enclose)(c, in, k, NULL, n, s);
	s->some.first = s->some.last = 0;
	HU_TRY(hu_ranks_agree(st)); /* no rank waits for a slice of one that failed */
	double *array[] = { s->hi, s->lo, s->err };
	for (int i = 0; i < 3; i++)
		hu_ranks_assemble(array[i], n, grain, sizeof(double));
	return HU_OK;
}

/* Computes every output by the operator's enclosures. */
static hu_status
by_enclosures(hu_exact_step *x, const hu_call *c, hu_tensor *const *in)
{
	hu_low *low = hu_xcalloc((size_t)c->nin + 1, sizeof *low);
	hu_sink s = { .take = take, .low = low };
	hu_status st = HU_COLUMN(c->op, enclose)
			       ? HU_OK
			       : hu_fail(HU_EUNABLE,
					 "the exact step: operator %s has no enclosures, so that what "
					 "errors before it do to its result cannot be bounded: analyze "
					 "with --no-propagate",
					 c->op->name);

	for (int k = 0; k < c->nin; k++)
		low[k] = x->low[c->in[k]];
	for (int k = 0; k < c->nout && st == HU_OK; k++) {
		int id = c->out[k];
		st = hu_exact_step_make(x, id);
		if (st == HU_OK)
			st = hu_exact_step_make_low(x, id, &s.lo);
		s.hi = x->t[id].data;
		s.err = s.lo + x->t[id].n;
		if (st == HU_OK)
			st = enclose(x, c, in, k, &s);
	}
	hu_sink_forget(&s);
	free(low);
	if (st == HU_OK && c->nout > 0) { /* what outputs share is costly in MPFR, so only one is judged */
		uint64_t draw = hu_mix64(x->seed ^ (uint64_t)(unsigned)c->id);
		int k = hu_judge_drawn(c, in, draw);
		size_t want = wanted(x, c, draw >> 32);
		if (want)
			st = judge(x, c, in, k, want);
	}
	return st;
}

/* Steps of a recording differ, and a call is of those in which all of its results were recorded. */
static int
is_of_another_step(const hu_exact_step *x, const hu_call *c)
{
	int missing = 0;

	for (int k = 0; x->q->links && k < c->nout; k++)
		missing |= !x->recorded[c->out[k]].data;
	return missing;
}

/* Takes back what a call gave where two ways of computing it disagreed, on this rank or, where ranks are united, on any
   of them: its outputs and all that depends on them are not known. */
static hu_status
take_back(hu_exact_step *x, const hu_call *c, hu_status st, unsigned long long before)
{
	int same = hu_exact_disagreements() == before;

	if (hu_ranks_united() > 1)
		same = hu_ranks_all(same);
	if (same)
		return st;
	for (int k = 0; k < c->nout; k++)
		x->known[c->out[k]] = 0;
	x->disagreed++;
	return HU_OK;
}

hu_status
hu_exact_step_call(hu_exact_step *x, int i)
{
	const hu_call *c = &x->q->c[i];
	unsigned long long before = hu_exact_disagreements();
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_status st = HU_OK;
	int all = 1;

	for (int k = 0; k < c->nin; k++) {
		all &= x->known[c->in[k]];
		in[k] = &x->t[c->in[k]];
	}
	if (is_of_another_step(x, c)) {
		; /* what it would compute has no reader in this one */
	} else if (is_decision(c)) {
		st = decided(x, c);
	} else if (all && c->op->role != HU_ROLE_OPAQUE) { /* what is not known stays so in all that depends on it */
		for (int k = 0; k < c->nout; k++)
			x->known[c->out[k]] = 1;
		if (c->op->role == HU_ROLE_CAST)
			st = cast_exactly(x, c);
		else
			st = x->precision == HU_STEP_TWO ? by_enclosures(x, c, in)
							 : hu_exact_step_by_reference(x, c, in);
		st = take_back(x, c, st, before);
	}
	free(in);
	return st;
}
