/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/expression/correct.h"

const char *
hu_note_name(int i)
{
	static const char *const names[HU_NOTES] = { "inexact", "swamped", "underflow", "subnormal", "overflow",
		"invalid", "fp32-inexact", "divide-by-zero", "zeroed" };

	return names[i];
}

void
hu_odd(mpfr_ptr x, int ternary)
{
	if (ternary == 0 || !(mpfr_regular_p(x) || mpfr_zero_p(x)))
		return;
	/* the last bit is clear where fewer bits would do; a zero here is a positive or negative underflow */
	if (mpfr_zero_p(x) || mpfr_min_prec(x) < mpfr_get_prec(x)) {
		if (mpfr_signbit(x))
			mpfr_nextbelow(x);
		else
			mpfr_nextabove(x);
	}
}

/* Each step is rounded to odd, so the exact value stays strictly between the same two neighbours. */
static int
sigmoid(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rnd)
{
	mpfr_flags_t before = mpfr_flags_save();
	int t;

	mpfr_neg(r, a, MPFR_RNDZ);
	t = mpfr_exp(r, r, MPFR_RNDZ);
	hu_odd(r, t);
	mpfr_flags_restore(before, MPFR_FLAGS_UNDERFLOW); /* an underflow does not matter beside 1 */
	t = mpfr_add_ui(r, r, 1, MPFR_RNDZ);
	hu_odd(r, t);
	return mpfr_ui_div(r, 1, r, rnd);
}

int
hu_function_apply(hu_function f, mpfr_ptr r, mpfr_ptr *a, mpfr_rnd_t rnd)
{
	switch (f) {
	case HU_F_ADD: return mpfr_add(r, a[0], a[1], rnd);
	case HU_F_SUB: return mpfr_sub(r, a[0], a[1], rnd);
	case HU_F_MUL: return mpfr_mul(r, a[0], a[1], rnd);
	case HU_F_DIV: return mpfr_div(r, a[0], a[1], rnd);
	case HU_F_POW: return mpfr_pow(r, a[0], a[1], rnd);
	case HU_F_NEG: return mpfr_neg(r, a[0], rnd);
	case HU_F_ABS: return mpfr_abs(r, a[0], rnd);
	case HU_F_COS: return mpfr_cos(r, a[0], rnd);
	case HU_F_ERF: return mpfr_erf(r, a[0], rnd);
	case HU_F_ERFC: return mpfr_erfc(r, a[0], rnd);
	case HU_F_EXP: return mpfr_exp(r, a[0], rnd);
	case HU_F_EXP2: return mpfr_exp2(r, a[0], rnd);
	case HU_F_EXPM1: return mpfr_expm1(r, a[0], rnd);
	case HU_F_FMA: return mpfr_fma(r, a[0], a[1], a[2], rnd);
	case HU_F_LOG: return mpfr_log(r, a[0], rnd);
	case HU_F_LOG1P: return mpfr_log1p(r, a[0], rnd);
	case HU_F_MAX:
	case HU_F_MIN:
		if (mpfr_nan_p(a[0]) || mpfr_nan_p(a[1])) {
			mpfr_set_nan(r); /* MPFR would drop it */
			return 0;
		}
		return f == HU_F_MAX ? mpfr_max(r, a[0], a[1], rnd) : mpfr_min(r, a[0], a[1], rnd);
	case HU_F_RSQRT:
		if (mpfr_zero_p(a[0])) { /* MPFR gives +Inf for -0, IEEE 754's rSqrt and ours -Inf */
			mpfr_set_inf(r, mpfr_signbit(a[0]) ? -1 : 1);
			return 0;
		}
		return mpfr_rec_sqrt(r, a[0], rnd);
	case HU_F_SIGMOID: return sigmoid(r, a[0], rnd);
	case HU_F_SIN: return mpfr_sin(r, a[0], rnd);
	case HU_F_SQRT: return mpfr_sqrt(r, a[0], rnd);
	case HU_F_TANH: return mpfr_tanh(r, a[0], rnd);
	case HU_F_SUM:
	case HU_FUNCTIONS: HU_ASSERT(!"a sum is computed addition by addition");
	}
	return 0;
}

void
hu_function_odd(hu_function f, mpfr_ptr r, mpfr_ptr *a)
{
	hu_odd(r, hu_function_apply(f, r, a, MPFR_RNDZ));
}

/* Returns 1 where rounding increases the magnitude, given rest, the nonzero fraction of a quantum beyond the truncated
   value. */
static int
grows(mpfr_ptr rest, int odd, int negative, hu_mode mode, int flags, uint32_t rand)
{
	int half = mpfr_cmp_d(rest, 0.5), k = flags >> 8 & 63;

	switch (mode) {
	case HU_RNE: return half > 0 || (half == 0 && odd);
	case HU_RNA: return half >= 0;
	case HU_RNZ: return half > 0;
	case HU_RU: return !negative;
	case HU_RD: return negative;
	case HU_RO: return !odd;
	case HU_SR:
		k = k > 0 && k < 32 ? k : 32;
		if (flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C)) {
			mpfr_mul_2ui(rest, rest, (unsigned long)k + 1, MPFR_RNDZ);
			int sticky = !mpfr_integer_p(rest);
			return hu_round_draw_rounded(mpfr_get_ui(rest, MPFR_RNDZ), sticky, k, flags, rand);
		}
		mpfr_mul_2ui(rest, rest, (unsigned long)k, MPFR_RNDZ);
		return rand >> (32 - k) < mpfr_get_ui(rest, MPFR_RNDZ);
	case HU_SRE: return rand < 0x80000000u;
	case HU_RZ:
	case HU_MODES: break; /* HU_MODES counts them */
	}
	return 0;
}

/* Rounds NaN, infinities and zeros. */
static double
special(mpfr_srcptr x, int negative, hu_format f, int flags, int *notes)
{
	double r;

	if (mpfr_zero_p(x)) {
		if (!hu_has_zero(f))
			*notes |= HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW;
		return hu_zero_of(negative, f);
	}
	if (mpfr_nan_p(x)) {
		*notes |= hu_has_nan(f) ? 0 : HU_NOTE_INVALID;
		return hu_nan_of(f);
	}
	r = hu_inf_of(negative, f, flags);
	if (!(r == hu_inf(negative)))
		*notes |= hu_saturates(f, flags) && !hu_isnan(r) ? HU_NOTE_INEXACT | HU_NOTE_OVERFLOW : HU_NOTE_INVALID;
	return r;
}

/* Rounds a negative number in a format without a sign by P3109's rule: to zero where the mode allows it, otherwise to
   NaN. */
static double
too_large(int negative, hu_format f, hu_mode mode, int flags, int *notes)
{
	if (negative && !hu_has_sign(f)) {
		int zero = mode == HU_RZ || mode == HU_RU || (flags & HU_SATURATE);
		*notes |= zero ? HU_NOTE_INEXACT | HU_NOTE_OVERFLOW : HU_NOTE_INVALID;
		return zero ? 0 : hu_nan();
	}
	*notes |= HU_NOTE_INEXACT | HU_NOTE_OVERFLOW;
	return hu_overflow(negative, f, mode, flags);
}

double
hu_correct_round(mpfr_srcptr x, hu_format f, hu_mode mode, int flags, uint32_t rand, int *notes)
{
	int negative = mpfr_signbit(x) != 0, up = 0, inexact;
	mpfr_exp_t e;
	mpfr_t k, low;
	double r;

	flags |= f.flags;
	if (!mpfr_regular_p(x))
		return special(x, negative, f, flags, notes);
	if (negative && !hu_has_zero(f)) {
		*notes |= HU_NOTE_INVALID;
		return hu_nan();
	}
	e = mpfr_get_exp(x) - 1;
	if (e > f.emax)
		return too_large(negative, f, mode, flags, notes);
	int tiny = e < f.emin, p = tiny && (flags & HU_NOSUB) ? 1 : f.p, q = (tiny ? f.emin : (int)e) - p + 1;
	mpfr_inits2(mpfr_get_prec(x) + 2, k, low, (mpfr_ptr)0);
	mpfr_abs(k, x, MPFR_RNDZ);
	mpfr_mul_2si(k, k, -q, MPFR_RNDZ);
	mpfr_trunc(low, k);
	mpfr_sub(k, k, low, MPFR_RNDZ); /* exact: the fraction bits of k */
	inexact = !mpfr_zero_p(k);
	r = mpfr_get_d(low, MPFR_RNDZ);
	if (inexact)
		up = grows(k, !hu_is_even(mpfr_get_ui(low, MPFR_RNDZ), tiny ? f.emin : (int)e, f), negative, mode,
			flags, rand);
	mpfr_clears(k, low, (mpfr_ptr)0);
	r = (r + up) * hu_pow2(q); /* a value of the format, or the first one beyond it */
	if (r > f.max || (r != 0 && negative && !hu_has_sign(f)))
		return too_large(negative, f, mode, flags, notes);
	if (r == 0 || (tiny && (flags & HU_DAZ)) || ((flags & HU_FTZ) && r < hu_smallest_normal(f))) {
		*notes |= HU_NOTE_INEXACT | HU_NOTE_UNDERFLOW;
		return hu_zero_of(negative, f);
	}
	if (inexact)
		*notes |= HU_NOTE_INEXACT | (tiny ? HU_NOTE_UNDERFLOW : 0);
	return negative ? -r : r;
}
