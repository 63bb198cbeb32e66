/* SPDX-License-Identifier: Apache-2.0
   Runs a rank's part of a step (spread.h). */
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/number/bulk/bulk.h"
#include "lib/op/element/map.h"
#include "lib/program/spread/spread.h"

#include <stdlib.h>

hu_status
hu_spread_exec_init(hu_exec *x, const hu_spread *s)
{
	return hu_exec_init_some(x, s->p, s->need);
}

/* Computes the results of a call that pass from one micro-batch to the next. */
static hu_status
carry(hu_exec *x, int call, const hu_env *env)
{
	const hu_call *c = &x->p->c[call];
	hu_tensor *in[16], *out[16];

	HU_ASSERT(c->nin <= 16 && c->nout <= 16);
	for (int k = 0; k < c->nin; k++)
		in[k] = &x->t[c->in[k]];
	for (int k = 0; k < c->nout; k++)
		out[k] = &x->t[c->out[k]];
	return HU_COLUMN(c->op, carry)(c, in, out, env);
}

/* The finite check on all ranks: every one judges the gradients, which all have; where some are not finite each counts
   what is not in its own tensors, and where the first is becomes known to all. */
static hu_status
check(hu_exec *x, const hu_spread *s, int call, const hu_env *env)
{
	hu_call c = x->p->c[call];
	int all = c.nin, judged = hu_spread_judged(&c);
	hu_tensor **in = hu_xmalloc(((size_t)judged + 1) * sizeof *in), *out[2] = { &x->t[c.out[0]], &x->t[c.out[1]] };
	double where[3] = { -1, 0, 0 };

	for (int k = 0; k < judged; k++)
		in[k] = &x->t[c.in[k]];
	c.nin = judged;
	hu_status st = HU_COLUMN(c.op, emulate)(&c, in, out, env);
	free(in);
	if (st != HU_OK || hu_get(out[0], 0) == 0)
		return st;
	size_t n = (size_t)(all - judged);
	double *own = hu_xcalloc(n, sizeof *own), *each = hu_xcalloc(n * (size_t)s->ranks, sizeof *each);
	for (size_t k = 0; k < n; k++) {
		int t = c.in[(size_t)judged + k], at = s->at[t] == HU_EVERYWHERE ? 0 : s->at[t];
		own[k] = at == s->rank ? (double)hu_tensor_nonfinite(&x->t[t]) : 0;
	}
	hu_ranks_gather(0, own, n * sizeof *own, each);
	for (size_t k = 0; k < n && !s->rank; k++) {
		double bad = 0;
		for (size_t r = 0; r < (size_t)s->ranks; r++)
			bad += each[r * n + k];
		if (bad != 0 && where[2]++ == 0) {
			where[0] = judged + (double)k;
			where[1] = bad;
		}
	}
	free(own);
	free(each);
	hu_ranks_broadcast(0, where, sizeof where);
	for (size_t k = 0; k < 3; k++)
		hu_store(&c, env, out[1], k, where[k]);
	return HU_OK;
}

/* What was packed for messages that are still on their way. */
typedef struct packed { void **v; int n, cap; } packed;

/* The bytes of an element on its way: its code where that is shorter than the number that holds it. */
static size_t
element(const hu_tensor *t)
{
	size_t code = hu_is_wide(t->format) ? sizeof(double) : hu_bulk_element(t->format),
	       held = hu_element_size(t->format);

	return code < held ? code : held;
}

static void *
keep(packed *p, size_t bytes)
{
	HU_GROW(p->v, p->n, p->cap);
	return p->v[p->n++] = hu_xmalloc(bytes + 1);
}

/* Sends, receives or broadcasts a tensor. Codes are as exact as the numbers: every one is of the tensor's format. */
static void
pass(const hu_spread_do *d, const hu_tensor *t, int rank, packed *p)
{
	size_t bytes = t->n * element(t);
	int codes = element(t) < hu_element_size(t->format),
	    sends = d->deed == HU_DO_POST || (d->deed == HU_DO_BROADCAST && d->peer == rank);
	void *data = codes ? keep(p, bytes) : t->data;

	if (codes && sends)
		hu_bulk_pack(data, t->data, t->n, t->format);
	switch (d->deed) {
	case HU_DO_RECEIVE: hu_ranks_receive(d->peer, d->tag, data, bytes); break;
	case HU_DO_POST: hu_ranks_post(d->peer, d->tag, data, bytes); break;
	default: hu_ranks_broadcast(d->peer, data, bytes); break;
	}
	if (codes && !sends)
		hu_bulk_unpack(t->data, data, t->n, t->format);
	if (codes && d->deed != HU_DO_POST)
		free(p->v[--p->n]);
}

hu_status
hu_spread_run(hu_exec *x, const hu_spread *s, const hu_env *env)
{
	hu_status st = HU_OK;
	packed p = { NULL, 0, 0 };

	for (int i = 0; i < s->n && st == HU_OK; i++) {
		const hu_spread_do *d = &s->todo[i];
		switch (d->deed) {
		case HU_DO_RUN: st = hu_exec_one(x, d->id, env); break;
		case HU_DO_CARRY: st = carry(x, d->id, env); break;
		case HU_DO_CHECK: st = check(x, s, d->id, env); break;
		default: pass(d, &x->t[d->id], s->rank, &p);
		}
	}
	hu_ranks_sent();
	for (int i = 0; i < p.n; i++)
		free(p.v[i]);
	free(p.v);
	return st;
}
