/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/spread/spread.h"

#include "lib/base/mem.h"
#include "lib/op/attr.h"

#include <stdlib.h>
#include <string.h>

/* Tags of messages between two ranks; larger ones are for other purposes (trainer/ranked/). */
enum { TAGS = 32000 };

typedef struct plan {
	hu_spread *s;
	const hu_program *p;
	int *last;      /* the last micro-batch that the tensor depends on, -1: on none */
	int *place;     /* the rank that runs the call, or HU_EVERYWHERE */
	char *deferred; /* the call's carried results are computed before the update phase */
	char *settles;  /* the tensor is sent to all ranks */
	int *sent;      /* sent[t * ranks + r]: 1 + the tag under which tensor t goes to rank r; 0: it does not */
	char *got;      /* this rank has received the tensor */
	int *tags;      /* tags[from * ranks + to]: how many tensors travel between them */
} plan;

int
hu_spread_share(int micro_batches, int ranks, int rank, int *first)
{
	long long i = ranks - 1 - rank, m = micro_batches;

	*first = (int)(i * m / ranks);
	return (int)((i + 1) * m / ranks) - *first;
}

static int
owner(const hu_spread *s, int micro_batch)
{
	for (int r = 0; r < s->ranks; r++) {
		int first, n = hu_spread_share(s->micro_batches, s->ranks, r, &first);
		if (micro_batch >= first && micro_batch < first + n)
			return r;
	}
	return HU_EVERYWHERE;
}

static int
is_input(const hu_program *p, int t)
{
	return p->t[t].producer < 0 && !p->t[t].state;
}

/* Returns 1 where the call takes equal parts of an input along its first dimension; *k is the part's number, *n how
   many there are. */
static int
is_slice(const hu_program *p, const hu_call *c, int *k, int *n)
{
	if (strcmp(c->op->name, "move") || c->nin != 1 || !is_input(p, c->in[0]))
		return 0;
	size_t whole = p->t[c->in[0]].shape.d[0], part = p->t[c->out[0]].shape.d[0],
	       start = hu_attr_count(c, "start0", 0);
	if (!part || whole % part || start % part || start >= whole)
		return 0;
	*k = (int)(start / part);
	*n = (int)(whole / part);
	return 1;
}

/* How many micro-batches the program of a step has, by the calls that cut its inputs; 1 where there are none. */
static int
micro_batches_of(const hu_program *p)
{
	int k, n = 1;

	for (int i = 0; i < p->nc && n == 1; i++)
		is_slice(p, &p->c[i], &k, &n);
	return n;
}

/* Checks that inputs are read by calls that cut them into the same number of parts alone. */
static hu_status
check_inputs(const plan *a)
{
	const hu_program *p = a->p;
	int k, n;

	for (int i = 0; i < p->nc; i++)
		for (int j = 0; j < p->c[i].nin; j++)
			if (is_input(p, p->c[i].in[j]) &&
				(!is_slice(p, &p->c[i], &k, &n) || n != a->s->micro_batches))
				return hu_fail(HU_EUNABLE,
					"call %d (%s) reads the whole batch of %s: only programs of micro-batches run "
					"on several ranks",
					p->c[i].id, p->c[i].op->name, p->t[p->c[i].in[j]].name);
	return HU_OK;
}

int
hu_spread_judged(const hu_call *c)
{
	return c->op->role == HU_ROLE_CHECK ? (int)hu_attr_count(c, "judged", (size_t)c->nin) : c->nin;
}

/* Returns 1 for an all-reduce that a library computes (--all-reduce nccl): all ranks call it together, nothing of its
   operands travels otherwise, and its result is on every rank. */
static int
is_library(const hu_call *c)
{
	return c->op->role == HU_ROLE_ALL_REDUCE && hu_attr_library(c) > 0;
}

int
hu_spread_operand(const hu_spread *s, int r)
{
	return s->ranks - 1 - r;
}

/* Checks that every call of a library has an operand on each rank. */
static hu_status
check_libraries(const plan *a)
{
	for (int i = 0; i < a->p->nc; i++) {
		const hu_call *c = &a->p->c[i];
		int own = 1;
		if (!is_library(c))
			continue;
		for (int r = 0; r < a->s->ranks && c->nin == a->s->ranks; r++)
			own &= a->s->at[c->in[hu_spread_operand(a->s, r)]] == r ||
			       a->s->at[c->in[hu_spread_operand(a->s, r)]] == HU_EVERYWHERE;
		if (c->nin != a->s->ranks || !own)
			return hu_fail(HU_EUNABLE,
				"call %d (%s) is a library's sum of what %d ranks have, and %d ranks are there", i,
				c->op->name, c->nin, a->s->ranks);
	}
	return HU_OK;
}

/* Marks what the update phase reads and next values of states, which every rank needs; but not those of states that
   one rank alone has, which it updates from its own tensors. */
static void
mark_settling(plan *a)
{
	const hu_program *p = a->p;

	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < hu_spread_judged(&p->c[i]) && p->c[i].phase == HU_UPDATE; k++)
			if (!p->t[p->c[i].out[0]].own)
				a->settles[p->c[i].in[k]] = 1;
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].next >= 0 && !p->t[i].own)
			a->settles[p->t[i].next] = 1;
}

/* Marks the calls whose carried results nothing reads but the same result of other calls. */
static void
mark_deferred(plan *a)
{
	const hu_program *p = a->p;
	char *read = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < hu_spread_judged(&p->c[i]); k++)
			if (!p->c[i].op->carried || k < p->c[i].op->carried)
				read[p->c[i].in[k]] = 1;
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		a->deferred[i] = c->op->carried > 0;
		for (int k = c->op->carried; k < c->nout && a->deferred[i]; k++)
			a->deferred[i] = !read[c->out[k]];
	}
	free(read);
}

/* Decides where call i runs and what its results depend on. What settles everywhere depends on no micro-batch from then
   on. */
static void
place(plan *a, int i)
{
	const hu_call *c = &a->p->c[i];
	int early = a->deferred[i] ? c->op->carried : hu_spread_judged(c), last = -1, k, n;

	if (is_slice(a->p, c, &k, &n))
		last = k;
	for (k = 0; k < early && !is_library(c); k++)
		if (!is_input(a->p, c->in[k]) && a->last[c->in[k]] > last)
			last = a->last[c->in[k]];
	a->place[i] = last < 0 ? HU_EVERYWHERE : owner(a->s, last);
	for (k = 0; k < c->nout; k++) {
		a->s->at[c->out[k]] = a->settles[c->out[k]] ? HU_EVERYWHERE : a->place[i];
		a->last[c->out[k]] = a->settles[c->out[k]] ? -1 : last;
	}
}

static int
is_late(const plan *a, int call, int operand)
{
	return a->deferred[call] && operand >= a->p->c[call].op->carried;
}

/* Notes which inputs of call i, early or late ones, have to travel to where it runs. */
static void
note_travel(plan *a, int i, int late)
{
	const hu_call *c = &a->p->c[i];
	int to = a->place[i], n = a->s->ranks;

	for (int k = 0; k < hu_spread_judged(c) && to != HU_EVERYWHERE; k++) {
		int t = c->in[k], at = a->s->at[t];
		int *sent = &a->sent[(size_t)t * (size_t)n + (size_t)to];
		if (is_late(a, i, k) == late && a->p->t[t].producer >= 0 && at != HU_EVERYWHERE && at != to && !*sent)
			*sent = 1 + a->tags[at * n + to]++;
	}
}

static void
add(plan *a, hu_spread_action action, int id, int peer, int tag)
{
	hu_spread *s = a->s;

	HU_GROW(s->todo, s->n, s->cap);
	s->todo[s->n++] = (hu_spread_do){ action, id, peer, tag };
}

/* Adds what happens to a tensor once it is made at rank `from`: it sets out for those who need it. */
static void
send_out(plan *a, int t, int from)
{
	hu_spread *s = a->s;

	if (from == HU_EVERYWHERE)
		return;
	if (a->settles[t])
		add(a, HU_DO_BROADCAST, t, from, 0);
	for (int r = 0; r < s->ranks && from == s->rank && !a->settles[t]; r++) {
		int sent = a->sent[(size_t)t * (size_t)s->ranks + (size_t)r];
		if (sent)
			add(a, HU_DO_POST, t, r, sent - 1);
	}
}

/* Adds call i's part in the step, or its late part. A rank receives a tensor before the first call that reads it. */
static void
add_call(plan *a, int i, int late)
{
	const hu_call *c = &a->p->c[i];
	hu_spread *s = a->s;
	int here = a->place[i] == HU_EVERYWHERE || a->place[i] == s->rank;

	if (late && !a->deferred[i])
		return;
	for (int k = 0; k < hu_spread_judged(c) && here; k++) {
		int t = c->in[k], sent = a->sent[(size_t)t * (size_t)s->ranks + (size_t)s->rank];
		if (sent && !a->got[t] && is_late(a, i, k) == late) {
			add(a, HU_DO_RECEIVE, t, s->at[t], sent - 1);
			a->got[t] = 1;
		}
		s->need[t] |= !is_library(c) || k == hu_spread_operand(s, s->rank);
	}
	if (is_library(c))
		add(a, HU_DO_REDUCE, i, 0, 0);
	else if (here)
		add(a, late ? HU_DO_CARRY : hu_spread_judged(c) < c->nin ? HU_DO_CHECK : HU_DO_RUN, i, 0, 0);
	for (int k = 0; k < c->nout; k++) {
		if (here || a->settles[c->out[k]])
			s->need[c->out[k]] = 1;
		if (is_late(a, i, k) == late)
			send_out(a, c->out[k], a->place[i]);
	}
}

/* What a finite check says of the tensors that it searches is known when the step ends: no call may read it. */
static void
assert_unread(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++) {
			int t = p->c[i].in[k], from = p->t[t].producer;
			HU_ASSERT(from < 0 || p->c[from].op->role != HU_ROLE_CHECK || t == p->c[from].out[0]);
		}
}

static hu_status
make(plan *a)
{
	const hu_program *p = a->p;
	hu_spread *s = a->s;

	HU_TRY(check_inputs(a));
	assert_unread(p);
	mark_settling(a);
	mark_deferred(a);
	for (int i = 0; i < p->nt; i++) {
		a->last[i] = p->t[i].own - 1;
		s->at[i] = p->t[i].own ? owner(s, p->t[i].own - 1) : HU_EVERYWHERE;
		s->need[i] = (char)(p->t[i].state && !p->t[i].own);
	}
	for (int i = 0; i < p->nc; i++)
		place(a, i);
	HU_TRY(check_libraries(a));
	for (int late = 0; late < 2; late++)
		for (int i = 0; i < p->nc; i++)
			note_travel(a, i, late);
	for (int i = 0; i < s->ranks * s->ranks; i++)
		if (a->tags[i] > TAGS)
			return hu_fail(HU_EUNABLE,
				"two ranks would exchange %d tensors in a step, and %d are possible: use fewer ranks",
				a->tags[i], (int)TAGS);
	int update = 0;
	while (update < p->nc && p->c[update].phase != HU_UPDATE)
		add_call(a, update++, 0);
	for (int i = 0; i < p->nc; i++)
		add_call(a, i, 1);
	for (int i = update; i < p->nc; i++)
		add_call(a, i, 0);
	return HU_OK;
}

/* Sets the rows of a batch that this rank's micro-batches are. */
static void
own_rows(hu_spread *s)
{
	const hu_program *p = s->p;
	int first, n = hu_spread_share(s->micro_batches, s->ranks, s->rank, &first);

	for (int i = 0; i < p->nt; i++)
		if (is_input(p, i)) {
			size_t each = p->t[i].shape.d[0] / (size_t)s->micro_batches;
			s->first = (size_t)first * each;
			s->rows = (size_t)n * each;
			return;
		}
}

hu_status
hu_spread_init(hu_spread *s, const hu_program *p, int ranks, int rank)
{
	size_t nt = (size_t)p->nt + 1, nc = (size_t)p->nc + 1, n = (size_t)ranks;

	memset(s, 0, sizeof *s);
	s->p = p;
	s->ranks = ranks;
	s->rank = rank;
	s->micro_batches = micro_batches_of(p);
	if (s->micro_batches < ranks)
		return hu_fail(HU_EINVAL,
			"%d ranks and %d micro-batch%s: each rank executes whole micro-batches; say --batch micro=%d "
			"or more",
			ranks, s->micro_batches, s->micro_batches == 1 ? "" : "es", ranks);
	s->at = hu_xcalloc(nt, sizeof *s->at);
	s->need = hu_xcalloc(nt, 1);
	own_rows(s);
	plan a = { s, p, hu_xcalloc(nt, sizeof(int)), hu_xcalloc(nc, sizeof(int)), hu_xcalloc(nc, 1), hu_xcalloc(nt, 1),
		hu_xcalloc(nt * n, sizeof(int)), hu_xcalloc(nt, 1), hu_xcalloc(n * n, sizeof(int)) };
	hu_status st = make(&a);
	free(a.last);
	free(a.place);
	free(a.deferred);
	free(a.settles);
	free(a.sent);
	free(a.got);
	free(a.tags);
	if (st != HU_OK)
		hu_spread_release(s);
	return st;
}

void
hu_spread_release(hu_spread *s)
{
	free(s->at);
	free(s->need);
	free(s->todo);
	memset(s, 0, sizeof *s);
}
