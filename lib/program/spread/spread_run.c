/* SPDX-License-Identifier: Apache-2.0
   Runs a rank's part of a step (spread.h) on what executes it (part.h). */
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/op/element/map.h"
#include "lib/program/spread/part.h"

#include <stdlib.h>

/* A step on its way. Messages wait here for their values to leave a device, which meanwhile computes on. */
typedef struct stage {
	const hu_part_calls *part;
	hu_machine *m;
	const hu_spread *s;
	struct message { const hu_spread_do *action; void *data; } *waiting;
	int n, cap;
	int check; /* the finite check that was executed, -1: none yet */
} stage;

/* Sends what waits. Others may need it before they send what this rank is about to wait for. */
static hu_status
send_waiting(stage *y)
{
	for (int i = 0; i < y->n; i++) {
		const hu_spread_do *d = y->waiting[i].action;
		size_t bytes = y->part->bytes(y->m, d->id);
		if (y->part->landed)
			HU_TRY(y->part->landed(y->m, d->id));
		if (d->action == HU_DO_POST)
			hu_ranks_post(d->peer, d->tag, y->waiting[i].data, bytes);
		else
			hu_ranks_broadcast(d->peer, y->waiting[i].data, bytes);
	}
	y->n = 0;
	return HU_OK;
}

/* A tensor that goes to several ranks leaves once: its actions are adjacent. */
static hu_status
send(stage *y, const hu_spread_do *d)
{
	const struct message *last = y->n ? &y->waiting[y->n - 1] : NULL;
	void *data = last && last->action->id == d->id ? last->data : NULL;

	if (!data)
		HU_TRY(y->part->out(y->m, d->id, &data));
	HU_GROW(y->waiting, y->n, y->cap);
	y->waiting[y->n++] = (struct message){ d, data };
	int more = d + 1 < y->s->todo + y->s->n && d[1].action == HU_DO_POST && d[1].id == d->id;
	return y->part->landed || more ? HU_OK : send_waiting(y);
}

static hu_status
receive(stage *y, const hu_spread_do *d)
{
	size_t bytes = y->part->bytes(y->m, d->id);
	void *data;

	HU_TRY(send_waiting(y));
	HU_TRY(y->part->room(y->m, d->id, &data));
	if (d->action == HU_DO_RECEIVE)
		hu_ranks_receive(d->peer, d->tag, data, bytes);
	else
		hu_ranks_broadcast(d->peer, data, bytes);
	return y->part->in(y->m, d->id);
}

/* Counts what is not finite in the tensors of this rank, among those that the check c searches: own[k] is of the k-th.
   What every rank has is counted by rank 0. */
static hu_status
count_own(stage *y, const hu_call *c, double *own)
{
	int judged = hu_spread_judged(c), n = 0;
	int *tensor = hu_xmalloc(((size_t)c->nin + 1) * sizeof *tensor);
	double *each = hu_xcalloc((size_t)c->nin + 1, sizeof *each);

	for (int k = judged; k < c->nin; k++) {
		int at = y->s->at[c->in[k]];
		if ((at == HU_EVERYWHERE ? 0 : at) == y->s->rank)
			tensor[n++] = c->in[k];
	}
	hu_status st = y->part->count(y->m, tensor, n, each);
	for (int k = judged, i = 0; k < c->nin && st == HU_OK; k++)
		if (i < n && tensor[i] == c->in[k])
			own[k - judged] = each[i++];
	free(tensor);
	free(each);
	return st;
}

/* Sets where to what the finite check writes as its second output: the first tensor that is not finite, how many of its
   elements are not, and how many such tensors there are, on all ranks. */
static hu_status
find_first(stage *y, const hu_call *c, double where[3])
{
	size_t judged = (size_t)hu_spread_judged(c), n = (size_t)c->nin - judged;
	double *own = hu_xcalloc(n + 1, sizeof *own), *each = hu_xcalloc(n * (size_t)y->s->ranks + 1, sizeof *each);
	hu_status st = count_own(y, c, own);

	where[0] = -1;
	where[1] = where[2] = 0;
	if (st == HU_OK)
		hu_ranks_gather(0, own, n * sizeof *own, each);
	for (size_t k = 0; k < n && !y->s->rank && st == HU_OK; k++) {
		double bad = 0;
		for (size_t r = 0; r < (size_t)y->s->ranks; r++)
			bad += each[r * n + k];
		if (bad != 0 && where[2]++ == 0) {
			where[0] = (double)(judged + k);
			where[1] = bad;
		}
	}
	free(own);
	free(each);
	if (st == HU_OK)
		hu_ranks_broadcast(0, where, 3 * sizeof *where);
	return st;
}

/* The finite check's second half, on all ranks, at the step's end, when a device has long found what it judged. Every
   rank has judged the same gradients; where some are not finite each counts what is not in its own tensors, which keep
   their values until then, and where the first is becomes known to all. No call reads that. */
static hu_status
finish_check(stage *y, const hu_backend *b, const hu_env *env)
{
	const hu_call *c = &y->s->p->c[y->check];
	const hu_info *info = &y->s->p->t[c->out[1]];
	double where[3];
	int bad;

	HU_TRY(y->part->found(y->m, y->check, &bad));
	if (!bad)
		return HU_OK;
	HU_TRY(find_first(y, c, where));
	hu_tensor t = { .format = info->format, .shape = info->shape, .n = 3 };
	t.data = hu_xcalloc(t.n, hu_element_size(t.format));
	for (size_t k = 0; k < 3; k++)
		hu_store(c, env, &t, k, where[k]);
	hu_status st = b->write(y->m, c->out[1], t.data);
	free(t.data);
	return st;
}

/* Executes action i and sets *n to how many actions that were: adjacent calls are one piece of work. */
static hu_status
execute(stage *y, int i, int *n)
{
	const hu_spread_do *d = &y->s->todo[i];

	*n = 1;
	switch (d->action) {
	case HU_DO_RUN:
		while (i + *n < y->s->n && d[*n].action == HU_DO_RUN)
			++*n;
		return y->part->run(y->m, i, *n);
	case HU_DO_CARRY: return y->part->carry(y->m, d->id);
	case HU_DO_CHECK: y->check = d->id; return y->part->judge(y->m, d->id);
	case HU_DO_BROADCAST: return d->peer == y->s->rank ? send(y, d) : receive(y, d);
	case HU_DO_POST: return send(y, d);
	case HU_DO_REDUCE: /* others may need what waits before they can take part */
		HU_TRY(send_waiting(y));
		return y->part->reduce(y->m, d->id);
	case HU_DO_RECEIVE: break;
	}
	return receive(y, d);
}

hu_status
hu_spread_run(const hu_backend *b, hu_machine *m, const hu_spread *s, const hu_env *env)
{
	stage y = { .part = b->part, .m = m, .s = s, .check = -1 };
	hu_status st = b->part->begin(m, env);

	for (int i = 0, n = 1; i < s->n && st == HU_OK; i += n)
		st = execute(&y, i, &n);
	if (st == HU_OK)
		st = send_waiting(&y);
	if (st == HU_OK && y.check >= 0)
		st = finish_check(&y, b, env);
	hu_ranks_sent();
	free(y.waiting);
	return st == HU_OK ? b->part->end(m) : st;
}
