/* SPDX-License-Identifier: Apache-2.0
   Both files run on the same inputs: the float network, whose values all stay; the other file as it is; and the other
   file once more, whose values become the float network's as soon as they are computed, so that each is off by what its
   own node does alone. */
#include "analyzers/validate/against/against_run.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { SHARE = 4 }; /* at least 1 - 1/SHARE of the elements of one value agree, if it is the same value */

typedef struct run {
	hu_against *a;
	const hu_against_pair *pair;
	const hu_network *n;
	hu_exec x, y;  /* of the float network and of the other file */
	int *row;      /* by tensor of the other file: the row whose value it becomes; -1: none */
	size_t inputs; /* that count, of the batch at hand */
	int first;     /* the batch at hand is the first one */
} run;

/* Element I of V, in ONNX's order, in its tensor, whose channels may come last. */
static size_t
place(const hu_imported_value *v, size_t i)
{
	size_t at[HU_RANK] = { 0 }, to;

	if (!v->last)
		return i;
	for (int k = v->rank - 1; k >= 0; k--) {
		at[k] = i % v->d[k];
		i /= v->d[k];
	}
	to = at[0];
	for (int k = 2; k < v->rank; k++)
		to = to * v->d[k] + at[k];
	return to * v->d[1] + at[1];
}

static size_t
count(const hu_imported_value *v)
{
	size_t n = 1;

	for (int k = 0; k < v->rank; k++)
		n *= v->d[k];
	return n;
}

static int
one_shape(const hu_imported_value *a, const hu_imported_value *b)
{
	size_t n = count(a);

	for (int k = 0; k < a->rank && a->rank == b->rank; k++)
		if (a->d[k] != b->d[k])
			return 0;
	return a->rank == b->rank && n == count(b);
}

/* The elements of V that belong to the inputs that count: all but those of inputs that fill up a batch, where its first
   axis has the inputs. */
static size_t
counted(const run *r, const hu_imported_value *v)
{
	size_t n = count(v);

	return v->rank && v->d[0] % r->n->batch == 0 ? n / r->n->batch * r->inputs : n;
}

static double
in_float(const run *r, const hu_imported_value *v, size_t i)
{
	return hu_get(&r->x.t[v->tensor], place(v, i));
}

static double
in_other(const run *r, const hu_imported_value *v, size_t i)
{
	return hu_get(&r->y.t[v->tensor], place(v, i));
}

/* Element I of the pair's value as readers of the file see it. */
static double
as_seen(const run *r, const hu_against_pair *p, size_t i)
{
	double x = in_other(r, p->seen, i);

	return p->scale > 0 ? (x - p->zero) * p->scale : x;
}

/* Makes element I of the pair's value in the file X, or where readers see codes the nearest of these. */
static void
put_seen(run *r, const hu_against_pair *p, size_t i, double x)
{
	if (p->scale > 0)
		x = fmin(fmax(rint((double)((float)x / (float)p->scale)) + p->zero, p->low), p->high);
	hu_put(&r->y.t[p->seen->tensor], place(p->seen, i), x);
}

static void
add_error(hu_against_error *e, double is, double was)
{
	if (!isfinite(is) || !isfinite(was))
		return;
	e->error += (is - was) * (is - was);
	e->all += was * was;
}

/* 1 where most finite elements of the pair's value and of V are about equal: within half of the element, or within a
   quarter of the value's root mean square. A value that a converter's name has for another one is off by more. */
static int
agrees(const run *r, const hu_against_pair *p, const hu_imported_value *v)
{
	size_t n = counted(r, p->of), finite = 0, good = 0;
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		double was = in_float(r, p->of, i);
		squares += isfinite(was) ? was * was : 0;
	}
	double near = sqrt(squares / (double)n) / 4;
	for (size_t i = 0; i < n; i++) {
		double was = in_float(r, p->of, i), is = v == p->seen ? as_seen(r, p, i) : in_other(r, v, i);
		finite += isfinite(was) && isfinite(is);
		good += fabs(is - was) <= fmax(near, fabs(was) / 2);
	}
	return good * SHARE >= finite * (SHARE - 1);
}

/* The distance of two codes that lie next to each other, from the first two elements whose codes differ; 0 where there
   are none such. */
static double
step_of(const run *r, const hu_against_pair *p, size_t n)
{
	double q = in_other(r, p->codes, 0), x = in_other(r, p->seen, 0);

	for (size_t i = 1; i < n; i++)
		if (in_other(r, p->codes, i) != q)
			return fabs((in_other(r, p->seen, i) - x) / (in_other(r, p->codes, i) - q));
	return 0;
}

/* What the value's own rounding loses: where it has codes, against what it was before; else against float32's. What
   float32 has too is no loss of the codes: a Relu that they take the place of zeroes as many. */
static void
count_lost(const run *r, const hu_against_pair *p, hu_against_row *row)
{
	size_t n = counted(r, p->of);
	double step = p->before && p->codes && one_shape(p->codes, p->seen) ? step_of(r, p, n) : 0;

	for (size_t i = 0; i < n && p->scale > 0; i++) { /* the last codes, of what lies beyond them */
		double code = in_other(r, p->seen, i);
		row->saturated += (code == p->low || code == p->high) &&
				  fabs(in_float(r, p->of, i) - as_seen(r, p, i)) > p->scale * 0.501;
	}

	for (size_t i = 0; i < n; i++) {
		double in32 = in_float(r, p->of, i), was = p->before ? in_other(r, p->before, i) : in32;
		double is = as_seen(r, p, i);
		row->zeroed += was != 0 && in32 != 0 && is == 0;
		/* Half a step is the most that rounding costs; float32's own errors are small beside it. */
		row->saturated += p->scale > 0 ? 0
				  : step > 0   ? fmin(fabs(was - is), fabs(in32 - is)) > step * 0.501
					       : isfinite(was) && isinf(is);
	}
}

/* After a call of the other file: what it made is judged, and becomes the float network's value. */
static void
after_call(void *with, const hu_exec *y, int call)
{
	run *r = with;
	int t = y->p->c[call].out[0], k = r->row[t];
	hu_against_row *row = k < 0 ? NULL : &r->a->row[k];

	if (!row || row->kind != HU_AGAINST_SAME)
		return;
	const hu_against_pair *p = &r->pair[k];
	/* As it is seen, it may be saturated throughout; before its codes it may lack a Relu that these do. */
	int same = !r->first || agrees(r, p, p->seen) ||
		   (p->before && one_shape(p->of, p->before) && agrees(r, p, p->before));
	if (!same) {
		row->kind = HU_AGAINST_OTHER;
		return;
	}
	size_t n = counted(r, p->of), all = count(p->of);
	for (size_t i = 0; i < n; i++)
		add_error(&row->own, as_seen(r, p, i), in_float(r, p->of, i));
	count_lost(r, p, row);
	for (size_t i = 0; i < all; i++)
		put_seen(r, p, i, in_float(r, p->of, i));
}

/* What has arrived at each row's value, in a run of the file as it is. */
static void
look(run *r)
{
	for (size_t k = 0; k < r->a->n; k++) {
		hu_against_row *row = &r->a->row[k];
		const hu_against_pair *p = &r->pair[k];
		size_t n = counted(r, p->of);
		row->elements += n;
		for (size_t i = 0; i < n && row->kind == HU_AGAINST_SAME; i++) {
			double was = in_float(r, p->of, i), is = as_seen(r, p, i);
			add_error(&row->arrived, is, was);
			row->nonfinite += isfinite(was) && !isfinite(is);
		}
	}
}

static hu_status
batch(run *r, size_t first)
{
	const hu_imported *m = &r->n->m, *o = &r->a->m;

	for (size_t i = 0; i < m->nin; i++) {
		if (m->in[i].tensor >= 0)
			hu_samples_fill(&r->n->s, i, first, r->n->batch, &r->x.t[m->in[i].tensor]);
		if (o->in[i].tensor >= 0)
			hu_samples_fill(&r->n->s, i, first, r->n->batch, &r->y.t[o->in[i].tensor]);
	}
	HU_TRY(hu_exec_run(&r->x, &(hu_env){ 0, 0 }));
	r->y.after = after_call;
	r->y.with = r;
	HU_TRY(hu_exec_run(&r->y, &(hu_env){ 0, 0 }));
	r->y.after = NULL;
	HU_TRY(hu_exec_run(&r->y, &(hu_env){ 0, 0 }));
	look(r);
	return HU_OK;
}

/* Which tensor of the file becomes which row's value. Values of one tensor belong to its first row. */
static void
place_rows(run *r)
{
	r->row = hu_xmalloc(((size_t)r->a->m.p->nt + 1) * sizeof *r->row);
	for (int t = 0; t < r->a->m.p->nt; t++)
		r->row[t] = -1;
	for (size_t k = 0; k < r->a->n; k++) {
		const hu_against_pair *p = &r->pair[k];
		hu_against_row *row = &r->a->row[k];
		if (row->kind == HU_AGAINST_SAME && !one_shape(p->of, p->seen))
			row->kind = HU_AGAINST_OTHER;
		if (row->kind == HU_AGAINST_SAME && r->row[p->seen->tensor] < 0)
			r->row[p->seen->tensor] = (int)k;
	}
}

hu_status
hu_against_run(hu_against *a, const hu_against_pair *pair, const hu_network *n, size_t inputs)
{
	run r = { .a = a, .pair = pair, .n = n };

	a->inputs = inputs < n->s.n ? inputs : n->s.n;
	place_rows(&r);
	hu_status st = hu_exec_init(&r.x, n->m.p);
	if (st == HU_OK)
		st = hu_exec_init(&r.y, a->m.p);
	if (st == HU_OK) {
		hu_imported_load(&n->m, &r.x);
		hu_imported_load(&a->m, &r.y);
	}
	for (size_t first = 0; first < a->inputs && st == HU_OK; first += n->batch) {
		r.first = !first;
		r.inputs = first + n->batch <= a->inputs ? n->batch : a->inputs - first;
		st = batch(&r, first);
	}
	if (r.x.p)
		hu_exec_release(&r.x);
	if (r.y.p)
		hu_exec_release(&r.y);
	free(r.row);
	return st;
}
