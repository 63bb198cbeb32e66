/* SPDX-License-Identifier: Apache-2.0
   The large tiles of the matrix units and of fp32 against the emulation, bit for bit: which kernel serves which
   product, operands that lie either way, tails of every extent, and the order of threads and of copies under way (seeds
   1 to 5). The kernels of the way bulk are held to it on the shim; on a GPU, where an mbarrier that never completes
   would stop the other tests, bench/gpu-parts.sh does so after the others. */
#include "t/cuda/cuda-sides.h"

#include <stdio.h>
#include <string.h>

static const product shapes[] = {
	{ "matmul", "ta=1", "x:96x136 x:96x80", "x" },
	{ "matmul", "tb=1 part=64", "x:70x224 x:68x224", "x" },
	{ "matmul", "tb=1 part=96", "x:136x288 x:200x288", "x" },
	{ "conv2d", "stride=2", "x:2x11x13x32 x:3x3x32x72", "x" },
	{ "conv2d_dx", "stride=2 height=19 width=18", "x:2x10x9x16 x:3x3x64x16", "x:2x19x18x64" },
	{ "matmul", "", "x:136x80 x:80x248", "x" },
	{ "matmul", "", "x:72x208 x:208x72", "x" },
	{ "matmul", "ta=1 part=48", "x:112x168 x:112x232", "x" },
	{ "matmul", "ta=1 tb=1", "x:80x264 x:200x80", "x" },
	{ "conv2d", "stride=1", "x:3x8x8x16 x:5x5x16x72", "x" },
	{ "conv2d_dw", "stride=1 kh=3 kw=3", "x:1x8x12x8 x:1x8x12x64", "x:3x3x8x64" },
	{ "conv2d", "stride=2 padding=1 dilation_w=2", "x:2x11x13x16 x:3x3x16x72", "x" },
	{ "conv2d_dx", "stride_h=2 padding_top=1 padding_right=2 dilation=2 height=29 width=18",
		"x:1x13x16x16 x:3x3x64x16", "x:1x29x18x64" },
};

/* The columns of the tile that computes each of them by wgmma in 16-bit formats: few for convolutions of few channels.
   Behind them those of a matmul by bulk copies, which take least time, on a device of many multiprocessors, of one, of
   two and of three. */
enum { DEVICES = 4 };
static const char *const tile[][1 + DEVICES] = { { "256", "64", "128", "128", "128" },
	{ "256", "64", "128", "128", "64" }, { "256", "64", "256", "256", "256" }, { "128" }, { "64" },
	{ "256", "64", "256", "256", "64" }, { "256", "64", "128", "64", "64" }, { "256", "64", "256", "256", "256" },
	{ "256", "64", "256", "128", "256" }, { "128" }, { "64" }, { "128" }, { "64" } };

/* How many of them have whole blocks of 32 products, fp8's with mma.sync. */
enum { IN_32 = 5 };

/* The way that says so of itself. */
static hu_gemm_way
way_of(const char *ran)
{
	return !strncmp(ran, "simt", 4) ? HU_GEMM_SIMT : strstr(ran, ", bulk copies") ? HU_GEMM_BULK : HU_GEMM_MMA;
}

/* ran: how what it says begins that computes a product of the shapes above; narrow: of a shape with odd extents, also
   of fp8 that would have to be turned pixel by pixel; NULL: refused. Where ran names two formats the second operand has
   fp8's other one. */
typedef struct mix { const char *sum, *in, *out, *ran, *narrow; } mix;

static const mix mixes[] = {
	{ "tc:ampere", "fp16", "fp16", "mma.sync fp16 to fp32, 128x128", "mma.sync fp16 to fp32, 64x64" },
	{ "tc:ampere", "bf16", "fp32", "mma.sync bf16 to fp32, 128x128", "mma.sync bf16 to fp32, 64x64" },
	{ "tc:ada", "tf32", "fp32", "mma.sync tf32 to fp32, 128x128", "mma.sync tf32 to fp32, 64x64" },
	{ "tc:ampere", "fp32", "bf16", "mma.sync tf32 to fp32, 128x128", "mma.sync tf32 to fp32, 64x64" },
	{ "tc:hopper,path=mma", "fp16", "fp32", "mma.sync fp16 to fp32, 128x128", "mma.sync fp16 to fp32, 64x64" },
	{ "tc:hopper", "fp16", "fp16", "wgmma fp16 to fp32, 128x256", "mma.sync fp16 to fp32, 64x64" },
	{ "tc:hopper,path=wgmma", "bf16", "bf16", "wgmma bf16 to fp32, 128x256", "mma.sync bf16 to fp32, 64x64" },
	{ "tc:ampere,out=fp16", "fp16", "fp16", "mma.sync fp16 to fp16, 64x64", "mma.sync fp16 to fp16, 64x64" },
	{ "tc:ada", "e4m3", "fp16", "mma.sync e4m3 to fp32, 128x128", "mma.sync e4m3 to fp32, 64x64" },
	{ "tc:ada", "e5m2", "fp32", "mma.sync e5m2 to fp32, 128x128", "mma.sync e5m2 to fp32, 64x64" },
	{ "tc:hopper,path=mma", "e4m3", "fp32", "mma.sync e4m3 to fp32, 128x128", "mma.sync e4m3 to fp32, 64x64" },
	{ "tc:hopper,path=wgmma", "e4m3", "fp32", "wgmma e4m3 to fp32, 128x256", NULL },
	{ "tc:hopper,path=wgmma", "e5m2", "bf16", "wgmma e5m2 to fp32, 128x256", NULL },
	{ "tc:ada", "e5m2", "fp32", "mma.sync e5m2 by e4m3 to fp32, 128x128", "mma.sync e5m2 by e4m3 to fp32, 64x64" },
	{ "tc:hopper,path=mma", "e4m3", "bf16", "mma.sync e4m3 by e5m2 to fp32, 128x128",
		"mma.sync e4m3 by e5m2 to fp32, 64x64" },
	{ "tc:hopper,path=wgmma", "e4m3", "fp32", "wgmma e4m3 by e5m2 to fp32, 128x256", NULL },
	{ "tc:hopper,path=wgmma", "e5m2", "bf16", "wgmma e5m2 by e4m3 to fp32, 128x256", NULL },
	{ "fma,acc=fp32", "fp32", "fp32", "simt fp32, 128x128", "simt fp32, 64x64" },
	{ "fma,acc=fp32", "fp16", "fp16", "simt fp32, 128x128", "simt fp32, 64x64" },
	{ "fma,acc=fp32", "e4m3", "bf16", "simt fp32, 128x128", "simt fp32, 64x64" },
	{ "chunk:24,acc=fp32", "fp32", "fp32", "simt fp32, 64x64", "simt fp32, 64x64" },
};

static int
agrees(const hu_side *side, const product *s, const mix *m, hu_gemm_way way, int level, uint64_t seed, char *ran)
{
	product p = *s;
	char in[64];

	snprintf(in, sizeof in, "%s", s->in);
	if (strstr(m->ran, " by "))
		*(strchr(in, ' ') + 1) = 'o';
	p.in = in;
	return product_agrees(side, &p, way, ran, m->sum, m->in, m->out, level, seed);
}

/* A negative sum that vanishes in the rounding of the last block gives +0, as an H200 has shown: of k terms for each of
   n columns, by the kernel whose name begins so. */
static void
test_vanished(const hu_side *side, const char *sum, op_row row, size_t k_all, size_t n, const char *kernel)
{
	hu_env env = { 1, 5 };
	char ran[HU_RAN] = "";
	int plus = 0, arch = side->arch();
	op_case k;

	if (op_case_init(&k, &row, HU_BF16, HU_FP32, HU_FP32, LEVEL_MILD, 1) != HU_OK ||
		hu_sum_parse(sum, &k.c.sum) != HU_OK)
		bail_out("%s", hu_reason());
	if (arch >= 0 && arch != (int)k.c.sum.arch) {
		skip(1, "%s: %s is not this device's", side->name, sum);
		op_case_release(&k);
		return;
	}
	for (size_t i = 0; i < k.in[0].n; i++)
		hu_put(&k.in[0], i, -0x1p-75);
	for (size_t i = 0; i < k.in[1].n; i++)
		hu_put(&k.in[1], i, i / n == k_all - 1 ? 0x1p-75 : 0);
	hu_tensor got = op_tensor(HU_FP32, k.out[0].shape), *out = &got;
	hu_status st = op_case_emulate(&k, &env),
		  own = hu_device_call_by(side, way_of(kernel), ran, &k.c, k.pin, &out, &env);
	for (size_t i = 0; i < got.n && st == HU_OK && own == HU_OK; i++)
		plus += !hu_bits64(hu_get(&got, i)) && !hu_bits64(hu_get(&k.out[0], i));
	ok(plus == (int)got.n && !strncmp(ran, kernel, strlen(kernel)),
		"%s: %s by %s: a sum that vanishes below zero is +0 in %d of %zu", side->name, sum, ran, plus, got.n);
	free(got.data);
	op_case_release(&k);
}

/* Products of a batch are one launch, of every kernel that needs no scratch space for each. */
static void
test_batches(const hu_side *side)
{
	static const struct { mix m; product p; int launches; } of[] = {
		{ { "tc:hopper", "fp16", "fp16", "wgmma fp16 to fp32, 128x256", NULL },
			{ "matmul", "batch=1", "x:3x72x80 x:3x80x72", "x" }, 1 },
		{ { "tc:hopper", "fp16", "fp16", "wgmma fp16 to fp32, 128x64, bulk copies", NULL },
			{ "matmul", "batch=1", "x:3x72x80 x:3x80x72", "x" }, 1 },
		{ { "tc:ampere", "bf16", "fp32", "mma.sync bf16 to fp32, 128x128", NULL },
			{ "matmul", "batch=1 tb=1", "x:3x70x80 x:3x72x80", "x" }, 1 },
		{ { "tc:ampere", "fp16", "fp32", "mma.sync fp16 to fp32, 64x64", NULL },
			{ "matmul", "batch=2", "x:2x3x5x7 x:2x3x7x9", "x" }, 1 },
		{ { "fma,acc=fp32", "fp32", "fp16", "simt fp32, 128x128", NULL },
			{ "matmul", "batch=1 ta=1", "x:5x16x68 x:5x16x72", "x" }, 1 },
		{ { "fma,acc=fp32", "fp16", "fp32", "simt fp32, 64x64", NULL },
			{ "matmul", "batch=1", "x:5x3x7 x:5x7x3", "x" }, 1 },
		{ { "fma,acc=fp32", "fp16", "fp32", "simt fp32, 64x64", NULL },
			{ "matmul", "batch=1 part=4", "x:3x3x7 x:3x7x3", "x" }, 6 },
				/* its parts are added by another */
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char ran[HU_RAN] = "";
		hu_gemm_way way = way_of(of[i].m.ran);
		hu_sum s;
		if (way == HU_GEMM_BULK && !side->host)
			continue;
		int arch = side->arch();
		if (hu_sum_parse(of[i].m.sum, &s) != HU_OK || (s.id == HU_SUM_TC && arch >= 0 && arch != (int)s.arch)) {
			skip(1, "%s: %s is not this device's", side->name, of[i].m.sum);
			continue;
		}
		long before = side->queues->launches();
		int good = agrees(side, &of[i].p, &of[i].m, way, LEVEL_SPREAD, i + 1, ran);
		long launches = side->queues->launches() - before;
		ok(good && launches == of[i].launches && !strcmp(ran, of[i].m.ran),
			"%s: a batch of products %s by %s: %ld launches", side->name, of[i].p.in, ran, launches);
	}
}

/* Images whose channels are no group of 16 bytes: tails of k in a whole and in half a block, rows of taps that end in a
   group, strides, dilation, padding, parts, and products of fewer outputs than a tile. */
static void
test_patches(const hu_side *side)
{
	static const product of[] = {
		{ "conv2d", "stride=2", "x:2x15x13x3 x:5x5x3x40", "x" },
		{ "conv2d", "stride=1", "x:1x9x8x3 x:7x7x3x64", "x" },
		{ "conv2d", "stride_h=2 padding_top=1 padding_left=3 dilation_w=2", "x:3x11x9x2 x:3x3x2x72", "x" },
		{ "conv2d", "stride=1", "x:2x8x9x9 x:2x1x9x136", "x" },
		{ "conv2d_dw", "stride=1 kh=5 kw=5", "x:1x8x12x3 x:1x8x12x40", "x:5x5x3x40" },
		{ "conv2d_dw", "stride=2 part=32 kh=7 kw=7", "x:2x15x13x3 x:2x8x7x72", "x:7x7x3x72" },
		{ "conv2d_dw", "padding=1 dilation=2 kh=3 kw=3", "x:3x7x8x9 x:3x5x6x64", "x:3x3x9x64" },
	};
	static const mix by[] = { { "tc:ampere", "fp16", "fp16", "mma.sync fp16 to fp32, 128x64", NULL },
		{ "tc:ada", "bf16", "fp32", "mma.sync bf16 to fp32, 128x64", NULL },
		{ "tc:ampere", "fp32", "bf16", "mma.sync tf32 to fp32, 128x64", NULL },
		{ "tc:hopper", "fp16", "fp32", "mma.sync fp16 to fp32, 128x64", NULL },
		{ "tc:hopper", "tf32", "fp32", "mma.sync tf32 to fp32, 128x64", NULL } };
	static const int levels[] = { LEVEL_SPREAD, LEVEL_SPECIAL, LEVEL_RANGE };
	enum { OF = sizeof of / sizeof *of };
	int arch = side->arch();

	for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
		int good = 0, served = 0;
		hu_sum s;
		if (hu_sum_parse(by[i].sum, &s) != HU_OK || (arch >= 0 && arch != (int)s.arch)) {
			skip(1, "%s: %s is not this device's", side->name, by[i].sum);
			continue;
		}
		for (size_t j = 0; j < OF; j++) {
			char ran[HU_RAN] = "";
			good += agrees(side, &of[j], &by[i], HU_GEMM_MMA, levels[(i + j) % 3], i * OF + j + 1, ran);
			served += !strcmp(ran, by[i].ran);
		}
		ok(good == OF && served == OF, "%s: images of 2, 3 and 9 channels, %s, %s: %d of %d by %s, the "
			"emulation's bits in %d", side->name, by[i].sum, by[i].in, served, (int)OF, by[i].ran, good);
	}
}

static int turnable(const product *s) { return strcmp(s->op, "conv2d_dw"); }

/* Mix number i of every shape on a device of so many multiprocessors (0: many), of which a convolution's kernel depends
   only in that one block computes all tiles on one. */
static void
test_mix(const hu_side *side, size_t i, hu_gemm_way way, int processors)
{
	static const int levels[] = { LEVEL_SPREAD, LEVEL_SPECIAL, LEVEL_MILD, LEVEL_RANGE, LEVEL_SPREAD };
	const mix *m = &mixes[i];
	int good = 0, all = 0, served = 0, fp8 = m->in[0] == 'e' && m->sum[0] == 't';
	char ran[HU_RAN] = "", text[HU_RAN], refusal[64];

	snprintf(refusal, sizeof refusal, "gemm=%s: wgmma serves", hu_gemm_name(way));
	for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++) {
		int l = (int)((i + j) % 5);
		/* Bulk copies do not stop where a part ends, which may be within a product of fp8. */
		int bulk = way == HU_GEMM_BULK && tile[j][1] && !(fp8 && strstr(shapes[j].attrs, "part=48"));
		if (processors > 1 && !tile[j][1])
			continue;
		all++;
		const char *wanted = fp8 && (!turnable(&shapes[j]) || (m->narrow && j >= IN_32)) ? m->narrow : m->ran;
		if (!wanted) {
			int refused = !agrees(side, &shapes[j], m, way, levels[l], 1, ran) &&
				      strstr(hu_reason(), refusal);
			good += refused;
			served += refused;
			continue;
		}
		good += agrees(side, &shapes[j], m, way, levels[l], (uint64_t)l + 1, ran);
		snprintf(text, sizeof text, "%s", wanted);
		if (!strncmp(text, "wgmma", 5) && !fp8)
			snprintf(strrchr(text, 'x') + 1, 4, "%s", tile[j][bulk ? 1 + processors : 0]);
		if (way == HU_GEMM_BULK)
			strcat(text, bulk ? ", bulk copies" : ", gathering warps");
		served += !strcmp(ran, text);
		if (strcmp(ran, text))
			diag("%s %s: %s", shapes[j].op, shapes[j].in, ran);
	}
	ok(good == all && served == all, "%s: %s, %s to %s: %d of %d by %s%s%s, the emulation's bits in %d", side->name,
		m->sum, m->in, m->out, served, all, m->ran, way == HU_GEMM_BULK ? ", gemm=bulk" : "",
		((const char *[DEVICES]){ "", ", one multiprocessor", ", two multiprocessors", ", three" })[processors],
		good);
}

static void
test_side(const hu_side *side)
{
	static const product odd = { "matmul", "", "x:70x37 x:37x66", "x" };
	int arch = side->arch();

	if (side->host)
		test_vanished(side, "tc:hopper", (op_row){ "matmul", "", "x:72x80 x:80x72", "x" }, 80, 72,
			"wgmma bf16 to fp32, 128x64, bulk copies");
	test_batches(side);
	test_patches(side);
	test_vanished(side, "tc:ampere", (op_row){ "matmul", "", "x:72x80 x:80x72", "x" }, 80, 72, "mma.sync");
	test_vanished(
		side, "tc:hopper,path=wgmma", (op_row){ "matmul", "", "x:72x80 x:80x72", "x" }, 80, 72, "wgmma");
	/* The last of two blocks is half a product. */
	test_vanished(side, "tc:ampere", (op_row){ "conv2d", "padding=0", "x:1x10x16x3 x:1x8x3x40", "x" }, 24, 40,
		"mma.sync bf16 to fp32, 128x64");
	for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
		const mix *m = &mixes[i];
		char ran[HU_RAN] = "";
		hu_sum s;
		if (hu_sum_parse(m->sum, &s) != HU_OK || (s.id == HU_SUM_TC && arch >= 0 && arch != (int)s.arch)) {
			skip(2, "%s: %s is not this device's", side->name, m->sum);
			continue;
		}
		hu_gemm_way way = way_of(m->ran);
		test_mix(side, i, way, 0);
		for (int n = 0; n < DEVICES && side->host && !strncmp(m->ran, "wgmma", 5); n++) {
			hu_shim_processors((uint32_t)n); /* whose blocks compute several tiles */
			test_mix(side, i, HU_GEMM_BULK, n);
			hu_shim_processors(0);
		}
		if (m->narrow)
			ok(agrees(side, &odd, m, way, LEVEL_SPREAD, i + 1, ran) && !strcmp(ran, m->narrow),
				"%s: odd extents by %s", side->name, ran);
		if (m->narrow && way == HU_GEMM_MMA && side->host)
			ok(agrees(side, &odd, m, HU_GEMM_BULK, LEVEL_SPREAD, i + 1, ran) && !strcmp(ran, m->narrow),
				"%s: odd extents by %s, gemm=bulk", side->name, ran);
	}
}

/* What the units do not compute is refused in a line. */
static void
test_refusals(const hu_side *side)
{
	static const mix no[] = { { "fma,acc=fp32", "fp16", "fp16", "", "" }, { "tc:volta", "fp16", "fp32", "", "" },
		{ "kahan,acc=fp32", "fp32", "fp32", "", "" } };
	char ran[HU_RAN] = "";

	for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
		ok(!agrees(side, &shapes[0], &no[i], HU_GEMM_MMA, LEVEL_MILD, 1, ran) &&
				strstr(hu_reason(), "gemm=mma: no matrix unit"),
			"refused: %s", hu_reason());
		ok(!agrees(side, &shapes[0], &no[i], HU_GEMM_BULK, LEVEL_MILD, 1, ran) &&
				strstr(hu_reason(), "gemm=bulk: no matrix unit"),
			"refused: %s", hu_reason());
	}
}

int
main(void)
{
	on_each_side(test_side, test_refusals);
	return done_testing();
}
