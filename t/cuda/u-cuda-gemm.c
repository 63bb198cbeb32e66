/* SPDX-License-Identifier: Apache-2.0
   Products on every side there is against their emulation, bit for bit: every summation model and rounding
   mode of its accumulator, formats, parts and shapes that leave tails in every direction. Large tiles of
   the matrix units: u-cuda-mma. */
#include "t/cuda/cuda-sides.h"

#include <stdio.h>
#include <string.h>

static const product shapes[] = {
	{ "matmul", "", "x:70x37 x:37x66", "x" },
	{ "matmul", "ta=1", "x:40x17 x:40x9", "x" },
	{ "matmul", "tb=1 part=16", "x:33x50 x:20x50", "x" },
	{ "matmul", "part=1", "x:2x60 x:60x3", "x" },
	{ "matmul", "ta=1 tb=1 part=24", "x:75x5 x:9x75", "x" },
	{ "conv2d", "stride=1", "x:2x6x5x3 x:3x3x3x5", "x" },
	{ "conv2d", "stride=2", "x:1x9x9x4 x:5x5x4x3", "x" },
	{ "conv2d", "stride=2 padding=1 dilation_h=2", "x:2x9x8x4 x:3x3x4x5", "x" },
	{ "conv2d_dx", "stride=2 stride_w=3 padding_top=1 padding_left=2 dilation=2 height=9 width=8",
		"x:2x3x2x8 x:3x3x3x8", "x:2x9x8x3" },
	{ "conv2d_dw", "padding=2 dilation=2 part=16 kh=3 kw=3", "x:1x7x8x4 x:1x7x8x5", "x:3x3x4x5" },
	{ "conv2d_dx", "stride=2 height=9 width=8", "x:2x5x4x4 x:3x3x3x4", "x:2x9x8x3" },
	{ "conv2d_dx", "stride=1 height=5 width=6", "x:1x5x6x8 x:3x3x2x8", "x:1x5x6x2" },
	{ "conv2d_dw", "stride=2 part=16 kh=3 kw=3", "x:2x9x8x3 x:2x5x4x4", "x:3x3x3x4" },
	{ "conv2d_dw", "stride=1 kh=5 kw=5", "x:2x5x5x2 x:2x5x5x7", "x:5x5x2x7" },
};

typedef struct mix {
	const char *sum, *in, *out;
} mix;

static const mix mixes[] = {
	{ "fma,acc=fp32", "fp32", "fp32" },
	{ "fma,acc=fp32", "fp16", "fp16" },
	{ "fma,acc=fp32", "e5m2", "bf16" },
	{ "fma,acc=fp64", "fp64", "fp64" },
	{ "fma,acc=fp16", "fp16", "fp16" },
	{ "fma,acc=bf16", "bf16", "fp32" },
	{ "sequential,acc=fp16", "fp16", "fp32" },
	{ "sequential,acc=fp32", "fp32", "fp32" },
	{ "chunk:8,acc=fp32", "fp32", "fp32" },
	{ "chunk:7,acc=fp16", "fp16", "fp16" },
	{ "pairwise,acc=fp16", "fp16", "fp16" },
	{ "kahan,acc=bf16", "bf16", "bf16" },
	{ "splitk:4,acc=fp32", "fp32", "fp32" },
	{ "fma,acc=fp16,mode=SR", "fp16", "fp16" },
	{ "promote:16,acc=fp16", "fp16", "fp32" },
	{ "tc:volta", "fp16", "fp32" },
	{ "tc:ampere", "fp16", "fp32" },
	{ "tc:ampere", "fp16", "fp16" },
	{ "tc:ampere", "bf16", "bf16" },
	{ "tc:ampere", "tf32", "fp32" },
	{ "tc:ampere", "fp32", "fp32" },
	{ "tc:ampere", "fp64", "fp64" },
	{ "tc:ada", "bf16", "fp32" },
	{ "tc:hopper", "fp16", "fp16" },
	{ "tc:hopper", "bf16", "fp32" },
	{ "tc:hopper", "tf32", "tf32" },
	{ "tc:hopper,path=mma", "e4m3", "bf16" },
	{ "tc:hopper,path=wgmma,promote=32", "e4m3", "fp32" },
	{ "tc:ampere,out=fp16,promote=8", "fp16", "fp32" },
	{ "avx512bf16", "bf16", "fp32" },
	{ "amxbf16", "bf16", "bf16" },
	{ "bfdot", "bf16", "fp32" },
	{ "cdna1", "fp16", "fp32" },
	{ "cdna1", "bf16", "bf16" },
	{ "cdna2", "fp16", "fp16" },
	{ "cdna2,in=bf16,terms=2", "bf16", "fp32" },
	{ "cdna3", "fp16", "fp32" },
	{ "cdna3", "bf16", "bf16" },
	{ "cdna3,in=tf32", "fp32", "fp32" },
	{ "cdna3", "e4m3fnuz", "bf16" },
	{ "bf16x9", "fp32", "fp32" },
	{ "ozaki:8", "fp64", "fp64" },
	{ "ozakidynamic", "fp64", "fp64" },
};

static int
agrees(const hu_side *side, const product *s, const mix *m, int level, uint64_t seed)
{
	return product_agrees(side, s, HU_GEMM_AUTO, NULL, m->sum, m->in, m->out, level, seed);
}

static void
test_side(const hu_side *side)
{
	static const int levels[] = { LEVEL_MILD, LEVEL_SPREAD, LEVEL_SPECIAL };

	for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
		int good = 0, all = 0;
		for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
			for (int l = 0; l < 3; l++, all++)
				good += agrees(side, &shapes[j], &mixes[i], levels[l], i * 100 + j * 3 + (size_t)l + 1);
		ok(good == all, "%s: %s, %s to %s: the emulation's bits in %d of %d", side->name, mixes[i].sum,
			mixes[i].in, mixes[i].out, good, all);
	}
}

/* What a model's name takes, as in sums.def: nothing, a length or a number of ranks, or also that of a node. */
static const char *const takes[] = {
#define SUM(ID, FILE_, TAKES, RESULT)                                                                                  \
	HU_TAKES_##TAKES == HU_TAKES_NOTHING ? "" : HU_TAKES_##TAKES == HU_TAKES_NODES ? ":4:2" : ":4",
#include "lib/sum/sums.def"
#undef SUM
};

/* Every row of sums.def but units, in accumulators of several formats, some that cuda/element/short.h has no
   constants of, and every rounding mode. */
static void
test_models(const hu_side *side)
{
	static const product few[] = { { "matmul", "tb=1 part=9", "x:5x23 x:7x23", "x" },
		{ "conv2d", "stride=2", "x:1x5x4x3 x:3x3x3x2", "x" }, { "matmul", "ta=1", "x:33x3 x:33x9", "x" } };
	static const char *const accs[] = { "fp32", "fp16", "bf16", "e4m3", "e5m10ftz", "e4m3fnuz", "e11m20" };

	for (int id = 0; id < (int)(sizeof takes / sizeof *takes); id++) {
		int good = 0, all = 0;
		if (hu_sum_is_unit((hu_sum_id)id)) /* units are among the mixes */
			continue;
		for (int mode = HU_RNE; mode < HU_MODES; mode++)
			for (size_t a = 0; a < sizeof accs / sizeof *accs; a++)
				for (size_t j = 0; j < sizeof few / sizeof *few; j++, all++) {
					char sum[96];
					snprintf(sum, sizeof sum, "%s%s,acc=%s,mode=%s%s", hu_sum_name((hu_sum_id)id),
						takes[id], accs[a], hu_mode_name((hu_mode)mode),
						mode == HU_SR && a % 2 ? ",bits=11" : "");
					mix m = { sum,
						a == 3   ? "e5m2"
						: a == 6 ? "fp32"
							 : accs[a],
						a == 1 || a == 6 ? "fp32" : accs[a] };
					good += agrees(side, &few[j], &m,
						all % 3 == 0   ? LEVEL_MILD
						: all % 3 == 1 ? LEVEL_SPREAD
							       : LEVEL_SPECIAL,
						(uint64_t)(id * 1000 + all + 1));
				}
		ok(good == all, "%s: %s in every mode and seven accumulators: the emulation's bits in %d of %d",
			side->name, hu_sum_name((hu_sum_id)id), good, all);
	}
}

/* More parts than a block of the fixed tree has. */
static void
test_parts(const hu_side *side)
{
	static const product many = { "matmul", "part=1", "x:1x4609 x:4609x3", "x" };
	static const mix few[] = { { "fma,acc=fp32", "fp32", "fp32" }, { "fma,acc=fp64", "fp64", "fp64" },
		{ "fma,acc=fp16", "fp16", "fp32" }, { "tc:ampere", "fp16", "fp32" } }; /* the last on its units alone */
	char ran[HU_RAN] = "";

	for (size_t i = 0; i < sizeof few / sizeof *few - (side->arch() >= 0 && side->arch() != HU_TC_AMPERE); i++)
		ok(product_agrees(side, &many, HU_GEMM_AUTO, ran, few[i].sum, few[i].in, few[i].out, LEVEL_SPREAD, 1) &&
				!strstr(ran, "plain"),
			"%s: 4609 parts by %s: the emulation's bits", side->name, ran);
}

static void
test_all(const hu_side *side)
{
	test_side(side);
	test_parts(side);
	test_models(side);
}

int
main(void)
{
	on_each_side(test_all, NULL);
	return done_testing();
}
