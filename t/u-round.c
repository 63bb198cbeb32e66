/* SPDX-License-Identifier: Apache-2.0
   Rounding against two oracles: MPFR with the format's own exponent range and
   mpfr_subnormalize (RNE, RZ, RU, RD), and floor of the exact multiple of the
   quantum (all modes). Inputs: every value of a format, every midpoint, and one
   fp32 ulp to either side, both signs; random doubles; the range's ends. */
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/tap.h"

#include <float.h>
#include <math.h>
#include <mpfr.h>

static const mpfr_rnd_t directions[HU_MODES] = { [HU_RNE] = MPFR_RNDN, [HU_RZ] = MPFR_RNDZ, [HU_RU] = MPFR_RNDU, [HU_RD] = MPFR_RNDD };

static int
in_mpfr(hu_mode m)
{
	return m == HU_RNE || m == HU_RZ || m == HU_RU || m == HU_RD;
}

/* What the mode makes of a rounded magnitude that is too large, written out apart from round.h. */
static double
too_large(int negative, hu_format f, hu_mode m)
{
	static const int finite[HU_MODES][2] = { [HU_RZ] = { 1, 1 }, [HU_RO] = { 1, 1 }, [HU_RU] = { 0, 1 }, [HU_RD] = { 1, 0 } };

	if (finite[m][negative] || f.special == HU_SPECIAL_FINITE)
		return negative ? -f.max : f.max;
	return f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_P3109 ? (negative ? -INFINITY : INFINITY) : NAN;
}

/* What becomes of a result that the format's special values change. */
static double
adapted(double r, double x, hu_format f)
{
	if (f.special == HU_SPECIAL_SCALE)
		return x < 0 ? NAN : r == 0 ? 0x1p-127 : r;
	return r == 0 && (f.special == HU_SPECIAL_FNUZ || f.special == HU_SPECIAL_P3109) ? 0 : r;
}

static double
by_mpfr(double x, hu_format f, hu_mode m, mpfr_t t)
{
	int ternary;
	double r;

	mpfr_set_emin(f.emin - f.p + 2); /* MPFR's significands are below 1 */
	mpfr_set_emax(f.emax + 1);
	ternary = mpfr_set_d(t, x, directions[m]);
	mpfr_subnormalize(t, ternary, directions[m]);
	r = mpfr_get_d(t, MPFR_RNDN);
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	return fabs(r) > f.max && isfinite(x) ? (x < 0 && f.special == HU_SPECIAL_SCALE ? NAN : too_large(x < 0, f, m)) : adapted(r, x, f);
}

/* x in [-2^400, 2^400] and no smaller than 2^-400. */
static double
by_floor(double x, hu_format f, hu_mode m)
{
	int e = ilogb(x), q = (e < f.emin ? f.emin : e) - f.p + 1, up;
	double k = ldexp(fabs(x), -q), low = floor(k), rest = k - low, r;
	int odd = fmod(low, 2) != 0;

	switch (m) {
	case HU_RNE: up = rest > 0.5 || (rest == 0.5 && odd); break;
	case HU_RNA: up = rest >= 0.5; break;
	case HU_RNZ: up = rest > 0.5; break;
	case HU_RU: up = rest > 0 && x > 0; break;
	case HU_RD: up = rest > 0 && x < 0; break;
	case HU_RO: up = rest > 0 && !odd; break;
	default: up = 0; break;
	}
	r = ldexp(low + up, q);
	if (x < 0 && f.special == HU_SPECIAL_SCALE)
		return NAN;
	return r > f.max ? too_large(x < 0, f, m) : adapted(x < 0 ? -r : r, x, f);
}

static int
differs(double a, double b)
{
	return isnan(a) && isnan(b) ? 0 : hu_bits64(a) != hu_bits64(b);
}

typedef struct tally { long points, floor, mpfr; double at; } tally;

static void
check(tally *t, double x, hu_format f, mpfr_t big, int use_mpfr)
{
	for (int m = 0; m < HU_MODES; m++) {
		double got;
		int wrong;
		if (hu_mode_draws((hu_mode)m))
			continue;
		got = hu_round(x, f, (hu_mode)m, 0, 0);
		t->points++;
		wrong = x != 0 && differs(got, by_floor(x, f, (hu_mode)m));
		t->floor += wrong;
		if (use_mpfr && in_mpfr((hu_mode)m)) {
			int off = differs(got, by_mpfr(x, f, (hu_mode)m, big));
			t->mpfr += off;
			wrong |= off;
		}
		if (wrong)
			t->at = x;
	}
}

/* x and its neighbours among the floats, both signs. */
static void
check_around(tally *t, double x, hu_format f, mpfr_t big, int use_mpfr)
{
	float s = (float)x, near[3];

	near[0] = nextafterf(s, 0);
	near[1] = s;
	near[2] = nextafterf(s, INFINITY);
	for (int i = 0; i < 3; i++)
		if (isfinite(near[i])) {
			check(t, near[i], f, big, use_mpfr);
			check(t, -(double)near[i], f, big, use_mpfr);
		}
}

static void
test_boundaries(hu_format f)
{
	tally t = { 0, 0, 0, 0 };
	mpfr_t big;
	uint32_t n = (uint32_t)hu_encode(f.max, f);

	mpfr_init2(big, f.p);
	for (uint32_t c = 0; c <= n; c += f.bits > 16 ? (c < 4096 || n - c < 4096 ? 1 : 7) : 1) { /* of tf32 a part */
		double low = hu_decode(c, f), high = c < n ? hu_decode(c + 1, f) : f.max + hu_pow2(f.emax - f.p + 1);
		/* MPFR sees all but the inside of tf32 */
		int use_mpfr = f.bits <= 16 || c < 4096 || n - c < 4096 || c % 61 == 0;
		check_around(&t, low, f, big, use_mpfr);
		check_around(&t, low + (high - low) / 2, f, big, use_mpfr);
		if (c == n)
			check_around(&t, high, f, big, use_mpfr);
	}
	check_around(&t, FLT_MAX, f, big, 1);
	mpfr_clear(big);
	is_int(t.floor, 0, "%s: every boundary and its neighbours, %ld roundings, against floor (last wrong: %a)", hu_format_name(f.id), t.points, t.at);
	is_int(t.mpfr, 0, "%s: the same against MPFR", hu_format_name(f.id));
}

/* Doubles that no float can stand for: a tie's last bit 2^-50 away, any exponent near the range. */
static void
test_doubles(hu_format f)
{
	tally t = { 0, 0, 0, 0 };
	mpfr_t big;
	int range = f.emax - f.emin + f.p + 6;

	mpfr_init2(big, f.p);
	for (unsigned i = 0; i < 20000; i++) {
		hu_random r = hu_random_at(3, (uint32_t)f.id, 0, i);
		uint64_t m = ((uint64_t)r.w[0] << 32 | r.w[1]) & 0xfffffffffffffu, tie = (uint64_t)1 << (52 - f.p);
		int e = f.emin - f.p - 2 + (int)(r.w[2] % (unsigned)range);
		if (r.w[3] & 1)
			m = (m & ~(2 * tie - 1)) + tie + (r.w[3] >> 1 & 3) - 1;
		if (e > 350 || e < -350)
			continue;
		check(&t, ldexp((double)(m & 0xfffffffffffffu) + 0x1p52, e - 52) * (r.w[3] & 8 ? -1 : 1), f, big, 1);
	}
	mpfr_clear(big);
	is_int(t.floor, 0, "%s: %ld roundings of doubles against floor (last wrong: %a)", hu_format_name(f.id), t.points, t.at);
	is_int(t.mpfr, 0, "%s: the same against MPFR", hu_format_name(f.id));
}

static void
test_specials(void)
{
	long wrong = 0;

	for (int i = 0; i < HU_FORMATS; i++)
		for (int m = 0; m < HU_MODES; m++) {
			hu_format f = hu_format_of((hu_format_id)i);
			int sign = f.special != HU_SPECIAL_SCALE;
			double inf = f.special == HU_SPECIAL_FINITE ? f.max : f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_P3109 ? INFINITY : hu_nan();
			double nan = f.special == HU_SPECIAL_FINITE ? f.max : hu_nan();
			wrong += hu_bits64(hu_round(-0.0, f, (hu_mode)m, 0, 0)) != hu_bits64(adapted(-0.0, -0.0, f));
			wrong += hu_bits64(hu_round(0.0, f, (hu_mode)m, 0, 0)) != hu_bits64(adapted(0.0, 0.0, f));
			wrong += hu_bits64(hu_round(hu_from_bits64(0xfff0000000000001u), f, (hu_mode)m, 0, 0)) != hu_bits64(nan);
			wrong += differs(hu_round(INFINITY, f, (hu_mode)m, 0, 0), inf);
			wrong += differs(hu_round(-INFINITY, f, (hu_mode)m, HU_SATURATE, 0), sign ? -f.max : NAN);
			if (f.p < 53)
				wrong += hu_round(f.max * 4, f, (hu_mode)m, HU_SATURATE, 0) != f.max;
			wrong += differs(hu_round(-hu_smallest(f), f, (hu_mode)m, HU_FTZ, 0), !sign ? NAN : f.p == 1 ? -hu_smallest(f) : adapted(-0.0, -1, f));
			wrong += differs(hu_round(hu_smallest(f), f, (hu_mode)m, HU_DAZ, 0), !sign || f.p == 1 ? hu_smallest(f) : 0);
		}
	is_int(wrong, 0, "zeros, NaN, infinities, saturation and flushing in every format and mode");
	is_near(hu_round(0x1.ffffp-15, hu_format_of(HU_FP16), HU_RNE, HU_FTZ, 0), 0x1p-14, 0, "FTZ looks at the rounded value");
	is_near(hu_round(0x1.ffffp-15, hu_format_of(HU_FP16), HU_RNE, HU_DAZ, 0), 0, 0, "DAZ at the value before");
	is_bits64(hu_bits64(hu_round(-0x1p-1074, hu_format_of(HU_E4M3), HU_RNE, 0, 0)), hu_bits64(-0.0), "the smallest double becomes -0");
	is_near(hu_round(0x1p-1074, hu_format_of(HU_E4M3), HU_RU, 0, 0), 0x1p-9, 0, "or upward the smallest e4m3");
	is_near(hu_round(464, hu_format_of(HU_E4M3), HU_RNE, 0, 0), 448, 0, "e4m3: 464 is a tie to 448");
	ok(isnan(hu_round(464.001, hu_format_of(HU_E4M3), HU_RNE, 0, 0)), "e4m3: beyond it is NaN");
	is_near(hu_round(65519.99, hu_format_of(HU_FP16), HU_RNE, 0, 0), 65504, 0, "fp16: below 65520 stays finite");
	ok(isinf(hu_round(65520, hu_format_of(HU_FP16), HU_RNE, 0, 0)), "fp16: 65520 overflows");
}

/* hu_round_full against MPFR's ternary value and its own three flags. */
static void
test_full(hu_format f)
{
	long ternary = 0, inexact = 0, underflow = 0, overflow = 0, points = 0;
	mpfr_t t;

	mpfr_init2(t, f.p);
	for (unsigned i = 0; i < 6000; i++) {
		hu_random r = hu_random_at(5, (uint32_t)f.emin, (uint32_t)f.p, i);
		int e = f.emin - f.p - 3 + (int)(r.w[2] % (unsigned)(f.emax - f.emin + f.p + 8));
		double x = ldexp(1 + ldexp(i & 1 ? r.w[0] & 0xf0000000u : r.w[0], -32), e) * (r.w[1] & 1 ? -1 : 1);
		for (int m = 0; m < HU_MODES; m++) {
			if (!in_mpfr((hu_mode)m) || (x < 0 && !hu_has_sign(f)) || e > 1022)
				continue;
			int want, over;
			mpfr_set_emin(f.emin - f.p + 2);
			mpfr_set_emax(mpfr_get_emax_max());
			want = mpfr_set_d(t, x, directions[m]);
			want = mpfr_subnormalize(t, want, directions[m]);
			over = mpfr_cmpabs_ui(t, 0) != 0 && fabs(mpfr_get_d(t, MPFR_RNDN)) > f.max;
			mpfr_set_emin(mpfr_get_emin_min());
			hu_rounded got = hu_round_full(x, f, (hu_mode)m, 0, 0);
			points++;
			overflow += over != !!(got.flags & HU_OVERFLOW);
			if (over || (got.value == hu_smallest(f) && !hu_has_sign(f)))
				continue; /* the format's own rule decides the value */
			ternary += (want > 0) - (want < 0) != got.ternary;
			inexact += (want != 0) != !!(got.flags & HU_INEXACT);
			underflow += (want != 0 && e < f.emin) != !!(got.flags & HU_UNDERFLOW);
		}
	}
	mpfr_clear(t);
	ok(points > 5000 && ternary + inexact + underflow + overflow == 0,
	   "%s: %ld times MPFR's ternary value, inexact, underflow and overflow (wrong: %ld %ld %ld %ld)", hu_format_name(f.id), points, ternary,
	   inexact, underflow, overflow);
}

static void
is_full(double x, const char *format, hu_mode mode, int flags, double value, int ternary, int notes)
{
	hu_format_id id = HU_NO_FORMAT;
	hu_rounded r;

	hu_format_find(format, &id);
	r = hu_round_full(x, hu_format_of(id), mode, flags, 0);
	ok(!differs(r.value, value) && r.ternary == ternary && r.flags == notes, "%s %s flags %d: %g gives %g, ternary %d, flags %d (got %g %d %d)", format,
	   hu_mode_name(mode), flags, x, value, ternary, notes, r.value, r.ternary, r.flags);
}

static void
test_full_specials(void)
{
	is_full(INFINITY, "fp16", HU_RNE, 0, INFINITY, 0, 0);
	is_full(INFINITY, "fp16", HU_RNE, HU_SATURATE, 65504, -1, HU_INEXACT | HU_OVERFLOW);
	is_full(INFINITY, "e4m3", HU_RNE, 0, NAN, 0, HU_INVALID);
	is_full(-INFINITY, "e2m1", HU_RNE, 0, -6, 1, HU_INVALID);
	is_full(NAN, "e2m1", HU_RNE, 0, 6, 0, HU_INVALID);
	is_full(NAN, "e4m3fnuz", HU_RNE, 0, NAN, 0, 0);
	is_full(-0.0, "e4m3fnuz", HU_RNE, 0, 0, 0, 0);
	is_full(-0x1p-20, "e4m3fnuz", HU_RNE, 0, 0, 1, HU_INEXACT | HU_UNDERFLOW);
	is_full(-1e9, "e3m2", HU_RNE, 0, -28, 1, HU_INEXACT | HU_OVERFLOW);
	is_full(29, "e3m2", HU_RNE, 0, 28, -1, HU_INEXACT);
	is_full(31, "e3m2", HU_RZ, 0, 28, -1, HU_INEXACT);
	is_full(32, "e3m2", HU_RZ, 0, 28, -1, HU_INEXACT | HU_OVERFLOW);
	is_full(0, "e8m0", HU_RNE, 0, 0x1p-127, 1, HU_INEXACT | HU_UNDERFLOW);
	is_full(-1, "e8m0", HU_RNE, 0, NAN, 0, HU_INVALID);
	is_full(1.5, "e8m0", HU_RNE, 0, 2, 1, HU_INEXACT);
	is_full(3, "e8m0", HU_RNE, 0, 4, 1, HU_INEXACT);
	is_full(3, "e8m0", HU_RNZ, 0, 2, -1, HU_INEXACT);
	is_full(0x1p-20, "fp16", HU_RNE, HU_FTZ, 0, -1, HU_INEXACT | HU_UNDERFLOW);
	is_full(0x1p-20, "fp16", HU_RNE, HU_DAZ, 0, -1, HU_INEXACT | HU_UNDERFLOW);
	is_full(0x1.fffffffffffffp1023, "fp64", HU_RNE, 0, 0x1.fffffffffffffp1023, 0, 0);
	is_full(0x1p-1060, "fp64", HU_RNE, HU_FTZ, 0, -1, HU_INEXACT | HU_UNDERFLOW);
	is_full(0x1.fffffffffffffp1023, "e11m40", HU_RNE, 0, INFINITY, 1, HU_INEXACT | HU_OVERFLOW);
	is_full(INFINITY, "binary8p3", HU_RNE, 0, INFINITY, 0, 0);
}

/* The very threshold: up for rand < fraction, where fraction = floor(2^32 * discarded part). */
static void
test_stochastic_threshold(hu_format f)
{
	long wrong = 0;

	for (unsigned i = 0; i < 20000; i++) {
		hu_random r = hu_random_at(4, (uint32_t)f.id, 0, i);
		int e = f.emin - f.p - 40 + (int)(r.w[2] % (unsigned)(60 + f.p)), q;
		double x = ldexp(1 + ldexp(r.w[0], -32), e), k, low, at, hi, lo;
		uint32_t half = r.w[3] >> 1;
		if (e >= f.emax)
			continue;
		q = (e < f.emin ? f.emin : e) - f.p + 1;
		k = ldexp(x, -q);
		low = floor(k);
		at = floor(ldexp(k - low, 32));
		lo = ldexp(low, q);
		hi = ldexp(low + 1, q);
		wrong += hu_round(x, f, HU_SR, 0, (uint32_t)at) != lo;
		wrong += hu_round(-x, f, HU_SR, 0, 0xffffffffu) != -lo;
		/* k bits of both; SRE's coin */
		for (int bits = 1; bits <= 32; bits += 7)
			wrong += hu_round(x, f, HU_SR, HU_RANDOM_BITS(bits), r.w[3]) != (r.w[3] >> (32 - bits) < floor(ldexp(k - low, bits)) ? hi : lo);
		wrong += hu_round(x, f, HU_SRE, 0, half) != (k > low ? hi : lo) || hu_round(x, f, HU_SRE, 0, half | 0x80000000u) != lo;
		if (at > 0)
			wrong += hu_round(x, f, HU_SR, 0, (uint32_t)at - 1) != hi || hu_round(-x, f, HU_SR, 0, 0) != -hi;
	}
	is_int(wrong, 0, "%s: stochastic rounding goes up exactly below the fraction", hu_format_name(f.id));
}

/* Means are unbiased within 4 standard errors and the counts of ups over 31
   fractions fit their probabilities: chi square with 31 degrees of freedom is
   below 61.1 with probability 0.999. Subnormals too. */
static void
test_stochastic_law(hu_format f, double base)
{
	enum { FRACTIONS = 32, DRAWS = 20000 };
	double chi = 0, bias = 0, quantum = hu_pow2(hu_ulp_exponent(base, f)), variance = 0;

	for (unsigned j = 1; j < FRACTIONS; j++) {
		double p = (double)j / FRACTIONS, x = base + p * quantum, ups = 0;
		for (unsigned i = 0; i < DRAWS; i++)
			ups += hu_round(x, f, HU_SR, 0, hu_random_at(6, (uint32_t)f.id, j, i).w[0]) > base;
		chi += (ups - DRAWS * p) * (ups - DRAWS * p) / (DRAWS * p * (1 - p));
		bias += ups - DRAWS * p;
		variance += DRAWS * p * (1 - p);
	}
	ok(chi < 61.1 && chi > 9, "%s at %a: chi square %.1f with 31 degrees of freedom", hu_format_name(f.id), base, chi);
	is_near(bias, 0, 4 * sqrt(variance), "%s at %a: unbiased within 4 standard errors", hu_format_name(f.id), base);
}

static void
test_format(hu_format f)
{
	if (f.bits <= 19)
		test_boundaries(f);
	if (f.p < 53) {
		test_doubles(f);
		test_full(f);
	}
	if (f.p < 24 && hu_has_sign(f)) {
		test_stochastic_threshold(f);
		if (f.emax > 0) {
			test_stochastic_law(f, 1);
			test_stochastic_law(f, hu_smallest(f));
		}
	}
}

int
main(void)
{
	static const char *const custom[] = { "binary8p1", "binary8p2", "binary8p3", "binary8p4", "binary8p5", "binary8p6", "binary8p7", "e4m3b11fnuz",
	                                      "e3m0finite", "e4m0fn", "e2m1ieee", "e5m7", "e8m4fn", "e9m20", "e11m40", "e11m51" };

	for (int i = 0; i < HU_FORMATS; i++)
		test_format(hu_format_of((hu_format_id)i));
	for (size_t i = 0; i < sizeof custom / sizeof *custom; i++) {
		hu_format_id id;
		if (ok(hu_format_find(custom[i], &id) == HU_OK, "%s is a format", custom[i]))
			test_format(hu_format_of(id));
	}
	test_specials();
	test_full_specials();
	mpfr_free_cache();
	return done_testing();
}
