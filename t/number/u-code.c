/* SPDX-License-Identifier: Apache-2.0
   Codes: every code of every format of at most 19 bits decodes to what its
   fields say (computed here apart) and encodes back; the wide formats against
   the processor's own numbers; the special codes by value. Formats without
   subnormals read those codes as zeros and never write them. */
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/oracle/some-formats.h"
#include "t/tool/tap.h"

#include <math.h>

static int
is_unsigned(hu_format f)
{
	return f.special == HU_SPECIAL_SCALE || f.special == HU_SPECIAL_P3109U || f.special == HU_SPECIAL_P3109UF;
}

/* The value of CODE from its fields, NaN for NaN. */
static double
by_fields(uint32_t code, hu_format f)
{
	int mant = f.p - 1, bias = 1 - f.emin, top = (1 << f.ebits) - 1;
	uint32_t last = ((uint32_t)1 << (f.bits - !is_unsigned(f))) - 1, magnitude = code & last;
	int field = (int)(magnitude >> mant), ones = magnitude == last;
	double m = (double)(code % (1u << mant)), s = magnitude != code ? -1 : 1;

	switch (f.special) {
	case HU_SPECIAL_SCALE: return ones ? NAN : ldexp(1, field - 127);
	case HU_SPECIAL_IEEE:
		if (field == top)
			return m != 0 ? NAN : s * INFINITY;
		break;
	case HU_SPECIAL_FN:
	case HU_SPECIAL_P3109UF:
		if (ones)
			return NAN;
		break;
	case HU_SPECIAL_P3109U:
		if (magnitude + 1 >= last)
			return ones ? NAN : INFINITY;
		break;
	case HU_SPECIAL_P3109:
	case HU_SPECIAL_FNUZ:
		if (ones && f.special == HU_SPECIAL_P3109)
			return s * INFINITY;
		if (magnitude == 0 && s < 0)
			return NAN;
		break;
	default: break;
	}
	if (field == 0 && (f.flags & (HU_FTZ | HU_NOSUB)))
		return f.special == HU_SPECIAL_FNUZ || f.special == HU_SPECIAL_P3109 ? 0 : s * 0;
	if (field == 0)
		return s * ldexp(m, 1 - bias - mant);
	return s * ldexp(1 + ldexp(m, -mant), field - bias);
}

static int
nans_of(hu_format f)
{
	switch (f.special) {
	case HU_SPECIAL_IEEE: return 2 * ((1 << (f.p - 1)) - 1);
	case HU_SPECIAL_FN: return 2;
	case HU_SPECIAL_FINITE: return 0;
	default: return 1;
	}
}

static void
test_every(hu_format f)
{
	long decoded = 0, encoded = 0, order = 0, nans = 0;
	double last = -1, largest = 0;

	for (uint32_t c = 0; c < (uint32_t)1 << f.bits; c++) {
		double want = by_fields(c, f), got = hu_decode(c, f);
		int positive = is_unsigned(f) || !(c >> (f.bits - 1));
		if (isnan(want)) {
			nans++;
			decoded += hu_bits64(got) != 0x7ff8000000000000u;
			encoded += hu_encode(got, f) != hu_nan_code(f);
			continue;
		}
		decoded += hu_bits64(got) != hu_bits64(want);
		if (want == 0 && c % (1u << (f.p - 1))) { /* a subnormal's code that counts as zero */
			encoded +=
				hu_decode(hu_encode(got, f), f) != 0 || hu_encode(got, f) % (1u << (f.bits - 1)) != 0;
			continue;
		}
		encoded += hu_encode(got, f) != c;
		order += positive && !(got > last);
		last = positive ? got : last;
		largest = isfinite(got) && got > largest ? got : largest;
	}
	is_int(decoded, 0, "%s: every code decodes to its fields' value, bit for bit", hu_format_name(f.id));
	is_int(encoded, 0, "%s: every value encodes to its code, every NaN to one", hu_format_name(f.id));
	is_int(order, 0, "%s: positive codes ascend with their values", hu_format_name(f.id));
	is_int(nans, nans_of(f), "%s: as many NaN codes as the format has", hu_format_name(f.id));
	is_near(largest, f.max, 0, "%s: the largest finite value", hu_format_name(f.id));
}

static void
test_wide(void)
{
	hu_format s = hu_format_of(HU_FP32), d = hu_format_of(HU_FP64);
	long wrong32 = 0, wrong64 = 0;

	for (unsigned i = 0; i < 200000; i++) {
		hu_random r = hu_random_at(1, 2, 3, i);
		uint32_t u = i & 1 ? r.w[0] : (r.w[0] & 0x807fffffu) | (i >> 1 & 0xff) << 23;
		uint64_t v = (uint64_t)r.w[2] << 32 | r.w[1];
		float x = hu_from_bits32(u);
		double y = hu_from_bits64(v);
		if (isnan(x))
			wrong32 += hu_encode(hu_decode(u, s), s) != 0x7fc00000u;
		else
			wrong32 += hu_bits64(hu_decode(u, s)) != hu_bits64((double)x) || hu_encode((double)x, s) != u;
		wrong64 += isnan(y) ? hu_encode(y, d) != 0x7ff8000000000000u
				    : hu_bits64(hu_decode(v, d)) != v || hu_encode(y, d) != v;
	}
	is_int(wrong32, 0, "fp32: codes are the processor's");
	is_int(wrong64, 0, "fp64: codes are the processor's");
}

static void
test_known(void)
{
	static const struct { hu_format_id f; uint32_t code; double value;
	} rows[] = {
		{ HU_FP16, 0x3c00, 1 },
		{ HU_FP16, 0x7bff, 65504 },
		{ HU_FP16, 0x0001, 0x1p-24 },
		{ HU_FP16, 0xfc00, -INFINITY },
		{ HU_FP16, 0x3555, 0.333251953125 },
		{ HU_BF16, 0x3f80, 1 },
		{ HU_BF16, 0x7f7f, 0x1.fep127 },
		{ HU_BF16, 0x0001, 0x1p-133 },
		{ HU_BF16, 0x4049, 3.140625 },
		{ HU_E4M3, 0x7e, 448 },
		{ HU_E4M3, 0x01, 0x1p-9 },
		{ HU_E4M3, 0x38, 1 },
		{ HU_E4M3, 0x78, 256 },
		{ HU_E5M2, 0x7b, 57344 },
		{ HU_E5M2, 0x7c, INFINITY },
		{ HU_E5M2, 0x01, 0x1p-16 },
		{ HU_E5M2, 0x3c, 1 },
		{ HU_TF32, 0x1fc00, 1 },
		{ HU_FP24, 0x3f8000, 1 },
		{ HU_E6M9, 0x3e00, 1 },
		{ HU_E4M3IEEE, 0x77, 240 },
		{ HU_E4M3IEEE, 0xf8, -INFINITY },
		{ HU_E3M4, 0x6f, 15.5 },
		{ HU_E4M3FNUZ, 0x7f, 240 },
		{ HU_E4M3FNUZ, 0x40, 1 },
		{ HU_E4M3FNUZ, 0x01, 0x1p-10 },
		{ HU_E5M2FNUZ, 0xff, -57344 },
		{ HU_E5M2FNUZ, 0x01, 0x1p-17 },
		{ HU_E3M2, 0x1f, 28 },
		{ HU_E3M2, 0x01, 0.0625 },
		{ HU_E2M3, 0x1f, 7.5 },
		{ HU_E2M3, 0x21, -0.125 },
		{ HU_E2M1, 0x7, 6 },
		{ HU_E2M1, 0x9, -0.5 },
		{ HU_E8M0, 0x7f, 1 },
		{ HU_E8M0, 0x00, 0x1p-127 },
		{ HU_E8M0, 0xfe, 0x1p127 },
		{ HU_FP32, 0x3f800347, 1.0001f },
	};
	static const struct { hu_format_id f; uint64_t code;
	} nans[] = {
		{ HU_FP64, 0x7ff8000000000000u },
		{ HU_FP32, 0x7fc00000 },
		{ HU_FP16, 0x7e00 },
		{ HU_BF16, 0x7fc0 },
		{ HU_E5M2, 0x7e },
		{ HU_E4M3, 0x7f },
		{ HU_E4M3FNUZ, 0x80 },
		{ HU_E5M2FNUZ, 0x80 },
		{ HU_E8M0, 0xff },
		{ HU_E2M1, 0x7 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_format f = hu_format_of(rows[i].f);
		ok(hu_encode(rows[i].value, f) == rows[i].code && hu_decode(rows[i].code, f) == rows[i].value,
			"%s: 0x%x is %.10g", hu_format_name(f.id), rows[i].code, rows[i].value);
	}
	for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
		is_bits64(hu_nan_code(hu_format_of(nans[i].f)), nans[i].code, "%s: the one NaN",
			hu_format_name(nans[i].f));
}

/* Value to code in one call: the code of what hu_round_full gives, with its sign of the error and flags. */
static void
test_round_code(void)
{
	static const struct { double x; const char *f; hu_mode m; uint64_t code; int ternary, flags;
	} rows[] = { { 1.0001, "fp16", HU_RNE, 0x3c00, -1, HU_INEXACT },
		{ 1.0001, "fp16", HU_RU, 0x3c01, 1, HU_INEXACT },
		{ -1e-9, "fp16", HU_RNE, 0x8000, 1, HU_INEXACT | HU_UNDERFLOW },
		{ 1e9, "e4m3", HU_RNE, 0x7f, 0, HU_INEXACT | HU_OVERFLOW },
		{ 1e9, "e4m3sat", HU_RNE, 0x7e, -1, HU_INEXACT | HU_OVERFLOW }, { 448, "e4m3", HU_RNE, 0x7e, 0, 0 },
		{ -0.0, "binary8p3", HU_RNE, 0x00, 0, 0 }, { INFINITY, "binary8p3", HU_RNE, 0x7f, 0, 0 },
		{ -INFINITY, "binary8p3", HU_RNE, 0xff, 0, 0 }, { INFINITY, "binary8p3u", HU_RNE, 0xfe, 0, 0 },
		{ -1, "binary8p3u", HU_RNE, 0xff, 0, HU_INVALID }, { NAN, "binary8p3uf", HU_RNE, 0xff, 0, 0 },
		{ 1, "binary8p1", HU_RNE, 0x40, 0, 0 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_format_id id = HU_NO_FORMAT;
		hu_format_find(rows[i].f, &id);
		hu_coded c = hu_round_code(rows[i].x, hu_format_of(id), rows[i].m, 0, 0);
		ok(c.code == rows[i].code && c.ternary == rows[i].ternary && c.flags == rows[i].flags,
			"%g in %s %s: code 0x%llx, ternary %d, flags %d", rows[i].x, rows[i].f, hu_mode_name(rows[i].m),
			(unsigned long long)c.code, c.ternary, c.flags);
	}
}

int
main(void)
{
	hu_format f[SOME_FORMATS];
	int n = some_formats(f, 1, 19);

	for (int i = 0; i < n; i++)
		test_every(f[i]);
	test_wide();
	test_known();
	test_round_code();
	return done_testing();
}
