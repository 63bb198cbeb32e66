/* SPDX-License-Identifier: Apache-2.0
   Summation models against an independent plain version whose every operation is MPFR's exact
   result rounded once. */
#include "lib/number/philox.h"
#include "lib/sum/table/model.h"
#include "t/tool/tap.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(4711, 3, 0, counter++).w[0];
}

/* Products and sums of what is tested here fit: exponents of fp32 squared. */
enum { WIDE = 1400 };

/* M to the nearest integer, of two equally near ones to that nearer to 0. */
static void
nearest_to_zero(mpfr_t m)
{
	mpfr_t t;

	mpfr_init2(t, WIDE);
	mpfr_trunc(t, m);
	mpfr_sub(t, m, t, MPFR_RNDN); /* the fraction, exactly */
	mpfr_mul_2ui(t, t, 1, MPFR_RNDN);
	int up = mpfr_cmpabs_ui(t, 1) > 0;
	mpfr_trunc(m, m);
	if (up)
		mpfr_sgn(t) < 0 ? mpfr_sub_ui(m, m, 1, MPFR_RNDN) : mpfr_add_ui(m, m, 1, MPFR_RNDN);
	mpfr_clear(t);
}

/* X rounded to f: the significand as an integer, by mpfr_rint of the mode. */
static double
once(mpfr_t x, hu_format f, hu_mode mode)
{
	mpfr_t m;
	int sign = mpfr_signbit(x) != 0, q, odd;
	double r;

	if (!mpfr_number_p(x) || mpfr_zero_p(x))
		return mpfr_nan_p(x) ? hu_nan() : mpfr_inf_p(x) && !hu_has_inf(f) ? hu_nan() : mpfr_get_d(x, MPFR_RNDN);
	q = ((int)mpfr_get_exp(x) - 1 < f.emin ? f.emin : (int)mpfr_get_exp(x) - 1) - f.p + 1;
	mpfr_init2(m, WIDE);
	mpfr_mul_2si(m, x, -q, MPFR_RNDN);
	switch (mode) {
	case HU_RNE: mpfr_rint(m, m, MPFR_RNDN); break; /* ties to even */
	case HU_RNA: mpfr_round(m, m); break;
	case HU_RNZ: nearest_to_zero(m); break;
	case HU_RU: mpfr_ceil(m, m); break;
	case HU_RD: mpfr_floor(m, m); break;
	case HU_RO:
		odd = !mpfr_integer_p(m);
		mpfr_trunc(m, m);
		if (odd && !(mpfr_get_si(m, MPFR_RNDN) & 1))
			sign ? mpfr_sub_ui(m, m, 1, MPFR_RNDN) : mpfr_add_ui(m, m, 1, MPFR_RNDN);
		break;
	default: mpfr_trunc(m, m); break;
	}
	mpfr_mul_2si(m, m, q, MPFR_RNDN);
	r = mpfr_get_d(m, MPFR_RNDN);
	mpfr_clear(m);
	if (r == 0)
		return sign ? -0.0 : 0.0;
	return r > f.max || r < -f.max ? hu_overflow(sign, f, mode, 0) : r;
}

/* a*b + c rounded once; IEEE's sign of an exact zero comes from double arithmetic, which has it. */
static double
operation(double a, double b, double c, hu_format f, hu_mode mode)
{
	mpfr_t x, y, z;
	double r;

	mpfr_inits2(WIDE, x, y, z, (mpfr_ptr)0);
	mpfr_set_d(x, a, MPFR_RNDN);
	mpfr_set_d(y, b, MPFR_RNDN);
	mpfr_set_d(z, c, MPFR_RNDN);
	mpfr_fma(x, x, y, z, MPFR_RNDN);
	r = once(x, f, mode);
	mpfr_clears(x, y, z, (mpfr_ptr)0);
	return r;
}

static double plus(double a, double b, hu_format f, hu_mode mode) { return operation(a, 1, b, f, mode); }
static double times(double a, double b, hu_format f, hu_mode mode) { return operation(a, b, -0.0, f, mode); }

static double
halves(const double *a, const double *b, size_t n, hu_format f, hu_mode mode)
{
	size_t half = 1;

	if (n == 1)
		return times(a[0], b[0], f, mode);
	while (2 * half < n)
		half *= 2;
	return plus(halves(a, b, half, f, mode), halves(a + half, b + half, n - half, f, mode), f, mode);
}

/* What rank r sends on where it holds x and receives y. */
static double
hop(double x, double y, hu_sum s)
{
	double sum = plus(x, y, hu_format_of(s.acc), s.mode);

	return s.outer == HU_NO_FORMAT ? sum : plus(sum, -0.0, hu_format_of(s.outer), s.mode);
}

/* An all-reduce as ranks perform it, each with a value of its own: in every round all of them receive their partner's.
   Afterwards all must hold the same bits, else the result is -77. */
static double
exchange(double *x, size_t ranks, hu_sum s, int halving)
{
	double next[40];
	size_t two = 1, e;

	for (; 2 * two <= ranks; two *= 2)
		;
	e = ranks - two;
	for (size_t i = 0; i < two; i++)
		x[i] = i < e ? hop(x[2 * i], x[2 * i + 1], s) : x[i + e];
	for (size_t round = 1; round < two; round *= 2) {
		size_t apart = halving ? two / 2 / round : round;
		for (size_t i = 0; i < two; i++)
			next[i] = hop(x[i], x[i ^ apart], s);
		memcpy(x, next, two * sizeof *x);
	}
	for (size_t i = 1; i < two; i++)
		if (memcmp(&x[i], x, sizeof *x) && (x[i] == x[i] || *x == *x))
			return -77;
	return *x;
}

/* Every rank sums its own terms; then they reduce. */
static double
over_ranks(const double *a, const double *b, size_t n, hu_sum s)
{
	hu_format f = hu_format_of(s.acc);
	size_t ranks = n < (size_t)s.n ? n : (size_t)s.n, node = s.id == HU_SUM_HIER ? (size_t)s.node : ranks,
	       members = 0;
	double x[40], y[40];

	for (size_t r = 0, k = 0; r < ranks; r++) {
		for (x[r] = 0; k < (r + 1) * n / ranks; k++)
			x[r] = operation(a[k], b[k], x[r], f, s.mode);
		if (s.outer != HU_NO_FORMAT)
			x[r] = plus(x[r], -0.0, hu_format_of(s.outer), s.mode);
	}
	if (s.id == HU_SUM_TREE || s.id == HU_SUM_HALVING)
		return exchange(x, ranks, s, s.id == HU_SUM_HALVING);
	for (size_t r = 0; r < ranks; r++)
		if (r % node)
			y[members - 1] = hop(y[members - 1], x[r], s);
		else
			y[members++] = x[r];
	return exchange(y, members, s, 0);
}

/* Whether a slice of OpenBLAS's ends behind the k-th of n terms: all but the last two are whole, and these two share
   evenly what is longer than one and shorter than two. */
static int
evened_end(size_t k, size_t n, size_t length)
{
	size_t whole = n % length && n > length ? n / length - 1 : n / length, rest = n - whole * length;

	return k <= whole * length ? k % length == 0 : rest > length && k == whole * length + (rest + 1) / 2;
}

static double
model(const double *a, const double *b, size_t n, hu_sum s)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0, e = 0, chunk = 0;
	size_t length = s.id == HU_SUM_SPLITK ? (n + (size_t)s.n - 1) / (size_t)s.n : (size_t)s.n;
	int sliced = s.id == HU_SUM_CHUNK || s.id == HU_SUM_SPLITK || s.id == HU_SUM_PROMOTE || s.id == HU_SUM_FABSUM ||
		     s.id == HU_SUM_OPENBLAS;

	if (s.id == HU_SUM_PAIRWISE)
		return halves(a, b, n, f, s.mode);
	if (hu_sum_collective(s.id))
		return over_ranks(a, b, n, s);
	for (size_t k = 0; k < n; k++) {
		double x = times(a[k], b[k], f, s.mode);
		if (s.id == HU_SUM_FMA) {
			acc = operation(a[k], b[k], acc, f, s.mode);
		} else if (s.id == HU_SUM_SEQUENTIAL) {
			acc = plus(acc, x, f, s.mode);
		} else if (s.id == HU_SUM_NEUMAIER) {
			double t = plus(acc, x, f, s.mode);
			if (fabs(acc) >= fabs(x))
				e = plus(e, plus(plus(acc, -t, f, s.mode), x, f, s.mode), f, s.mode);
			else
				e = plus(e, plus(plus(x, -t, f, s.mode), acc, f, s.mode), f, s.mode);
			acc = t;
		} else if (s.id == HU_SUM_DOT2) {
			double r = operation(a[k], b[k], -x, f, s.mode), t = plus(acc, x, f, s.mode),
			       z = plus(t, -acc, f, s.mode);
			double q =
				plus(plus(acc, -plus(t, -z, f, s.mode), f, s.mode), plus(x, -z, f, s.mode), f, s.mode);
			e = plus(e, plus(q, r, f, s.mode), f, s.mode);
			acc = t;
		} else if (sliced) {
			chunk = operation(a[k], b[k], chunk, f, s.mode);
			if (k + 1 != n &&
				(s.id == HU_SUM_OPENBLAS ? !evened_end(k + 1, n, length) : (k + 1) % length != 0))
				continue;
			if (s.id == HU_SUM_FABSUM) {
				double y = plus(chunk, -e, f, s.mode), t = plus(acc, y, f, s.mode);
				e = plus(plus(t, -acc, f, s.mode), -y, f, s.mode);
				acc = t;
			} else {
				acc = plus(acc, chunk, hu_format_of(s.id == HU_SUM_PROMOTE ? HU_FP32 : s.acc), s.mode);
			}
			chunk = 0;
		} else {
			double y = plus(x, -e, f, s.mode), t = plus(acc, y, f, s.mode);
			e = plus(plus(t, -acc, f, s.mode), -y, f, s.mode);
			acc = t;
		}
	}
	return s.id == HU_SUM_NEUMAIER || s.id == HU_SUM_DOT2 ? plus(acc, e, f, s.mode) : acc;
}

static double
value(hu_format f, int kind)
{
	double u = (double)bits() * 0x1p-32, s = bits() & 1 ? -1 : 1;

	switch (kind) {
	case 0: return hu_round(s * u, f, HU_RNE, 0, 0);
	case 1:
		return hu_round(
			s * (1 + u) * hu_pow2(f.emin - f.p + 1 + (int)(bits() % (uint32_t)(f.emax - f.emin + f.p))), f,
			HU_RNE, HU_SATURATE, 0);
	case 2: return s * hu_pow2((int)(bits() % 8) - 4);             /* ties */
	case 3:
		return hu_round(
			s * u * hu_pow2(f.emin / 2), f, HU_RNE, 0, 0); /* products about the smallest normal number */
	default: return hu_round(s * hu_pow2(f.emax / 2) * (1 + u), f, HU_RNE, 0, 0); /* sums that overflow */
	}
}

static int
equal(double a, double b)
{
	return a != a ? b != b : bits_of_double(a) == bits_of_double(b);
}

static void
test_models(void)
{
	static const char *const sums[] = { "fma", "sequential", "chunk:5", "openblas:6", "pairwise", "kahan",
		"neumaier", "dot2",
		"fabsum:5", "splitk:7", "promote:6", "ring:7", "ring:64,wire=bf16", "tree:8", "tree:13,wire=e4m3",
		"halving:16", "halving:27,wire=fp16", "hier:24:4", "hier:40:5,wire=e5m2" };
	static const hu_format_id accs[] = { HU_FP32, HU_FP16, HU_BF16, HU_E4M3, HU_E5M2, HU_TF32 };

	for (size_t m = 0; m < sizeof sums / sizeof *sums; m++) {
		int differ = 0, sumcount = 0, moved = 0;
		for (int i = 0; i < 1500; i++) {
			double a[40], b[40];
			hu_sum s;
			size_t n = 1 + bits() % 40;
			if (hu_sum_parse(sums[m], &s) != HU_OK)
				bail_out("%s", hu_reason());
			s.acc = accs[i % 6];
			s.mode = (hu_mode)(i / 6 % HU_MODES);
			s.mode = hu_mode_draws(s.mode) ? HU_RNE : s.mode;
			hu_format in = hu_format_of(i % 5 ? s.acc : HU_FP32);
			for (size_t k = 0; k < n; k++) {
				a[k] = value(in, i / 3 % 5);
				b[k] = value(in, i / 3 % 5);
			}
			double got = hu_model_run(a, b, n, s, NULL, NULL), want = model(a, b, n, s);
			differ += !equal(got, want);
			sumcount++;
			moved += got != 0 && hu_isfinite(got);
		}
		ok(!differ && moved > 300,
			"%s: %d sums in 6 formats and 7 modes, %d finite and not 0, %d differ from MPFR's", sums[m],
			sumcount, moved, differ);
	}
}

int
main(void)
{
	test_models();
	return done_testing();
}
