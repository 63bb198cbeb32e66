/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/weights/coverage.h"

#include "lib/base/mem.h"
#include "lib/program/opaque.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 64 };

/* A number that scales an update brings its own relative error to it. A 32nd is below sqrt(1 - 0.999^2), the error
   that a cosine of 0.999 stands for. */
static const double off = 1. / 32;
/* What a search compares is made of numbers read by arithmetic that was not seen, and lies nearer together than they:
   constants of line searches begin at 10^-4 of a slope. The margin is held by the searches of t/trace/t-searches.py. */
static const double off_search = 1. / 1024;

/* Returns 1 if all results of the call were recorded in the step. */
static int
is_whole(const hu_trace *t, const hu_call *c)
{
	for (int k = 0; k < c->nout; k++)
		if (!t->t[c->out[k]].data)
			return 0;
	return 1;
}

static int
is_judged(const hu_trace *t, const hu_call *c)
{
	for (int k = 0; k < c->nin; k++)
		if (!t->t[c->in[k]].data)
			return 0;
	return c->op->role != HU_ROLE_OPAQUE;
}

static void
count_choices(hu_coverage_choices *c, const hu_program *p, const hu_trace *t)
{
	for (int i = 0; i < p->nt; i++) {
		const hu_tensor *own = &t->t[i];
		if (!p->t[i].choice || !own->data)
			continue;
		c->n += own->n;
		if (t->ideal && !t->ideal[i])
			c->otherwise += own->n; /* its exact values depend on what nothing judges */
		for (size_t k = 0; t->ideal && t->ideal[i] && k < own->n; k++)
			c->otherwise += t->ideal[i][k] != hu_get(own, k);
	}
}

/* How far the number of tensor i is from 0, or from the nearest number of another tensor that was read. */
static double
gap(const hu_program *p, const hu_trace *t, int i)
{
	double own = hu_get(&t->t[i], 0), least = fabs(own);

	for (int k = 0; k < p->nt; k++)
		if (k != i && p->t[k].read && t->t[k].data && t->t[k].n == 1)
			least = fmin(least, fabs(own - hu_get(&t->t[k], 0)));
	return least;
}

/* Whether the exact values of tensor i are so far off that what was made of those read may differ, or are not known. */
static int
is_apart(const hu_program *p, const hu_trace *t, int i)
{
	const hu_tensor *own = &t->t[i];
	int search = p->t[i].read == HU_PROGRAM_READ_SEARCH;
	double error = 0, size = 0;

	if (!t->ideal)
		return 0;
	if (!t->ideal[i])
		return 1;
	for (size_t k = 0; k < own->n; k++) {
		error = hypot(error, t->ideal[i][k] - hu_get(own, k));
		size = hypot(size, hu_get(own, k));
	}
	return !(error <= (search && own->n == 1 ? gap(p, t, i) * off_search : size * off));
}

static void
count_reads(hu_coverage_reads *r, const hu_program *p, const hu_trace *t)
{
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].read && t->t[i].data) {
			r->n++;
			r->apart += (size_t)is_apart(p, t, i);
		}
}

/* The number of the call's operator among those that are opaque, which is new at its first call. */
static int
operator_of(hu_coverage_step *s, const hu_opaque *o)
{
	int i = 0;

	while (i < s->nop && strcmp(s->op[i].name, o->name))
		i++;
	if (i == s->nop) {
		s->op = hu_xrealloc(s->op, ((size_t)s->nop + 1) * sizeof *s->op);
		s->op[s->nop++] = (hu_coverage_operator){ .name = o->name, .reason = o->reason };
	}
	return i;
}

void
hu_coverage_init(hu_coverage_step *s, const hu_analysis *a, const hu_trace *t)
{
	const hu_program *p = a->run->train;

	*s = (hu_coverage_step){ .taint = hu_xcalloc((size_t)p->nt + 1, sizeof *s->taint),
		.blamed = hu_xcalloc((size_t)p->nc + 1, 1) };
	count_choices(&s->choices, p, t);
	count_reads(&s->reads, p, t);
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		const hu_opaque *o = hu_program_opaque(p, c);
		uint64_t taint = 0;
		if (!is_whole(t, c))
			continue;
		for (int k = 0; k < c->nin; k++)
			taint |= s->taint[c->in[k]];
		if (o) {
			int at = operator_of(s, o);
			s->op[at].calls += (size_t)o->calls;
			taint |= 1ull << at % BITS;
		}
		for (int k = 0; k < c->nout; k++)
			s->taint[c->out[k]] = taint;
		s->calls.moves += c->op->moves != NULL;
		s->calls.calls += o ? (size_t)o->calls : !c->op->moves;
		s->calls.judged += !c->op->moves && is_judged(t, c);
	}
}

void
hu_coverage_release(hu_coverage_step *s)
{
	free(s->op);
	free(s->taint);
	free(s->blamed);
	memset(s, 0, sizeof *s);
}

/* Marks what tensor id was computed from, back to the inputs; seen has the calls that were gone through. */
static void
mark(hu_coverage_step *s, const hu_program *p, const hu_trace *t, int id)
{
	char *wanted = hu_xcalloc((size_t)p->nt + 1, 1);

	wanted[id] = 1;
	for (int i = p->t[id].producer; i >= 0; i--) { /* single assignment: operands come before results */
		const hu_call *c = &p->c[i];
		int some = 0;
		for (int k = 0; k < c->nout; k++)
			some |= wanted[c->out[k]];
		if (!some || !is_whole(t, c))
			continue;
		for (int k = 0; k < c->nin; k++)
			wanted[c->in[k]] = 1;
		s->blamed[i] |= c->op->role == HU_ROLE_OPAQUE;
	}
	free(wanted);
}

void
hu_coverage_blame(hu_coverage_step *s, const hu_analysis *a, const hu_trace *t, int id)
{
	mark(s, a->run->train, t, id);
	for (int i = 0; i < s->nop; i++)
		s->op[i].weights += s->taint[id] >> i % BITS & 1;
}

void
hu_coverage_end(hu_coverage_step *s, const hu_analysis *a)
{
	const hu_program *p = a->run->train;

	for (int i = 0; i < p->nc; i++)
		if (s->blamed[i])
			s->op[operator_of(s, hu_program_opaque(p, &p->c[i]))].tainted++;
}

void
hu_coverage_names(const hu_coverage_step *s, int id, hu_str *to)
{
	int n = 0;

	for (int i = 0; i < s->nop; i++)
		if (s->taint[id] >> i % BITS & 1)
			hu_str_addf(to, n++ ? ",%s" : "%s", s->op[i].name);
}
