/* SPDX-License-Identifier: Apache-2.0
   Each operator's kernels against its emulation, bit for bit: the op table's own cases in
   several formats, rounding modes and ranges of values, on every side there is; on the host under
   several orders of threads. An operator that promises bits in every way is computed with the library asked for, which
   must change nothing. Each case meets all main mixes of formats and a third of the others, another third than its
   neighbours do; with HALFULP_EXPENSIVE=yes (x-cuda-op.sh) it meets all. Arguments: only these operators. */
#include "cuda/device/device.h"
#include "cuda/exec/machine.h"
#include "lib/base/hash.h"
#include "lib/number/round.h"
#include "t/cuda/cuda-sides.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct mix {
	const char *in, *compute, *out;
	hu_mode mode;
	int flags, levels;
} mix;

static const mix mixes[] = {
	{ "fp32", "fp32", "fp32", HU_RNE, 0, LEVELS },
	{ "fp16", "fp32", "fp16", HU_RNE, 0, LEVELS },
	{ "bf16", "fp32", "bf16", HU_RNE, 0, LEVELS },
	{ "fp16", "fp16", "fp16", HU_RNE, 0, LEVELS },
	{ "bf16", "bf16", "bf16", HU_RNE, 0, 2 },
	{ "fp64", "fp64", "fp64", HU_RNE, 0, LEVELS },
	{ "fp32", "fp32", "e5m2", HU_RNE, HU_SATURATE, LEVELS },
	{ "e4m3", "fp32", "bf16", HU_SR, 0, 2 },
	{ "fp32", "fp32", "fp16", HU_SR, 0, LEVELS },
	{ "tf32", "fp32", "tf32", HU_RZ, 0, 2 },
	{ "e6m9", "fp32", "e6m9", HU_RU, HU_FTZ, 2 },
	{ "fp32", "fp64", "fp32", HU_RNA, 0, 2 },
	{ "fp64", "fp32", "fp16", HU_RNE, 0, 2 },
	/* arithmetic that cuda/element/short.h does by hu_rne: no -0, no NaN, no sign, no zero, flushing, saturating,
	   too wide, too precise */
	{ "e4m3fnuz", "e4m3fnuz", "e4m3fnuz", HU_RNE, 0, LEVELS },
	{ "fp32", "binary8p3", "binary8p3", HU_RNE, HU_SATURATE, 2 },
	{ "e2m1", "e3m2", "fp16", HU_SR, 0, 2 },
	{ "fp32", "binary8p4u", "fp32", HU_RNE, 0, 2 },
	{ "e5m2ftz", "e5m2ftz", "e5m2ftz", HU_RNE, 0, LEVELS },
	{ "fp32", "bf16nosub", "e5m2sat", HU_RNE, 0, 3 },
	{ "fp16sat", "fp16sat", "fp16sat", HU_RNE, 0, LEVELS },
	{ "fp32", "e11m30", "fp32", HU_RNE, 0, 3 },
	{ "fp64", "e8m27", "fp64", HU_RNE, 0, 2 },
	{ "e4m3", "e4m3ieee", "e3m4", HU_RD, 0, 2 },
	{ "e5m2fnuz", "tf32", "binary8p5", HU_RNE, 0, 2 },
};

static size_t
differing(const hu_tensor *got, const hu_tensor *want, size_t *first)
{
	size_t n = 0;

	for (size_t i = want->n; i-- > 0;)
		if (hu_bits64(hu_get(got, i)) != hu_bits64(hu_get(want, i))) {
			*first = i;
			n++;
		}
	return n;
}

/* Both ways; 1 where every output agrees, -1 where the operator itself refuses. */
static int
agrees(const hu_side *side, const op_row *row, const mix *m, int level, uint64_t seed)
{
	op_case k;
	hu_env env = { seed, 3 };
	int same = 1;

	if (op_case_init(&k, row, format(m->in), format(m->compute), format(m->out), level, seed) != HU_OK)
		bail_out("%s: %s", row->op, hu_reason());
	k.c.mode = m->mode;
	k.c.flags = m->flags;
	hu_status st = op_case_emulate(&k, &env);
	hu_tensor got[8], *pgot[8];
	for (int j = 0; j < k.c.nout; j++) {
		got[j] = op_tensor(k.out[j].format, k.out[j].shape);
		pgot[j] = &got[j];
		memset(got[j].data, 0x5a, got[j].n * hu_element_size(got[j].format));
	}
	hu_shim_seed(seed);
	hu_gemm_way way = k.c.op->parity == HU_PARITY_EXACT ? HU_GEMM_CUBLAS : HU_GEMM_AUTO;
	hu_status own = hu_device_call_by(side, way, NULL, &k.c, k.pin, pgot, &env);
	if (st != HU_OK)
		same = own == st ? -1 : 0;
	else if (hu_attr_num(&k.c, "groups", 1) != 1) /* the kernels compute one group: they say so by name */
		same = own == HU_EUNABLE && strstr(hu_reason(), row->op) && strstr(hu_reason(), "groups=") ? -1 : 0;
	else if (!strcmp(row->op, "conv2d") && hu_attr_num(&k.c, "order", 0) != 0) /* nor another order of taps */
		same = own == HU_EUNABLE && strstr(hu_reason(), row->op) && strstr(hu_reason(), "order=") ? -1 : 0;
	else if (hu_op_takes(k.c.op, "block") && !hu_attr_num(&k.c, "block", 0)) /* nor attention without blocks */
		same = own == HU_EUNABLE && strstr(hu_reason(), row->op) && strstr(hu_reason(), "block=") ? -1 : 0;
	else if (own != HU_OK) {
		diag("%s %s: %s", row->op, row->attrs, hu_reason());
		same = 0;
	}
	for (int j = 0; j < k.c.nout && same == 1; j++) {
		size_t at = 0, n = differing(&got[j], &k.out[j], &at);
		if (!n)
			continue;
		same = 0;
		diag("%s %s, %s in %s to %s, level %d: %zu of %zu elements of output %d differ, first %zu: %a, not %a",
			row->op, row->attrs, m->in, m->compute, m->out, level, n, got[j].n, j, at, hu_get(&got[j], at),
			hu_get(&k.out[j], at));
	}
	for (int j = 0; j < k.c.nout; j++)
		free(got[j].data);
	op_case_release(&k);
	return same;
}

static char **only; /* names from the command line, NULL at the end */

static int
wanted(const char *op)
{
	int found = !*only;

	for (char **name = only; *name && !found; name++)
		found = !strcmp(*name, op);
	return found;
}

enum { MAIN_MIXES = 4, OF = 3 };

static void
test_side(const hu_side *side)
{
	const char *asked = getenv("HALFULP_EXPENSIVE");
	const op_row *row;
	int ran = 0, whole = *only || (asked && !strcmp(asked, "yes"));

	for (int i = 0; (row = op_row_at(i)); i++) {
		if (!wanted(row->op))
			continue;
		if (!hu_machine_kernel(side, hu_op_find(row->op))) {
			ok(hu_op_find(row->op)->parity == HU_PARITY_NONE,
				"%s: %s has a kernel, a file cuda/kernel/%s.cu or a row of one, or its row says that "
				"it has none",
				side->name, row->op, row->op);
			continue;
		}
		int good = 0, all = 0;
		for (size_t j = 0; j < sizeof mixes / sizeof *mixes; j++)
			for (int level = 0; level < mixes[j].levels; level++) {
				if (!whole && j >= MAIN_MIXES && (i + (int)j) % OF)
					continue;
				all++;
				int same = agrees(
					side, row, &mixes[j], level, (uint64_t)(i * 100 + (int)j * 10 + level + 1));
				good += same != 0;
				ran += same == 1;
			}
		/* every row of formats.def alone */
		for (int f = 0; f < HU_FORMATS; f++) {
			if (!whole && (i + f) % OF)
				continue;
			all++;
			const char *name = hu_format_name((hu_format_id)f);
			mix own = { name, name, name, HU_RNE, 0, 1 };
			int same = agrees(side, row, &own, LEVEL_SPREAD, (uint64_t)(i * 100 + f));
			good += same != 0;
			ran += same == 1;
		}
		ok(good == all, "%s: %s %s: the emulation's bits in %d of %d", side->name, row->op, row->attrs, good,
			all);
	}
	ok(ran > 0, "%s: %d calls", side->name, ran);
}

/* In a format without 0 a sum shows how many additions it was made of, those of lanes without a term too: e8m0 rounds
   their 0 to its smallest number. Many draws of values, of which few are small enough to show it. */
static void
test_without_zero(const hu_side *side)
{
	enum { DRAWS = 12 };
	static const mix own = { "e8m0", "e8m0", "e8m0", HU_RNE, 0, 1 };
	const op_row *row;
	int good = 0, all = 0;

	for (int i = 0; (row = op_row_at(i)); i++) {
		if (!wanted(row->op) || !hu_machine_kernel(side, hu_op_find(row->op)))
			continue;
		for (uint64_t draw = 0; draw < DRAWS; draw++, all++)
			good += agrees(side, row, &own, LEVEL_SPREAD, 1000 + draw) != 0;
	}
	is_int(good, all, "%s: %d draws of each operator's operands in a format without 0", side->name, (int)DRAWS);
}

/* A scaled cast finds the largest magnitude wherever it lies, alone or among the elements that are read at once. */
static void
test_largest(const hu_side *side)
{
	enum { N = 43 };
	op_row row = { "cast", "scaled=1", "x:43", "x f" };
	static const char *const formats[] = { "fp32", "bf16", "fp16", "e5m2", "fp64" };
	int good = 0, all = 0;

	for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
		for (size_t at = 0; at < N; at++, all++) {
			op_case k;
			hu_env env = { 1, 3 };
			if (op_case_init(&k, &row, format(formats[f]), HU_FP32, format("e4m3"), LEVEL_MILD, at) !=
				HU_OK)
				bail_out("%s", hu_reason());
			for (size_t i = 0; i < N; i++)
				hu_put(&k.in[0], i, i == at ? -1024 : 1);
			hu_tensor got[2] = { op_tensor(k.out[0].format, k.out[0].shape),
				op_tensor(k.out[1].format, k.out[1].shape) },
				  *pgot[2] = { &got[0], &got[1] };
			size_t first;
			good += op_case_emulate(&k, &env) == HU_OK &&
				hu_device_call(side, &k.c, k.pin, pgot, &env) == HU_OK &&
				!differing(&got[0], &k.out[0], &first) && !differing(&got[1], &k.out[1], &first);
			free(got[0].data);
			free(got[1].data);
			op_case_release(&k);
		}
	is_int(good, all, "%s: the largest magnitude of a scaled cast is found at each of %d places in %d formats",
		side->name, (int)N, (int)(sizeof formats / sizeof *formats));
}

/* A loss whose label is none is refused, by the device as by the CPU. */
static void
test_labels(const hu_side *side)
{
	static const struct {
		op_row row;
		double bad;
	} cases[] = {
		{ { "softmax_xent", "", "x:9x10 L:9 W:9", "x c" }, 10 },
		{ { "softmax_xent", "", "x:9x10 L:9 W:9", "x c" }, -1 },
		{ { "softmax_xent", "", "x:9x10 L:9 W:9", "x c" }, 0.5 },
		{ { "sigmoid_xent", "", "x:70 B:70 W:70", "x c" }, 2 },
		{ { "sigmoid_xent", "", "x:70 B:70 W:70", "x c" }, -1 },
		{ { "sigmoid_xent", "", "x:70 B:70 W:70", "x c" }, 0.5 },
		{ { "sigmoid_xent", "", "x:70 B:70 W:70", "x c" }, NAN },
	};
	int good = 0, all = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		op_case k;
		hu_env env = { 1, 3 };
		if (!wanted(cases[i].row.op))
			continue;
		all++;
		if (op_case_init(&k, &cases[i].row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1) != HU_OK)
			bail_out("%s", hu_reason());
		hu_tensor got[2] = { op_tensor(k.out[0].format, k.out[0].shape),
			op_tensor(k.out[1].format, k.out[1].shape) },
			  *pgot[2] = { &got[0], &got[1] };
		hu_put(&k.in[1], 8, cases[i].bad);
		good += op_case_emulate(&k, &env) == HU_EINVAL &&
			hu_device_call(side, &k.c, k.pin, pgot, &env) == HU_EINVAL &&
			!strncmp(hu_reason(), k.c.op->name, strlen(k.c.op->name));
		free(got[0].data);
		free(got[1].data);
		op_case_release(&k);
	}
	if (all)
		is_int(good, all, "%s: each of %d labels that are none is refused", side->name, all);
}

static void
test_all(const hu_side *side)
{
	test_side(side);
	test_labels(side);
	if (wanted("cast"))
		test_largest(side);
	test_without_zero(side);
}

int
main(int argc, char **argv)
{
	only = argv + (argc > 0);
	on_each_side(test_all, NULL);
	return done_testing();
}
