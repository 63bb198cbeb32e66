/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/doubles/doubles.h"

#include "lib/judge/exact_step.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/base/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ALL, NONE or the number of the operand that has to be exact; keeps: the result is exact if every operand is. */
enum { ALL = -1, NONE = -2, UNKNOWN = -3 };
typedef struct effect { const hu_op *op; int exact, keeps; } effect;

static const effect effects[] = {
#define CONTINUOUS(NAME) { &hu_op_##NAME, NONE, 0 },
#define POLE(NAME, K)    { &hu_op_##NAME, K, 0 },
#define CHOOSES(NAME, K) { &hu_op_##NAME, K, 1 },
#define MOVES(NAME)      { &hu_op_##NAME, NONE, 1 },
#define JUMPS(NAME)      { &hu_op_##NAME, ALL, 1 },
#include "lib/judge/doubles/continuous.def"
#undef CONTINUOUS
#undef POLE
#undef CHOOSES
#undef MOVES
#undef JUMPS
};

static effect
effect_of(const hu_op *op)
{
	for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
		if (effects[i].op == op)
			return effects[i];
	return (effect){ op, UNKNOWN, 0 };
}

/* Whether a call may be computed in doubles, exact[i] telling whether tensor i is exact; sets that of its outputs. */
static int
is_continuous(const hu_call *c, char *exact)
{
	effect e = effect_of(c->op);
	int all = 1, good = e.exact != UNKNOWN;

	for (int k = 0; k < c->nin; k++) {
		all &= exact[c->in[k]];
		good &= exact[c->in[k]] || !(e.exact == ALL || e.exact == k);
	}
	for (int k = 0; k < c->nout; k++)
		exact[c->out[k]] = (char)(all && e.keeps);
	return good;
}

/* Whether a call rounds to float32 wherever it rounds. Tensors that are exact, such as indices, may have any format. */
static int
is_single(const hu_program *p, const hu_call *c, const char *exact)
{
	int single = c->fmt.compute == HU_FP32 && (c->op->cls != HU_CLASS_GEMM || c->sum.acc == HU_FP32);

	for (int k = 0; k < c->nin + c->nout; k++) {
		int id = k < c->nin ? c->in[k] : c->out[k - c->nin];
		single &= exact[id] || p->t[id].format == HU_FP32;
	}
	return single;
}

int
hu_doubles_serve(const hu_program *p, const char *keep)
{
	char *exact = hu_xcalloc((size_t)p->nt + 1, 1);
	double *growth = hu_xcalloc((size_t)p->nt + 1, sizeof *growth), deepest = INFINITY;
	int good = 1;

	for (int i = 0; i < p->nt; i++)
		exact[i] = p->t[i].producer < 0;
	for (int i = 0; i < p->nc && good; i++) {
		const hu_call *c = &p->c[i];
		double most = 0, terms = 1;
		good = is_continuous(c, exact) && is_single(p, c, exact);
		for (int k = 0; k < c->nin; k++)
			most = fmax(most, growth[c->in[k]]);
		if (c->op->cls == HU_CLASS_GEMM && c->nout)
			terms = hu_call_cost(p, c).macs / (double)hu_count(p->t[c->out[0]].shape);
		for (int k = 0; k < c->nout; k++)
			growth[c->out[k]] = most + (terms > 1 ? log2(terms) / 2 : 0);
	}
	for (int i = 0; i < p->nt && good; i++)
		if (keep[i]) {
			good = p->t[i].producer >= 0 && hu_count(p->t[i].shape) >= HU_DOUBLES_FEWEST;
			deepest = fmin(deepest, growth[i]);
		}
	free(exact);
	free(growth);
	return good && deepest < INFINITY && deepest >= HU_DOUBLES_GROWTH;
}

void
hu_doubles_set(hu_doubles *d, int id, const hu_tensor *value)
{
	hu_tensor *t = &d->run.t[id];

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (t->n > 16384)
	for (size_t i = 0; i < t->n; i++)
		((double *)t->data)[i] = hu_get(value, i);
}

hu_status
hu_doubles_open(hu_doubles *d, const hu_program *p, const hu_tensor *recorded, const char *keep)
{
	*d = (hu_doubles){ .q = hu_exact_step_program(p), .keep = keep };
	for (int i = 0; i < d->q->nt; i++)
		d->q->t[i].format = HU_FP64;
	HU_TRY(hu_exec_init_sharing(&d->run, d->q, keep, NULL));
	for (int i = 0; i < d->q->nt; i++)
		if (d->q->t[i].producer < 0 && recorded[i].data)
			hu_doubles_set(d, i, &recorded[i]);
	return HU_OK;
}

void
hu_doubles_release(hu_doubles *d)
{
	if (d->run.p)
		hu_exec_release(&d->run);
	if (d->q)
		hu_program_free(d->q);
	memset(d, 0, sizeof *d);
}

/* The bound that all values of a tensor have. */
static double
bound(const hu_tensor *t, const hu_tensor *single)
{
	double most = 0, apart = 0;

	for (size_t i = 0; i < t->n; i++) {
		double x = hu_get(t, i), away = fabs(hu_get(single, i) - x);
		if (!(away < INFINITY))
			return INFINITY;
		most = fmax(most, fabs(x));
		apart = fmax(apart, away);
	}
	return fmax(ldexp(apart, -HU_DOUBLES_AGREE), ldexp(most, -HU_DOUBLES_FLOOR));
}

static hu_status
hand_over(const hu_tensor *t, double each, double **value, double **off)
{
	void *room;

	HU_TRY(hu_room_get(&room, (t->n + 1) * sizeof(double), "the exact network's outputs"));
	*value = room;
	memcpy(room, t->data, t->n * sizeof(double));
	HU_TRY(hu_room_get(&room, (t->n + 1) * sizeof(double), "the exact network's outputs"));
	*off = room;
	for (size_t i = 0; i < t->n; i++)
		(*off)[i] = each;
	return HU_OK;
}

hu_status
hu_doubles_run(hu_doubles *d, const hu_tensor *single, double ***value, double ***off)
{
	size_t n = (size_t)d->q->nt + 1;
	double **v = hu_xcalloc(n, sizeof *v), **e = hu_xcalloc(n, sizeof *e);
	hu_status st = hu_exec_run(&d->run, &(hu_env){ 0, 0 });

	for (int i = 0; i < d->q->nt && st == HU_OK; i++)
		if (d->keep[i])
			st = hand_over(&d->run.t[i], bound(&d->run.t[i], &single[i]), &v[i], &e[i]);
	for (int i = 0; i < d->q->nt && st != HU_OK; i++) {
		hu_room_free(v[i]);
		hu_room_free(e[i]);
	}
	if (st != HU_OK) {
		free(v);
		free(e);
	}
	*value = st == HU_OK ? v : NULL;
	*off = st == HU_OK ? e : NULL;
	return st;
}
