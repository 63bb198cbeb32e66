/* SPDX-License-Identifier: Apache-2.0
   gather and gather_dx with many indices: tables of one row to more than two digits of the sort by index, indices that
   name all rows, few or one, from either end, in rows of every width of access; and indices that name none, which the
   device reports and the CPU refuses by itself. */
#include "lib/number/philox.h"
#include "t/cuda/cuda-sides.h"

#include <math.h>
#include <stdio.h>

enum { EVEN, FEW, ONE, SPREADS };

typedef struct table { unsigned rows, named, inner; } table;

/* Index i of a table, which every format of a test holds. */
static double
index_of(const table *t, int spread, size_t i)
{
	hu_random r = hu_random_at(7, (uint32_t)spread, t->rows, i);
	uint32_t rows = spread == FEW && t->rows > 3 ? 3 : t->rows, row = spread == ONE ? t->rows - 1 : r.w[0] % rows;

	return (double)row - (r.w[1] & 1 ? t->rows : 0);
}

/* gather's case, or gather_dx's, with the indices in place. */
static void
prepare(op_case *k, int gradient, const table *t, int spread, const char *f, uint64_t seed)
{
	char in[96];
	op_row row = { gradient ? "gather_dx" : "gather", "", in, "x" };

	if (gradient)
		snprintf(in, sizeof in, "x:%ux%u L:%u x:%ux%u", t->named, t->inner, t->named, t->rows, t->inner);
	else
		snprintf(in, sizeof in, "x:%ux%u L:%u", t->rows, t->inner, t->named);
	if (op_case_init(k, &row, format(f), HU_FP32, format(f), LEVEL_SPECIAL, seed) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < k->in[1].n; i++)
		hu_put(&k->in[1], i, index_of(t, spread, i));
}

static int
agrees(const hu_side *side, op_case *k, uint64_t seed)
{
	hu_env env = { seed, 3 };
	hu_tensor got = op_tensor(k->out[0].format, k->out[0].shape), *out = &got;
	size_t differ = 0;

	hu_shim_seed(seed);
	int ran = op_case_emulate(k, &env) == HU_OK && hu_device_call(side, &k->c, k->pin, &out, &env) == HU_OK;
	for (size_t i = 0; i < got.n && ran; i++)
		differ += hu_bits64(hu_get(&got, i)) != hu_bits64(hu_get(&k->out[0], i));
	if (!ran || differ)
		diag("%s: %zu of %zu differ: %s", k->c.op->name, differ, got.n, ran ? "" : hu_reason());
	free(got.data);
	return ran && !differ;
}

static void
test_tables(const hu_side *side)
{
	static const table tables[] = { { 1, 1, 1 }, { 1, 45, 4 }, { 5, 40, 8 }, { 256, 41, 3 }, { 257, 90, 4 },
		{ 300, 700, 8 }, { 70000, 120, 1 }, { 40, 500, 16 } };
	static const char *const formats[] = { "fp32", "fp16", "bf16", "e4m3", "fp64" };

	for (int gradient = 0; gradient < 2; gradient++) {
		int good = 0, all = 0;
		for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
			for (int spread = 0; spread < SPREADS; spread++, all++) {
				op_case k;
				size_t f = (i + (size_t)spread) % (sizeof formats / sizeof *formats);
				prepare(&k, gradient, &tables[i], spread, formats[f], (uint64_t)all + 1);
				good += agrees(side, &k, (uint64_t)all + 1);
				op_case_release(&k);
			}
		is_int(good, all, "%s: %s: the emulation's bits in %d tables", side->name,
			gradient ? "gather_dx" : "gather", all);
	}
}

static void
test_refused(const hu_side *side)
{
	const table t = { 300, 90, 4 };
	const double bad[] = { 300, -301, 0.5, -0.5, NAN, INFINITY, -INFINITY, 4294967296., -2147483649., 1e300 };

	for (int gradient = 0; gradient < 2; gradient++) {
		int good = 0, all = 0;
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++, all++) {
			op_case k;
			hu_env env = { 1, 3 };
			prepare(&k, gradient, &t, EVEN, "fp32", 1);
			hu_tensor got = op_tensor(k.out[0].format, k.out[0].shape), *out = &got;
			hu_put(&k.in[1], 17 * i % t.named, bad[i]);
			good += op_case_emulate(&k, &env) == HU_EINVAL &&
				hu_device_call(side, &k.c, k.pin, &out, &env) == HU_EINVAL &&
				strstr(hu_reason(), "gather: an index is none of the axis' elements");
			free(got.data);
			op_case_release(&k);
		}
		is_int(good, all, "%s: %s: each of %d indices that name no element is refused", side->name,
			gradient ? "gather_dx" : "gather", all);
	}
}

static void
test_all(const hu_side *side)
{
	test_tables(side);
	test_refused(side);
}

int
main(void)
{
	on_each_side(test_all, NULL);
	return done_testing();
}
