/* SPDX-License-Identifier: Apache-2.0
   Emulated products: the blocked, vectorised path against the plain model, bit for bit, on
   values biased to ties, subnormals, overflow and exponent gaps; the exact engines against
   each other; every output within its bound. */
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/dot.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/contract.h"
#include "lib/sum/parts.h"
#include "t/tap.h"

#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(20250101, 1, 0, counter++).w[0];
}

/* KIND 0: ordinary; 1: any exponent, subnormals among them; 2: near overflow; 3: small integers; 4: with specials. */
static double
value(hu_format f, int kind)
{
	double u = (double)bits() * 0x1p-32, s = bits() & 1 ? -1 : 1;

	if (kind == 1)
		return hu_round(s * (1 + u) * hu_pow2(f.emin - f.p + (int)(bits() % (uint32_t)(f.emax - f.emin + f.p))), f, HU_RNE, HU_SATURATE, 0);
	if (kind == 2)
		return hu_round(s * f.max * (0.5 + u / 2), f, HU_RZ, 0, 0);
	if (kind == 3)
		return s * (double)(bits() % 8);
	if (kind == 4 && bits() % 24 == 0) {
		static const double odd[] = { 0.0, -0.0 };
		uint32_t k = bits() % 5;
		return k < 2 ? odd[k] : k == 2 ? hu_nan() : hu_inf((int)k & 1);
	}
	return hu_round(s * u * hu_pow2((int)(bits() % 20) - 10), f, HU_RNE, 0, 0);
}

static hu_tensor
tensor(hu_shape shape, hu_format_id f, int kind)
{
	hu_tensor t = { f, shape, hu_count(shape), hu_alloc(hu_count(shape) * hu_element_size(f)) };

	for (size_t i = 0; i < t.n && kind >= 0; i++)
		hu_put(&t, i, value(hu_format_of(f), kind));
	return t;
}

static hu_call
call_of(const char *op, const char *sum, hu_format_id out, size_t part)
{
	hu_call c = { .op = hu_op_find(op), .nin = 2, .nout = 1 };

	HU_ASSERT(c.op && hu_sum_parse(sum, &c.sum) == HU_OK);
	c.fmt.out = out;
	c.fmt.acc = c.fmt.compute = c.sum.acc;
	strcpy(c.seed_name, "test");
	if (part)
		hu_attr_set(&c, "part", (double)part);
	return c;
}

/* y by the definition: lists of a and b, the plain model, the tree over parts, one rounding. */
static double
plain(const double *a, const double *b, size_t k, const hu_call *c, size_t element)
{
	hu_draw d = { 5, hu_draw_stream("test"), 9, element * k };
	double sums[256];

	return hu_round(hu_parts_run(a, b, k, (size_t)hu_attr_num(c, "part", 0), c->sum, &d, sums, NULL), hu_format_of(c->fmt.out), c->mode, c->flags, 0);
}

static uint64_t
code(const hu_tensor *t, size_t i)
{
	return hu_is_wide(t->format) ? bits_of_double(hu_get(t, i)) : bits_of_float((float)hu_get(t, i));
}

/* Elements of one product that differ from the plain model's, at every instruction set and 1 to 3 threads. */
static int
compare(size_t m, size_t n, size_t k, int ta, int tb, hu_format_id in, hu_format_id out, const char *sum, size_t part, int kind)
{
	static const char *const levels[] = { "scalar", "avx2", "avx512" };
	hu_call c = call_of("matmul", sum, out, part);
	hu_tensor a = tensor(ta ? hu_shape2(k, m) : hu_shape2(m, k), in, kind), b = tensor(tb ? hu_shape2(n, k) : hu_shape2(k, n), in, kind), y = tensor(hu_shape2(m, n), out, -1), want = tensor(hu_shape2(m, n), out, -1);
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
			bad += c.op->emulate(&c, ins, outs, &env) != HU_OK;
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
		bad += compare(m, n, k, i & 1, i >> 1 & 1, HU_FP32, HU_FP32, "fma,acc=fp32", i % 3 ? 0 : 1 + bits() % 20, i % 5);
	}
	is_int(bad, 0, "fp32 products of 150 odd sizes: every instruction set and thread count equals the plain model");
	bad = compare(70, 130, 700, 0, 0, HU_FP16, HU_FP16, "fma,acc=fp32", 0, 0) + compare(33, 65, 9000, 1, 0, HU_FP16, HU_FP32, "fma,acc=fp32", 4096, 1);
	is_int(bad, 0, "and so do long ones, with parts");
	bad = compare(13, 33, 3000, 0, 1, HU_FP16, HU_FP16, "fma,acc=fp16", 1000, 0) + compare(14, 35, 900, 0, 0, HU_BF16, HU_BF16, "chunk:300,acc=bf16", 0, 1) + compare(9, 9, 1111, 0, 0, HU_FP32, HU_FP32, "chunk:50,acc=fp32", 333, 1);
	is_int(bad, 0, "in narrow accumulators and chunks too");
}

static void
test_formats(void)
{
	static const struct { hu_format_id in, out; const char *sum; } rows[] = {
		{ HU_FP16, HU_FP16, "fma,acc=fp32" }, { HU_BF16, HU_BF16, "fma,acc=fp32" }, { HU_E4M3, HU_BF16, "fma,acc=fp32" }, { HU_FP64, HU_FP64, "fma,acc=fp64" },
		{ HU_FP32, HU_FP64, "fma,acc=fp64" }, { HU_FP16, HU_FP16, "fma,acc=fp16" }, { HU_FP16, HU_FP32, "sequential,acc=fp16" }, { HU_BF16, HU_BF16, "chunk:8,acc=bf16" },
		{ HU_FP16, HU_FP16, "pairwise,acc=fp16" }, { HU_FP32, HU_FP32, "kahan,acc=fp32" }, { HU_FP16, HU_FP16, "fma,acc=fp16,mode=SR" }, { HU_FP32, HU_FP16, "fma,acc=bf16,outer=fp32" },
		{ HU_BF16, HU_BF16, "fma,acc=bf16" }, { HU_FP32, HU_FP32, "fma,acc=bf16" }, { HU_E5M2, HU_FP16, "fma,acc=e5m2" }, { HU_E4M3, HU_FP32, "fma,acc=e4m3" }, { HU_FP32, HU_FP16, "fma,acc=fp16" },
		{ HU_FP32, HU_FP32, "chunk:7,acc=fp32" }, { HU_FP16, HU_FP16, "chunk:16,acc=fp16" }, { HU_FP64, HU_FP64, "chunk:11,acc=fp64" }, { HU_FP32, HU_TF32, "chunk:64,acc=tf32" },
		{ HU_E4M3, HU_BF16, "fma,acc=e4m3fnuz" }, { HU_FP64, HU_FP32, "fma,acc=fp32" }, { HU_FP64, HU_FP16, "sequential,acc=fp16" }, { HU_E2M1, HU_FP32, "fma,acc=e3m2" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int bad = 0;
		for (int kind = 0; kind < 5; kind++)
			bad += compare(5, 19, 40, kind & 1, kind >> 1 & 1, rows[i].in, rows[i].out, rows[i].sum, kind == 3 && strcmp(rows[i].sum, "fma,acc=bf16,outer=fp32") ? 16 : 0, kind);
		is_int(bad, 0, "%s products into %s by %s", hu_format_name(rows[i].in), hu_format_name(rows[i].out), rows[i].sum);
	}
}

static void
test_exact(void)
{
	enum { N = 300 };
	double a[N], b[N];
	mpfr_t x, y, z;
	int differ = 0, ints = 0, integers = 0;

	mpfr_inits2(64, x, y, z, (mpfr_ptr)0);
	for (int i = 0; i < 400; i++) {
		hu_format_id f = i % 2 ? HU_FP16 : i % 3 ? HU_BF16 : HU_FP32;
		size_t n = 1 + bits() % N;
		for (size_t k = 0; k < n; k++) {
			a[k] = value(hu_format_of(f), i % 5);
			b[k] = i % 7 == 0 && k >= n / 2 ? -b[k - n / 2] : value(hu_format_of(f), i % 5);
			if (i % 7 == 0 && k >= n / 2)
				a[k] = a[k - n / 2]; /* the second half cancels the first */
		}
		hu_exact_dot_mpfr(x, a, b, n);
		if (hu_exact_dot_int(y, a, b, n)) {
			ints++;
			differ += mpfr_cmp(x, y) != 0 || mpfr_signbit(x) != mpfr_signbit(y);
		}
		/* a third way: 2400 bits hold any of these sums */
		mpfr_set_prec(z, 2400);
		mpfr_set_zero(z, 1);
		int finite = 1;
		for (size_t k = 0; k < n; k++) {
			mpfr_t p;
			mpfr_init2(p, 106);
			mpfr_set_d(p, a[k], MPFR_RNDN);
			mpfr_mul_d(p, p, b[k], MPFR_RNDN);
			mpfr_add(z, z, p, MPFR_RNDN);
			finite &= hu_isfinite(a[k]) && hu_isfinite(b[k]);
			mpfr_clear(p);
		}
		differ += finite ? mpfr_cmp(x, z) != 0 : mpfr_nan_p(x) != mpfr_nan_p(z) || (mpfr_inf_p(z) && mpfr_cmp(x, z));
		for (size_t k = 0; k < n; k++)
			integers += a[k] != a[k];
	}
	is_int(differ, 0, "the exact engines agree with 2400-bit sums (%d by integers, %d NaN among the operands)", ints, integers);
	ok(ints > 100 && ints < 400, "both engines were used");
	mpfr_clears(x, y, z, (mpfr_ptr)0);
}

/* Outputs beyond their bound, and references that differ from an integer product. */
static void
test_judges(void)
{
	static const char *const sums[] = { "fma,acc=fp32", "fma,acc=fp16", "sequential,acc=fp16", "chunk:8,acc=bf16", "pairwise,acc=fp16", "kahan,acc=fp16", "fma,acc=fp16,mode=RZ", "fma,acc=bf16,mode=SR" };
	hu_env env = { 5, 9 };

	for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
		int over = 0, finite = 0, nonzero = 0;
		for (int i = 0; i < 40; i++) {
			size_t m = 3, n = 5, k = 1 + bits() % 300, element[15];
			hu_call c = call_of("matmul", sums[s], i & 1 ? HU_FP16 : HU_BF16, i % 3 ? 0 : 64);
			hu_format_id in = i & 2 ? HU_FP16 : HU_BF16;
			hu_tensor a = tensor(hu_shape2(m, k), in, i % 4), b = tensor(hu_shape2(k, n), in, i % 4), y = tensor(hu_shape2(m, n), c.fmt.out, -1);
			hu_tensor *ins[2] = { &a, &b }, *outs[1] = { &y };
			mpfr_t exact[15];
			double bound[15];
			for (size_t e = 0; e < 15; e++) {
				element[e] = e;
				mpfr_init(exact[e]);
			}
			c.op->emulate(&c, ins, outs, &env);
			c.op->reference(&c, ins, 0, element, 15, exact);
			c.op->bound(&c, ins, 0, element, 15, bound);
			for (size_t e = 0; e < 15; e++) {
				double got = hu_get(&y, e);
				if (hu_isfinite(got) && bound[e] < 1e300) {
					mpfr_t d;
					mpfr_init2(d, 600);
					mpfr_d_sub(d, got, exact[e], MPFR_RNDN);
					finite++;
					nonzero += !mpfr_zero_p(d);
					over += mpfr_cmpabs_ui(d, 0) > 0 && (mpfr_abs(d, d, MPFR_RNDN), mpfr_cmp_d(d, bound[e]) > 0);
					mpfr_clear(d);
				} else if (!hu_isfinite(got))
					over += bound[e] < 1e300; /* an overflow that the bound called impossible */
				mpfr_clear(exact[e]);
			}
			free(a.data);
			free(b.data);
			free(y.data);
		}
		ok(!over && nonzero > 20, "%s: %d errors, %d of them not 0, none beyond its bound (%d)", sums[s], finite, nonzero, over);
	}
}

static void
test_shapes(void)
{
	hu_call c = call_of("matmul", "fma", HU_FP32, 0);
	hu_shape in[2] = { hu_shape2(3, 4), hu_shape2(5, 6) }, out = { 0, { 0, 0, 0, 0 } };

	ok(c.op->shape(&c, in, &out) == HU_EINVAL, "inner dimensions that differ are refused: %s", hu_reason());
	hu_attr_set(&c, "ta", 1);
	in[1] = hu_shape2(3, 6);
	ok(c.op->shape(&c, in, &out) == HU_OK && out.d[0] == 4 && out.d[1] == 6, "a transposed operand");
}

int
main(void)
{
	test_sizes();
	test_formats();
	test_exact();
	test_judges();
	test_shapes();
	return done_testing();
}
