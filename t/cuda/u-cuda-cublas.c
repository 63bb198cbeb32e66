/* SPDX-License-Identifier: Apache-2.0
   gemm=cublas: what the library is given, on the host by a stand-in of the same entry points
   (t/stub/cublaslt.c) that refuses what the library refuses, and the promised bound of every output. */
#include "cuda/cublas/cublas.h"
#include "cuda/device/device.h"
#include "cuda/exec/machine.h"
#include "t/cuda/cuda-sides.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape { const char *op, *attrs, *in, *out; } shape;

static const shape shapes[] = {
	{ "matmul", "", "x:70x37 x:37x66", "x" },
	{ "matmul", "ta=1", "x:40x17 x:40x9", "x" },
	{ "matmul", "tb=1 part=16", "x:33x50 x:20x50", "x" },
	{ "matmul", "tb=1", "x:33x64 x:32x64", "x" },
	{ "matmul", "ta=1 tb=1", "x:75x5 x:9x75", "x" },
	{ "matmul", "batch=2 tb=1", "x:1x3x5x7 x:1x3x4x7", "x" }, /* whose products are at no multiple of 256 bytes */
	{ "matmul", "batch=1 ta=1", "x:3x7x16 x:3x7x8", "x" },
	{ "matmul", "scaled=1", "x:32x16 x:16x48 S:1 S:1", "x" },
	{ "conv2d", "stride=1", "x:2x6x5x3 x:3x3x3x5", "x" },
	{ "conv2d", "stride=2", "x:1x9x9x16 x:3x3x16x16", "x" },
	{ "conv2d_dx", "stride=2 height=9 width=8", "x:2x5x4x4 x:3x3x3x4", "x:2x9x8x3" },
	{ "conv2d_dw", "stride=2 part=16 kh=3 kw=3", "x:2x9x8x3 x:2x5x4x4", "x:3x3x3x4" },
};

typedef struct mix { const char *sum, *in, *out; } mix;

static const mix mixes[] = {
	{ "fma,acc=fp32", "fp16", "fp16" },
	{ "fma,acc=fp32", "fp16", "fp32" },
	{ "tc:hopper", "fp16", "bf16" },
	{ "tc:ampere", "bf16", "bf16" },
	{ "tc:hopper", "tf32", "fp32" },
	{ "tc:ampere", "fp32", "fp32" },
	{ "fma,acc=fp32", "fp32", "fp32" },
	{ "sequential,acc=fp32", "fp32", "fp16" },
	{ "fma,acc=fp64", "fp64", "fp64" },
	{ "fma,acc=fp64", "fp64", "fp32" },
	{ "tc:ada", "e4m3", "bf16" },
	{ "fma,acc=fp32", "e4m3", "fp32" },
};

typedef struct stub { void *file; void (*set)(int, long long); long long (*get)(int); const char *(*why)(void); } stub;
static stub s;

static void
prepare(op_case *k, const shape *at, const mix *m, int level, uint64_t seed)
{
	op_row row = { at->op, at->attrs, at->in, at->out };

	hu_format_id in = format(m->in), wide = in == HU_FP64 ? HU_FP64 : HU_FP32;
	if (op_case_init(k, &row, in, wide, format(m->out), level, seed) != HU_OK ||
		hu_sum_parse(m->sum, &k->c.sum) != HU_OK)
		bail_out("%s %s: %s", at->op, at->in, hu_reason());
	k->c.fmt.acc = wide;
}

/* The largest exponent that a product of the operands can have. */
static int
most(const op_case *k)
{
	int e = 0;

	for (int j = 0; j < 2; j++) {
		int top = -2000;
		for (size_t i = 0; i < k->in[j].n; i++) {
			double x = fabs(hu_get(&k->in[j], i));
			if (x > 0 && ilogb(x) > top)
				top = ilogb(x);
		}
		e += top;
	}
	return e;
}

/* How many outputs of GOT are beyond the bound. */
static size_t
beyond(op_case *k, const hu_tensor *got, int slices, int arch, double *nearest)
{
	size_t n = got->n, over = 0, *element = malloc(n * sizeof *element);
	double *mag = malloc(n * sizeof *mag);
	mpfr_t *exact = malloc(n * sizeof *exact);
	hu_format out = hu_format_of(got->format);
	hu_sum sum = k->c.sum;
	double scale = k->c.nin == 4 ? hu_get(&k->in[2], 0) * hu_get(&k->in[3], 0) : 1;
	hu_cublas_product p = { .fa = k->in[0].format, .fb = k->in[1].format };

	if (hu_sum_resolve(&sum, p.fa, p.fb, k->c.fmt.acc) != HU_OK)
		bail_out("%s", hu_reason());
	p.tf32 = p.fa == HU_TF32 || (p.fa == HU_FP32 && sum.id == HU_SUM_TC);
	for (size_t i = 0; i < n; i++) {
		element[i] = i;
		mpfr_init2(exact[i], 300);
	}
	hu_cost cost;
	hu_shape in[4] = { k->in[0].shape, k->in[1].shape, k->in[2].shape, k->in[3].shape };
	HU_COLUMN(k->c.op, cost)(&k->c, in, &got->shape, &cost);
	/* Pixels of a data gradient meet different numbers of taps: at most all. */
	p.k = (uint32_t)(!strcmp(k->c.op->name, "conv2d_dx") ? (double)(in[1].d[0] * in[1].d[1] * in[1].d[3])
							     : cost.macs / (double)n);
	if (HU_COLUMN(k->c.op, reference)(&k->c, k->pin, 0, element, n, exact) != HU_OK ||
		HU_COLUMN(k->c.op, magnitude)(&k->c, k->pin, 0, element, n, mag) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < n; i++) {
		double x = hu_get(got, i), b = hu_cublas_bound(sum, &p, arch, slices, most(k), mag[i] * scale) / scale,
		       e;
		double chopped =
			p.tf32 && p.fa == HU_FP32 ? mag[i] * 0x1p-9 : 0; /* operands' own: two chops below 2^-10 */
		e = fabs(mpfr_get_d(exact[i], MPFR_RNDN));
		b += chopped + (e + b) * (hu_unit(out) + (scale != 1) * 0x1p-23) + hu_smallest(out) * 0.5;
		mpfr_d_sub(exact[i], x, exact[i], MPFR_RNDN);
		e = fabs(mpfr_get_d(exact[i], MPFR_RNDA));
		over += !(e <= b);
		if (e / b > *nearest)
			*nearest = e / b;
		mpfr_clear(exact[i]);
	}
	free(element);
	free(mag);
	free(exact);
	return over;
}

static void
test_mix(const hu_side *side, const mix *m, int slices, int arch)
{
	size_t all = 0, over = 0, failed = 0;
	hu_env env = { 3, 5 };
	double nearest = 0;
	hu_sum sum;

	if (hu_sum_parse(m->sum, &sum) == HU_OK && sum.id == HU_SUM_TC && side->arch() >= 0 &&
		side->arch() != (int)sum.arch) {
		skip(1, "%s: %s is not this device's", side->name, m->sum);
		return;
	}
	for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
		for (int l = LEVEL_MILD; l <= LEVEL_SPREAD; l++) {
			op_case k;
			char ran[HU_RAN] = "";
			prepare(&k, &shapes[j], m, l, j + 1);
			hu_tensor got = op_tensor(k.out[0].format, k.out[0].shape), *out = &got;
			hu_status st = hu_device_call_by(side, HU_GEMM_CUBLAS, ran, &k.c, k.pin, &out, &env);
			if (st != HU_OK || strncmp(ran, "cublasLt ", 9)) {
				diag("%s %s: %s (%s)", shapes[j].op, shapes[j].attrs, st == HU_OK ? ran : hu_reason(),
					s.why ? s.why() : "");
				failed++;
			} else
				over += beyond(&k, &got, slices, arch, &nearest);
			all += got.n;
			free(got.data);
			op_case_release(&k);
		}
	ok(!failed && !over,
		"%s: %s, %s to %s, %d slice%s: %zu of %zu outputs beyond the bound (nearest %.3f of it), %zu calls "
		"failed",
		side->name, m->sum, m->in, m->out, slices, slices > 1 ? "s" : "", over, all, nearest, failed);
}

/* One call's status; the reason is diag'ed. */
static hu_status
status_of(const hu_side *side, const shape *at, const mix *m)
{
	hu_env env = { 3, 5 };
	op_case k;

	prepare(&k, at, m, LEVEL_MILD, 1);
	hu_tensor got = op_tensor(k.out[0].format, k.out[0].shape), *out = &got;
	hu_status st = hu_device_call_by(side, HU_GEMM_CUBLAS, NULL, &k.c, k.pin, &out, &env);
	free(got.data);
	op_case_release(&k);
	return st;
}

static void
test_refusals(const hu_side *side)
{
	static const mix no[] = { { "kahan,acc=fp32", "fp32", "fp32" }, { "fma,acc=fp16", "fp16", "fp16" },
		{ "fma,acc=fp32,mode=SR", "fp16", "fp16" }, { "fma,acc=fp32", "e5m2", "fp32" },
		{ "tc:ampere,out=fp16", "fp16", "fp16" }, { "chunk:8,acc=fp32", "fp32", "fp32" } };

	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		ok(status_of(side, &shapes[0], &no[i]) == HU_EUNABLE && strstr(hu_reason(), "gemm=cublas"),
			"refused: %s", hu_reason());
}

/* As the library, as the stand-in that this test compiled. */
static int
compiled(void)
{
	const char *cc = getenv("CC");
	char command[2048], path[1200];
	void *p;

	snprintf(path, sizeof path, "%s/cublaslt.so", test_dir());
	snprintf(command, sizeof command, "%.300s -std=gnu11 -O1 -shared -fPIC -I%s -o %s %s/t/stub/cublaslt.c -lm",
		cc && *cc ? cc : "cc", HU_TOP_SRCDIR, path, HU_TOP_SRCDIR);
	if (system(command))
		return 0;
	s.file = dlopen(path, RTLD_NOW);
#define TAKE(member, name) p = s.file ? dlsym(s.file, name) : NULL; memcpy(&s.member, &p, sizeof p)
	TAKE(set, "stub_set");
	TAKE(get, "stub_get");
	TAKE(why, "stub_why");
#undef TAKE
	if (!s.set || !s.get || !s.why)
		bail_out("%s", dlerror());
	setenv("HALFULP_CUBLASLT_HOST", path, 1);
	return 1;
}

/* A batch's products, which lie as they come, are one call of the library, whose algorithm is written and given back as
   all others are. */
static __attribute__((unused)) void
test_recalled(const hu_side *side)
{
	static const shape batch = { "matmul", "batch=1", "x:3x5x7 x:3x7x9", "x" };
	static char line[8][400];
	size_t n = 0;

	hu_cublas_forget(1);
	long long before = s.get(4);
	ok(status_of(side, &batch, &mixes[1]) == HU_OK && s.get(4) == before + 1,
		"a batch of odd sizes by %lld call of the library", s.get(4) - before);
	while (n < 8 && hu_cublas_line(n, line[n], sizeof line[n]))
		n++;
	long long asked = s.get(5), checked = s.get(8);
	hu_cublas_forget(1);
	int good = n == 1, odd = 0;
	for (size_t i = 0; i < n; i++) {
		good &= hu_cublas_recall(line[i]) == HU_OK;
		odd += strstr(line[i], " align 2 batches 3 steps 35 63 45 ") != NULL;
	}
	ok(good && odd, "%zu lines, %d of them of addresses that are multiples of 2 alone", n, odd);
	hu_status st = status_of(side, &batch, &mixes[1]);
	ok(st == HU_OK && s.get(5) == asked && s.get(8) == checked + (long long)n,
		"none is chosen anew: %lld of %zu are taken", s.get(8) - checked, n);
	hu_cublas_forget(1);
}

static __attribute__((unused)) void
test_stub(const hu_side *side)
{
	static const shape large = { "conv2d", "stride=1", "x:1x18x18x512 x:7x7x512x2", "x" };
	static const mix wide = { "fma,acc=fp64", "fp64", "fp64" };
	hu_env env = { 3, 5 };
	long long before;
	op_case k;

	unsetenv("HALFULP_CUBLASLT_HOST");
	hu_cublas_forget(1);
	ok(status_of(side, &shapes[0], &mixes[0]) == HU_EUNABLE, "without a library: %s", hu_reason());
	if (!compiled()) {
		skip(1, "no compiler for the stand-in library");
		return;
	}
	s.set(0, 1);
	hu_cublas_forget(1);
	ok(status_of(side, &shapes[0], &mixes[0]) == HU_EUNABLE, "a library that does not start: %s", hu_reason());
	s.set(0, 0);
	s.set(2, 0);
	ok(status_of(side, &shapes[0], &mixes[0]) == HU_EUNABLE, "no algorithm: %s", hu_reason());
	s.set(2, 1);
	for (int slices = 1; slices <= 3; slices += 2) {
		s.set(1, slices);
		hu_cublas_forget(1);
		for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
			test_mix(side, &mixes[i], slices, HU_TC_HOPPER);
	}
	before = s.get(5);
	ok(status_of(side, &shapes[1], &mixes[1]) == HU_OK && s.get(5) == before,
		"an algorithm is asked for once a shape");
	test_recalled(side);
	test_refusals(side);
	/* 324 rows of 7 * 7 * 512 doubles are gathered in pieces of at most 64 MiB */
	prepare(&k, &large, &wide, LEVEL_MILD, 1);
	hu_tensor got = op_tensor(k.out[0].format, k.out[0].shape), *out = &got;
	double nearest = 0;
	before = s.get(4);
	hu_status st = hu_device_call_by(side, HU_GEMM_CUBLAS, NULL, &k.c, k.pin, &out, &env);
	ok(st == HU_OK && s.get(4) == before + 2 && s.get(6) <= 64 << 20,
		"rows in pieces: %lld products, the largest operand %.1f MB", s.get(4) - before,
		(double)s.get(6) / 1e6);
	is_int((long long)beyond(&k, &got, 3, HU_TC_HOPPER, &nearest), 0,
		"of a convolution in pieces, within the bound");
	s.set(3, 1);
	op_case_release(&k);
	prepare(&k, &shapes[0], &mixes[1], LEVEL_MILD, 1);
	free(got.data);
	got = op_tensor(k.out[0].format, k.out[0].shape);
	st = hu_device_call_by(side, HU_GEMM_CUBLAS, NULL, &k.c, k.pin, &out, &env);
	is_int((long long)beyond(&k, &got, 3, HU_TC_HOPPER, &nearest), 1,
		"one output that is wrong by 2^-8 is beyond the bound");
	free(got.data);
	op_case_release(&k);
	is_int((long long)hu_shim_allocated(), 0, "nothing was left allocated");
}

/* Operators that promise a bound alone are those whose outputs are held to it above; u-cuda-op holds the others to the
   emulation's bits, with the library asked for. */
static void
test_promises(void)
{
	const hu_op *op;

	for (int i = 0; (op = hu_op_at(i)); i++) {
		int held = 0;
		for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
			held |= !strcmp(shapes[j].op, op->name);
		ok((op->parity == HU_PARITY_BOUND) == held, "%s promises %s", op->name,
			held ? "its bound, where the library sums" : "the emulation's bits in every way");
	}
}

int
main(void)
{
	test_promises();
#ifdef HU_HAVE_SHIM
	if (on_shim_too())
		test_stub(&hu_shim_side);
	else
		skip(1, "HALFULP_GPU_ONLY is set: the shim's part is left out");
#else
	skip(1, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
#ifdef HU_HAVE_CUDA
	if (hu_device_count())
		for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
			test_mix(&hu_gpu_side, &mixes[i], 8, hu_gpu_side.arch());
	else
		skip(1, "cuda: %s", hu_device_why());
#endif
	return done_testing();
}
