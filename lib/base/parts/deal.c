/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/parts/deal.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct item { double cost; int i; } item;

static int
largest_first(const void *a, const void *b)
{
	const item *x = a, *y = b;

	return x->cost > y->cost ? -1 : x->cost < y->cost ? 1 : x->i < y->i ? -1 : x->i > y->i;
}

int *
hu_deal_order(const double *cost, int units)
{
	item *all = hu_xmalloc(((size_t)units + 1) * sizeof *all);
	int *order = hu_xmalloc(((size_t)units + 1) * sizeof *order);

	for (int i = 0; i < units; i++)
		all[i] = (item){ cost[i], i };
	if (units)
		qsort(all, (size_t)units, sizeof *all, largest_first);
	for (int i = 0; i < units; i++)
		order[i] = all[i].i;
	free(all);
	return order;
}

/* A heap of workers with the one that has the least on top; of those that have the same the lowest number. */
static int
before(const hu_deal *l, int a, int b)
{
	return l->each[a] < l->each[b] || (l->each[a] == l->each[b] && a < b);
}

static void
sink(const hu_deal *l, int *heap, int n)
{
	for (int at = 0;;) {
		int least = at, left = 2 * at + 1, right = left + 1;
		if (left < n && before(l, heap[left], heap[least]))
			least = left;
		if (right < n && before(l, heap[right], heap[least]))
			least = right;
		if (least == at)
			return;
		int t = heap[at];
		heap[at] = heap[least];
		heap[least] = t;
		at = least;
	}
}

void
hu_deal_out(hu_deal *l, int *of, const double *cost, int units, int n)
{
	int *order = hu_deal_order(cost, units), *heap = hu_xmalloc((size_t)n * sizeof *heap);

	*l = (hu_deal){ .each = hu_xcalloc((size_t)n, sizeof *l->each), .n = n };
	for (int k = 0; k < n; k++)
		heap[k] = k;
	for (int i = 0; i < units; i++) {
		int u = order[i], to = heap[0];
		of[u] = to;
		l->each[to] += cost[u];
		l->total += cost[u];
		l->largest = cost[u] > l->largest ? cost[u] : l->largest;
		sink(l, heap, n);
	}
	for (int k = 0; k < n; k++)
		l->most = l->each[k] > l->most ? l->each[k] : l->most;
	l->mean = l->total / n;
	free(order);
	free(heap);
}

void
hu_deal_release(hu_deal *l)
{
	free(l->each);
	memset(l, 0, sizeof *l);
}
