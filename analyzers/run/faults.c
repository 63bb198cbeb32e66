/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/faults.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>

void
hu_fault_note(hu_faults *all, const hu_analysis *a, size_t step, int id, size_t element, double got, double exact,
	double ulps, double bound)
{
	const hu_program *p = a->run->train;
	double unit = hu_isfinite(exact) ? ldexp(1.0, hu_ulp_exponent(exact, hu_format_of(p->t[id].format))) : INFINITY;

	HU_GROW(all->f, all->n, all->cap);
	all->f[all->n++] = (hu_fault){ step, element, p->t[id].producer, id, got, exact, ulps, bound / unit };
}

static int
worst_first(const void *a, const void *b)
{
	const hu_fault *x = a, *y = b;

	if (x->ulps != y->ulps)
		return x->ulps < y->ulps ? 1 : -1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->tensor != y->tensor)
		return x->tensor < y->tensor ? -1 : 1;
	return x->element < y->element ? -1 : x->element > y->element;
}

void
hu_faults_pack(hu_pack *r, hu_faults *all, const hu_program *p, size_t step, int id)
{
	size_t n = hu_pack_length(r, all->n);

	if (!r->reading && n)
		qsort(all->f, n, sizeof *all->f, worst_first);
	for (size_t i = 0; i < n && !r->bad; i++) {
		hu_fault f = { .step = step, .call = p->t[id].producer, .tensor = id };
		hu_fault *x = r->reading ? &f : &all->f[i];
		hu_pack_size(r, &x->element);
		hu_pack_real(r, &x->got);
		hu_pack_real(r, &x->exact);
		hu_pack_real(r, &x->ulps);
		hu_pack_real(r, &x->bound_ulps);
		if (!r->reading)
			continue;
		HU_GROW(all->f, all->n, all->cap);
		all->f[all->n++] = f;
	}
}

hu_status
hu_faults_write(hu_analysis *a, hu_faults *all)
{
	hu_tsv t;

	if (all->n)
		qsort(all->f, all->n, sizeof *all->f, worst_first);
	hu_analysis_begin(a, &t, "faults", "step call tensor element got exact error_ulps bound_ulps");
	for (size_t i = 0; i < all->n; i++) {
		const hu_fault *f = &all->f[i];
		hu_tsv_int(&t, (long long)f->step);
		hu_tsv_int(&t, f->call);
		hu_tsv_text(&t, a->run->train->t[f->tensor].name);
		hu_tsv_int(&t, (long long)f->element);
		hu_tsv_real(&t, f->got);
		hu_tsv_real(&t, f->exact);
		hu_tsv_real(&t, f->ulps);
		hu_tsv_real(&t, f->bound_ulps);
	}
	a->over_bound = all->n;
	hu_status st = hu_analysis_write(a, &t, "faults.tsv");
	hu_tsv_release(&t);
	return st;
}
