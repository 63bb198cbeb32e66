/* SPDX-License-Identifier: Apache-2.0
   What operators compute where bits are settled: in fp32 the order of every sum, ties, skipped updates, special values,
   the finite check, scaled and stochastic casts, the scalars of the step, and which updates count as swamped. */
#include "t/op/op-values.h"

#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"

#include <stdlib.h>
#include <string.h>

static void
test_selection(void)
{
	op_case k = run_in(
		"adamw", "lr=1e-2 beta1=0.9 beta2=0.999 eps=1e-3", "x:50x6 x:50x6 N x:50x6 p:50x6 C", "x 3 4", HU_FP32);

	ok(!memcmp(k.in[0].data, k.out[0].data, 1200) && !memcmp(k.in[3].data, k.out[1].data, 1200) &&
			!memcmp(k.in[4].data, k.out[2].data, 1200),
		"adamw: a step with found_inf changes no bit");
	op_case_release(&k);
	k = run_in(
		"adam", "lr=1e-2 beta1=0.9 beta2=0.999 eps=1e-3", "x:50x6 x:50x6 N x:50x6 p:50x6 C", "x 3 4", HU_FP32);
	ok(!memcmp(k.in[0].data, k.out[0].data, 1200) && !memcmp(k.in[3].data, k.out[1].data, 1200) &&
			!memcmp(k.in[4].data, k.out[2].data, 1200),
		"adam: nor does adam's");
	op_case_release(&k);
	k = run_in("sgd", "lr=1e-2 momentum=0.9", "x:50x6 x:50x6 N x:50x6", "x 3", HU_FP32);
	ok(!memcmp(k.in[0].data, k.out[0].data, 1200) && !memcmp(k.in[3].data, k.out[1].data, 1200),
		"sgd: nor does sgd's");
	op_case_release(&k);
	k = run("adam_clock", "beta1=0.9 beta2=0.999", "C N", "d");
	ok(!memcmp(k.in[0].data, k.out[0].data, 24), "adam_clock: nor does the clock's");
	op_case_release(&k);
}

/* The fixed tree as CONTRACTS has it, on a copy. */
static float
tree(const float *x, size_t n, size_t stride)
{
	float sums[64], lane[32];
	size_t blocks = (n + 4095) / 4096;

	for (size_t b = 0; b < (blocks ? blocks : 1); b++) {
		for (int j = 0; j < 32; j++)
			lane[j] = 0;
		for (size_t i = b * 4096; i < n && i < (b + 1) * 4096; i++)
			lane[i % 32] += x[i * stride];
		for (int width = 16; width; width /= 2)
			for (int j = 0; j < width; j++)
				lane[j] += lane[j + width];
		sums[b] = lane[0];
	}
	return blocks > 1 ? tree(sums, blocks, 1) : sums[0];
}

static void
test_order(void)
{
	op_case k = run_in("bias_db", "", "x:9000x3", "x", HU_FP32);
	const float *x = k.in[0].data, *y = k.out[0].data;
	int same = 1;

	for (size_t c = 0; c < 3; c++)
		same &= y[c] == tree(x + c, 9000, 3);
	ok(same, "bias_db: the fixed tree over the rows of each channel");
	op_case_release(&k);

	k = run_in("batchnorm", "eps=1e-3", "x:5000x4 x:4 x:4 x:4 p:4", "x c c 3 4", HU_FP32);
	x = k.in[0].data;
	same = 1;
	for (size_t c = 0; c < 4; c++) {
		float *square = malloc(5000 * sizeof *square), mean = tree(x + c, 5000, 4) / 5000;
		for (size_t i = 0; i < 5000; i++)
			square[i] = (x[i * 4 + c] - mean) * (x[i * 4 + c] - mean);
		float rstd = 1 / sqrtf(tree(square, 5000, 1) / 5000 + 1e-3f);
		same &= ((float *)k.out[1].data)[c] == mean && ((float *)k.out[2].data)[c] == rstd;
		for (size_t i = c; i < 20000; i += 4)
			same &= ((float *)k.out[0].data)[i] ==
				(x[i] - mean) * rstd * ((float *)k.in[1].data)[c] + ((float *)k.in[2].data)[c];
		free(square);
	}
	ok(same, "batchnorm: the mean, then the squares about it, by the fixed tree; four roundings an element");
	op_case_release(&k);

	k = run_in("grad_norm", "", "x:9001 x:77", "x", HU_FP32);
	float s[2], square[9001];
	for (int j = 0; j < 2; j++) {
		for (size_t i = 0; i < k.in[j].n; i++)
			square[i] = ((float *)k.in[j].data)[i] * ((float *)k.in[j].data)[i];
		s[j] = tree(square, k.in[j].n, 1);
	}
	ok(*(float *)k.out[0].data == sqrtf(s[0] + s[1]), "grad_norm: a tree a tensor, the tensors in order");
	op_case_release(&k);

	k = run_in("avgpool", "", "x:2x70x70x3", "x", HU_FP32);
	same = 1;
	for (size_t i = 0; i < 6; i++)
		same &= ((float *)k.out[0].data)[i] ==
			tree((float *)k.in[0].data + i / 3 * 4900 * 3 + i % 3, 4900, 3) / 4900;
	ok(same, "avgpool: the fixed tree over each image, then one division");
	op_case_release(&k);
}

/* All equal: the first of a window takes the gradient. */
static void
test_ties(hu_format_id f)
{
	op_row row = { "maxpool_dx", "size=2 stride=2", "x:1x4x4x1 M:1x2x2x1 x:1x2x2x1", "x" };
	op_case k;
	int right = 1;

	if (op_case_init(&k, &row, f, f, f, LEVEL_MILD, 2) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < 16; i++)
		hu_put(&k.in[0], i, 5);
	for (size_t i = 0; i < 4; i++) {
		hu_put(&k.in[1], i, 5);
		hu_put(&k.in[2], i, 1 + (double)i);
	}
	op_case_emulate(&k, &env);
	for (size_t i = 0; i < 16; i++)
		right &= out_at(&k, 0, i) == (i == 0 ? 1 : i == 2 ? 2 : i == 8 ? 3 : i == 10 ? 4 : 0);
	ok(right, "maxpool_dx: the first maximum wins a tie (%s)", hu_format_name(f));
	op_case_release(&k);
}

static void
test_pools(void)
{
	enum { H = 7, W = 6, C = 3 };
	op_case k = run("maxpool", "size=3 stride=2", "x:2x7x6x3", "x");
	double worst = 0;

	/* SAME: 7 rows: 4 outputs, (3*2+3-7) = 2, one before; 6 columns: 3 outputs, (2*2+3-6) = 1, none before. */
	for (size_t n = 0; n < 2; n++)
		for (int r = 0; r < 4; r++)
			for (int q = 0; q < 3; q++)
				for (size_t c = 0; c < C; c++) {
					double top = -INFINITY;
					for (int i = 2 * r - 1; i < 2 * r + 2; i++)
						for (int j = 2 * q; j < 2 * q + 3; j++)
							if (i >= 0 && i < H && j < W)
								top = fmax(top,
									in_at(&k, 0,
										((n * H + (size_t)i) * W + (size_t)j) *
												C +
											c));
					agree(&worst, out_at(&k, 0, ((n * 4 + (size_t)r) * 3 + (size_t)q) * C + c),
						top);
				}
	done(&k, worst, "SAME windows");
	for (int wide = 0; wide < 2; wide++)
		test_ties(wide ? HU_FP64 : HU_FP32);
}

/* One element through a unary operator in fp32. */
static double
one(const char *op, const char *attrs, double x)
{
	op_row row = { op, attrs, "x:1x1x1x1", "x" };
	op_case k;

	if (op_case_init(&k, &row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 2) != HU_OK)
		bail_out("%s", hu_reason());
	hu_put(&k.in[0], 0, x);
	op_case_emulate(&k, &env);
	x = out_at(&k, 0, 0);
	op_case_release(&k);
	return x;
}

static void
test_specials(void)
{
	ok(isnan(one("relu", "", NAN)) && one("relu", "", INFINITY) == INFINITY && one("relu", "", -INFINITY) == 0,
		"relu keeps NaN and +Inf");
	ok(!signbit(one("relu", "", -1)), "relu of a negative number is +0");
	ok(isnan(one("maxpool", "size=2 stride=2", NAN)) && one("maxpool", "size=2 stride=2", -INFINITY) == -INFINITY,
		"maxpool keeps NaN; padding is no operand");
	ok(signbit(one("cast", "", -0.0)) && signbit(one("scale", "factor=2", -0.0)), "casts and scales keep -0");
}

static void
test_finite_check(void)
{
	op_row row = { "finite_check", "judged=2", "x:50x6 x:7 x:11x2 x:5 x:9", "f f" };
	op_case k;

	if (op_case_init(&k, &row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 2) != HU_OK)
		bail_out("%s", hu_reason());
	op_case_emulate(&k, &env);
	ok(out_at(&k, 0, 0) == 0 && out_at(&k, 1, 0) == -1 && out_at(&k, 1, 1) == 0 && out_at(&k, 1, 2) == 0,
		"finite_check: all finite");
	hu_put(&k.in[3], 2, NAN);
	op_case_emulate(&k, &env);
	ok(out_at(&k, 0, 0) == 0 && out_at(&k, 1, 0) == -1, "finite_check: what is not judged does not count");
	hu_put(&k.in[1], 6, -INFINITY);
	hu_put(&k.in[3], 4, INFINITY);
	hu_put(&k.in[4], 0, INFINITY);
	op_case_emulate(&k, &env);
	ok(out_at(&k, 0, 0) == 1 && out_at(&k, 1, 0) == 3 && out_at(&k, 1, 1) == 2 && out_at(&k, 1, 2) == 2,
		"finite_check: found, the first bad tensor from the judged on, its count, how many (%g %g %g)",
		out_at(&k, 1, 0), out_at(&k, 1, 1), out_at(&k, 1, 2));
	op_case_release(&k);
}

static void
test_scaled_cast(void)
{
	static const double amax[] = { 1, 3, 448, 450, 1e-30, 1e30, 0, INFINITY };
	/* 2^floor(log2(448 / amax)) in [2^-126, 2^126]; 1 where amax is 0 or not finite. */
	static const double want[] = { 256, 128, 1, 0x1p-1, 0x1p108, 0x1p-91, 1, 1 };
	op_row row = { "cast", "scaled=1", "x:5", "x f" };

	for (int i = 0; i < 8; i++) {
		op_case k;
		if (op_case_init(&k, &row, HU_FP32, HU_FP32, HU_E4M3, LEVEL_MILD, 2) != HU_OK)
			bail_out("%s", hu_reason());
		k.c.flags = HU_SATURATE;
		for (size_t j = 0; j < 5; j++)
			hu_put(&k.in[0], j, j == 3 ? -(double)(float)amax[i] : (double)(float)amax[i] / 4);
		op_case_emulate(&k, &env);
		double y = out_at(&k, 0, 3), x = isinf(amax[i]) ? 448 : (double)(float)amax[i] * want[i];
		ok(out_at(&k, 1, 0) == want[i] && -y == hu_round(x, hu_format_of(HU_E4M3), HU_RNE, HU_SATURATE, 0),
			"cast: amax %g is scaled by %g (%g), to %g", amax[i], want[i], out_at(&k, 1, 0), -y);
		op_case_release(&k);
	}
}

/* Random index = element, stream = the seed name's hash, whatever block an element is in. */
static void
test_stochastic(void)
{
	static const hu_format_id from[] = { HU_FP32, HU_FP64 };
	op_row row = { "cast", "", "x:60000", "x" };

	for (int f = 0; f < 2; f++) {
		op_case k;
		size_t bad = 0;
		if (op_case_init(&k, &row, from[f], from[f], HU_BF16, LEVEL_MILD, 2) != HU_OK)
			bail_out("%s", hu_reason());
		k.c.mode = HU_SR;
		op_case_emulate(&k, &env);
		for (size_t i = 0; i < k.in[0].n; i++) {
			uint32_t bits = hu_random_cast((hu_stream){ env.seed, hu_fnv1a32(k.c.seed_name), env.step }, i);
			bad += out_at(&k, 0, i) != hu_round(in_at(&k, 0, i), hu_format_of(HU_BF16), HU_SR, 0, bits);
		}
		ok(!bad, "cast: stochastic rounding of %s takes each element's own random bits (%zu differ)",
			hu_format_name(from[f]), bad);
		op_case_release(&k);
	}
}

static void
test_scalars(void)
{
	op_case k = run_in("unscale", "loss_weight=3", "x:50x6 S", "x", HU_FP32);
	float inverse = (float)(1.0 / (1024.0 * 3));
	int same = 1;

	for (size_t i = 0; i < 300; i++)
		same &= ((float *)k.out[0].data)[i] == ((float *)k.in[0].data)[i] * inverse;
	ok(same, "unscale: times the float nearest to 1/(S W)");
	op_case_release(&k);
	k = run("unscale", "loss_weight=3", "x:50x6 S", "x");
	same = 1;
	for (size_t i = 0; i < 300; i++)
		same &= out_at(&k, 0, i) == in_at(&k, 0, i) * (double)inverse;
	ok(same, "unscale: in fp64 too");
	op_case_release(&k);
	k = run_in("scale", "factor=0.75", "S", "f", HU_FP32);
	ok(out_at(&k, 0, 0) == 768, "scale: the seed gradient S W");
	op_case_release(&k);
}

/* Half an ulp of 1 in fp16 is 2^-11 upward and 2^-12 downward: w - lr g, and ties go to the even 1. */
static void
test_update_swamping(void)
{
	static const double g[] = { 0x1p-12, -0x1p-11, -0x1.004p-11, 0x1.004p-12, 0, 0x1p-24, INFINITY, -0x1p-10 };
	op_row row = { "sgd", "lr=1", "x:8 x:8 F", "x" };
	size_t element[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	hu_swamp s = { 0, 0, 0, 0 };
	op_case k;

	if (op_case_init(&k, &row, HU_FP16, HU_FP32, HU_FP16, LEVEL_MILD, 2) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < 8; i++) {
		hu_put(&k.in[0], i, 1);
		hu_put(&k.in[1], i, hu_round(g[i], hu_format_of(HU_FP16), HU_RNE, 0, 0));
	}
	HU_COLUMN(k.c.op, swamping)(&k.c, k.pin, 0, element, 8, &env, &s);
	ok(s.additions == 6 && s.swamped == 3 && s.outputs == 8, "sgd: 3 of 6 updates swamped (%d of %d)",
		(int)s.swamped, (int)s.additions);
	op_case_release(&k);
}

int
main(void)
{
	test_selection();
	test_order();
	test_pools();
	test_specials();
	test_finite_check();
	test_scaled_cast();
	test_stochastic();
	test_scalars();
	test_update_swamping();
	return done_testing();
}
