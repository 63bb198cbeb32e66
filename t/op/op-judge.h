/* SPDX-License-Identifier: Apache-2.0
   Compares what an operator's case emulated with its reference and bound. */
#ifndef HU_T_OP_JUDGE_H
#define HU_T_OP_JUDGE_H

#include "t/op/op-case.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 250 };

typedef struct verdict {
	size_t judged, over, infinite, strange, at;
	double worst, got, bound;
	mpfr_t exact;
	char what[64];
} verdict;

/* The difference in MPFR; infinities and NaN must be the same ones, unless nothing is promised. */
static void
judge(verdict *v, double got, mpfr_t exact, double bound, size_t i)
{
	mpfr_t d;
	int bad;

	v->judged++;
	if (!(bound < INFINITY)) {
		v->infinite++;
		return;
	}
	mpfr_init2(d, 320);
	if (mpfr_number_p(exact) && isfinite(got)) {
		mpfr_sub_d(d, exact, got, MPFR_RNDA);
		mpfr_abs(d, d, MPFR_RNDN);
		bad = mpfr_cmp_d(d, bound) > 0;
		double ratio = bound > 0 ? mpfr_get_d(d, MPFR_RNDU) / bound : 0;
		if (ratio > v->worst)
			v->worst = ratio;
	} else {
		double x = mpfr_get_d(exact, MPFR_RNDN);
		bad = isnan(x) ? !isnan(got) : x != got;
	}
	if (bad && !v->over++) {
		v->got = got;
		v->bound = bound;
		v->at = i;
		mpfr_set(v->exact, exact, MPFR_RNDN);
	}
	mpfr_clear(d);
}

static hu_status
judge_output(op_case *k, int out, verdict *v)
{
	const hu_tensor *t = &k->out[out];
	size_t n = t->n < SAMPLE ? t->n : SAMPLE, *element = hu_xmalloc(n * sizeof *element);
	double *bound = hu_xcalloc(n, sizeof *bound);
	mpfr_t *exact = hu_xmalloc(n * sizeof *exact);

	for (size_t i = 0; i < n; i++) {
		element[i] = i * t->n / n;
		mpfr_init2(exact[i], 256);
	}
	hu_status st = HU_COLUMN(k->c.op, reference)(&k->c, k->pin, out, element, n, exact);
	if (st == HU_OK && HU_COLUMN(k->c.op, bound))
		st = HU_COLUMN(k->c.op, bound)(&k->c, k->pin, out, element, n, bound);
	for (size_t i = 0; i < n && st == HU_OK; i++)
		judge(v, hu_get(t, element[i]), exact[i], bound[i], element[i]);
	for (size_t i = 0; i < n; i++)
		mpfr_clear(exact[i]);
	free(element);
	free(bound);
	free(exact);
	return st;
}
#endif
