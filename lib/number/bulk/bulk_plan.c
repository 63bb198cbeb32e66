/* SPDX-License-Identifier: Apache-2.0
   Turns a format, a mode and flags into the plan that the vector loops use. Every special result comes from round.h
   and code.h themselves. */
#include "lib/number/bulk/bulk_table.h"
#include "lib/number/code.h"

#include <string.h>

/* The bits of x as a container of `width` bits. */
static uint64_t
container_bits(double x, int width)
{
	if (width == 64)
		return hu_bits64(hu_isnan(x) ? hu_nan() : x);
	return hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
}

static hu_bulk_kind
kind_of(hu_format f, int flags, int width)
{
	int p = width == 64 ? 53 : 24, bias = width == 64 ? 1023 : 127;
	int last = f.emin - f.p + 1; /* exponent of the smallest subnormal */
	/* The sums of bulk_round.inc need a p two bits below the container's, C = 2^(e + p_container - p) for e up to
	   emax + 1, and 2^(32 - last). */
	int sums = f.p <= p - 2 && f.emax + 1 + p - f.p <= bias && 32 - last <= bias;

	if (f.special == HU_SPECIAL_SCALE)
		return f.p == 1 && width == 32 && f.emin == -127 && f.emax == 127 ? HU_BULK_SCALE : HU_BULK_NONE;
	/* These have rules of their own for negative numbers, or for what counts as even. */
	if (!hu_has_sign(f) || hu_ties_by_code(f))
		return HU_BULK_NONE;
	if (f.emin == 1 - bias && f.emax == bias && f.p > 1 && f.p < p && !(flags & HU_NOSUB))
		return HU_BULK_WIDE;
	return sums ? HU_BULK_NARROW : HU_BULK_NONE;
}

/* To nearest even and stochastically, an infinity is treated as an overflow. */
static hu_bulk_ends
ends_of(const hu_bulk_plan *p, hu_mode mode, int width)
{
	const uint64_t sign = UINT64_C(1) << (width - 1), nan = container_bits(hu_nan(), width),
		       inf = container_bits(hu_inf(0), width);
	const int to_nan = p->over[0] == nan && p->over[1] == nan,
		  to_inf = p->over[0] == inf && p->over[1] == (inf | sign) && p->nan == nan;

	if (p->kind == HU_BULK_SCALE)
		return p->random_mask == 0xffffffffu ? HU_ENDS_IEEE : HU_ENDS_ANY;
	if (p->lowest != p->from || p->ftz || p->daz || p->random_mask != 0xffffffffu)
		return HU_ENDS_ANY;
	if (p->kind == HU_BULK_WIDE && (width == 64 || mode != HU_SR || p->drop <= 16))
		return to_inf && p->minus_zero == sign ? HU_ENDS_IEEE : HU_ENDS_ANY;
	if (p->kind == HU_BULK_WIDE || (mode != HU_RNE && !(hu_mode_draws(mode) && width == 32)))
		return HU_ENDS_ANY;
	if ((to_inf || (to_nan && p->nan == nan)) && p->minus_zero == sign)
		return HU_ENDS_IEEE;
	if ((to_nan && p->nan == nan) || (p->over[0] == p->max && p->over[1] == (p->max | sign)))
		return HU_ENDS_ONE;
	return to_inf ? HU_ENDS_INFINITE : HU_ENDS_ANY;
}

hu_bulk_plan
hu_bulk_plan_of(hu_format f, hu_mode mode, int flags, int width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	int k = flags >> 8 & 63;
	hu_bulk_plan p;

	memset(&p, 0, sizeof p);
	flags |= f.flags;
	/* P3109's overflow under RO differs from that of all other formats; the loops' SR is StochasticA. */
	int plain = (mode == HU_RO && hu_is_p3109(f)) || (flags & (HU_STOCHASTIC_B | HU_STOCHASTIC_C));
	p.kind = plain ? HU_BULK_NONE : kind_of(f, flags, width);
	if (p.kind == HU_BULK_NONE)
		return p;
	p.drop = (width == 64 ? 53 : 24) - f.p;
	p.mant = width == 64 ? 52 : 23;
	p.from = container_bits(hu_pow2(f.emin), width);
	p.lowest = flags & HU_NOSUB ? p.from + ((uint64_t)(f.p - 1) << p.mant) : p.from;
	p.beyond = p.kind == HU_BULK_NARROW || width == 64
			   ? container_bits(f.emax < 1023 ? hu_pow2(f.emax + 1) : hu_inf(0), width)
			   : 0;
	p.smallest = container_bits(hu_smallest(f), width);
	p.max = container_bits(f.max, width);
	p.flip = mode == HU_RD ? sign : 0;
	for (int negative = 0; negative < 2; negative++) {
		int at = negative ^ (p.flip && p.kind != HU_BULK_SCALE);
		p.over[at] = container_bits(hu_overflow(negative, f, mode, flags), width);
		p.inf[at] = container_bits(hu_inf_of(negative, f, flags), width);
	}
	p.random_mask = k > 0 && k < 32 ? ~(0xffffffffu >> k) : 0xffffffffu;
	p.nan = container_bits(hu_nan_of(f), width);
	p.nan_above = container_bits(hu_inf(0), width) - (hu_isnan(hu_inf_of(0, f, flags)) ? 1 : 0);
	p.minus_zero = container_bits(hu_zero_of(1, f), width);
	if (width == 32 && f.id == HU_FP16 && mode == HU_RNE && !(flags & (HU_SATURATE | HU_FTZ | HU_DAZ)))
		p.kind = HU_BULK_HALF;
	if (p.kind != HU_BULK_SCALE) {
		p.ftz = flags & HU_FTZ ? p.from : 0;
		p.daz = flags & HU_DAZ ? p.from : 0;
	}
	p.ends = ends_of(&p, mode, width);
	return p;
}

hu_bulk_plan
hu_bulk_plan_copy(int width)
{
	return (hu_bulk_plan){ .kind = HU_BULK_COPY, .mant = width == 64 ? 52 : 23 };
}

hu_bulk_codes
hu_bulk_codes_of(hu_format f)
{
	hu_bulk_codes c;
	uint32_t past;

	memset(&c, 0, sizeof c);
	if (f.bits > 16 || (f.flags & (HU_FTZ | HU_NOSUB)))
		return c;
	if (f.special == HU_SPECIAL_SCALE)
		c.kind = kind_of(f, 0, 32);
	else if (!hu_has_sign(f))
		return c;
	else if (f.emin == -126 && f.emax == 127 && f.p > 1)
		c.kind = HU_BULK_WIDE;
	/* Every value is a float, and every subnormal a normal float. */
	else if (f.emin > -126 && f.emin - f.p + 1 >= -126 && f.emax <= 127)
		c.kind = HU_BULK_NARROW;
	if (f.id == HU_FP16)
		c.kind = HU_BULK_HALF;
	c.drop = 24 - f.p;
	c.sign_shift = f.bits - 1;
	past = (uint32_t)1 << c.sign_shift;
	c.from = hu_bits32((float)hu_pow2(f.emin));
	c.smallest = (float)hu_pow2(f.emin - f.p + 1);
	c.nan_code = (uint32_t)hu_nan_code(f);
	c.inf_code = hu_has_inf(f) ? (uint32_t)hu_inf_code(f) : c.nan_code;
	c.top = hu_has_inf(f) ? c.inf_code : past;
	c.nan_from = f.special == HU_SPECIAL_IEEE ? c.inf_code + 1 : f.special == HU_SPECIAL_FN ? c.nan_code : past;
	c.nan_only = f.special == HU_SPECIAL_FNUZ || f.special == HU_SPECIAL_P3109 ? 0x80000000u : 0xffffffffu;
	c.minus_zero = hu_has_minus_zero(f) ? past : 0;
	c.full = c.nan_only != 0xffffffffu;
	return c;
}

void
hu_bulk_codes_round(hu_bulk_codes *c, hu_format f, hu_mode mode, int flags)
{
	c->max = (uint32_t)hu_encode(f.max, f);
	for (int negative = 0; negative < 2; negative++)
		c->over[negative] = (uint32_t)hu_encode(hu_overflow(negative, f, mode, flags), f);
}

int
hu_bulk_packs(const hu_bulk_plan *p, const hu_bulk_codes *c)
{
	uint32_t top = c->max + 1 < c->nan_code ? c->max + 1 : c->nan_code, sign = 1u << c->sign_shift;

	return c->nan_code >= c->max && c->nan_code <= (c->sign_shift < 8 ? sign : INT16_MAX) && c->over[0] == top &&
	       c->over[1] == (p->ends || top < c->nan_code ? top | sign : top) &&
	       (p->nan_above == 0x7f800000 || top == c->nan_code);
}
