/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/units/ranks.h"

#include "lib/base/console/progress.h"
#include "lib/base/mem.h"
#include "lib/base/parts/deal.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Messages: a rank's found units, or none, and with them its wish for a lot; rank 0's answer, a lot or -1. A rank has
   so many wishes open that it finds a lot waiting when it ends one. */
enum { FOUND = 20, LOT = 21, AHEAD = 2, FINER = 24 };

/* Units first to last-1, all of one step. */
typedef struct lot { int first, last; double cost; } lot;

typedef struct dealer {
	hu_sharing *s;
	hu_walk *w;
	lot *lots;
	int *order, n, cap, head, tail;   /* lots order[head] to order[tail-1] wait */
	size_t left;           /* units that were not found at first */
	hu_progress bar;
} dealer;

static void
add_lot(dealer *d, int first, int last, double cost)
{
	HU_GROW(d->lots, d->n, d->cap);
	d->lots[d->n++] = (lot){ first, last, cost };
	d->left += (size_t)(last - first);
}

/* Cuts the units that are not found yet into lots of at most a rank's share / FINER, where single units allow that. */
static void
make_lots(dealer *d)
{
	const hu_units *u = &d->w->units;
	double all = 0, most, cost = 0;
	int first = 0;

	for (int i = 0; i < u->n; i++)
		all += u->cost[i];
	most = all / hu_ranks_size() / FINER;
	for (int i = 0; i < u->n; i++) {
		int there = hu_sharing_has(d->s, d->w, i);
		if (i > first && (there || u->u[i].step != u->u[first].step || cost + u->cost[i] > most)) {
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

/* Receives a message of found units and answers it with a lot, or with none where *open shall become smaller. */
static void
serve(dealer *d, int *open)
{
	int from = -1, none[2] = { -1, -1 };
	size_t n = hu_ranks_next(&from, FOUND);
	char *text = hu_xmalloc(n + 1);

	hu_ranks_receive(from, FOUND, text, n);
	for (size_t at = 0; at < n;) {
		int i;
		double seconds;
		memcpy(&i, text + at, sizeof i);
		memcpy(&seconds, text + at + sizeof i, sizeof seconds);
		at += sizeof i + sizeof seconds;
		hu_sharing_add(d->s, d->w, i, seconds, text + at);
		at += strlen(text + at) + 1;
		hu_progress_step(&d->bar, 1);
	}
	free(text);
	if (d->head < d->tail)
		hu_ranks_send(from, LOT, &d->lots[d->order[d->head++]], 2 * sizeof(int));
	else {
		hu_ranks_send(from, LOT, none, sizeof none);
		--*open;
	}
}

/* Rank 0. The smallest lots are its own, so that nobody waits for it long. */
static hu_status
deal(dealer *d)
{
	int open = AHEAD * (hu_ranks_size() - 1);
	hu_status st = HU_OK;

	make_lots(d);
	hu_progress_start(&d->bar, "analyze", d->left);
	while ((open || d->head < d->tail) && st == HU_OK) {
		if (open && (d->head == d->tail || hu_ranks_waits(FOUND))) {
			serve(d, &open);
			st = hu_sharing_keep(d->s, 0);
			continue;
		}
		const lot *l = &d->lots[d->order[--d->tail]];
		for (int i = l->first; i < l->last && st == HU_OK; i++) {
			st = hu_sharing_study(d->s, d->w, i);
			hu_progress_step(&d->bar, 1);
			while (open && st == HU_OK && hu_ranks_waits(FOUND))
				serve(d, &open);
			if (st == HU_OK)
				st = hu_sharing_keep(d->s, 0);
		}
	}
	hu_progress_end(&d->bar);
	free(d->lots);
	free(d->order);
	return st;
}

/* The other ranks. */
static hu_status
work(hu_walk *w)
{
	hu_status st = HU_OK;
	hu_str out[2];
	int now = 0;

	hu_str_init(&out[0]);
	hu_str_init(&out[1]);
	for (int i = 0; i < AHEAD; i++)
		hu_ranks_send(0, FOUND, "", 0);
	for (int open = AHEAD; open && st == HU_OK;) {
		int range[2];
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
			st = hu_walk_study(w, i, &found);
			write_unit(mine, i, hu_now() - start, found.s);
			hu_str_release(&found);
		}
		hu_ranks_sent();
		if (st == HU_OK)
			hu_ranks_post(0, FOUND, mine->s, mine->len);
		now = !now;
	}
	hu_ranks_sent();
	hu_str_release(&out[0]);
	hu_str_release(&out[1]);
	return st;
}

hu_status
hu_ranks_study(hu_sharing *s, hu_walk *w)
{
	dealer d = { .s = s, .w = w };

	HU_TRY(hu_ranks_same("analysis", s->own.work));
	if (hu_ranks_rank())
		return work(w);
	return deal(&d);
}
