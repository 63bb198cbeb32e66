/* SPDX-License-Identifier: Apache-2.0
   What a number format is: a row of formats.def, or a format described by its name, as a value that host and device
   pass around. Rounding to a format is in round.h, its codes (bit patterns) are in code.h. */
#ifndef HU_NUMBER_FORMAT_H
#define HU_NUMBER_FORMAT_H

#include "lib/base/hd.h"
#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* The ids of formats.def's rows count from 0. The id of any other format is HU_CUSTOM plus its parameters
   (hu_format_custom), so that host and device can read it without a table. Only ids below HU_FORMATS may index
   arrays. */
typedef enum hu_format_id {
#define FORMAT(id, name, bits, ebits, p, emin, emax, max, special, alias, summary) HU_##id,
#include "lib/number/formats.def"
#undef FORMAT
	HU_FORMATS,
	HU_NO_FORMAT = HU_FORMATS,
	HU_CUSTOM = 1 << 26,
	HU_LAST_FORMAT = (1 << 30) - 1
} hu_format_id;

typedef enum hu_mode {
#define MODE(id, name, alias, summary) HU_##id,
#include "lib/number/modes.def"
#undef MODE
	HU_MODES
} hu_mode;

/* Which codes are not numbers; formats.def explains them. Formats from FNUZ on lack something that IEEE 754 has: -0,
   NaN or a sign. */
enum {
	HU_SPECIAL_IEEE,
	HU_SPECIAL_FN,
	HU_SPECIAL_FNUZ,
	HU_SPECIAL_FINITE,
	HU_SPECIAL_P3109,
	HU_SPECIAL_SCALE,
	HU_SPECIAL_P3109U,
	HU_SPECIAL_P3109UF,
	HU_SPECIALS
};

/* Flags of a rounding. FTZ and DAZ are as in hardware: FTZ looks at the rounded result, DAZ at the operand. A format
   can have flags of its own, given in its name; they hold in every call. */
enum {
	HU_SATURATE = 1,  /* overflow gives the largest finite value, and so does an infinity */
	HU_FTZ = 2,       /* flush to zero: a subnormal result becomes a zero of its sign */
	HU_DAZ = 4,       /* denormals are zero: an operand whose magnitude is below the smallest normal number
			     counts as zero */
	HU_NOSUB = 8,     /* only in a format: it has no numbers between zero and the smallest normal number */
	HU_PROPAGATE = 1 << 16 /* beside HU_SATURATE: an infinity that the format has stays (P3109's SatPropagate) */
};

/* A format's finite values are m * 2^(e - p + 1) with an integer m, |m| < 2^p, and emin <= e <= emax. Under HU_FTZ
   or HU_NOSUB m is 0 or |m| >= 2^(p-1): there are no subnormals. */
typedef struct hu_format {
	hu_format_id id;
	int bits, ebits, p, emin, emax;
	int special;      /* HU_SPECIAL_… */
	int flags;        /* HU_SATURATE, HU_FTZ, HU_NOSUB: flags that always hold; 0 in the rows of formats.def */
	double max;       /* largest finite value */
	double library;   /* in bounds of what a library computed: by how many unit roundoffs more than its own rounding
			     an operation may err; elsewhere 0 */
} hu_format;

/* 2^e as a double, exact for -1074 <= e <= 1023. */
HU_HD double
hu_pow2(int e)
{
	union { uint64_t u; double d; } v;

	v.u = e >= -1022 ? (uint64_t)(e + 1023) << 52 : (uint64_t)1 << (e + 1074);
	return v.d;
}

/* The exponent bias of a format whose name gives none: IEEE 754's, and one more for FNUZ and P3109. */
HU_HD int
hu_format_bias(int ebits, int special)
{
	int one_more = special == HU_SPECIAL_FNUZ || special == HU_SPECIAL_P3109 || special == HU_SPECIAL_P3109U ||
		       special == HU_SPECIAL_P3109UF;

	return (1 << (ebits - 1)) - 1 + one_more;
}

/* Returns the id of a format with ebits exponent bits and mant trailing significand bits. Nothing is checked. */
HU_HD hu_format_id
hu_format_custom(int ebits, int mant, int special, int bias, int flags)
{
	int own = (flags & (HU_SATURATE | HU_FTZ)) | (flags & HU_NOSUB ? 4 : 0);

	return (hu_format_id)(HU_CUSTOM | own << 27 | special << 22 | ebits << 18 | mant << 12 | bias);
}

/* The format of an id that hu_format_custom made. */
HU_HD hu_format
hu_format_of_custom(hu_format_id id)
{
	int own = (int)id >> 27 & 7, special = (int)id >> 22 & 15, ebits = (int)id >> 18 & 15,
	    mant = (int)id >> 12 & 63, bias = (int)id & 4095;
	int top = (1 << ebits) - 1 - (special == HU_SPECIAL_IEEE), taken = 0, in_binade = mant < 2 ? 1 << mant : 4;
	hu_format f = { HU_NO_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0 };

	if (special == HU_SPECIAL_FN || special == HU_SPECIAL_P3109 || special == HU_SPECIAL_P3109UF)
		taken = 1; /* codes above the largest number, taken by infinities and NaN */
	if (special == HU_SPECIAL_P3109U)
		taken = 2;
	for (; taken >= in_binade; taken -= in_binade)
		top--;
	f.id = id;
	f.bits = (special != HU_SPECIAL_P3109U && special != HU_SPECIAL_P3109UF) + ebits + mant;
	f.ebits = ebits;
	f.p = mant + 1;
	f.emin = 1 - bias;
	f.emax = top - bias;
	f.special = special;
	f.flags = (own & (HU_SATURATE | HU_FTZ)) | (own & 4 ? HU_NOSUB : 0);
	f.max = (2 - (1 + taken) * hu_pow2(-mant)) * hu_pow2(f.emax);
	return f;
}

/* The format of an id. For HU_NO_FORMAT its bits are 0. */
HU_HD hu_format
hu_format_of(hu_format_id id)
{
	hu_format f = { HU_NO_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0 };

	switch ((int)id) {
#define FORMAT(ID, name, bits_, ebits_, p_, emin_, emax_, max_, special_, alias, summary) \
	case HU_##ID:                                                                     \
		f.id = HU_##ID; f.bits = bits_; f.ebits = ebits_; f.p = p_;               \
		f.emin = emin_; f.emax = emax_; f.special = HU_SPECIAL_##special_; f.max = max_; \
		break;
#include "lib/number/formats.def"
#undef FORMAT
	default: return (int)id & HU_CUSTOM ? hu_format_of_custom(id) : f;
	}
	return f;
}

/* What the format has: infinities, NaN, -0, negative numbers, zero, subnormals; and if it is one of P3109's. */
HU_HD int
hu_has_inf(hu_format f)
{
	return f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_P3109 || f.special == HU_SPECIAL_P3109U;
}
HU_HD int hu_has_nan(hu_format f) { return f.special != HU_SPECIAL_FINITE; }
HU_HD int hu_has_minus_zero(hu_format f) { return f.special <= HU_SPECIAL_FN || f.special == HU_SPECIAL_FINITE; }
HU_HD int hu_has_sign(hu_format f) { return f.special < HU_SPECIAL_SCALE; }
HU_HD int hu_has_zero(hu_format f) { return f.special != HU_SPECIAL_SCALE; }
HU_HD int hu_has_subnormals(hu_format f) { return f.p > 1 && !(f.flags & (HU_FTZ | HU_NOSUB)); }
HU_HD int hu_is_p3109(hu_format f) { return f.special == HU_SPECIAL_P3109 || f.special > HU_SPECIAL_SCALE; }
/* Whether ties between numbers of one significant bit go to the even code: in P3109, whose signed finite formats are
   FNUZ. */
HU_HD int hu_ties_by_code(hu_format f) { return f.p == 1 && (hu_is_p3109(f) || f.special == HU_SPECIAL_FNUZ); }

/* Whether an overflow gives the largest value under any mode and flags: where a flag says so, and in P3109's finite
   formats, whose signed ones have the flag in their name's id. Negative numbers in a format without sign are another
   matter. */
HU_HD int
hu_saturates(hu_format f, int flags)
{
	return ((flags | f.flags) & HU_SATURATE) || f.special == HU_SPECIAL_P3109UF;
}

/* Modes that round to nearest, and modes that draw random bits. */
HU_HD int hu_mode_nearest(hu_mode m) { return m == HU_RNE || m == HU_RNA || m == HU_RNZ; }
HU_HD int hu_mode_draws(hu_mode m) { return m == HU_SR || m == HU_SRE; }

/* The unit roundoff u = 2^-p, which bounds the relative error of round to nearest; the smallest positive value; the
   smallest normal number. */
HU_HD double hu_unit(hu_format f) { return hu_pow2(-f.p); }
HU_HD double hu_smallest(hu_format f) { return hu_pow2(hu_has_subnormals(f) ? f.emin - f.p + 1 : f.emin); }
HU_HD double hu_smallest_normal(hu_format f) { return hu_pow2(f.emin); }

/* Names, summaries and comma-separated aliases, "-" for HU_NO_FORMAT. The strings live as long as the program. */
const char *hu_format_name(hu_format_id id);
const char *hu_format_summary(hu_format_id id);
const char *hu_format_aliases(hu_format_id id);
const char *hu_mode_name(hu_mode m);
const char *hu_mode_summary(hu_mode m);
const char *hu_special_name(int special);

/* Finds a format by name or alias, in any case. Besides the rows of formats.def there are:
     eXmY[bBIAS][ieee|fn|fnuz|finite|p3109][ftz|nosub][sat]
         a sign, X exponent bits, Y trailing significand bits; specials as in formats.def, ieee by default
     binaryKpP[s|u][e|f]
         IEEE P3109: K bits, P of them significant, signed or unsigned, extended (with infinities) or finite; s and e
         by default; ftz, nosub and sat may follow
     NAMEftz, NAMEnosub, NAMEsat
         a row (not fp64 or e8m0) that flushes subnormals after rounding (their codes read as zeros), that has no
         subnormals to round to, or that saturates
   1 <= X <= 11, Y <= 51, 3 <= K <= 15, and every value must be a double. HU_EINVAL says what is impossible and where
   in the name; HU_EABSENT names the nearest known name. */
hu_status hu_format_find(const char *name, hu_format_id *id);
hu_status hu_mode_find(const char *name, hu_mode *mode);

/* Reads a list such as "fp16,bf16" into out, which has room for max ids, in order and each format once, whatever
   names it goes by. HU_EINVAL for a bad name, an empty element or an empty list. */
hu_status hu_format_list(const char *text, hu_format_id *out, int max, int *n);

/* Returns HU_EINVAL, naming the column, where an element of the list is empty. An empty list passes. */
hu_status hu_format_list_whole(const char *text);
#endif
