/* SPDX-License-Identifier: Apache-2.0
   The tensor cores' micro-kernels against the plain version (tc.h), bit for bit: every row of
   tc.def into every output, at every instruction set, through matmul, on operands made to hit what decides:
   blocks of tiny numbers, exact cancellation, gaps about the alignment's depth, overflow, sums beyond 31 bits, codes at
   random. */
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "lib/op/contract/contract.h"
#include "lib/sum/table/parts.h"
#include "lib/sum/tc/panel.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_word(20250102, 1, 0, counter++);
}

typedef enum kind { PLAIN, CODES, FINITE, TINY, CANCEL, GAPS, LARGE, SPARSE, FULL, MIXED, KINDS } kind;

static const char *const kinds[] = { "plain", "codes", "finite codes", "tiny", "cancelling", "gaps", "overflowing",
	"sparse", "full significands", "tiny blocks among others" };

/* A value with exponent E, as near as the format comes, a random significand; WHOLE: all its bits set. */
static double
at(hu_format f, int e, int whole)
{
	int q = f.emin - f.p + 1;
	double u = whole ? 2 - 2 * hu_unit(f) : 1 + (double)bits() * 0x1p-32, s = bits() & 1 ? -1 : 1;

	e = e < q ? q : e > f.emax ? f.emax : e;
	return hu_round(s * ldexp(u, e), f, HU_RZ, HU_SATURATE, 0);
}

static int span(int low, int high) { return low + (int)(bits() % (uint32_t)(high - low + 1)); }

/* Operand of term K; GAP: the block's depth F; LOW: the output's emin; SECOND: that of B, whose exponents make the
   gaps. */
static double
value(hu_format f, kind k, size_t term, int gap, int low, int second)
{
	double x;

	switch (k) {
	case CODES:
	case FINITE:
		x = hu_decode((uint64_t)bits() & (((uint64_t)1 << f.bits) - 1), f);
		return hu_isfinite(x) || (k == CODES && bits() % 16 == 0) ? x : 0;
	case TINY: return bits() % 4 ? at(f, low / 2 + span(-12, -3), 0) : 0;
	case CANCEL: return term % 2 ? NAN : at(f, span(-4, 4), 0); /* the caller repeats its neighbour */
	case GAPS:
		return at(f,
			second && term % 5 ? -gap / 2 - span(-1, 1)
			: second           ? gap / 2
					   : span(0, 1),
			bits() % 4 == 0);
	case LARGE: return at(f, f.emax - span(0, 1) - (second ? (f.emax + 1) / 2 : 0) + (bits() % 8 == 0), 0);
	case SPARSE: return bits() % 6 ? (bits() & 1 ? 0.0 : -0.0) : at(f, span(-6, 6), 0);
	case FULL: /* an accumulator just below 2, then blocks whose products are all just below 4 */
		return term < 16 ? (term == 0 ? second ? 1 : at(f, 0, 1) : 0) : fabs(at(f, 0, bits() % 64 != 0));
	case MIXED:
		return term / 8 % 3 ? (bits() & 1) * at(f, span(f.emin, f.emin / 2), 0)
				    : at(f, span(f.emin, f.emax / 2), 0);
	default: return at(f, span(-10, 3), 0);
	}
}

static hu_tensor
tensor(size_t rows, size_t columns, hu_format_id f)
{
	return (hu_tensor){ .format = f,
		.shape = hu_shape2(rows, columns),
		.n = rows * columns,
		.data = hu_xcalloc(rows * columns, hu_element_size(f)) };
}

static void
fill(hu_tensor *a, hu_tensor *b, size_t m, size_t n, size_t k, kind what, int gap, int low)
{
	hu_format fa = hu_format_of(a->format), fb = hu_format_of(b->format);

	for (size_t j = 0; j < k; j++) {
		for (size_t i = 0; i < m; i++) {
			double x = value(fa, what, j, gap, low, 0);
			hu_put(a, i * k + j, isnan(x) && what == CANCEL ? -hu_get(a, i * k + j - 1) : x);
		}
		for (size_t i = 0; i < n; i++) {
			double x = value(fb, what, j, gap, low, 1);
			hu_put(b, j * n + i,
				isnan(x) && what == CANCEL
					? hu_get(b, (j - 1) * n + i) * (bits() % 8 ? 1 : 2 - (bits() & 2) / 2)
					: x);
			if (what == CANCEL && !hu_isfinite(hu_get(b, j * n + i)))
				hu_put(b, j * n + i, 0);
			hu_put(b, j * n + i, hu_round(hu_get(b, j * n + i), fb, HU_RZ, 0, 0));
		}
	}
}

/* What the outputs were, so that no kind of input is tested in vain. */
typedef struct seen { int wrong, zero, subnormal, infinite, nan; } seen;

static uint32_t
code(const hu_tensor *t, size_t i)
{
	return bits_of_float(((const float *)t->data)[i]);
}

static void
compare(hu_sum s, hu_format_id fa, hu_format_id fb, kind what, seen *w)
{
	static const char *const levels[] = { "scalar", "avx2", "avx512" };
	size_t m = 1 + bits() % 5, n = 1 + bits() % 45, k = 1 + bits() % 130, part = bits() % 3 ? k : 1 + bits() % k;
	hu_tc_plan p;
	hu_tensor a = tensor(m, k, fa), b = tensor(k, n, fb), y = tensor(m, n, HU_FP32), want = tensor(m, n, HU_FP32);
	hu_tensor *in[2] = { &a, &b }, *out[1] = { &y };
	hu_call c = { .op = hu_op_find("matmul"), .nin = 2, .nout = 1, .sum = s, .fmt = { fa, s.out, s.out, HU_FP32 } };
	hu_env env = { 5, 9 };
	double *x = hu_xmalloc((2 * k + k) * sizeof *x), *sums = x + 2 * k;
	hu_draw none = { 0, 0, 0, 0, 0 };

	if (hu_sum_resolve(&s, fa, fb, HU_FP32) != HU_OK || !hu_tc_plan_of(&p, s))
		bail_out("%s", hu_reason());
	strcpy(c.seed_name, "test");
	hu_attr_set(&c, "part", (double)part);
	fill(&a, &b, m, n, k, what, p.t.f + span(-2, 2), p.out.emin);
	for (size_t i = 0; i < m * n; i++) {
		for (size_t j = 0; j < k; j++) {
			x[j] = hu_get(&a, i / n * k + j);
			x[k + j] = hu_get(&b, j * n + i % n);
		}
		double r = hu_round(
			hu_parts_run(x, x + k, k, part, s, &none, sums, NULL), hu_format_of(HU_FP32), HU_RNE, 0, 0);
		hu_put(&want, i, r);
		w->zero += r == 0;
		w->subnormal += r != 0 && fabs(r) < hu_pow2(p.out.emin);
		w->infinite += isinf(r) != 0;
		w->nan += isnan(r);
	}
	for (int level = 0; level < 3; level++) {
		if (hu_simd_set(levels[level]) != HU_OK)
			continue;
		hu_threads_set(1 + level);
		memset(y.data, 0x55, y.n * sizeof(float));
		w->wrong += HU_COLUMN(c.op, emulate)(&c, in, out, &env) != HU_OK;
		for (size_t i = 0; i < y.n; i++) {
			if (code(&y, i) != code(&want, i) && !w->wrong)
				diag("%s, %s, output %zu of %zu x %zu x %zu, part %zu: %a, not %a", levels[level],
					kinds[what], i, m, n, k, part, hu_get(&y, i), hu_get(&want, i));
			w->wrong += code(&y, i) != code(&want, i);
		}
	}
	free(x);
	free(a.data);
	free(b.data);
	free(y.data);
	free(want.data);
}

/* One row of the table into OUT, with second operands of IN2. */
static void
row(hu_tc t, hu_format_id in2, hu_format_id out)
{
	seen all = { 0, 0, 0, 0, 0 };
	hu_sum s = hu_sum_default();
	char text[96];

	s.id = HU_SUM_TC;
	s.arch = t.arch;
	s.in = t.in;
	s.in2 = in2;
	s.out = out;
	s.path = t.paths & -t.paths;
	/* tf32 is taken from words of fp32, whose last bits fall away */
	hu_format_id fa = t.in == HU_TF32 ? HU_FP32 : t.in, fb = in2 == HU_TF32 ? HU_FP32 : in2;
	if (t.in == HU_TF32)
		s.in = s.in2 = HU_NO_FORMAT;
	for (int i = 0; i < 4 * KINDS; i++)
		compare(s, fa, fb, (kind)(i % KINDS), &all);
	hu_sum_print(s, text, sizeof text);
	int reach = out == HU_FP16 ? t.in == HU_FP16 || t.in == HU_E5M2
				   : t.in == HU_BF16 || t.in == HU_TF32; /* of products: all of the output's range */
	ok(!all.wrong && all.zero && (!reach || (all.subnormal && all.infinite)),
		"%s%s: %d differ; %d outputs 0, %d subnormal, %d infinite, %d NaN", text,
		t.in == HU_TF32 ? " of tf32" : "", all.wrong, all.zero, all.subnormal, all.infinite, all.nan);
}

int
main(void)
{
	static const hu_tc rows[] = {
#define TC(arch_, in_, paths_, kind_, l_, f_, keep_, zero_, s_, s16_, source_)                                         \
	{ HU_TC_##arch_, HU_##in_, HU_TC_##paths_, HU_TC_##kind_, l_, f_, keep_, zero_, HU_TC_##s_, HU_TC_##s16_ },
#include "lib/sum/tc/tc.def"
#undef TC
	};
	int kernels = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_tc t = rows[i];
		if (t.kind == HU_TC_CHAIN)
			continue;
		row(t, t.in, HU_FP32);
		if (t.status16 != HU_TC_N)
			row(t, t.in, HU_FP16);
		if (t.in == HU_E4M3)
			row(t, HU_E5M2, t.status16 != HU_TC_N && i % 2 ? HU_FP16 : HU_FP32);
		kernels++;
	}
	ok(kernels >= 30, "%d rows have kernels", kernels);
	return done_testing();
}
