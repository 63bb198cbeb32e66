/* SPDX-License-Identifier: Apache-2.0
   Revealed summation trees: random trees are recovered exactly, each model gives its documented order,
   what is no tree is said to be none, FPRev's example holds. */
#include "analyzers/tree/reveal.h"
#include "analyzers/tree/reveal_names.h"
#include "lib/number/philox.h"
#include "lib/sum/table/parts.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tree summed in a format: nodes of two round once; wider ones align to the largest term, chop and add exactly. */
typedef struct machine {
	const hu_order *o;
	hu_format f;
	int chop;
} machine;

static double
node(const machine *m, const hu_order *o, const double *x)
{
	double s = 0, v[64];

	if (!o->n)
		return x[o->leaf];
	if (o->n == 2)
		return hu_acc_add(node(m, o->child[0], x), node(m, o->child[1], x), m->f, HU_RNE, NULL, 0, 0);
	int e = -10000;
	for (int i = 0; i < o->n; i++) {
		v[i] = node(m, o->child[i], x);
		if (v[i] != 0 && ilogb(v[i]) > e)
			e = ilogb(v[i]);
	}
	for (int i = 0; i < o->n && e > -10000; i++)
		s += ldexp(trunc(ldexp(v[i], m->chop - e)), e - m->chop);
	return hu_round(s, m->f, HU_RZ, 0, 0);
}

static double
sum_tree(void *to, const double *x, size_t n)
{
	const machine *m = to;

	(void)n;
	return node(m, m->o, x);
}

/* Joins random ones of N subtrees, sometimes several at once, until one is left. */
static hu_order *
random_tree(uint64_t seed, size_t n, int fused)
{
	hu_order *x[64];
	uint64_t draw = 0;

	for (size_t i = 0; i < n; i++)
		x[i] = hu_order_leaf(i);
	while (n > 1) {
		hu_random r = hu_random_at(seed, 3, 0, draw++);
		size_t i = r.w[0] % n, children = fused && n > 2 && r.w[1] % 4 == 0 ? 3 + r.w[2] % 6 : 2;
		hu_order *a = x[i], *o;
		x[i] = x[--n];
		i = r.w[3] % n;
		o = hu_order_node(a, x[i]);
		for (size_t k = 2; k < children && n > 1; k++) {
			x[i] = x[--n];
			i = hu_random_at(seed, 3, 0, draw++).w[0] % n;
			hu_order_add(o, x[i]);
		}
		x[i] = o;
	}
	return x[0];
}

static void
test_random(hu_format_id term, hu_format_id acc, int products, int fused)
{
	int wrong = 0, most = 0;

	for (uint64_t seed = 0; seed < 150; seed++) {
		size_t n = 1 + seed % 40, sums;
		machine m = { random_tree(seed, n, fused), hu_format_of(acc), 24 };
		double big, unit;
		hu_order *o;
		if (hu_reveal_masks(hu_format_of(term), products, m.f, n, &big, &unit) != HU_OK)
			bail_out("%s", hu_reason());
		if (hu_reveal(&o, sum_tree, &m, n, big, unit, &sums) != HU_OK ||
			hu_order_hash(o) != hu_order_hash(m.o)) {
			hu_str a, b;
			hu_str_init(&a);
			hu_str_init(&b);
			hu_reveal_nested(m.o, &a);
			if (o)
				hu_reveal_nested(o, &b);
			diag("seed %d: %s, revealed %s", (int)seed, a.s, b.s);
			hu_str_release(&a);
			hu_str_release(&b);
			wrong++;
		}
		most = (int)sums > most ? (int)sums : most;
		hu_order_free(o);
		hu_order_free((hu_order *)m.o);
	}
	ok(!wrong, "150 random trees of up to 40 terms, %s in %s%s: %d wrong, at most %d sums asked for",
		products ? "products" : "values", hu_format_name(acc), fused ? ", some nodes fused" : "", wrong, most);
}

typedef struct model {
	hu_sum s;
	size_t part;
} model;

static double
sum_model(void *to, const double *x, size_t n)
{
	model *m = to;
	double *a = malloc(3 * n * sizeof *a), *b = a + n, s;

	for (size_t k = 0; k < n; k++) {
		int e = ilogb(x[k]), half = e / 2;
		a[k] = ldexp(x[k] < 0 ? -1 : 1, half);
		b[k] = ldexp(1, e - half);
	}
	s = hu_parts_run(a, b, n, m->part, m->s, NULL, b + n, NULL);
	free(a);
	return s;
}

static void
test_model(const char *name, hu_format_id in, size_t part)
{
	static const size_t sizes[] = { 2, 3, 4, 5, 16, 17, 31, 32, 33, 64, 65, 100, 200 };
	model m = { .part = part };
	int wrong = 0, checked = 0;

	if (hu_sum_parse(name, &m.s) != HU_OK || hu_sum_resolve(&m.s, in, in, m.s.out) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = sizes[i];
		double big, unit;
		hu_order *o, *want = hu_order_of_model(m.s, n, part);
		if (hu_reveal_masks(hu_format_of(in), 1, hu_format_of(m.s.acc), n, &big, &unit) == HU_OK) {
			hu_status st = hu_reveal(&o, sum_model, &m, n, big, unit, NULL);
			checked++;
			wrong += st != HU_OK || hu_order_hash(o) != hu_order_hash(want) || want->leaves != n;
			if (st == HU_OK)
				hu_order_free(o);
		}
		hu_order_free(want);
	}
	ok(!wrong && checked >= 8, "%s%s: its documented order at %d sizes", name, part ? ", in parts" : "", checked);
}

static void
test_none(const char *name)
{
	model m = { .part = 0 };
	double big, unit;
	hu_order *o;

	hu_sum_parse(name, &m.s);
	hu_reveal_masks(hu_format_of(HU_FP32), 1, hu_format_of(m.s.acc), 20, &big, &unit);
	ok(hu_reveal(&o, sum_model, &m, 20, big, unit, NULL) == HU_EUNABLE && !o && strstr(hu_reason(), "no tree"),
		"%s: compensated, no tree", name);
}

static double
sum_exact(void *to, const double *x, size_t n)
{
	double s = 0;

	(void)to;
	for (size_t i = 0; i < n; i++)
		s += x[i] == 0x1p15 || x[i] == -0x1p15 ? 0 : x[i];
	return s;
}

static void
test_limits(void)
{
	double big, unit;
	hu_order *o;

	is_int(hu_reveal_masks(hu_format_of(HU_FP32), 0, hu_format_of(HU_BF16), 257, &big, &unit), HU_EUNABLE,
		"bf16 counts 256 units and no more");
	is_int(hu_reveal_masks(hu_format_of(HU_FP32), 0, hu_format_of(HU_BF16), 256, &big, &unit), HU_OK, "but those");
	is_int(hu_reveal_masks(hu_format_of(HU_E2M1), 1, hu_format_of(HU_FP32), 8, &big, &unit), HU_EUNABLE,
		"products of e2m1 leave an fp32 sum no room");
	is_int(hu_reveal_masks(hu_format_of(HU_FP16), 0, hu_format_of(HU_FP16), 2048, &big, &unit), HU_OK,
		"fp16: 2048 terms");
	ok(big == 0x1p15 && unit * 2048 <= 0x1p15 * 0x1p-13, "M = 2^15 and small units");
	ok(hu_reveal(&o, sum_exact, NULL, 9, 0x1p15, 1, NULL) == HU_EUNABLE, "an exact sum has no tree");
}

/* FPRev, section 1. */
static void
test_example(void)
{
	hu_format f = hu_format_of(HU_FP16);

	ok(hu_acc_add(hu_acc_add(0.5, 512, f, HU_RNE, NULL, 0, 0), 512.5, f, HU_RNE, NULL, 0, 0) == 1025,
		"fp16: (0.5 + 512) + 512.5 = 1025");
	ok(hu_acc_add(0.5, hu_acc_add(512, 512.5, f, HU_RNE, NULL, 0, 0), f, HU_RNE, NULL, 0, 0) == 1024,
		"fp16: 0.5 + (512 + 512.5) = 1024");
}

static void
is_order(hu_order *o, const char *text, const char *names)
{
	hu_str s, n;
	int ours;

	hu_str_init(&s);
	hu_str_init(&n);
	hu_reveal_text(o, &s);
	if (text)
		is_text(s.s, text, "%zu terms as text", o->leaves);
	else
		diag("%s", s.s);
	hu_reveal_names(hu_order_hash(o), o->leaves, &n, &ours);
	ok(names ? strstr(n.s, names) != NULL : !n.len, "known as %s", n.s);
	hu_str_release(&s);
	hu_str_release(&n);
	hu_order_free(o);
}

static void
test_text(void)
{
	hu_order *o = hu_order_node(
		hu_order_node(hu_order_leaf(2), hu_order_leaf(0)), hu_order_node(hu_order_leaf(1), hu_order_leaf(3)));
	hu_order *down = NULL;
	hu_str s;

	hu_str_init(&s);
	hu_reveal_nested(o, &s);
	is_text(s.s, "((1 3) (2 4))", "every term");
	hu_str_release(&s);
	is_order(o, "pair(seq(1, 3), +1)", "the fixed tree");
	is_order(hu_order_lanes(64, 8, 0), "pair(pair(pair(seq(1..57 by 8), +4), +2), +1)",
		"8 strided lanes folded by halves");
	for (size_t i = 10; i-- > 0;)
		down = hu_order_node(down, hu_order_leaf(i));
	is_order(down, "seq(10..1)", NULL);
	is_order(hu_order_ascending(32), "seq(1..32)", "fma, sequential");
	is_order(hu_order_pairwise(32), "pairs(1..32)", "pairwise");
	is_order(hu_order_slices(32, 8, 0), "seq(seq(1..8) x4 +8)", "chunk:8, promote:8, splitk:4");
	is_order(hu_order_slices(32, 12, 1), "seq(1..12, seq(13..22) x2 +10)", "openblas:12");
	is_order(hu_order_slices(1024, 448, 1), "seq(1..448, seq(449..736) x2 +288)", "openblas:448");
	is_order(hu_order_lanes(256, 32, 4096), "pair(pair(pair(pair(pair(seq(1..225 by 32), +16), +8), +4), +2), +1)",
		"the fixed tree");
	is_order(hu_order_blocks(32, 16), "fused(1..16; x2 +16)", "tc:hopper,in=fp16|bf16");
	is_order(hu_order_blocks(32, 4), "fused(1..4; x8 +4)", "tc:volta");
	is_order(hu_order_ranks((hu_sum){ .id = HU_SUM_RING, .n = 7 }, 40), NULL, "ring:7, hier:7:6");
	is_order(hu_order_ranks((hu_sum){ .id = HU_SUM_TREE, .n = 6 }, 40), NULL, "tree:6, hier:6:2");
	is_order(hu_order_ranks((hu_sum){ .id = HU_SUM_HALVING, .n = 4 }, 40), "pair(pair(seq(1..10), +20), +10)",
		"halving:4");
	is_order(hu_order_ranks((hu_sum){ .id = HU_SUM_HIER, .n = 8, .node = 4 }, 1024), NULL, "hier:8:4");
	is_order(hu_order_half_blocks(32, 16), "fused(fused([1, 2] x8 +4), [3, 4] x8 +4)", "tc:hopper,in=e4m3|e5m2");
}

/* Sums of the hash are no tree's own: moving one term changes it, and so does fusing. */
static void
test_hash(void)
{
	hu_order *a = hu_order_ascending(5), *b = hu_order_slices(5, 3, 0), *c = hu_order_blocks(5, 5),
		 *d = hu_order_node(hu_order_leaf(1), hu_order_leaf(0)),
		 *e = hu_order_node(hu_order_leaf(0), hu_order_leaf(1));

	ok(hu_order_hash(a) != hu_order_hash(b) && hu_order_hash(a) != hu_order_hash(c) &&
			hu_order_hash(b) != hu_order_hash(c),
		"different trees, different hashes");
	is_bits64(hu_order_hash(d), hu_order_hash(e), "siblings have no order");
	is_int((long long)hu_order_meet(a, 0, 3), 4, "terms meet where they should");
	hu_order_free(a);
	hu_order_free(b);
	hu_order_free(c);
	hu_order_free(d);
	hu_order_free(e);
}

int
main(void)
{
	test_random(HU_FP32, HU_FP32, 0, 0);
	test_random(HU_FP16, HU_FP16, 0, 0);
	test_random(HU_BF16, HU_BF16, 0, 0);
	test_random(HU_FP16, HU_FP32, 1, 1);
	test_random(HU_FP32, HU_FP32, 0, 1);
	test_model("fma", HU_FP32, 0);
	test_model("fma,acc=fp64", HU_FP64, 0);
	test_model("fma,acc=fp16", HU_FP16, 0);
	test_model("sequential", HU_FP16, 0);
	test_model("chunk:8", HU_FP32, 0);
	test_model("chunk:7", HU_FP32, 0);
	test_model("pairwise", HU_FP32, 0);
	test_model("pairwise,acc=bf16", HU_BF16, 0);
	test_model("splitk:4", HU_FP32, 0);
	test_model("openblas:6", HU_FP32, 0);
	test_model("promote:8,acc=fp16", HU_FP16, 0);
	test_model("ring:64", HU_FP32, 0);
	test_model("tree:64", HU_FP32, 0);
	test_model("tree:13,acc=fp16", HU_FP16, 0);
	test_model("halving:200", HU_FP32, 0);
	test_model("halving:29", HU_FP32, 0);
	test_model("hier:40:8", HU_FP32, 0);
	test_model("fma", HU_FP32, 4);
	test_model("chunk:3", HU_FP32, 6);
	test_model("promote:8,acc=fp16", HU_FP32, 0);
	test_model("kahan", HU_FP32, 0);
	test_model("fabsum:8", HU_FP32, 0);
	test_model("tc:volta", HU_FP16, 0);
	test_model("tc:ampere", HU_BF16, 0);
	test_model("tc:ampere", HU_TF32, 0);
	test_model("tc:hopper", HU_FP16, 0);
	test_model("tc:hopper,out=fp16", HU_FP16, 0);
	test_model("tc:ada", HU_E4M3, 0);
	test_model("tc:hopper,promote=32", HU_FP16, 0);
	test_model("tc:hopper,path=mma,promote=32", HU_E4M3, 0);
	test_model("tc:hopper,path=wgmma", HU_E5M2, 0);
	test_model("tc:hopper,path=mma", HU_E4M3, 0);
	test_none("neumaier");
	test_none("dot2");
	test_limits();
	test_example();
	test_text();
	test_hash();
	return done_testing();
}
