/* SPDX-License-Identifier: Apache-2.0
   Single outputs of products (emulate_some) against the whole emulation, bit for bit, and their counts
   against swamping(), under every kind of summation model, of operands with infinities, NaN and subnormals too. */
#include "lib/base/mem.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

static const char *const sums[] = { "fma,acc=fp32", "fma,acc=fp16", "sequential,acc=fp32", "sequential,acc=bf16",
	"chunk:7,acc=fp16", "pairwise,acc=fp16", "kahan,acc=bf16", "neumaier,acc=fp16", "dot2,acc=fp16",
	"fabsum:5,acc=fp16", "splitk:3,acc=fp16", "promote:8,acc=fp16", "fma,acc=fp16,mode=SR", "fma,acc=fp16,mode=RZ",
	"chunk:4,acc=e5m2,outer=fp32", "tc:ampere", "tc:hopper", NULL };

/* Every third element of output 0 under SUM; how many differ. */
static size_t
differing(op_case *k, const hu_env *env, hu_swamp *counted)
{
	size_t n = (k->out[0].n + 2) / 3, bad = 0, *element = hu_xmalloc(n * sizeof *element);
	double *value = hu_xmalloc(n * sizeof *value);
	hu_swamp whole = { 0, 0, 0, 0 };

	for (size_t i = 0; i < n; i++)
		element[i] = 3 * i;
	if (HU_COLUMN(k->c.op, emulate_some)(&k->c, k->pin, 0, element, n, env, value, counted) != HU_OK ||
		op_case_emulate(k, env) != HU_OK ||
		HU_COLUMN(k->c.op, swamping)(&k->c, k->pin, 0, element, n, env, &whole) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < n; i++)
		bad += hu_bits64(value[i]) != hu_bits64(hu_get(&k->out[0], element[i]));
	bad += whole.additions != counted->additions || whole.swamped != counted->swamped ||
	       whole.stagnated != counted->stagnated || counted->outputs != n;
	if (HU_COLUMN(k->c.op, emulate_some)(&k->c, k->pin, 0, element, n, env, value, NULL) !=
		HU_OK) /* without counts: the same values */
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < n; i++)
		bad += hu_bits64(value[i]) != hu_bits64(hu_get(&k->out[0], element[i]));
	free(element);
	free(value);
	return bad;
}

static void
row(const op_row *r, hu_format_id in, hu_format_id out, int level)
{
	const hu_env env = { 5, 3 };
	op_case k;

	for (int s = 0; sums[s]; s++) {
		hu_sum sum, settled;
		hu_swamp counted = { 0, 0, 0, 0 };
		if (hu_sum_parse(sums[s], &sum) != HU_OK || op_case_init(&k, r, in, HU_FP32, out, level, 11) != HU_OK)
			bail_out("%s", hu_reason());
		settled = sum;
		if (hu_sum_resolve(&settled, in, in, out) == HU_OK) {
			k.c.sum = sum;
			size_t bad = differing(&k, &env, &counted);
			is_int((long long)bad, 0, "%s %s, %s to %s, level %d, %s: %llu additions", r->op, r->attrs,
				hu_format_name(in), hu_format_name(out), level, sums[s],
				(unsigned long long)counted.additions);
		}
		op_case_release(&k);
	}
}

/* Fused float32 sums, whose counts are made for many outputs at once: all outputs of products that are wide enough, of
   short rows and of sums in parts, and one in so many of them, against the plain version's. */
static const op_row wide[] = {
	{ "matmul", "", "x:9x300 x:300x70", "x" },
	{ "matmul", "ta=1 part=64", "x:300x9 x:300x70", "x" },
	{ "matmul", "tb=1", "x:9x300 x:70x300", "x" },
	{ "matmul", "batch=1", "x:3x7x40 x:3x40x33", "x" },
	{ "matmul", "scaled=1", "x:5x33 x:33x40 S S", "x" },
	{ "conv2d", "padding=1", "x:2x5x6x3 x:3x3x3x70", "x" },
	{ "conv2d_dx", "stride=2 padding=1 height=7 width=6", "x:1x4x3x4 x:3x3x40x4", "x:1x7x6x40" },
	{ "conv2d_dw", "padding=1 kh=3 kw=3 part=16", "x:2x5x6x3 x:2x5x6x40", "x:3x3x3x40" },
	{ NULL, NULL, NULL, NULL },
};

static void
many_at_once(const op_row *r, hu_format_id in, int level, size_t step)
{
	const hu_env env = { 5, 3 };
	hu_swamp plain = { 0, 0, 0, 0 }, many = { 0, 0, 0, 0 };
	op_case k;

	if (op_case_init(&k, r, in, HU_FP32, HU_FP32, level, 13) != HU_OK)
		bail_out("%s", hu_reason());
	k.c.sum = hu_sum_default();
	size_t n = (k.out[0].n + step - 1) / step, *element = hu_xmalloc(n * sizeof *element);
	double *value = hu_xmalloc(n * sizeof *value);
	for (size_t i = 0; i < n; i++)
		element[i] = i * step;
	if (HU_COLUMN(k.c.op, emulate_some)(&k.c, k.pin, 0, element, n, &env, value, &plain) != HU_OK ||
		HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, 0, element, n, &env, &many) != HU_OK)
		bail_out("%s", hu_reason());
	ok(plain.additions > 0 && plain.additions == many.additions && plain.swamped == many.swamped &&
			plain.stagnated == many.stagnated && many.outputs == n,
		"%s %s, %s, level %d: %llu additions of %zu outputs, one in %zu, %llu swamped, %llu sums stagnated",
		r->op, r->attrs, hu_format_name(in), level, (unsigned long long)many.additions, n, step,
		(unsigned long long)many.swamped, (unsigned long long)many.stagnated);
	free(element);
	free(value);
	op_case_release(&k);
}

int
main(void)
{
	static const op_row scaled = { "matmul", "scaled=1", "x:5x33 x:33x4 S S",
		"x" }; /* operands of scaled casts: the result is unscaled */
	int products = 0;

	for (int i = 0; wide[i].op; i++)
		for (int level = LEVEL_MILD; level < LEVELS; level++) {
			many_at_once(&wide[i], HU_FP32, level, 1);
			many_at_once(&wide[i], HU_BF16, level, 1);
			many_at_once(&wide[i], HU_FP32, level, 7);
			many_at_once(&wide[i], HU_BF16, level, 7);
		}
	for (int i = 0; op_row_at(i); i++) {
		const op_row *r = op_row_at(i);
		if (!HU_COLUMN(hu_op_find(r->op), emulate_some))
			continue;
		products++;
		row(r, HU_FP16, HU_FP16, LEVEL_SPREAD);
		row(r, HU_BF16, HU_FP32, LEVEL_MILD);
		row(r, HU_FP32, HU_FP16, LEVEL_SPECIAL);
		row(r, HU_FP16, HU_BF16, LEVEL_RANGE);
	}
	row(&scaled, HU_E4M3, HU_BF16, LEVEL_MILD);
	row(&scaled, HU_FP16, HU_FP32, LEVEL_SPREAD);
	ok(products >= 6, "products, convolutions and their gradients: %d cases", products);
	return done_testing();
}
