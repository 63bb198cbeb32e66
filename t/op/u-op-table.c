/* SPDX-License-Identifier: Apache-2.0
   Every row of ops.def, over the cases of op-cases.def: what is emulated lies within
   the proven bound of the exact reference, is a value of its format with the one NaN,
   is the same bits for any number of threads and any instruction set, and shapes
   that do not fit are refused. A row without a case is a failure. */
#include "t/op/op-judge.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { hu_format_id in, compute, out;
} combos[] = {
	{ HU_FP32, HU_FP32, HU_FP32 },
	{ HU_FP16, HU_FP32, HU_FP16 },
	{ HU_BF16, HU_FP32, HU_BF16 },
	{ HU_FP64, HU_FP64, HU_FP64 },
	{ HU_FP16, HU_FP16, HU_FP16 },
	{ HU_FP32, HU_BF16, HU_FP32 },
	{ HU_FP32, HU_FP32, HU_E4M3 },
	{ HU_FP64, HU_FP32, HU_FP32 },
};
enum { COMBOS = sizeof combos / sizeof *combos };

static const hu_env env = { 20240229, 7 };

/* Elements that are no values of their format, or a NaN of another code. */
static size_t
strangers(const hu_tensor *t)
{
	hu_format f = hu_format_of(t->format);
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		double x = hu_get(t, i);
		if (isnan(x))
			n += hu_is_wide(t->format) ? hu_bits64(x) != 0x7ff8000000000000u
						   : hu_bits32(((float *)t->data)[i]) != 0x7fc00000u;
		else
			n += hu_bits64(hu_round(x, f, HU_RZ, 0, 0)) != hu_bits64(x);
	}
	return n;
}

/* All outputs of one drawing; WHAT says where the first fault is. */
static hu_status
judge_level(const op_row *row, int combo, hu_mode mode, int level, verdict *v)
{
	op_case k;
	size_t infinite = v->infinite;
	hu_status st = op_case_init(
		&k, row, combos[combo].in, combos[combo].compute, combos[combo].out, level, 100 + (uint64_t)level);

	k.c.mode = mode;
	if (st == HU_OK)
		st = op_case_emulate(&k, &env);
	for (int j = 0; j < k.c.nout && st == HU_OK; j++) {
		size_t bad = v->over + v->strange;
		st = judge_output(&k, j, v);
		v->strange += strangers(&k.out[j]);
		if (!bad && v->over + v->strange)
			snprintf(v->what, sizeof v->what, "level %d, output %d", level, j);
	}
	if (st == HU_OK && level == LEVEL_MILD && v->infinite != infinite && combos[combo].out != HU_E4M3)
		st = hu_fail(HU_EINVAL, "no finite bound for %zu of %zu results of ordinary inputs",
			v->infinite - infinite, v->judged);
	op_case_release(&k);
	return st;
}

static void
within_bounds(const op_row *row, int combo, hu_mode mode)
{
	verdict v;
	hu_status st = HU_OK;

	memset(&v, 0, sizeof v);
	mpfr_init2(v.exact, 256);
	for (int level = 0; level < LEVELS && st == HU_OK && !v.over && !v.strange; level++)
		st = judge_level(row, combo, mode, level, &v);
	if (!ok(st == HU_OK && !v.over && !v.strange && v.judged,
		    "%s (%s) %s-%s-%s %s: within its bound (worst %.3f of it, %zu of %zu without one)", row->op,
		    row->attrs, hu_format_name(combos[combo].in), hu_format_name(combos[combo].compute),
		    hu_format_name(combos[combo].out), hu_mode_name(mode), v.worst, v.infinite, v.judged)) {
		char *text;
		mpfr_asprintf(&text, "%Ra", v.exact);
		if (st != HU_OK)
			diag("%s", hu_reason());
		diag("%s; %zu not values of their format; %zu beyond the bound, the first at %zu: %a, exact %.60s, "
		     "bound %a",
			v.what, v.strange, v.over, v.at, v.got, text, v.bound);
		mpfr_free_str(text);
	}
	mpfr_clear(v.exact);
}

/* Everything the outputs hold, one after another. */
static unsigned char *
bits_of(const op_case *k, size_t *size)
{
	unsigned char *all = NULL;

	*size = 0;
	for (int j = 0; j < k->c.nout; j++) {
		size_t n = k->out[j].n * hu_element_size(k->out[j].format);
		all = hu_xrealloc(all, *size + n + 1);
		memcpy(all + *size, k->out[j].data, n);
		*size += n;
	}
	return all;
}

static void
same_bits(const op_row *row, int combo)
{
	int bad = 0;
	char what[64] = "";

	for (int level = LEVEL_SPREAD; level <= LEVEL_SPECIAL && !bad; level += 2) {
		op_case k;
		unsigned char *first = NULL;
		size_t size = 0;
		if (op_case_init(&k, row, combos[combo].in, combos[combo].compute, combos[combo].out, level, 5) !=
			HU_OK)
			bad = 1;
		for (int simd = 0; simd < HU_SIMDS && !bad; simd++) {
			if (!hu_simd_has((hu_simd)simd))
				continue;
			hu_simd_set(hu_simd_name_of((hu_simd)simd));
			for (int threads = 1; threads <= 3 && !bad; threads++) {
				size_t n;
				hu_threads_set(threads);
				k.c.mode = level == LEVEL_SPREAD ? HU_SR : HU_RNE;
				bad = op_case_emulate(&k, &env) != HU_OK;
				unsigned char *got = bits_of(&k, &n);
				if (!first) {
					first = got;
					size = n;
					continue;
				}
				if (n != size || memcmp(got, first, n)) {
					bad = 1;
					snprintf(what, sizeof what, "%s, %d threads", hu_simd_name(), threads);
				}
				free(got);
			}
		}
		free(first);
		op_case_release(&k);
	}
	hu_simd_set("auto");
	hu_threads_set(0);
	if (!ok(!bad, "%s (%s) %s: the same bits for every number of threads and instruction set", row->op, row->attrs,
		    hu_format_name(combos[combo].in)))
		diag("%s", what);
}

/* A given output shape that is not the operator's, and an operand of another shape. */
static void
refuses(const op_row *row)
{
	op_case k;
	hu_shape in[16], out[8];
	int bad = 0;

	if (op_case_init(&k, row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 3) != HU_OK) {
		ok(0, "%s (%s): %s", row->op, row->attrs, hu_reason());
		op_case_release(&k);
		return;
	}
	for (int j = 0; j < k.c.nin; j++)
		in[j] = k.in[j].shape;
	for (int j = 0; j < k.c.nout; j++) {
		for (int i = 0; i < k.c.nout; i++)
			out[i] = k.out[i].shape;
		out[j] = hu_shape4(3, 1, 17, 5);
		bad += HU_COLUMN(k.c.op, shape)(&k.c, in, out) != HU_EINVAL;
	}
	ok(!bad, "%s (%s): a given output of another shape is refused", row->op, row->attrs);
	bad = 0;
	for (int j = 1; j < k.c.nin && strcmp(row->op, "finite_check") && strcmp(row->op, "grad_norm"); j++) {
		memcpy(out, k.shape, sizeof out);
		hu_shape keep = in[j];
		in[j] = hu_shape4(2, 19, 1, 23);
		if (!strcmp(row->op, "gather")) /* indices may have any shape, if the output has not too many axes */
			in[j] = (hu_shape){ HU_RANK, { 2, 19, 1, 23, 1, 1 } };
		bad += HU_COLUMN(k.c.op, shape)(&k.c, in, out) != HU_EINVAL;
		in[j] = keep;
	}
	ok(!bad, "%s (%s): an operand of another shape is refused (%d were not)", row->op, row->attrs, bad);
	op_case_release(&k);
}

/* Swamped additions are among the additions, stagnated outputs among the outputs, and the counts do not depend on
   grouping. */
static void
counts(const op_row *row)
{
	op_case k;
	uint64_t additions = 0;
	int bad = 0;

	if (!HU_COLUMN(hu_op_find(row->op), swamping))
		return;
	hu_status st = op_case_init(&k, row, HU_FP16, HU_FP32, HU_FP16, LEVEL_SPREAD, 9);
	for (int j = 0; j < k.c.nout && st == HU_OK; j++) {
		hu_swamp all = { 0, 0, 0, 0 }, one = { 0, 0, 0, 0 };
		size_t n = k.out[j].n < 60 ? k.out[j].n : 60, element[60];
		for (size_t i = 0; i < n && st == HU_OK; i++) {
			element[i] = i;
			st = HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, j, &i, 1, &env, &one);
		}
		if (st == HU_OK)
			st = HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, j, element, n, &env, &all);
		bad += memcmp(&all, &one, sizeof all) || all.swamped > all.additions || all.stagnated > all.outputs ||
		       all.outputs > n;
		additions += all.additions;
	}
	/* a skipped update adds nothing; of a norm the statistics count, not what is normalised */
	int skipped = strstr(row->in, " N") != NULL || (k.c.op->cls == HU_CLASS_NORM && k.c.nout == 1);
	ok(st == HU_OK && !bad && (additions > 0) == !skipped,
		"%s (%s): swamped ones among the %llu additions, the same one element at a time", row->op, row->attrs,
		(unsigned long long)additions);
	op_case_release(&k);
}

/* An update's counts are what swamping() says of every element, in every format and rounding. */
static void
update_counts(const op_row *row, int combo, hu_mode mode, int level)
{
	op_case k;
	hu_swamp want = { 0, 0, 0, 0 };
	hu_update_tally got = { 0, 0 };

	if (!HU_COLUMN(hu_op_find(row->op), updates))
		return;
	hu_status st = op_case_init(&k, row, combos[combo].in, combos[combo].compute, combos[combo].out, level, 9);
	size_t n = k.out[0].n, *element = hu_xmalloc((n + 1) * sizeof *element);
	for (size_t i = 0; i < n; i++) {
		element[i] = i;
		if (i % 3) /* some that keep the weight, which is large beside the gradient */
			hu_put(&k.in[1], i,
				hu_round(hu_get(&k.in[1], i) * 0x1p-20, hu_format_of(k.in[1].format), HU_RNE, 0, 0));
	}
	k.c.mode = mode;
	if (st == HU_OK)
		st = op_case_emulate(&k, &env);
	if (st == HU_OK)
		st = HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, 0, element, n, &env, &want);
	if (st == HU_OK)
		HU_COLUMN(k.c.op, updates)(&k.c, k.pin, &k.out[0], &got);
	ok(st == HU_OK && got.updates == want.additions && got.swamped == want.swamped,
		"%s (%s), %s in %s: %llu of %llu updates swamped, as one by one", row->op, row->attrs,
		hu_format_name(combos[combo].out), hu_format_name(combos[combo].compute),
		(unsigned long long)got.swamped, (unsigned long long)got.updates);
	free(element);
	op_case_release(&k);
}

/* Whether a combination is run: products of fp64 operands have fp64 sums alone, and of the
   long cases, there for threads and blocks, a few formats tell enough. */
static int
applies(const op_row *row, int combo, int large)
{
	if (hu_op_find(row->op)->cls == HU_CLASS_GEMM)
		return combos[combo].in != HU_FP64 || combos[combo].compute == HU_FP64;
	return !large || combo == 0 || combo == 3 || combo == 5;
}

static void
walk(const op_row *row)
{
	const hu_op *op = hu_op_find(row->op);
	op_case k;
	size_t largest = 0;

	if (!ok(op != NULL, "%s is an operator of the table", row->op))
		return;
	if (op_case_init(&k, row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1) == HU_OK)
		for (int j = 0; j < k.c.nin; j++)
			largest = k.in[j].n > largest ? k.in[j].n : largest;
	op_case_release(&k);
	int fixed = !strchr(row->in, 'x') && !strchr(row->out, 'x');
	for (int i = 0; i < (fixed ? 1 : COMBOS); i++)
		if (applies(row, i, largest > 4000))
			within_bounds(row, i, HU_RNE);
	if (op->cls != HU_CLASS_GEMM && largest <= 4000) {
		within_bounds(row, 1, HU_SR);
		within_bounds(row, 2, HU_RD);
	}
	for (int i = 0; i < (fixed ? 1 : COMBOS); i++)
		if (i < 4 || i == 6)
			same_bits(row, i);
	refuses(row);
	counts(row);
	for (int i = 0; i < (HU_COLUMN(op, updates) ? COMBOS : 0); i++)
		update_counts(row, i, i == 1 ? HU_SR : i == 2 ? HU_RD : HU_RNE, i % 2 ? LEVEL_SPECIAL : LEVEL_SPREAD);
}

/* Each attribute that an operator names has a row of attrs.def, and what is no count, flag, number or word of it is
   refused. */
static void
attributes(const hu_op *op)
{
	static const double strange[] = { 1e30, 2147483648.0, 2.5, -1, INFINITY, NAN };
	char all[256];
	char *save = NULL;

	snprintf(all, sizeof all, "%s", op->attrs ? op->attrs : "");
	for (char *key = strtok_r(all, " ", &save); key; key = strtok_r(NULL, " ", &save)) {
		hu_call c = { .op = op };
		int word = hu_attr_is_word(key), taken = 0;
		hu_attr_set_text(&c, key, "abc");
		int text = hu_attr_check(&c);
		c.nattr = 0;
		hu_attr_set(&c, key, 1);
		int one = hu_attr_check(&c);
		for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
			c.nattr = 0;
			hu_attr_set(&c, key, strange[i]);
			taken += hu_attr_check(&c) == HU_OK;
		}
		ok(word >= 0 && text == HU_EINVAL && (one == HU_OK) == !word && (taken == 0 || taken == 5),
			"%s %s: only a %s is taken", op->name, key,
			word    ? "word that is known"
			: taken ? "number"
				: "whole number");
	}
}

int
main(int argc, char **argv)
{
	for (int i = 0; hu_op_at(i); i++)
		attributes(hu_op_at(i));
	for (int i = 0; hu_op_at(i); i++) {
		int cases = 0;
		for (int r = 0; op_row_at(r); r++)
			cases += !strcmp(op_row_at(r)->op, hu_op_at(i)->name);
		ok(cases > 0 || hu_op_at(i)->role == HU_ROLE_OPAQUE, "%s has cases in t/op/op-cases.def",
			hu_op_at(i)->name);
	}
	for (int r = 0; op_row_at(r); r++)
		if (argc < 2 || !strcmp(argv[1], op_row_at(r)->op))
			walk(op_row_at(r));
	return done_testing();
}
