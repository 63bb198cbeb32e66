/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/sensitivity.h"
#include "analyzers/validate/evaluate.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the runs of one policy share. low[call]: its scheme. */
typedef struct work {
	const hu_imported *m;
	const hu_samples *s;
	const hu_deciding *d;
	const hu_range *range;
	const hu_sum *sum;
	const hu_scheme **low;
	char *quantisable, *kept;
	size_t batch;
	int low_only;
	hu_version base, all; /* float32, and every node low */
	hu_exec x, y;
} work;

double
hu_damage_rel(const hu_damage *d)
{
	return d->error == 0 ? 0 : sqrt(d->error / d->all);
}

double
hu_sensitivity_additive(const hu_sensitivity *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += hu_damage_rel(&s->node[i].low) * hu_damage_rel(&s->node[i].low);
	return sqrt(sum);
}

static int
in_node(const work *w, int call, const hu_node_damage *n)
{
	return !strcmp(w->m->p->c[call].layer, n->layer);
}

/* 1 where the scheme does anything to the call. */
static int
matters(const work *w, int call)
{
	const hu_scheme *s = w->low[call];

	return s && (s->kind == HU_SCHEME_FLOAT ? !w->m->p->c[call].op->moves : w->quantisable[call]);
}

static void
list_nodes(hu_sensitivity *r, const work *w)
{
	const hu_program *p = w->m->p;
	size_t cap = 0;

	for (int i = 0; i < p->nc; i++) {
		size_t k = 0;
		while (k < r->n && strcmp(r->node[k].layer, p->c[i].layer))
			k++;
		if (k < r->n || !matters(w, i))
			continue;
		HU_GROW(r->node, r->n, cap);
		r->node[r->n] = (hu_node_damage){ .position = r->n,
			.layer = p->c[i].layer,
			.op = w->m->op[i],
			.node = *w->m->node[i] ? w->m->node[i] : p->c[i].layer };
		snprintf(r->node[r->n].scheme, sizeof r->node[r->n].scheme, "%s", w->low[i]->name);
		r->n++;
	}
}

/* The version where node N (all, where it is NULL) has its scheme and the others have not, or the other way round. */
static hu_status
version(hu_version *v, const work *w, const hu_node_damage *n, int inverse)
{
	const hu_scheme **s = hu_xcalloc((size_t)w->m->p->nc + 1, sizeof *s);
	hu_scheme_plan plan = { .p = w->m->p,
		.constant = w->m->constant,
		.scheme = s,
		.quantisable = w->quantisable,
		.keep = w->kept,
		.range = w->range };

	for (int i = 0; i < w->m->p->nc; i++)
		s[i] = (n && in_node(w, i, n)) != inverse ? w->low[i] : NULL;
	hu_status st = hu_version_of_schemes(v, &plan);
	if (st == HU_OK && w->sum)
		hu_evaluate_accumulate(v->p, *w->sum, n ? n->layer : NULL, inverse);
	free(s);
	return st;
}

static void
add(hu_damage *d, const hu_tensor *t, const hu_tensor *base, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x = hu_get(t, i), y = hu_get(base, i);
		d->error += x == y ? 0 : (x - y) * (x - y);
		d->all += hu_isfinite(y) ? y * y : 0;
	}
}

/* Adds a batch's outputs T of version V, whose first ROWS rows count. */
static void
add_outputs(hu_damage *d, const work *w, const hu_version *v, const hu_tensor *t, size_t rows)
{
	const hu_imported *m = w->m;

	for (size_t k = 0; k < m->nout; k++) {
		const hu_tensor *base = &w->x.t[w->base.map[m->out[k].tensor]];
		if (m->p->t[m->out[k].tensor].cls != HU_OTHER)
			add(d, &t[v->map[m->out[k].tensor]], base, base->n / w->batch * rows);
	}
	if (w->d->classes < 2)
		return;
	const hu_tensor *y = &t[v->map[m->out[w->d->output].tensor]],
			*y32 = &w->x.t[w->base.map[m->out[w->d->output].tensor]];
	double *a = hu_xmalloc(2 * w->d->classes * sizeof *a), *b = a + w->d->classes;
	for (size_t i = 0; i < rows; i++) {
		int flipped = 0;
		for (size_t k = 0; k < w->d->rows; k++) {
			for (size_t j = 0; j < w->d->classes; j++) {
				a[j] = hu_get(y, (i * w->d->rows + k) * w->d->classes + j);
				b[j] = hu_get(y32, (i * w->d->rows + k) * w->d->classes + j);
			}
			size_t is = hu_two_largest(a, w->d->classes, NULL);
			flipped |= is != hu_two_largest(b, w->d->classes, NULL) || a[is] != a[is];
		}
		d->flips += (size_t)flipped;
	}
	free(a);
}

/* 1 where tensor T, made in node N, is read elsewhere or is an output. */
static int
leaves(const work *w, int t, const hu_node_damage *n)
{
	const hu_program *p = w->m->p;

	if (w->kept[t])
		return 1;
	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++)
			if (p->c[i].in[k] == t && !in_node(w, i, n))
				return 1;
	return 0;
}

/* The elements of X that belong to a batch's first ROWS inputs: of tensors whose rows are inputs; else all. */
static size_t
belonging(const work *w, const hu_tensor *x, size_t rows)
{
	return x->shape.d[0] % w->batch ? x->n : x->n / w->batch * rows;
}

/* Node N alone in this batch, low, or high among low ones. */
static hu_status
one(hu_sensitivity *r, hu_node_damage *n, const work *w, size_t rows, int inverse)
{
	hu_version v;
	hu_share s;

	HU_TRY(version(&v, w, n, inverse));
	hu_status st = hu_share_init(&s, &v, inverse ? &w->all : &w->base, inverse ? w->y.t : w->x.t);
	if (st == HU_OK && (st = hu_share_run(&s)) == HU_OK) {
		add_outputs(inverse ? &n->high : &n->low, w, &v, s.t, rows);
		r->calls += s.calls;
		r->all_calls += (size_t)v.p->nc;
		for (int i = 0; i < w->m->p->nc && !inverse; i++) {
			int t = w->m->p->c[i].out[0];
			if (!in_node(w, i, n) || !leaves(w, t, n))
				continue;
			const hu_tensor *x = &w->x.t[w->base.map[t]];
			add(&n->local, &s.t[v.map[t]], x, belonging(w, x, rows));
		}
		if (!inverse)
			hu_sensitivity_count_lost(n, &s);
	}
	hu_share_release(&s);
	hu_version_release(&v);
	return st;
}

/* Both reference runs of the rows from FIRST on. */
static hu_status
run_both(work *w, size_t first)
{
	for (size_t i = 0; i < w->m->nin; i++)
		if (w->m->in[i].tensor >= 0) {
			hu_samples_fill(w->s, i, first, w->batch, &w->x.t[w->base.map[w->m->in[i].tensor]]);
			if (!w->low_only)
				hu_samples_fill(w->s, i, first, w->batch, &w->y.t[w->all.map[w->m->in[i].tensor]]);
		}
	HU_TRY(hu_exec_run(&w->x, &(hu_env){ 0, 0 }));
	return w->low_only ? HU_OK : hu_exec_run(&w->y, &(hu_env){ 0, 0 });
}

/* The results of all nodes in float32, and how far off they are where all nodes are low. */
static void
survey_nodes(hu_sensitivity *r, const work *w, size_t rows, int counting)
{
	for (size_t k = 0; k < r->n; k++)
		for (int i = 0; i < w->m->p->nc; i++) {
			int t = w->m->p->c[i].out[0];
			if (!in_node(w, i, &r->node[k]) || !leaves(w, t, &r->node[k]))
				continue;
			const hu_tensor *x = &w->x.t[w->base.map[t]];
			hu_sensitivity_survey(&r->node[k], x, counting);
			if (!counting && w->all.map[t] >= 0)
				add(&r->node[k].joint, &w->y.t[w->all.map[t]], x, belonging(w, x, rows));
		}
}

static void
note_nonfinite(hu_sensitivity *r, const work *w)
{
	const hu_program *p = w->all.p;

	for (int i = 0; i < p->nc && !r->first_nonfinite; i++) {
		size_t before = 0;
		for (int k = 0; k < p->c[i].nin; k++)
			before += hu_tensor_nonfinite(&w->y.t[p->c[i].in[k]]);
		if (!before && hu_tensor_nonfinite(&w->y.t[p->c[i].out[0]]))
			r->first_nonfinite = hu_xstrdup(p->c[i].layer);
	}
}

static int
by_damage(const void *a, const void *b)
{
	const hu_node_damage *x = a, *y = b;

	if (x->low.error != y->low.error)
		return x->low.error > y->low.error ? -1 : 1;
	return 0;
}

static void
finish(hu_sensitivity *r)
{
	for (size_t k = 0; k < r->n; k++)
		hu_sensitivity_finish(&r->node[k]);
	if (r->n)
		qsort(r->node, r->n, sizeof *r->node, by_damage);
}

static hu_status
measure(hu_sensitivity *r, work *w, size_t inputs, hu_progress *bar)
{
	hu_status st = HU_OK;

	for (size_t first = 0; first < inputs && st == HU_OK; first += w->batch) {
		size_t rows = first + w->batch <= inputs ? w->batch : inputs - first;
		if ((st = run_both(w, first)) != HU_OK)
			break;
		if (!w->low_only) {
			add_outputs(&r->joint, w, &w->all, w->y.t, rows);
			survey_nodes(r, w, rows, 0);
			note_nonfinite(r, w);
		}
		for (size_t k = 0; k < r->n && st == HU_OK; k++) {
			st = one(r, &r->node[k], w, rows, 0);
			if (st == HU_OK && !w->low_only)
				st = one(r, &r->node[k], w, rows, 1);
			hu_progress_step(bar, 2);
		}
	}
	for (size_t first = 0; first < inputs && st == HU_OK && !w->low_only; first += w->batch)
		if ((st = run_both(w, first)) == HU_OK)
			survey_nodes(r, w, w->batch, 1);
	return st;
}

hu_status
hu_sensitivity_of(hu_sensitivity *r, const hu_variant *v, const hu_imported *m, const hu_range *range,
	const hu_samples *s, const hu_deciding *d, const hu_sum *sum, size_t inputs, size_t batch, int low_only,
	hu_progress *bar)
{
	work w = { .m = m, .s = s, .d = d, .range = range, .sum = sum, .batch = batch, .low_only = low_only };
	hu_status st;

	*r = (hu_sensitivity){ .policy = v->name, .inputs = inputs };
	HU_TRY(hu_variant_schemes(v, m, &w.low));
	w.quantisable = hu_schemes_quantisable(m);
	w.kept = hu_schemes_kept(m);
	list_nodes(r, &w);
	hu_node_damage none = { .layer = "" };
	st = version(&w.base, &w, &none, 0);
	if (st == HU_OK)
		st = version(&w.all, &w, NULL, 1);
	if (st == HU_OK)
		st = hu_exec_init(&w.x, w.base.p);
	if (st == HU_OK && (st = hu_exec_init(&w.y, w.all.p)) == HU_OK) {
		hu_version_load(&w.base, w.x.t);
		hu_version_load(&w.all, w.y.t);
		st = measure(r, &w, inputs, bar);
		finish(r);
	}
	if (w.x.p)
		hu_exec_release(&w.x);
	if (w.y.p)
		hu_exec_release(&w.y);
	if (w.base.p)
		hu_version_release(&w.base);
	if (w.all.p)
		hu_version_release(&w.all);
	free(w.quantisable);
	free(w.kept);
	free(w.low);
	return st;
}

size_t
hu_sensitivity_nodes(const hu_variant *v, const hu_imported *m)
{
	work w = { .m = m };
	hu_sensitivity r = { .n = 0 };

	if (hu_variant_schemes(v, m, &w.low) != HU_OK)
		return 0;
	w.quantisable = hu_schemes_quantisable(m);
	list_nodes(&r, &w);
	free(r.node);
	free(w.quantisable);
	free(w.low);
	return r.n;
}

void
hu_sensitivity_release(hu_sensitivity *r)
{
	for (size_t k = 0; k < r->n; k++) {
		hu_range_release(&r->node[k].range);
		free(r->node[k].channel);
	}
	free(r->node);
	free(r->first_nonfinite);
	memset(r, 0, sizeof *r);
}
