/* SPDX-License-Identifier: Apache-2.0
   What a number format is: a row of formats.def as a value that host and device
   pass around, and its lookup by name. Rounding is in round.h, codes in code.h. */
#ifndef HU_NUMBER_FORMAT_H
#define HU_NUMBER_FORMAT_H

#include "lib/base/hd.h"
#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum hu_format_id {
#define FORMAT(id, name, bits, ebits, p, emin, emax, max, special, alias, summary) HU_##id,
#include "lib/number/formats.def"
#undef FORMAT
	HU_FORMATS,
	HU_NO_FORMAT = HU_FORMATS
} hu_format_id;

typedef enum hu_mode {
#define MODE(id, name, alias, summary) HU_##id,
#include "lib/number/modes.def"
#undef MODE
	HU_MODES
} hu_mode;

enum { HU_SPECIAL_IEEE, HU_SPECIAL_FN };

/* value = m * 2^(e - p + 1) with integer |m| < 2^p and emin <= e <= emax. */
typedef struct hu_format {
	hu_format_id id;
	int bits, ebits, p, emin, emax;
	int special;      /* HU_SPECIAL_… */
	double max;       /* largest finite value */
} hu_format;

HU_HD hu_format
hu_format_of(hu_format_id id)
{
	hu_format f = { HU_NO_FORMAT, 0, 0, 0, 0, 0, 0, 0.0 };

	switch (id) {
#define FORMAT(ID, name, bits_, ebits_, p_, emin_, emax_, max_, special_, alias, summary) \
	case HU_##ID:                                                                     \
		f.id = HU_##ID; f.bits = bits_; f.ebits = ebits_; f.p = p_;               \
		f.emin = emin_; f.emax = emax_; f.special = HU_SPECIAL_##special_; f.max = max_; \
		break;
#include "lib/number/formats.def"
#undef FORMAT
	default: break;
	}
	return f;
}

HU_HD int
hu_has_inf(hu_format f)
{
	return f.special == HU_SPECIAL_IEEE;
}

/* 2^e as a double, exact for -1074 <= e <= 1023. */
HU_HD double
hu_pow2(int e)
{
	union { uint64_t u; double d; } v;

	v.u = e >= -1022 ? (uint64_t)(e + 1023) << 52 : (uint64_t)1 << (e + 1074);
	return v.d;
}

/* Unit roundoff u = 2^-p of round to nearest, and the smallest subnormal. */
HU_HD double hu_unit(hu_format f) { return hu_pow2(-f.p); }
HU_HD double hu_smallest(hu_format f) { return hu_pow2(f.emin - f.p + 1); }
HU_HD double hu_smallest_normal(hu_format f) { return hu_pow2(f.emin); }

/* Name, summary and comma-separated aliases of a row. */
const char *hu_format_name(hu_format_id id);
const char *hu_format_summary(hu_format_id id);
const char *hu_format_aliases(hu_format_id id);
const char *hu_mode_name(hu_mode m);

/* Looks a name or alias up without regard to case; HU_EINVAL names the nearest. */
hu_status hu_format_find(const char *name, hu_format_id *id);
hu_status hu_mode_find(const char *name, hu_mode *mode);

/* A list "fp16,bf16": ids in order into OUT (room for MAX); HU_EINVAL on a bad name or an empty list. */
hu_status hu_format_list(const char *text, hu_format_id *out, int max, int *n);
#endif
