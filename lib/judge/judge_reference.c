/* SPDX-License-Identifier: Apache-2.0
   Verdicts by an operator's reference, in MPFR: of the values that enclosures left open, and once more of a few that
   they decided, where another verdict is a fault of this program. */
#include <stdio.h> /* before mpfr.h */

#include "lib/judge/judge_parts.h"

#include "lib/exact/judge.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { PRECISION = 256 }; /* of exact values, before an operator raises it */

hu_status
hu_judge_by_reference(const hu_judge_state *s, const hu_waiting *w, size_t n)
{
	const hu_judge_job *job = s->job;
	mpfr_t *exact = hu_xmalloc((n + 1) * sizeof *exact);
	hu_judging some;

	hu_judging_init(&some, n, job->hex);
	some.n = n;
	for (size_t i = 0; i < n; i++) {
		mpfr_init2(exact[i], PRECISION);
		some.at[i] = w[i].at;
		some.element[i] = hu_judge_element(job, w[i].at);
		some.got[i] = hu_get(job->got, some.element[i]);
		some.bound[i] = isnan(w[i].bound) ? INFINITY : w[i].bound;
	}
	hu_status st = job->engine->exact(job->c, job->in, job->out, some.element, n, exact);
#pragma omp parallel for schedule(static) if (n > 256)
	for (size_t i = 0; i < (st == HU_OK ? n : 0); i++) {
		hu_ziv v;
		hu_ziv_mpfr(&v, exact[i], some.got[i], some.bound[i], s->f);
		hu_judging_put(&some, i, &v);
		some.magnitude[i] = isnan(w[i].magnitude) && !HU_COLUMN(job->c->op, magnitude)
			? v.rounded
			: w[i].magnitude;
		if (some.hex)
			mpfr_asprintf(&some.hex[i], "%Ra", exact[i]);
	}
	for (size_t i = 0; i < n; i++)
		mpfr_clear(exact[i]);
	free(exact);
	if (st == HU_OK)
		job->take(job->context, &some);
	hu_judging_release(&some);
	return st;
}

static int
same(const hu_ziv *a, const hu_ziv *b)
{
	return a->exact == b->exact && a->rounded == b->rounded && a->error == b->error && a->ulps == b->ulps &&
	       a->over == b->over;
}

static void
disagree(const hu_judge_job *job, const hu_twice *t, size_t element, mpfr_srcptr exact)
{
	const hu_call *c = job->c;

	for (int k = 0; k < c->nin && hu_exact_tells_details(); k++)
		if (job->in[k]->n == job->got->n || job->in[k]->n == 1)
			fprintf(stderr, "operand %d, element %zu: %a\n", k, element,
				hu_get(job->in[k], job->in[k]->n == 1 ? 0 : element));
		else
			for (size_t i = 0; i < job->in[k]->n && i < 4096; i++)
				fprintf(stderr, "operand %d, element %zu of %zu: %a\n", k, i, job->in[k]->n,
					hu_get(job->in[k], i));
	if (hu_exact_tells_details())
		mpfr_fprintf(stderr, "enclosed: %a + %a within %a\nMPFR:     %Ra\n", t->hi, t->lo, t->err, exact);
	hu_mpfr_disagrees(
		"call %d, %s of layer %s, output %d: the certified value of element %zu and the reference give "
		"different verdicts",
		c->id, c->op->name, c->layer, job->out, element);
}

hu_status
hu_judge_twice(const hu_judge_state *s)
{
	const hu_judge_job *job = s->job;
	hu_status st = HU_OK;

#pragma omp parallel for schedule(dynamic, 1) if (s->nt > 1)
	for (size_t i = 0; i < s->nt; i++) {
		const hu_twice *t = &s->t[i];
		size_t element = hu_judge_element(job, t->at);
		hu_ziv v;
		mpfr_t exact[1];
		mpfr_init2(exact[0], PRECISION);
		hu_status mine = HU_COLUMN(job->c->op, reference)(job->c, job->in, job->out, &element, 1, exact);
		if (mine == HU_OK) {
			hu_ziv_mpfr(&v, exact[0], hu_get(job->got, element), t->bound, s->f);
			if (!same(&v, &t->v))
				disagree(job, t, element, exact[0]);
		} else
#pragma omp atomic write
			st = mine;
		mpfr_clear(exact[0]);
	}
	s->methods->again += s->nt;
	return st;
}
