/* SPDX-License-Identifier: Apache-2.0 */
#include "t/oracle/oracle.h"

#include <math.h>

static _Thread_local mpfr_t y, d;
static _Thread_local int ready;

/* |x| in direction RND among the numbers with p bits and the subnormals of emin; no upper end. */
static double
neighbour(mpfr_srcptr x, hu_format f, mpfr_rnd_t rnd)
{
	mpfr_exp_t emin = mpfr_get_emin();
	int t;

	mpfr_set_prec(y, f.p);
	mpfr_set_emin(f.emin - f.p + 2); /* MPFR's significands are below 1 */
	t = mpfr_abs(y, x, rnd);
	t = mpfr_check_range(y, t, rnd);
	mpfr_subnormalize(y, t, rnd);
	mpfr_set_emin(emin);
	return mpfr_get_d(y, MPFR_RNDN);
}

/* Sign of |x| - (low + high) / 2: both neighbours and the middle are doubles, but for fp64 itself. */
static int
side(mpfr_srcptr x, double low, double high, hu_format f)
{
	double middle = low + (high - low) / 2;

	if (f.p < 53 && isfinite(high))
		return mpfr_signbit(x) ? -mpfr_cmp_d(x, -middle) : mpfr_cmp_d(x, middle);
	mpfr_set_prec(y, 60);
	if (isinf(high)) /* fp64's end: the next power of two */
		mpfr_set_ui_2exp(y, 1, f.emax + 1, MPFR_RNDN);
	else
		mpfr_set_d(y, high, MPFR_RNDN);
	mpfr_add_d(y, y, low, MPFR_RNDN);
	mpfr_div_2ui(y, y, 1, MPFR_RNDN);
	return mpfr_cmpabs(x, y);
}

/* Whether the code of LOW ends in 0, or its integer significand does. */
static int
is_even(double low, hu_format f)
{
	int e = low > 0 ? ilogb(low) : 0;

	if (low == 0)
		return 1;
	if (f.p == 1)
		return (hu_is_p3109(f) || f.special == HU_SPECIAL_FNUZ) && (e - f.emin) % 2 != 0; /* field 1 at emin */
	return fmod(ldexp(low, f.p - 1 - (e < f.emin ? f.emin : e)), 2) == 0;
}

void
oracle_look(oracle *o, mpfr_srcptr x, hu_format f)
{
	int e;

	if (!ready) {
		mpfr_inits2(420, y, d, (mpfr_ptr)0);
		ready = 1;
	}
	o->x = mpfr_get_d(x, MPFR_RNDA);
	o->low = o->high = fabs(o->x);
	o->regular = mpfr_regular_p(x);
	if (!o->regular)
		return;
	o->x = mpfr_signbit(x) ? -1 : 1;
	o->low = neighbour(x, f, MPFR_RNDZ);
	o->high = neighbour(x, f, MPFR_RNDA);
	e = (int)mpfr_get_exp(x) - 1;
	o->tiny = e < f.emin;
	if (o->tiny && (f.flags & HU_NOSUB)) {
		o->low = 0;
		o->high = ldexp(1, f.emin);
	}
	o->even = is_even(o->low, f);
	o->middle = 0;
	o->fraction = 0;
	if (o->low != o->high) {
		o->middle = side(x, o->low, o->high, f);
		mpfr_abs(d, x, MPFR_RNDN);
		mpfr_sub_d(d, d, o->low, MPFR_RNDZ);
		mpfr_mul_2si(d, d, 32 - (o->tiny && (f.flags & HU_NOSUB) ? f.emin : (o->tiny ? f.emin : e) - f.p + 1),
			MPFR_RNDZ);
		o->fraction = mpfr_get_ui(d, MPFR_RNDZ);
	}
}

void
oracle_look_d(oracle *o, double x, hu_format f)
{
	mpfr_t exact;

	mpfr_init2(exact, 53);
	mpfr_set_d(exact, x, MPFR_RNDN);
	oracle_look(o, exact, f);
	mpfr_clear(exact);
}

/* The signed value for a magnitude of the format or one of its specials; what there is not becomes what stands for it.
 */
static double
zero(int negative, hu_format f)
{
	if (f.special == HU_SPECIAL_SCALE)
		return ldexp(1, f.emin);
	return negative && (f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_FN ||
				   f.special == HU_SPECIAL_FINITE)
		       ? -0.0
		       : 0;
}

static int
is_unsigned(hu_format f)
{
	return f.special == HU_SPECIAL_SCALE || f.special == HU_SPECIAL_P3109U || f.special == HU_SPECIAL_P3109UF;
}

static hu_rounded
special(double x, hu_format f, int saturate)
{
	hu_rounded r = { x, 0, 0 };
	int inf = f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_P3109 || f.special == HU_SPECIAL_P3109U;

	if (isnan(x)) {
		if (f.special == HU_SPECIAL_FINITE)
			r = (hu_rounded){ f.max, 0, HU_INVALID };
	} else if (x == 0) {
		r.value = zero(signbit(x) != 0, f);
		if (f.special == HU_SPECIAL_SCALE)
			r = (hu_rounded){ r.value, 1, HU_INEXACT | HU_UNDERFLOW };
	} else if (x < 0 && is_unsigned(f)) {
		r = saturate && f.special != HU_SPECIAL_SCALE ? (hu_rounded){ 0, 1, HU_INEXACT | HU_OVERFLOW }
							      : (hu_rounded){ NAN, 0, HU_INVALID };
	} else if (saturate || f.special == HU_SPECIAL_P3109UF) {
		r = (hu_rounded){ copysign(f.max, x), x > 0 ? -1 : 1, HU_INEXACT | HU_OVERFLOW };
	} else if (f.special == HU_SPECIAL_FINITE) {
		r = (hu_rounded){ copysign(f.max, x), x > 0 ? -1 : 1, HU_INVALID };
	} else if (!inf) {
		r = (hu_rounded){ NAN, 0, HU_INVALID };
	}
	return r;
}

static double
beyond(int negative, hu_format f, hu_mode mode, int saturate)
{
	int stays = saturate || f.special == HU_SPECIAL_FINITE || f.special == HU_SPECIAL_P3109UF;

	switch (mode) {
	case HU_RZ: stays = 1; break;
	case HU_RU: stays |= negative; break;
	case HU_RD: stays |= !negative; break;
	case HU_RO: stays |= f.special != HU_SPECIAL_P3109; break;
	default: break;
	}
	if (stays)
		return f.max;
	return f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_P3109 || f.special == HU_SPECIAL_P3109U
		       ? INFINITY
		       : NAN;
}

static int
goes_up(const oracle *o, int negative, hu_mode mode, int flags, uint32_t rand)
{
	int k = flags >> 8 & 63;

	if (o->low == o->high)
		return 0;
	switch (mode) {
	case HU_RNE: return o->middle > 0 || (o->middle == 0 && !o->even);
	case HU_RNA: return o->middle >= 0;
	case HU_RNZ: return o->middle > 0;
	case HU_RU: return !negative;
	case HU_RD: return negative;
	case HU_RO: return o->even;
	case HU_SR: k = k ? k : 32; return floor(ldexp(rand, k - 32)) < floor(ldexp(o->fraction, k - 32));
	case HU_SRE: return rand < 0x80000000u;
	default: return 0;
	}
}

hu_rounded
oracle_round(const oracle *o, hu_format f, hu_mode mode, int flags, uint32_t rand)
{
	hu_rounded r = { 0, 0, 0 };
	int negative = signbit(o->x) != 0, up, above, flushed;
	double m;

	flags |= f.flags;
	if (!o->regular)
		return special(o->x, f, flags & HU_SATURATE);
	if (negative && f.special == HU_SPECIAL_SCALE)
		return (hu_rounded){ NAN, 0, HU_INVALID };
	up = goes_up(o, negative, mode, flags, rand);
	m = up ? o->high : o->low;
	flushed = (o->tiny && (flags & HU_DAZ)) || ((flags & HU_FTZ) && m < ldexp(1, f.emin)) || m == 0;
	above = up || flushed       ? (up && !flushed ? 1 : -1)
		: o->low == o->high ? 0
				    : -1; /* sign of the magnitude's error */
	if (flushed) {
		m = zero(0, f);
		above = m > 0 ? 1 : -1;
	} else if (negative && is_unsigned(f)) {
		if (mode != HU_RZ && mode != HU_RU && !(flags & HU_SATURATE))
			return (hu_rounded){ NAN, 0, HU_INVALID };
		return (hu_rounded){ 0, 1, HU_INEXACT | HU_OVERFLOW | (o->tiny ? HU_UNDERFLOW : 0) };
	} else if (m > f.max) {
		r.flags |= HU_OVERFLOW | HU_INEXACT;
		m = beyond(negative, f, mode, flags & HU_SATURATE);
		above = isnan(m) ? 0 : isinf(m) ? 1 : -1;
	}
	r.value = m == 0 ? zero(negative, f) : negative ? -m : m;
	r.ternary = negative ? -above : above;
	if (above)
		r.flags |= HU_INEXACT | (o->tiny ? HU_UNDERFLOW : 0);
	return r;
}

int
oracle_agrees(hu_rounded a, hu_rounded b)
{
	int same = isnan(a.value) ? isnan(b.value) : hu_bits64(a.value) == hu_bits64(b.value);

	return same && a.ternary == b.ternary && a.flags == b.flags;
}

void
oracle_odd(mpfr_t r, int t)
{
	if (t != 0 && mpfr_zero_p(r)) /* below MPFR's own range */
		mpfr_set_si_2exp(r, mpfr_signbit(r) ? -1 : 1, -4000, MPFR_RNDN);
	if (mpfr_regular_p(r) && mpfr_get_exp(r) > 4000) /* exponents are ints here, and no format reaches so far */
		mpfr_set_exp(r, 4000);
	if (mpfr_regular_p(r) && mpfr_get_exp(r) < -4000)
		mpfr_set_exp(r, -4000);
	if (t != 0 && mpfr_regular_p(r) && mpfr_min_prec(r) < mpfr_get_prec(r)) {
		if (mpfr_signbit(r))
			mpfr_nextbelow(r);
		else
			mpfr_nextabove(r);
	}
}
