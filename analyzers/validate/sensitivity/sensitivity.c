/* SPDX-License-Identifier: Apache-2.0
   Runs of the model with single nodes low or high, and what they do to its outputs. */
#include "analyzers/validate/effect/evaluate.h"
#include "analyzers/validate/sensitivity/sensitivity.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* low[call]: its scheme. at: the batch whose runs x and y hold; SIZE_MAX: none. */
struct hu_sensitivity_run {
	const hu_imported *m;
	const hu_samples *s;
	const hu_deciding *d;
	const hu_range *range;
	const hu_evaluate_sums *sums;
	const hu_scheme **low;
	char *quantisable, *kept;
	size_t batch, inputs, at;
	int low_only;
	hu_version base, all; /* float32, and every node low */
	hu_exec x, y;
};
typedef struct hu_sensitivity_run work;

static int
in_node(const work *w, int call, const hu_node_damage *n)
{
	return !strcmp(w->m->p->c[call].layer, n->layer);
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
	if (st == HU_OK && w->sums)
		st = hu_evaluate_accumulate(v->p, w->sums, n ? n->layer : NULL, inverse);
	free(s);
	return st;
}

static void
add_one(hu_damage *d, const hu_tensor *t, const hu_tensor *base, size_t i)
{
	double x = hu_get(t, i), y = hu_get(base, i);

	d->error += x == y ? 0 : (x - y) * (x - y);
	d->all += hu_isfinite(y) ? y * y : 0;
}

static void
add(hu_damage *d, const hu_tensor *t, const hu_tensor *base, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_one(d, t, base, i);
}

static hu_rows
rows_of_output(const work *w, size_t k)
{
	const hu_port *o = &w->m->out[k];

	return hu_rows_of(o->rank, o->d, o->axis, w->batch);
}

/* The values of the classes of decision K of input I in Y. */
static void
read_decision(double *to, const hu_deciding *d, const hu_tensor *y, const hu_rows *in, size_t i, size_t k)
{
	if (d->axis < 0) {
		to[0] = d->kind == HU_DECISION_INDEX ? hu_get(y, hu_rows_at(in, i, k)) : d->threshold;
		to[1] = hu_get(y, hu_rows_at(in, i, k));
		return;
	}
	size_t n = d->classes - (d->kind == HU_DECISION_BOXES);
	for (size_t j = 0; j < n; j++)
		to[j] = hu_get(y, hu_rows_at(in, i, hu_deciding_at(d, k, j)));
	if (n < d->classes)
		to[n] = d->threshold;
}

/* Adds a batch's outputs T of version V, whose first ROWS rows count. */
static void
add_outputs(hu_damage *d, const work *w, const hu_version *v, const hu_tensor *t, size_t rows)
{
	const hu_imported *m = w->m;

	for (size_t k = 0; k < m->nout; k++) {
		const hu_tensor *base = &w->x.t[w->base.map[m->out[k].tensor]];
		hu_rows in = rows_of_output(w, k);
		for (size_t e = 0; e < in.each * rows && m->p->t[m->out[k].tensor].cls != HU_OTHER; e++)
			add_one(d, &t[v->map[m->out[k].tensor]], base, hu_rows_at(&in, e / in.each, e % in.each));
	}
	if (w->d->classes < 2)
		return;
	const hu_tensor *y = &t[v->map[m->out[w->d->output].tensor]],
			*y32 = &w->x.t[w->base.map[m->out[w->d->output].tensor]];
	size_t C = w->d->classes;
	double *a = hu_xmalloc(2 * (C + 2) * sizeof *a), *b = a + C;
	hu_rows in = rows_of_output(w, w->d->output);
	size_t *path = hu_xcalloc(2 * w->d->rows + 1, sizeof *path), *path32 = path + w->d->rows;
	for (size_t i = 0; i < rows; i++) {
		int flipped = 0, nan = 0;
		for (size_t k = 0; k < w->d->rows; k++) {
			read_decision(a, w->d, y, &in, i, k);
			read_decision(b, w->d, y32, &in, i, k);
			size_t is = w->d->kind == HU_DECISION_INDEX ? 0 : hu_two_largest(a, C, NULL);
			flipped |= a[is] != a[is] ||
				   (w->d->kind == HU_DECISION_INDEX ? a[0] != b[0] : is != hu_two_largest(b, C, NULL));
			nan |= a[is] != a[is];
			path[k] = is;
			path32[k] = hu_two_largest(b, C, NULL);
		}
		if (w->d->kind == HU_DECISION_CTC && !nan) {
			size_t n = hu_deciding_text(w->d, path, w->d->rows);
			flipped = n != hu_deciding_text(w->d, path32, w->d->rows) ||
				  memcmp(path, path32, n * sizeof *path) != 0;
		}
		d->flips += (size_t)flipped;
	}
	free(path);
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

/* Both reference runs of batch B, unless they are there. */
static hu_status
run_both(work *w, size_t b)
{
	if (w->at == b)
		return HU_OK;
	w->at = SIZE_MAX;
	for (size_t i = 0; i < w->m->nin; i++)
		if (w->m->in[i].tensor >= 0) {
			hu_tensor *x = &w->x.t[w->base.map[w->m->in[i].tensor]];
			hu_tensor *y = &w->y.t[w->all.map[w->m->in[i].tensor]];
			hu_samples_fill(w->s, i, b * w->batch, w->batch, x);
			if (!w->low_only)
				hu_samples_fill(w->s, i, b * w->batch, w->batch, y);
		}
	HU_TRY(hu_exec_run(&w->x, &(hu_env){ 0, 0 }));
	if (!w->low_only)
		HU_TRY(hu_exec_run(&w->y, &(hu_env){ 0, 0 }));
	w->at = b;
	return HU_OK;
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

size_t
hu_sensitivity_run_batches(size_t inputs, size_t batch)
{
	return (inputs + batch - 1) / batch;
}

/* How many inputs batch B has. */
static size_t
rows_of(const work *w, size_t b)
{
	size_t first = b * w->batch;

	return first + w->batch <= w->inputs ? w->batch : w->inputs - first;
}

hu_status
hu_sensitivity_run_pass(hu_sensitivity_run *w, hu_sensitivity *r, int counting)
{
	for (size_t b = 0; b < hu_sensitivity_run_batches(w->inputs, w->batch); b++) {
		HU_TRY(run_both(w, b));
		if (!counting) {
			add_outputs(&r->joint, w, &w->all, w->y.t, rows_of(w, b));
			note_nonfinite(r, w);
		}
		survey_nodes(r, w, counting ? w->batch : rows_of(w, b), counting);
	}
	return HU_OK;
}

hu_status
hu_sensitivity_run_survey(hu_sensitivity_run *w, hu_sensitivity *r)
{
	for (int counting = 0; counting < 2; counting++)
		HU_TRY(hu_sensitivity_run_pass(w, r, counting));
	for (size_t k = 0; k < r->n; k++)
		hu_sensitivity_finish(&r->node[k]);
	return HU_OK;
}

hu_status
hu_sensitivity_run_alone(hu_sensitivity_run *w, hu_sensitivity *r, size_t b, size_t from, size_t to)
{
	HU_TRY(run_both(w, b));
	for (size_t k = from; k < to; k++) {
		HU_TRY(one(r, &r->node[k], w, rows_of(w, b), 0));
		if (!w->low_only)
			HU_TRY(one(r, &r->node[k], w, rows_of(w, b), 1));
	}
	return HU_OK;
}

void
hu_sensitivity_run_close(hu_sensitivity_run *w)
{
	if (!w)
		return;
	if (w->x.p)
		hu_exec_release(&w->x);
	if (w->y.p)
		hu_exec_release(&w->y);
	if (w->base.p)
		hu_version_release(&w->base);
	if (w->all.p)
		hu_version_release(&w->all);
	free(w->quantisable);
	free(w->kept);
	free(w->low);
	free(w);
}

static hu_status
prepare(work *w)
{
	hu_node_damage none = { .layer = "" };

	HU_TRY(version(&w->base, w, &none, 0));
	HU_TRY(version(&w->all, w, NULL, 1));
	HU_TRY(hu_exec_init(&w->x, w->base.p));
	HU_TRY(hu_exec_init(&w->y, w->all.p));
	hu_version_load(&w->base, w->x.t);
	hu_version_load(&w->all, w->y.t);
	return HU_OK;
}

hu_status
hu_sensitivity_run_open(hu_sensitivity_run **out, const hu_variant *v, const hu_imported *m, const hu_range *range,
	const hu_samples *s, const hu_deciding *d, const hu_evaluate_sums *sums, size_t inputs, size_t batch,
	int low_only)
{
	work *w = hu_xcalloc(1, sizeof *w);

	*w = (work){ .m = m,
		.s = s,
		.d = d,
		.range = range,
		.sums = sums,
		.batch = batch,
		.inputs = inputs,
		.low_only = low_only,
		.at = SIZE_MAX };
	hu_status st = hu_variant_schemes(v, m, &w->low);
	if (st == HU_OK) {
		w->quantisable = hu_schemes_quantisable(m);
		w->kept = hu_schemes_kept(m);
		st = prepare(w);
	}
	if (st != HU_OK) {
		hu_sensitivity_run_close(w);
		w = NULL;
	}
	*out = w;
	return st;
}

hu_status
hu_sensitivity_low(hu_sensitivity *r, const hu_variant *v, const hu_imported *m, const hu_range *range,
	const hu_samples *s, const hu_deciding *d, size_t inputs, size_t batch)
{
	hu_sensitivity_run *w = NULL;

	HU_TRY(hu_sensitivity_list(r, v, m));
	hu_status st = hu_sensitivity_run_open(&w, v, m, range, s, d, NULL, inputs, batch, 1);
	for (size_t b = 0; b < hu_sensitivity_run_batches(inputs, batch) && st == HU_OK; b++)
		st = hu_sensitivity_run_alone(w, r, b, 0, r->n);
	hu_sensitivity_run_close(w);
	return st;
}
