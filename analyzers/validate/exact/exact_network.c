/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/exact/exact_network.h"

#include "analyzers/validate/exact/exact_compare.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/united.h"
#include "lib/base/memory/room.h"
#include "lib/judge/doubles/doubles.h"
#include "lib/judge/propagate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An input to be tried: flipped ones first, then those with the smallest margins. */
typedef struct candidate {
	size_t i;
	int flipped;
	double margin;
} candidate;

static int
by_need(const void *a, const void *b)
{
	const candidate *x = a, *y = b;

	if (x->flipped != y->flipped)
		return y->flipped - x->flipped;
	if (x->margin != y->margin)
		return x->margin < y->margin ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* The smallest difference between the two largest values of a decision of input I; an index has none. */
static double
margin(const hu_evaluated *base, const hu_deciding *d, size_t i)
{
	double least = INFINITY, *room = hu_xmalloc((d->classes + 2) * sizeof *room);

	for (size_t k = 0; k < d->rows && d->classes > 1 && d->kind != HU_DECISION_INDEX; k++) {
		const double *row = base->out[d->output] + i * base->each[d->output],
			     *y = hu_deciding_values(d, row, k, d->threshold, room);
		size_t second, first = hu_two_largest(y, d->classes, &second);
		least = fmin(least, y[first] - y[second]);
	}
	free(room);
	return least;
}

/* What is found of one input. settled: nothing told depends on the bounds. agreed, doubles: as in hu_exact_network. */
typedef struct finding {
	hu_exact_comparison v;
	int settled, agreed, doubles;
} finding;

/* n inputs are tried, by their need; found[i] is of number i, whose exact outputs k are
   row i of value[k] where has[i * outputs + k] is set. */
struct hu_exact_trial {
	hu_exec run;
	hu_doubles doubles; /* without a program where they do not serve */
	const hu_imported *m;
	const hu_evaluated *base;
	const hu_deciding *d;
	const hu_samples *s;
	const hu_engine *engine;
	candidate *input;
	char *keep;
	double operations; /* of the model on one input */
	size_t n;
	finding *found;
	char *has;
	double **value;
};
typedef struct hu_exact_trial job;

/* Adds what was found of number i, input `input`, and its outputs' exact values. */
static void
tell(hu_exact_network *x, const job *j, size_t i, size_t input)
{
	const hu_exact_comparison *v = &j->found[i].v;

	x->agreed += j->found[i].agreed > 0;
	x->doubles += j->found[i].doubles > 0;
	if (!j->found[i].settled) {
		x->open++;
		return;
	}
	x->input = hu_xrealloc(x->input, (x->n + 1) * sizeof *x->input);
	x->off = hu_xrealloc(x->off, (x->n + 1) * sizeof *x->off);
	x->input[x->n] = input;
	x->off[x->n] = v->off;
	for (size_t k = 0; k < x->nout; k++) {
		size_t each = j->base->each[k];
		if (!j->has[i * x->nout + k])
			continue;
		x->value[k] = hu_xrealloc(x->value[k], ((x->n + 1) * each + 1) * sizeof **x->value);
		memcpy(x->value[k] + x->n * each, j->value[k] + i * each, each * sizeof **x->value);
	}
	x->worst = fmax(x->worst, v->worst);
	x->relative = fmax(x->relative, v->relative);
	x->undecided[input] = (char)v->undecided;
	x->changed += (size_t)v->changed;
	x->done[input] = 1;
	x->n++;
}

static void
release(const hu_program *p, double **by_tensor)
{
	for (int k = 0; by_tensor && k < p->nt; k++)
		hu_room_free(by_tensor[k]);
	free(by_tensor);
}

/* The outputs' values among those of all tensors. */
static double **
of_outputs(const hu_imported *m, double *const *by_tensor)
{
	double **of = hu_xcalloc(m->nout + 1, sizeof *of);

	for (size_t k = 0; k < m->nout; k++)
		of[k] = by_tensor[m->out[k].tensor];
	return of;
}

/* Makes these the outputs of number i. */
static void
keep_row(const job *j, double *const *exact, size_t i)
{
	for (size_t k = 0; k < j->m->nout; k++) {
		size_t n = j->base->each[k];
		if (!exact[k])
			continue;
		j->has[i * j->m->nout + k] = 1;
		memcpy(j->value[k] + i * n, exact[k], n * sizeof **j->value);
	}
}

/* Compares and keeps the outputs of an input, and frees their arrays, which are by tensor. */
static void
found_out(const job *j, size_t i, size_t input, double **value, double **off)
{
	hu_exact_comparison *v = &j->found[i].v;
	double **exact = of_outputs(j->m, value), **bound = of_outputs(j->m, off);

	*v = hu_exact_compare(j->base, j->d, exact, bound, input);
	for (size_t k = 0; k < j->m->nout; k++)
		v->decided &= exact[k] != NULL;
	keep_row(j, exact, i);
	free(exact);
	free(bound);
	release(j->m->p, value);
	release(j->m->p, off);
}

/* In pairs of doubles with bounds. */
static hu_status
by_pairs(const job *j, size_t i, size_t input)
{
	double **value, **off;
	hu_bounding how;

	HU_TRY(hu_propagate_bounded(j->m->p, j->run.t, j->run.t, j->engine, 0, j->keep, &value, &off, &how));
	found_out(j, i, input, value, off);
	j->found[i].agreed = how.agreed > 0;
	j->found[i].doubles = 0;
	return HU_OK;
}

/* In doubles, bounded by the distance from float32's run. */
static hu_status
by_doubles(job *j, size_t i, size_t input)
{
	double **value, **off;

	for (size_t k = 0; k < j->m->nin; k++)
		if (j->m->in[k].tensor >= 0)
			hu_doubles_set(&j->doubles, j->m->in[k].tensor, &j->run.t[j->m->in[k].tensor]);
	HU_TRY(hu_doubles_run(&j->doubles, j->run.t, &value, &off));
	found_out(j, i, input, value, off);
	j->found[i].agreed = j->found[i].doubles = 1;
	return HU_OK;
}

static hu_status
by_mpfr(const job *j, size_t i, size_t input)
{
	const hu_program *p = j->m->p;
	hu_exact_comparison *v = &j->found[i].v;
	hu_errors_step *errors = hu_xcalloc((size_t)p->nt + 1, sizeof *errors);
	hu_tensor *recorded = hu_xcalloc((size_t)p->nt + 1, sizeof *recorded);
	double **ideal = NULL;

	for (int k = 0; k < p->nt; k++) {
		recorded[k] = j->run.t[k];
		if (p->t[k].producer >= 0 && !j->keep[k])
			recorded[k].data = NULL; /* what the network is computed from, and what it is compared with */
	}
	hu_status st = hu_propagate(p, recorded, j->engine, 0, j->keep, errors, &ideal, NULL);
	if (st == HU_OK) {
		double **exact = of_outputs(j->m, ideal);
		*v = hu_exact_compare(j->base, j->d, exact, NULL, input);
		for (size_t k = 0; k < j->m->nout; k++)
			v->decided &= exact[k] != NULL;
		keep_row(j, exact, i);
		free(exact);
		release(p, ideal);
	}
	free(errors);
	free(recorded);
	return st;
}

/* 1 where the file itself has narrower floating-point values than float32, as which j->run computes them: float32's
   outputs are others then. */
static int
is_narrow(const hu_program *p)
{
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].format != HU_FP32 && p->t[i].format != HU_FP64)
			return 1;
	return 0;
}

/* HU_EFILE where float32's outputs of an input among others are not those of the input alone, which only rounding could
   part, and every call's sums have one order: then the rows of the outputs are not the inputs'. */
static hu_status
rows_are_right(const job *j, size_t input)
{
	for (size_t k = 0; k < j->m->nout && !is_narrow(j->m->p); k++) {
		const double *row = j->base->out[k] + input * j->base->each[k];
		const hu_tensor *alone = &j->run.t[j->m->out[k].tensor];
		double off = 0, most = 0;
		for (size_t e = 0; e < j->base->each[k]; e++) {
			double x = row[e], y = hu_get(alone, e);
			off = x == y || (x != x && y != y) ? off : !(fabs(x - y) <= off) ? fabs(x - y) : off;
			most = hu_isfinite(y) ? fmax(most, fabs(y)) : most;
		}
		if (off > HU_EXACT_ALONE * most || off != off)
			return hu_fail(HU_EFILE,
				"output '%.120s' of input %zu in a batch is %.3g off what the model gives for that "
				"input "
				"alone, whose largest magnitude is %.3g: the outputs' rows are not the inputs'; give "
				"--batch 1, or --batch-axis",
				j->m->out[k].name, input, off, most);
	}
	return HU_OK;
}

hu_status
hu_exact_trial_run(hu_exact_trial *j, size_t i)
{
	finding *f = &j->found[i];
	size_t input = j->input[i].i;

	for (size_t k = 0; k < j->m->nin; k++)
		if (j->m->in[k].tensor >= 0)
			hu_samples_fill(j->s, k, input, 1, &j->run.t[j->m->in[k].tensor]);
	HU_TRY(hu_exec_run(&j->run, &(hu_env){ 0, 0 }));
	HU_TRY(rows_are_right(j, input));
	if (j->doubles.q)
		HU_TRY(by_doubles(j, i, input));
	if (!j->doubles.q || !hu_exact_settled(&f->v))
		HU_TRY(by_pairs(j, i, input));
	if (!hu_exact_settled(&f->v) && j->operations <= HU_EXACT_MPFR_OPERATIONS) {
		HU_TRY(by_mpfr(j, i, input));
		f->v.off = 0;
	}
	f->settled = hu_exact_settled(&f->v);
	return HU_OK;
}

hu_status
hu_exact_trial_together(hu_exact_trial *j, hu_progress *bar)
{
	size_t first, last, nout = j->m->nout;

	hu_ranks_unite(1);
	hu_ranks_slice(j->n, 1, &first, &last);
	hu_ranks_unite(0);
	for (size_t i = first; i < last; i++) {
		HU_TRY(hu_exact_trial_run(j, i));
		hu_progress_step(bar, 1);
	}
	hu_ranks_unite(1);
	hu_ranks_assemble(j->found, j->n, 1, sizeof *j->found);
	hu_ranks_assemble(j->has, j->n, 1, nout);
	for (size_t k = 0; k < nout; k++)
		hu_ranks_assemble(j->value[k], j->n, 1, j->base->each[k] * sizeof **j->value);
	hu_ranks_unite(0);
	return HU_OK;
}

void
hu_exact_trial_pack(hu_pack *r, hu_exact_trial *j, size_t i)
{
	finding *f = &j->found[i];

	hu_pack_real(r, &f->v.worst);
	hu_pack_real(r, &f->v.relative);
	hu_pack_real(r, &f->v.off);
	hu_pack_int(r, &f->v.undecided);
	hu_pack_int(r, &f->v.changed);
	hu_pack_int(r, &f->settled);
	hu_pack_int(r, &f->agreed);
	hu_pack_int(r, &f->doubles);
	for (size_t k = 0; k < j->m->nout; k++) {
		int has = j->has[i * j->m->nout + k];
		hu_pack_int(r, &has);
		j->has[i * j->m->nout + k] = (char)(has != 0);
		if (has)
			hu_pack_reals(r, j->value[k] + i * j->base->each[k], j->base->each[k]);
	}
}

void
hu_exact_trial_close(hu_exact_trial *j)
{
	if (!j)
		return;
	for (size_t k = 0; k < j->m->nout; k++)
		free(j->value[k]);
	free(j->value);
	free(j->has);
	free(j->found);
	free(j->input);
	free(j->keep);
	if (j->run.p)
		hu_exec_release(&j->run);
	hu_doubles_release(&j->doubles);
	free(j);
}

hu_status
hu_exact_trial_open(hu_exact_trial **trial, const hu_imported *m, const hu_evaluated *base, const hu_deciding *d,
	const hu_samples *s, const char *flipped, size_t limit, int pairs)
{
	job *j = *trial = hu_xcalloc(1, sizeof *j);
	size_t n = limit < s->n ? limit : s->n;

	*j = (job){ .m = m,
		.base = base,
		.d = d,
		.s = s,
		.n = n,
		.input = hu_xcalloc(s->n + 1, sizeof *j->input),
		.keep = hu_xcalloc((size_t)m->p->nt + 1, 1),
		.found = hu_xcalloc(n + 1, sizeof *j->found),
		.has = hu_xcalloc(n * m->nout + 1, 1),
		.value = hu_xcalloc(m->nout + 1, sizeof *j->value) };
	for (size_t i = 0; i < s->n; i++)
		j->input[i] = (candidate){ i, flipped[i], margin(base, d, i) };
	qsort(j->input, s->n, sizeof *j->input, by_need);
	for (size_t k = 0; k < m->nout; k++) {
		j->keep[m->out[k].tensor] = 1;
		j->value[k] = hu_xcalloc(n * base->each[k] + 1, sizeof **j->value);
	}
	for (int i = 0; i < m->p->nc; i++)
		j->operations += hu_call_cost(m->p, &m->p->c[i]).flops;
	HU_TRY(hu_engine_find("auto", &j->engine));
	HU_TRY(hu_exec_init(&j->run, m->p));
	hu_imported_load(m, &j->run);
	if (!pairs && j->operations > HU_EXACT_MPFR_OPERATIONS && hu_doubles_serve(m->p, j->keep))
		HU_TRY(hu_doubles_open(&j->doubles, m->p, j->run.t, j->keep));
	return HU_OK;
}

void
hu_exact_network_of(hu_exact_network *x, const hu_exact_trial *j)
{
	*x = (hu_exact_network){ .done = hu_xcalloc(j->s->n + 1, 1),
		.undecided = hu_xcalloc(j->s->n + 1, 1),
		.nout = j->m->nout,
		.value = hu_xcalloc(j->m->nout + 1, sizeof *x->value) };
	for (size_t i = 0; i < j->n; i++)
		tell(x, j, i, j->input[i].i);
}

void
hu_exact_network_release(hu_exact_network *x)
{
	free(x->done);
	free(x->undecided);
	for (size_t k = 0; k < x->nout; k++)
		free(x->value[k]);
	free(x->value);
	free(x->input);
	free(x->off);
	memset(x, 0, sizeof *x);
}
