/* SPDX-License-Identifier: Apache-2.0
   Emulated products: the blocked, vectorised path against the plain model, bit for bit, on
   values biased to ties, subnormals, overflow and exponent gaps; every output within its
   bound; sums of small integers without an error. */
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/op/contract/contract.h"
#include "lib/sum/table/parts.h"
#include "t/op/contract/gemm_operands.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* y by the definition: lists of a and b, the plain model, the tree over parts, one rounding. */
static double
plain(const double *a, const double *b, size_t k, const hu_call *c, size_t element)
{
	hu_draw d = { 5, hu_draw_stream("test"), 9, element * k, 0 };
	double sums[256];
	hu_sum sum = c->sum;

	if (hu_sum_resolve(&sum, c->fmt.in, c->fmt.in, c->fmt.acc) != HU_OK)
		bail_out("%s", hu_reason());
	return hu_round(hu_parts_run(a, b, k, (size_t)hu_attr_num(c, "part", 0), sum, &d, sums, NULL),
		hu_format_of(c->fmt.out), c->mode, c->flags, 0);
}

static uint64_t
code(const hu_tensor *t, size_t i)
{
	return hu_is_wide(t->format) ? bits_of_double(hu_get(t, i)) : bits_of_float((float)hu_get(t, i));
}

/* Elements of one product that differ from the plain model's, at every instruction set and 1 to 3 threads. */
static int
compare(size_t m, size_t n, size_t k, int ta, int tb, hu_format_id in, hu_format_id out, const char *sum, size_t part,
	int kind)
{
	static const char *const levels[] = { "scalar", "avx2", "avx512" };
	hu_call c = call_of("matmul", sum, out, part);
	c.fmt.in = in;
	hu_tensor a = tensor(ta ? hu_shape2(k, m) : hu_shape2(m, k), in, kind),
		  b = tensor(tb ? hu_shape2(n, k) : hu_shape2(k, n), in, kind), y = tensor(hu_shape2(m, n), out, -1),
		  want = tensor(hu_shape2(m, n), out, -1);
	hu_tensor *ins[2] = { &a, &b }, *outs[1] = { &y };
	hu_env env = { 5, 9 };
	double *x = hu_xmalloc(2 * k * sizeof *x);
	int bad = 0;

	hu_attr_set(&c, "ta", ta);
	hu_attr_set(&c, "tb", tb);
	for (size_t i = 0; i < m * n; i++) {
		for (size_t l = 0; l < k; l++) {
			x[l] = hu_get(&a, ta ? l * m + i / n : i / n * k + l);
			x[k + l] = hu_get(&b, tb ? i % n * k + l : l * n + i % n);
		}
		hu_put(&want, i, plain(x, x + k, k, &c, i));
	}
	for (int level = 0; level < 3; level++) {
		if (hu_simd_set(levels[level]) != HU_OK)
			continue;
		for (int threads = 1; threads <= 3; threads++) {
			hu_threads_set(threads);
			memset(y.data, 0x55, y.n * hu_element_size(out));
			bad += HU_COLUMN(c.op, emulate)(&c, ins, outs, &env) != HU_OK;
			for (size_t i = 0; i < y.n; i++)
				bad += code(&y, i) != code(&want, i);
		}
	}
	hu_simd_set("auto");
	free(x);
	free(a.data);
	free(b.data);
	free(y.data);
	free(want.data);
	return bad;
}

static void
test_sizes(void)
{
	int bad = 0;

	for (int i = 0; i < 150; i++) {
		size_t m = 1 + bits() % 67, n = 1 + bits() % 67, k = 1 + bits() % 67;
		bad += compare(m, n, k, i & 1, i >> 1 & 1, HU_FP32, HU_FP32, "fma,acc=fp32",
			i % 3 ? 0 : 1 + bits() % 20, i % 5);
	}
	is_int(bad, 0, "fp32 products of 150 odd sizes: every instruction set and thread count equals the plain model");
	bad = compare(70, 130, 700, 0, 0, HU_FP16, HU_FP16, "fma,acc=fp32", 0, 0) +
	      compare(33, 65, 9000, 1, 0, HU_FP16, HU_FP32, "fma,acc=fp32", 4096, 1);
	is_int(bad, 0, "and so do long ones, with parts");
	bad = compare(13, 33, 3000, 0, 1, HU_FP16, HU_FP16, "fma,acc=fp16", 1000, 0) +
	      compare(14, 35, 900, 0, 0, HU_BF16, HU_BF16, "chunk:300,acc=bf16", 0, 1) +
	      compare(9, 9, 1111, 0, 0, HU_FP32, HU_FP32, "chunk:50,acc=fp32", 333, 1);
	is_int(bad, 0, "in narrow accumulators and chunks too");
}

static void
test_formats(void)
{
	static const struct {
		hu_format_id in, out;
		const char *sum;
	} rows[] = {
		{ HU_FP16, HU_FP16, "fma,acc=fp32" },
		{ HU_BF16, HU_BF16, "fma,acc=fp32" },
		{ HU_E4M3, HU_BF16, "fma,acc=fp32" },
		{ HU_FP64, HU_FP64, "fma,acc=fp64" },
		{ HU_FP32, HU_FP64, "fma,acc=fp64" },
		{ HU_FP16, HU_FP16, "fma,acc=fp16" },
		{ HU_FP16, HU_FP32, "sequential,acc=fp16" },
		{ HU_BF16, HU_BF16, "chunk:8,acc=bf16" },
		{ HU_FP16, HU_FP16, "pairwise,acc=fp16" },
		{ HU_FP32, HU_FP32, "kahan,acc=fp32" },
		{ HU_FP16, HU_FP16, "fma,acc=fp16,mode=SR" },
		{ HU_FP32, HU_FP16, "fma,acc=bf16,outer=fp32" },
		{ HU_BF16, HU_BF16, "fma,acc=bf16" },
		{ HU_FP32, HU_FP32, "fma,acc=bf16" },
		{ HU_E5M2, HU_FP16, "fma,acc=e5m2" },
		{ HU_E4M3, HU_FP32, "fma,acc=e4m3" },
		{ HU_FP32, HU_FP16, "fma,acc=fp16" },
		{ HU_FP32, HU_FP32, "chunk:7,acc=fp32" },
		{ HU_FP16, HU_FP16, "chunk:16,acc=fp16" },
		{ HU_FP64, HU_FP64, "chunk:11,acc=fp64" },
		{ HU_FP32, HU_TF32, "chunk:64,acc=tf32" },
		{ HU_E4M3, HU_BF16, "fma,acc=e4m3fnuz" },
		{ HU_FP64, HU_FP32, "fma,acc=fp32" },
		{ HU_FP64, HU_FP16, "sequential,acc=fp16" },
		{ HU_E2M1, HU_FP32, "fma,acc=e3m2" },
		{ HU_FP16, HU_FP16, "neumaier,acc=fp16" },
		{ HU_BF16, HU_BF16, "dot2,acc=bf16" },
		{ HU_FP64, HU_FP64, "dot2,acc=fp64" },
		{ HU_FP16, HU_FP16, "fabsum:8,acc=fp16" },
		{ HU_FP16, HU_FP16, "splitk:3,acc=fp16" },
		{ HU_E4M3, HU_BF16, "promote:16,acc=e8m13" },
		{ HU_FP16, HU_FP32, "dot2,acc=fp16,mode=SR" },
		{ HU_FP16, HU_FP32, "tc:volta" },
		{ HU_FP16, HU_FP16, "tc:ampere" },
		{ HU_BF16, HU_BF16, "tc:hopper" },
		{ HU_FP32, HU_FP32, "tc:ada" },
		{ HU_E4M3, HU_FP16, "tc:hopper,path=mma" },
		{ HU_E5M2, HU_BF16, "tc:hopper,path=wgmma" },
		{ HU_FP64, HU_FP64, "tc:hopper" },
		{ HU_E4M3, HU_FP32, "tc:hopper,path=wgmma,promote=32" },
		{ HU_E5M2, HU_BF16, "tc:hopper,path=mma,promote=32" },
		{ HU_FP16, HU_FP32, "tc:ampere,out=fp16,promote=8" },
		{ HU_FP16, HU_FP16, "tc:ampere,out=fp16" },
		{ HU_E4M3, HU_FP32, "tc:blackwell,in=mxfp8" },
		{ HU_E2M1, HU_FP32, "tc:blackwell,in=mxfp4" },
		{ HU_FP32, HU_FP32, "sequential,acc=fp32" },
		{ HU_FP32, HU_BF16, "pairwise,acc=fp32" },
		{ HU_FP32, HU_FP32, "neumaier,acc=fp32" },
		{ HU_FP32, HU_FP32, "dot2,acc=fp32" },
		{ HU_FP32, HU_FP32, "fabsum:8,acc=fp32" },
		{ HU_FP32, HU_FP32, "splitk:3,acc=fp32" },
		{ HU_FP16, HU_FP32, "promote:16,acc=fp32" },
		{ HU_FP32, HU_FP32, "promote:8,acc=fp32,outer=bf16" },
		{ HU_BF16, HU_BF16, "kahan,acc=bf16" },
		{ HU_FP16, HU_FP16, "kahan,acc=fp16,outer=fp32" },
		{ HU_E5M2, HU_FP16, "pairwise,acc=e5m2" },
		{ HU_E4M3, HU_FP32, "dot2,acc=e4m3" },
		{ HU_E4M3, HU_FP32, "neumaier,acc=e4m3" },
		{ HU_FP32, HU_FP32, "fabsum:8,acc=bf16" },
		{ HU_FP16, HU_FP16, "promote:16,acc=fp16" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int bad = 0;
		for (int kind = 0; kind < 7; kind++)
			bad += compare(15, 19, kind == 6 ? 3 : 40, kind & 1, kind >> 1 & 1, rows[i].in, rows[i].out,
				rows[i].sum, kind == 3 && strcmp(rows[i].sum, "fma,acc=bf16,outer=fp32") ? 16 : 0,
				kind);
		is_int(bad, 0, "%s products into %s by %s", hu_format_name(rows[i].in), hu_format_name(rows[i].out),
			rows[i].sum);
	}
}

/* Outputs beyond their bound, and references that differ from an integer product. */
static void
test_judges(void)
{
	static const char *const sums[] = { "neumaier,acc=fp16", "neumaier,acc=bf16,mode=RZ", "dot2,acc=fp16",
		"dot2,acc=bf16,mode=RU", "fabsum:16,acc=bf16", "splitk:4,acc=fp16", "promote:16,acc=fp16",
		"promote:16,acc=bf16,outer=fp16", "tc:ampere", "tc:hopper", "tc:hopper,out=fp32",
		"tc:hopper,promote=32", "fma,acc=fp32", "fma,acc=fp16", "sequential,acc=fp16", "chunk:8,acc=bf16",
		"pairwise,acc=fp16", "kahan,acc=fp16", "fma,acc=fp16,mode=RZ", "fma,acc=bf16,mode=SR",
		"fma,acc=fp32,outer=fp16", "fma,acc=fp16,outer=bf16", "chunk:32,acc=fp16,outer=fp32",
		"kahan,acc=bf16,mode=RU", "pairwise,acc=e5m2,mode=RNZ", "sequential,acc=bf16,mode=SRE", "fma,acc=fp64",
		"pairwise,acc=fp64" };
	hu_env env = { 5, 9 };

	for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
		static const hu_format_id outs_[] = { HU_FP16, HU_BF16, HU_FP32, HU_FP64 };
		int over = 0, finite = 0, nonzero = 0;
		for (int i = 0; i < 80; i++) {
			size_t m = 3, n = 5, k = 1 + bits() % 300, element[15];
			hu_call c = call_of("matmul", sums[s], outs_[i & 3], i % 3 ? 0 : 1 + bits() % 64);
			hu_format_id in = i & 4 ? HU_FP16 : HU_BF16;
			int kind = i / 8 % 5 == 4 ? 5 : i / 8 % 5;
			c.flags = i / 8 & 1 ? HU_SATURATE : 0;
			c.mode = i % 7 ? HU_RNE : HU_RZ;
			hu_tensor a = tensor(hu_shape2(m, k), in, kind), b = tensor(hu_shape2(k, n), in, kind),
				  y = tensor(hu_shape2(m, n), c.fmt.out, -1);
			hu_tensor *ins[2] = { &a, &b }, *outs[1] = { &y };
			mpfr_t exact[15];
			double bound[15];
			for (size_t e = 0; e < 15; e++) {
				element[e] = e;
				mpfr_init(exact[e]);
			}
			HU_COLUMN(c.op, emulate)(&c, ins, outs, &env);
			HU_COLUMN(c.op, reference)(&c, ins, 0, element, 15, exact);
			HU_COLUMN(c.op, bound)(&c, ins, 0, element, 15, bound);
			for (size_t e = 0; e < 15; e++) {
				double got = hu_get(&y, e);
				if (hu_isfinite(got) && bound[e] < 1e300) {
					mpfr_t d;
					mpfr_init2(d, 600);
					mpfr_d_sub(d, got, exact[e], MPFR_RNDN);
					finite++;
					nonzero += !mpfr_zero_p(d);
					over += mpfr_cmpabs_ui(d, 0) > 0 &&
						(mpfr_abs(d, d, MPFR_RNDN), mpfr_cmp_d(d, bound[e]) > 0);
					mpfr_clear(d);
				} else if (!hu_isfinite(got))
					over += bound[e] < 1e300; /* an overflow that the bound called impossible */
				mpfr_clear(exact[e]);
			}
			free(a.data);
			free(b.data);
			free(y.data);
		}
		ok(!over && nonzero > 20, "%s: %d errors, %d of them not 0, none beyond its bound (%d)", sums[s],
			finite, nonzero, over);
	}
}

static void
test_shapes(void)
{
	hu_call c = call_of("matmul", "fma", HU_FP32, 0);
	hu_shape in[2] = { hu_shape2(3, 4), hu_shape2(5, 6) }, out = { 0, { 0, 0, 0, 0 } };

	ok(HU_COLUMN(c.op, shape)(&c, in, &out) == HU_EINVAL, "inner dimensions that differ are refused: %s",
		hu_reason());
	hu_attr_set(&c, "ta", 1);
	in[1] = hu_shape2(3, 6);
	ok(HU_COLUMN(c.op, shape)(&c, in, &out) == HU_OK && out.d[0] == 4 && out.d[1] == 6, "a transposed operand");
}

/* Partial sums of at most 2^11 are exact in fp16 whatever the model. */
static void
test_integers(void)
{
	static const char *const sums[] = { "fma,acc=fp32", "fma,acc=fp16", "sequential,acc=fp16", "chunk:8,acc=fp16",
		"pairwise,acc=fp16", "kahan,acc=fp16", "fma,acc=fp16,mode=SR" };
	enum { M = 30, N = 40, K = 41 };
	hu_env env = { 5, 9 };
	int differ = 0;

	for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
		hu_call c = call_of("matmul", sums[s], HU_FP16, s % 2 ? 16 : 0);
		hu_tensor a = tensor(hu_shape2(M, K), HU_FP16, 3), b = tensor(hu_shape2(K, N), HU_FP16, 3),
			  y = tensor(hu_shape2(M, N), HU_FP16, -1);
		hu_tensor *ins[2] = { &a, &b }, *outs[1] = { &y };
		HU_COLUMN(c.op, emulate)(&c, ins, outs, &env);
		for (size_t i = 0; i < M * N; i++) {
			int want = 0;
			for (size_t k = 0; k < K; k++)
				want += (int)hu_get(&a, i / N * K + k) * (int)hu_get(&b, k * N + i % N);
			differ += hu_get(&y, i) != want;
		}
		free(a.data);
		free(b.data);
		free(y.data);
	}
	is_int(differ, 0, "products of small integers have no error in any model");
}

/* Dividing by the scales: one rounding, at fp16's ends too. */
static void
test_scaled(void)
{
	hu_env env = { 5, 9 };
	int differ = 0, subnormal = 0;

	for (int i = 0; i < 40; i++) {
		hu_call c = call_of("matmul", "fma,acc=fp32", i & 1 ? HU_FP16 : HU_FP32, 0);
		hu_tensor t[4] = { tensor(hu_shape2(7, 20), HU_FP32, i / 4 % 3),
			tensor(hu_shape2(20, 9), HU_FP32, i / 4 % 3), tensor(hu_shape0(), HU_FP32, 0),
			tensor(hu_shape0(), HU_FP32, 0) },
			  y = tensor(hu_shape2(7, 9), c.fmt.out, -1);
		hu_tensor *ins[4] = { &t[0], &t[1], &t[2], &t[3] }, *outs[1] = { &y };
		int far = i % 4 == 0; /* results about fp32's smallest numbers */
		double sa = hu_pow2(far ? 60 + (int)(bits() % 10) : (int)(bits() % 100) - 50),
		       sb = hu_pow2(far ? 70 : (int)(bits() % 100) - 50), a[40];
		mpfr_t exact;
		double bound;
		hu_put(&t[2], 0, sa);
		hu_put(&t[3], 0, sb);
		c.nin = 4;
		hu_attr_set(&c, "scaled", 1);
		HU_COLUMN(c.op, emulate)(&c, ins, outs, &env);
		mpfr_init2(exact, 500);
		for (size_t e = 0; e < 63; e++) {
			for (size_t k = 0; k < 20; k++) {
				a[k] = hu_get(&t[0], e / 9 * 20 + k);
				a[20 + k] = hu_get(&t[1], k * 9 + e % 9);
			}
			double want = hu_round(hu_model_run(a, a + 20, 20, c.sum, NULL, NULL) / (sa * sb),
				       hu_format_of(c.fmt.out), HU_RNE, 0, 0),
			       got = hu_get(&y, e);
			differ += bits_of_double(want) != bits_of_double(got);
			subnormal += got != 0 && fabs(got) < 0x1p-126;
			HU_COLUMN(c.op, reference)(&c, ins, 0, &e, 1, &exact);
			HU_COLUMN(c.op, bound)(&c, ins, 0, &e, 1, &bound);
			mpfr_d_sub(exact, got, exact, MPFR_RNDA);
			differ += hu_isfinite(got) && !(fabs(mpfr_get_d(exact, MPFR_RNDD)) <= bound);
		}
		mpfr_clear(exact);
		for (int j = 0; j < 4; j++)
			free(t[j].data);
		free(y.data);
	}
	ok(!differ && subnormal > 10,
		"scales are divided out before the one rounding (%d subnormal results, %d differ or leave their bound)",
		subnormal, differ);
}

int
main(void)
{
	test_sizes();
	test_formats();
	test_judges();
	test_shapes();
	test_integers();
	test_scaled();
	return done_testing();
}
