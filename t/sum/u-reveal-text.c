/* SPDX-License-Identifier: Apache-2.0
   The folded text of a summation tree, read back: for trees of every model and for random ones, the text is expanded
   by a reader of its own, and must give the tree again. */
#include "analyzers/tree/reveal.h"
#include "analyzers/tree/reveal_names.h"

#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 256, TREES = 4000 };

typedef struct reader {
	const char *at;
	int bad;
} reader;
typedef struct items {
	hu_order *item[MOST];
	int n;
} items;

static hu_order *tree(reader *r);

static int
take(reader *r, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(r->at, word, n))
		return 0;
	r->at += n;
	return 1;
}

static void
must(reader *r, const char *word)
{
	r->bad |= !take(r, word);
}

static long
number(reader *r)
{
	char *end;
	long x = strtol(r->at, &end, 10);

	r->bad |= end == r->at;
	r->at = end;
	return x;
}

/* A copy of O whose terms stand BY on. */
static hu_order *
moved(const hu_order *o, long by)
{
	if (!o->n)
		return hu_order_leaf((size_t)((long)o->leaf + by));
	hu_order *to = hu_order_node(moved(o->child[0], by), moved(o->child[1], by));
	for (int i = 2; i < o->n; i++)
		hu_order_add(to, moved(o->child[i], by));
	return to;
}

static hu_order *
halves(long low, long n)
{
	long half = 1;

	if (n == 1)
		return hu_order_leaf((size_t)(low - 1));
	while (2 * half < n)
		half *= 2;
	return hu_order_node(halves(low, half), halves(low + half, n - half));
}

static void
put(reader *r, items *l, hu_order *o)
{
	if (l->n < MOST)
		l->item[l->n++] = o;
	else
		r->bad = 1, hu_order_free(o);
}

/* "1..9 by 2", "[1, 2] x3 +4", "TREE x3 +8", TREE. */
static void
item(reader *r, items *l)
{
	if (take(r, "[")) {
		long a = number(r), b = (must(r, ", "), number(r)), n = (must(r, "] x"), number(r)),
		     step = (must(r, " "), number(r));
		for (long i = 0; i < n && n < MOST; i++) {
			put(r, l, hu_order_leaf((size_t)(a - 1 + i * step)));
			put(r, l, hu_order_leaf((size_t)(b - 1 + i * step)));
		}
		return;
	}
	hu_order *o = tree(r);
	if (!o->n && take(r, "..")) {
		long a = (long)o->leaf, b = number(r) - 1, step = take(r, " by ") ? number(r) : a < b ? 1 : -1;
		hu_order_free(o);
		for (long k = a; step && (step > 0 ? k <= b : k >= b); k += step)
			put(r, l, hu_order_leaf((size_t)k));
		r->bad |= !step || (b - a) % step;
		return;
	}
	put(r, l, o);
	if (take(r, " x")) {
		long n = number(r), step = (must(r, " "), number(r));
		for (long i = 1; i < n && n < MOST; i++)
			put(r, l, moved(o, i * step));
	}
}

/* One node of all items; LINKS of them in a chain, the next WIDTH terms each. */
static hu_order *
fused(const items *l, long links, long width)
{
	hu_order *o = hu_order_node(moved(l->item[0], 0), moved(l->item[1], 0));

	for (int i = 2; i < l->n; i++)
		hu_order_add(o, moved(l->item[i], 0));
	for (long k = 1; k < links && links < MOST; k++) {
		o = hu_order_node(o, moved(l->item[0], k * width));
		for (int i = 1; i < l->n; i++)
			hu_order_add(o, moved(l->item[i], k * width));
	}
	return o;
}

static hu_order *
several(reader *r, int chain)
{
	items l = { .n = 0 };
	hu_order *o = NULL;
	long links = 1, width = 0;

	do
		item(r, &l);
	while (take(r, ", "));
	if (!chain && take(r, "; x"))
		links = number(r), must(r, " "), width = number(r);
	must(r, ")");
	r->bad |= l.n < 2;
	if (chain)
		for (int i = 0; i < l.n; i++)
			o = hu_order_node(o, moved(l.item[i], 0));
	else if (l.n >= 2)
		o = fused(&l, links, width);
	else
		o = hu_order_leaf(0);
	for (int i = 0; i < l.n; i++)
		hu_order_free(l.item[i]);
	return o;
}

static hu_order *
tree(reader *r)
{
	hu_order *a, *b;

	if (take(r, "pairs(")) {
		long low = number(r), high = (must(r, ".."), number(r));
		must(r, ")");
		r->bad |= high - low < 3;
		return halves(low, high - low + 1 > 0 ? high - low + 1 : 1);
	}
	if (take(r, "pair(")) {
		a = tree(r);
		must(r, ", ");
		b = moved(a, number(r));
		must(r, ")");
		return hu_order_node(a, b);
	}
	if (take(r, "seq("))
		return several(r, 1);
	if (take(r, "fused("))
		return several(r, 0);
	if (take(r, "(")) {
		a = tree(r);
		must(r, " + ");
		b = tree(r);
		must(r, ")");
		return hu_order_node(a, b);
	}
	long leaf = number(r);
	r->bad |= leaf < 1;
	return hu_order_leaf((size_t)(leaf < 1 ? 0 : leaf - 1));
}

/* 1 where O's text is read as O; O is freed. *LENGTH: of the text. */
static int
reads_back(hu_order *o, size_t *length)
{
	hu_str s, full, again;
	int same;

	hu_str_init(&s);
	hu_str_init(&full);
	hu_str_init(&again);
	hu_reveal_text(o, &s);
	reader r = { s.s, 0 };
	hu_order *back = tree(&r);
	hu_reveal_nested(o, &full);
	hu_reveal_nested(back, &again);
	same = !r.bad && !*r.at && hu_order_hash(o) == hu_order_hash(back);
	if (!same)
		diag("%s is read as %s from %s", full.s, again.s, s.s);
	*length = s.len;
	hu_str_release(&s);
	hu_str_release(&full);
	hu_str_release(&again);
	hu_order_free(o);
	hu_order_free(back);
	return same;
}

/* A tree over N terms from LOW on; bits of R choose: halves, chains, copies, fused nodes. */
static hu_order *
grown(uint64_t seed, uint64_t *at, size_t low, size_t n)
{
	uint32_t w = hu_random_at(seed, 4, 0, (*at)++).w[0];
	size_t part = 1 + w / 8 % (n > 1 ? n - 1 : 1);
	hu_order *o;

	if (n == 1)
		return hu_order_leaf(low);
	switch (w % 8) {
	case 0:
		if (n % 2 == 0) { /* the same tree twice */
			o = grown(seed, at, low, n / 2);
			return hu_order_node(o, moved(o, (long)(n / 2)));
		}
		break;
	case 1: return halves((long)low + 1, (long)n);
	case 2:
		o = NULL;
		for (size_t k = 0; k < n; k++)
			o = hu_order_node(o, hu_order_leaf(w & 64 ? low + n - 1 - k : low + k));
		return o;
	case 3: /* slices of one length */
		o = NULL;
		for (size_t k = 0; k < n; k += part) {
			hu_order *slice = NULL;
			for (size_t i = k; i < n && i < k + part; i++)
				slice = hu_order_node(slice, hu_order_leaf(low + i));
			o = hu_order_node(o, slice);
		}
		return o;
	case 4:
		if (n >= 3) {
			o = hu_order_node(grown(seed, at, low, 1), grown(seed, at, low + 1, 1));
			hu_order_add(o, grown(seed, at, low + 2, n - 2));
			return o;
		}
		break;
	case 5: {
		hu_order *lanes = hu_order_lanes(n, 4, 0);
		o = moved(lanes, (long)low);
		hu_order_free(lanes);
		return o;
	}
	default: break;
	}
	o = grown(seed, at, low, part);
	return w & 128 ? hu_order_node(grown(seed, at, low + part, n - part), o)
		       : hu_order_node(o, grown(seed, at, low + part, n - part));
}

static void
is_text_of(hu_order *o, const char *want)
{
	hu_str s;
	size_t length;

	hu_str_init(&s);
	hu_reveal_text(o, &s);
	is_text(s.s, want, "%zu terms are %s", o->leaves, want);
	hu_str_release(&s);
	ok(reads_back(o, &length), "and read back");
}

static hu_order *
read_tree(const char *text)
{
	reader r = { text, 0 };

	return tree(&r);
}

int
main(void)
{
	size_t wrong = 0, length, all = 0, n = 0;

	for (uint64_t i = 0; i < TREES; i++) {
		uint64_t at = 0;
		wrong += !reads_back(grown(i, &at, 0, 1 + i % 40), &length);
		all += length;
	}
	ok(!wrong, "%d random trees are what their folded texts say, of %zu characters together", TREES, all);
	for (size_t terms = 2; terms <= 70; terms++) {
		hu_order *some[] = { hu_order_ascending(terms), hu_order_pairwise(terms),
			hu_order_lanes(terms, 32, 4096), hu_order_lanes(terms, 8, 0), hu_order_slices(terms, 3, 0),
			hu_order_slices(terms, 8, 0), hu_order_blocks(terms, 4), hu_order_blocks(terms, 16),
			hu_order_half_blocks(terms, 16), hu_order_half_blocks(terms, 32) };
		for (size_t k = 0; k < sizeof some / sizeof *some; k++, n++)
			wrong += !reads_back(some[k], &length);
	}
	ok(!wrong, "and %zu trees of models", n);
	/* What folds, and what just does not */
	is_text_of(read_tree("(1 + (2 + 3))"), "seq(3..1)");
	is_text_of(read_tree("((1 + 2) + (3 + 4))"), "pairs(1..4)");
	is_text_of(read_tree("((1 + (2 + 3)) + ((4 + 5) + 6))"), "seq(3..1, seq(4..6))");
	is_text_of(read_tree("(((1 + 2) + (4 + 5)) + (7 + 8))"), "seq(seq(1, 2) x3 +3)");
	is_text_of(read_tree("fused(1, seq(2, 3), seq(4, 5))"), "fused(1, seq(2, 3) x2 +2)");
	is_text_of(read_tree("fused(1, seq(2, 3), seq(4, 5), 6, 7)"), "fused(1, seq(2, 3) x2 +2, 6, 7)");
	is_text_of(read_tree("fused(1, 2, 5, 6, 9, 10)"), "fused([1, 2] x3 +4)");
	is_text_of(read_tree("fused(1, 2, 5, 6, 9)"), "fused(1, 2, 5, 6, 9)");
	is_text_of(read_tree("fused(1, 2, 5, 6, 9, 10, 13)"), "fused([1, 2] x3 +4, 13)");
	is_text_of(read_tree("fused(1, 3, 5)"), "fused(1..5 by 2)");
	is_text_of(read_tree("seq(5, 4, 3, 2, 1)"), "seq(5..1)");
	is_text_of(read_tree("seq(9, 7, 5, 3)"), "seq(9..3 by -2)");
	is_text_of(read_tree("fused(fused(1, 2, 3), 4, 5, 6)"), "fused(1..3; x2 +3)");
	is_text_of(read_tree("fused(fused(1, 2, 3), 4, 5, 7)"), "fused(fused(1..3), 4, 5, 7)");
	is_text_of(read_tree("fused(fused(1, 2, 3), 4, 5)"), "fused(fused(1..3), 4, 5)");
	return done_testing();
}
