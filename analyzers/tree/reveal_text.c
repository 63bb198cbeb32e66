/* SPDX-License-Identifier: Apache-2.0
   Writes summation trees as text, with regular parts folded. */
#include "analyzers/tree/reveal.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct list {
	const hu_order **item;
	int n, cap;
} list;

static void text(const hu_order *o, hu_str *s);

static void
push(list *l, const hu_order *o)
{
	HU_GROW(l->item, l->n, l->cap);
	l->item[l->n++] = o;
}

static long
first(const hu_order *o)
{
	while (o->n)
		o = o->child[0];
	return (long)o->leaf;
}

/* Returns 1 where b is a with every term moved by shift. */
static int
same(const hu_order *a, const hu_order *b, long shift)
{
	if (a->n != b->n || a->leaves != b->leaves)
		return 0;
	if (!a->n)
		return (long)b->leaf == (long)a->leaf + shift;
	for (int i = 0; i < a->n; i++)
		if (!same(a->child[i], b->child[i], shift))
			return 0;
	return 1;
}

static int
is_pair(const hu_order *o, long *shift)
{
	if (o->n != 2 || o->leaves < 4)
		return 0;
	*shift = first(o->child[1]) - first(o->child[0]);
	return same(o->child[0], o->child[1], *shift);
}

/* Returns 1 for recursive halves of consecutive terms from low on, the first half the largest power of two below. */
static int
is_pairwise(const hu_order *o, long low)
{
	size_t half = 1;

	if (o->leaves == 1)
		return (long)o->leaf == low;
	while (2 * half < o->leaves)
		half *= 2;
	return o->n == 2 && o->child[0]->leaves == half && is_pairwise(o->child[0], low) &&
	       is_pairwise(o->child[1], low + (long)half);
}

/* Returns how many terms from i on repeat a pattern of two terms at least three times: 1, 2, 5, 6, 9, 10. */
static int
twos(const list *l, int i)
{
	int n = 2;

	if (i + 6 > l->n || l->item[i]->n || l->item[i + 1]->n)
		return 0;
	long step = first(l->item[i + 2]) - first(l->item[i]);
	while (i + n < l->n && same(l->item[i + n - 2], l->item[i + n], step))
		n++;
	return n >= 6 ? n - n % 2 : 0;
}

/* Appends items separated by commas, with runs of terms and copies of subtrees folded. */
static void
items(const list *l, hu_str *s)
{
	for (int i = 0, end; i < l->n; i = end) {
		long step = i + 1 < l->n ? first(l->item[i + 1]) - first(l->item[i]) : 0;
		int leaf = !l->item[i]->n;
		for (end = i + 1; end < l->n && same(l->item[end - 1], l->item[end], step); end++)
			;
		hu_str_add(s, i ? ", " : "");
		if (leaf && end - i >= 3) {
			hu_str_addf(s, "%ld..%ld", first(l->item[i]) + 1, first(l->item[end - 1]) + 1);
			if (step != 1 && step != -1)
				hu_str_addf(s, " by %ld", step);
		} else if (!leaf && end - i >= 2) {
			text(l->item[i], s);
			hu_str_addf(s, " x%d %+ld", end - i, step);
		} else if ((end = i + twos(l, i)) > i) {
			hu_str_addf(s, "[%ld, %ld] x%d %+ld", first(l->item[i]) + 1, first(l->item[i + 1]) + 1,
				(end - i) / 2, first(l->item[i + 2]) - first(l->item[i]));
		} else {
			end = i + 1;
			text(l->item[i], s);
		}
	}
}

/* The addends of a chain of additions, the innermost first. */
static void
chain(const hu_order *o, list *l)
{
	list back = { NULL, 0, 0 };
	long shift;

	while (o->n == 2) {
		int down = !o->child[0]->n && o->child[1]->n; /* the sum so far may be the later child */
		const hu_order *inner = o->child[down], *other = o->child[!down];
		int pair = is_pair(o, &shift);
		if (pair && back.n && !same(o->child[1], back.item[back.n - 1], shift))
			break;
		push(&back, other);
		o = inner;
		if (pair) /* the first of several equal ones */
			break;
		if (o->n == 2 && is_pairwise(o, first(o)) && o->leaves >= 4)
			break;
	}
	push(&back, o);
	if (back.n > 2 && !o->n && !back.item[back.n - 2]->n &&
		first(back.item[back.n - 3]) < first(o)) { /* a descending chain begins with its last term */
		const hu_order *swap = back.item[back.n - 1];
		back.item[back.n - 1] = back.item[back.n - 2];
		back.item[back.n - 2] = swap;
	}
	while (back.n)
		push(l, back.item[--back.n]);
	free(back.item);
}

/* Returns how many fused nodes from o down form a chain in which each adds as many new, consecutive terms as the
   lowest. */
static int
fused_chain(const hu_order *o, const hu_order **bottom)
{
	int links = 1;
	const hu_order *inner;

	while (o->n > 1 && o->child[0]->n > 1 && o->child[0]->n >= 2) {
		inner = o->child[0];
		long width = inner->child[0]->n ? inner->n - 1 : inner->n;
		if (o->n - 1 != width)
			return 0;
		for (int i = 1; i < o->n; i++)
			if (o->child[i]->n || inner->child[inner->child[0]->n ? i : i - 1]->n ||
				first(o->child[i]) != first(inner->child[inner->child[0]->n ? i : i - 1]) + width)
				return 0;
		o = inner;
		links++;
	}
	for (int i = 0; i < o->n; i++)
		if (o->child[i]->n)
			return 0;
	*bottom = o;
	return links;
}

static void
fused(const hu_order *o, hu_str *s)
{
	const hu_order *bottom = o;
	int links = fused_chain(o, &bottom);
	list l = { NULL, 0, 0 };

	hu_str_add(s, "fused(");
	for (int i = 0; i < (links > 1 ? bottom : o)->n; i++)
		push(&l, (links > 1 ? bottom : o)->child[i]);
	items(&l, s);
	if (links > 1)
		hu_str_addf(s, "; x%d +%d", links, bottom->n);
	hu_str_add(s, ")");
	free(l.item);
}

static void
text(const hu_order *o, hu_str *s)
{
	long shift;

	if (!o->n) {
		hu_str_addf(s, "%zu", o->leaf + 1);
	} else if (o->n > 2) {
		fused(o, s);
	} else if (o->leaves >= 4 && is_pairwise(o, first(o))) {
		hu_str_addf(s, "pairs(%ld..%ld)", first(o) + 1, first(o) + (long)o->leaves);
	} else if (is_pair(o, &shift)) {
		hu_str_add(s, "pair(");
		text(o->child[0], s);
		hu_str_addf(s, ", %+ld)", shift);
	} else {
		list l = { NULL, 0, 0 };
		chain(o, &l);
		hu_str_add(s, l.n > 2 || o->leaves == 2 ? "seq(" : "(");
		if (l.n > 2 || o->leaves == 2) {
			items(&l, s);
		} else {
			text(l.item[0], s);
			hu_str_add(s, " + ");
			text(l.item[1], s);
		}
		hu_str_add(s, ")");
		free(l.item);
	}
}

void
hu_reveal_text(const hu_order *o, hu_str *s)
{
	text(o, s);
}

void
hu_reveal_nested(const hu_order *o, hu_str *s)
{
	if (!o->n) {
		hu_str_addf(s, "%zu", o->leaf + 1);
		return;
	}
	for (int i = 0; i < o->n; i++) {
		hu_str_add(s, i ? " " : "(");
		hu_reveal_nested(o->child[i], s);
	}
	hu_str_add(s, ")");
}
