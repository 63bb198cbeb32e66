/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/parts/share.h"

#include "lib/base/mem.h"
#include "lib/base/parts/deal.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"

#include <stdlib.h>
#include <string.h>

/* Messages: a rank's found units, or none, and with them its wish for a lot; rank 0's answer, a lot or -1. A rank has
   so many wishes open that it finds a lot waiting when it ends one. DONE: rank 0 has written what there is to write. */
enum { FOUND = 20, LOT = 21, DONE = 22, AHEAD = 2, FINER = 24 };

/* Units first to last-1, all of one step. */
typedef struct lot { int first, last; double cost; } lot;

/* A message of found units on its way here. */
typedef struct message { char *text; size_t n; void *handle; } message;

typedef struct dealer {
	hu_sharing *s;
	lot *lots;
	int *order, n, cap, head, tail;   /* lots order[head] to order[tail-1] wait */
	int open;              /* wishes that were not answered with "none" yet */
	hu_status st;          /* of saving what was found */
	size_t left;           /* steps of the bar for units that were not found at first */
	message *messages;
	int nmessages, most_messages;
} dealer;

static void
add_lot(dealer *d, int first, int last, double cost)
{
	HU_GROW(d->lots, d->n, d->cap);
	d->lots[d->n++] = (lot){ first, last, cost };
	for (int i = first; i < last; i++)
		d->left += hu_sharing_steps(d->s->work, i);
}

/* The largest cost of a lot of several units: a rank's share / FINER. */
static double
most_of_lot(const hu_share_work *u)
{
	double all = 0;

	for (int i = 0; i < u->n; i++)
		all += u->cost[i];
	return all / hu_ranks_size() / FINER;
}

/* Cuts the units that are not found yet into lots, where single units allow that. */
static void
make_lots(dealer *d)
{
	const hu_share_work *u = d->s->work;
	double most = most_of_lot(u), cost = 0;
	int first = 0;

	for (int i = 0; i < u->n; i++) {
		int there = hu_sharing_has(d->s, i);
		if (i > first && (there || (u->group && u->group[i] != u->group[first]) || cost + u->cost[i] > most)) {
			add_lot(d, first, i, cost);
			first = i;
			cost = 0;
		}
		if (there)
			first = i + 1;
		else
			cost += u->cost[i];
	}
	if (first < u->n)
		add_lot(d, first, u->n, cost);
	double *costs = hu_xmalloc(((size_t)d->n + 1) * sizeof *costs);
	for (int i = 0; i < d->n; i++)
		costs[i] = d->lots[i].cost;
	d->order = hu_deal_order(costs, d->n);
	d->tail = d->n;
	free(costs);
}

/* Puts found unit i into the message: its number, its time, and what was found. */
static void
write_unit(hu_str *to, int i, double seconds, const char *found)
{
	hu_str_addn(to, &i, sizeof i);
	hu_str_addn(to, &seconds, sizeof seconds);
	hu_str_addn(to, found, strlen(found) + 1);
}

void
hu_share_part(void)
{
	char nothing;

	for (int r = 1; r < hu_ranks_size() && !hu_ranks_rank(); r++)
		hu_ranks_send(r, DONE, "", 0);
	if (hu_ranks_rank()) {
		hu_ranks_await(DONE);
		hu_ranks_receive(0, DONE, &nothing, 0);
	}
}

/* Rank 0's, while it deals. */
static dealer *dealing;

/* Adds the units in a message that has arrived. */
static void
add_found(dealer *d, const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		int i;
		double seconds;
		memcpy(&i, text + at, sizeof i);
		memcpy(&seconds, text + at + sizeof i, sizeof seconds);
		at += sizeof i + sizeof seconds;
		hu_sharing_add(d->s, i, seconds, text + at);
		at += strlen(text + at) + 1;
		hu_sharing_moved(d->s->work, i, 0);
	}
}

/* Answers a rank's wish with a lot, or with none, and begins to receive what it has found. That may not be there before
   the rank ends its next lot: MPI sends long messages only while both sides are in it. */
static void
serve(dealer *d)
{
	int from = -1, none[2] = { -1, -1 };
	size_t n = hu_ranks_next(&from, FOUND);
	message *m;

	HU_GROW(d->messages, d->nmessages, d->most_messages);
	m = &d->messages[d->nmessages++];
	m->text = hu_xmalloc(n + 1);
	m->n = n;
	m->handle = hu_ranks_begin(from, FOUND, m->text, n);
	if (d->head < d->tail)
		hu_ranks_send(from, LOT, &d->lots[d->order[d->head++]], 2 * sizeof(int));
	else {
		hu_ranks_send(from, LOT, none, sizeof none);
		d->open--;
	}
}

/* Serves the wishes that have come and takes the messages that are there. Returns 1 where there was any. */
static int
answer(dealer *d)
{
	int some = 0, left = 0;

	for (; d->open && hu_ranks_waits(FOUND); some = 1)
		serve(d);
	for (int i = 0; i < d->nmessages; i++) {
		message m = d->messages[i];
		if (!hu_ranks_arrived(m.handle)) {
			d->messages[left++] = m;
			continue;
		}
		add_found(d, m.text, m.n);
		free(m.text);
		some = 1;
	}
	d->nmessages = left;
	if (some && d->st == HU_OK)
		d->st = hu_sharing_keep(d->s, 0);
	return some;
}

void
hu_share_answer(void)
{
	if (dealing)
		answer(dealing);
}

/* How many wishes of a rank are open. Of units that take long one: nobody holds two while another has none. */
static int
ahead(const hu_share_work *w)
{
	return w->keeps ? 1 : AHEAD;
}

/* Rank 0. The smallest lots are its own, so that nobody waits for it long. */
static hu_status
deal(dealer *d)
{
	hu_status st = HU_OK;

	d->open = ahead(d->s->work) * (hu_ranks_size() - 1);
	make_lots(d);
	hu_progress_start(&d->s->work->bar, d->s->work->command, d->left);
	dealing = d;
	for (double idle = hu_now(); (d->open || d->nmessages || d->head < d->tail) && st == HU_OK;) {
		int some = answer(d);
		st = d->st;
		if (some)
			idle = hu_now();
		if (some || st != HU_OK || d->head == d->tail) {
			if (!some)
				hu_ranks_nap(idle);
			continue;
		}
		const lot *l = &d->lots[d->order[--d->tail]];
		for (int i = l->first; i < l->last && st == HU_OK; i++) {
			st = hu_sharing_compute(d->s, i);
			hu_sharing_moved(d->s->work, i, 1);
			hu_share_answer();
			if (st == HU_OK)
				st = hu_sharing_keep(d->s, 0);
			if (st == HU_OK)
				st = d->st;
		}
		idle = hu_now();
	}
	dealing = NULL;
	hu_progress_end(&d->s->work->bar);
	free(d->lots);
	free(d->order);
	free(d->messages);
	return st;
}

/* The other ranks. */
static hu_status
work(const hu_share_work *w)
{
	hu_status st = HU_OK;
	hu_str out[2];
	int now = 0;

	hu_str_init(&out[0]);
	hu_str_init(&out[1]);
	for (int i = 0; i < ahead(w); i++)
		hu_ranks_send(0, FOUND, "", 0);
	for (int open = ahead(w); open && st == HU_OK;) {
		int range[2];
		hu_ranks_await(LOT);
		hu_ranks_receive(0, LOT, range, sizeof range);
		if (range[0] < 0) {
			open--;
			continue;
		}
		hu_str *mine = &out[now];
		mine->len = 0;
		for (int i = range[0]; i < range[1] && st == HU_OK; i++) {
			double start = hu_now();
			hu_str found;
			hu_str_init(&found);
			st = w->compute(w->of, i, &found);
			write_unit(mine, i, hu_now() - start, found.s);
			hu_str_release(&found);
		}
		hu_ranks_sent();
		if (st == HU_OK && mine->len > HU_RANKS_MOST)
			st = hu_fail(HU_EUNABLE,
				"what units %d to %d found takes %.3g GB, and ranks send each other at most %.3g GB: "
				"share the work with --shard instead",
				range[0], range[1] - 1, 1e-9 * (double)mine->len, 1e-9 * HU_RANKS_MOST);
		if (st == HU_OK)
			hu_ranks_post(0, FOUND, mine->s, mine->len);
		now = !now;
	}
	hu_ranks_sent();
	hu_str_release(&out[0]);
	hu_str_release(&out[1]);
	return st;
}

/* Has all ranks compute unit i; rank 0 keeps what was found. */
static hu_status
unite(hu_sharing *s, int i)
{
	hu_status st;
	hu_str found;

	hu_ranks_unite(1);
	hu_str_init(&found);
	st = hu_ranks_rank() ? s->work->compute(s->work->of, i, &found) : hu_sharing_compute(s, i);
	hu_str_release(&found);
	hu_ranks_unite(0);
	return st == HU_OK && !hu_ranks_rank() ? hu_sharing_keep(s, 0) : st;
}

/* Whether units dealt out whole would leave ranks without work for a good part of the time. What ranks compute
   together costs all of them what they do not share, so that this alone is a reason to. */
static int
is_uneven(const hu_share_work *w)
{
	const double worth = 1.25;
	int *of = hu_xcalloc((size_t)w->n + 1, sizeof *of);
	hu_deal load;

	hu_deal_out(&load, of, w->cost, w->n, hu_ranks_size());
	int uneven = load.most > worth * load.mean;
	hu_deal_release(&load);
	free(of);
	return uneven;
}

/* The units that are larger than a lot and that all ranks can compute together, unless rank 0 has them already. */
static hu_status
together(hu_sharing *s)
{
	const hu_share_work *w = s->work;
	double most = most_of_lot(w);
	hu_status st = HU_OK;

	if (!w->joint || !is_uneven(w))
		return HU_OK;
	for (int i = 0; i < w->n && st == HU_OK; i++) {
		int missing = !hu_sharing_has(s, i);
		if (!w->joint[i] || w->cost[i] <= most)
			continue;
		hu_ranks_broadcast(0, &missing, sizeof missing);
		if (missing)
			st = unite(s, i);
	}
	return st;
}

hu_status
hu_share_ranks(hu_sharing *s)
{
	dealer d = { .s = s };

	HU_TRY(hu_ranks_same("work", s->own.work));
	HU_TRY(together(s));
	return hu_ranks_rank() ? work(s->work) : deal(&d);
}
