/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/formats/format_page.h"

#include "analyzers/value/rows.h"
#include "lib/base/str.h"
#include "lib/base/terminal/fitted.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAN_ROOM = 128 };

const char *
hu_format_above(hu_format f)
{
	return hu_saturates(f, 0) ? "max" : hu_has_inf(f) ? "inf" : hu_has_nan(f) ? "NaN" : "max";
}

/* Writes which codes are NaN. */
static void
nan_codes(hu_format f, char *text, size_t room)
{
	uint64_t sign = (uint64_t)1 << (f.bits - 1), first = hu_inf_code(f) + 1, last = sign - 1;
	char a[24], b[24], c[24], d[24];

	hu_row_code(hu_nan_code(f), f, a);
	switch (f.special) {
	case HU_SPECIAL_IEEE:
		hu_row_code(first, f, a);
		hu_row_code(last, f, b);
		hu_row_code(sign | first, f, c);
		hu_row_code(sign | last, f, d);
		if (first == last)
			snprintf(text, room, "%s, %s", a, c);
		else
			snprintf(text, room, "%s to %s, %s to %s", a, b, c, d);
		break;
	case HU_SPECIAL_FN:
		hu_row_code(sign | last, f, b);
		snprintf(text, room, "%s, %s", a, b);
		break;
	case HU_SPECIAL_FINITE: snprintf(text, room, "none"); break;
	case HU_SPECIAL_FNUZ: /* One code is NaN. */
	case HU_SPECIAL_P3109:
	case HU_SPECIAL_SCALE:
	case HU_SPECIAL_P3109U:
	case HU_SPECIAL_P3109UF: snprintf(text, room, "%s", a); break;
	default: HU_ASSERT(!"a kind of format has its NaN here");
	}
}

static void
repeat(hu_str *s, const char *text, int n)
{
	while (n-- > 0)
		hu_str_add(s, text);
}

/* Draws the fields as boxes with a column for each bit; a wide field shows its width in digits instead. */
static void
draw(hu_format f)
{
	int width[3] = { hu_has_sign(f), f.ebits, f.p - 1 }, bit = f.bits - 1, shown = 0;
	static const char *const letter[3] = { "s", "e", "m" };
	hu_str top, middle, bottom, digits;

	hu_str_init(&top);
	hu_str_init(&middle);
	hu_str_init(&bottom);
	hu_str_init(&digits);
	for (int k = 0; k < 3; k++) {
		int w = width[k], wide = w > 12, cells = wide ? 17 : w;
		char label[40];
		if (w <= 0)
			continue;
		hu_str_add(&top, shown ? "┬─" : "┌─");
		hu_str_add(&bottom, shown ? "┴─" : "└─");
		hu_str_add(&middle, "│ ");
		if (wide) {
			snprintf(label, sizeof label, "%s × %-13d", letter[k], w);
			hu_str_addf(&middle, "%s ", label);
			repeat(&top, "─", 18);
			repeat(&bottom, "─", 18);
			hu_str_addf(&digits, "  %-2d … %-12d ", bit, bit - w + 1);
			bit -= w;
		} else {
			for (int i = 0; i < cells; i++, bit--) {
				hu_str_addf(&middle, " %s ", letter[k]);
				repeat(&top, "─", 3);
				repeat(&bottom, "─", 3);
				hu_str_addf(&digits, "%s%2d ", i ? "" : "  ", bit);
			}
		}
		shown = 1;
	}
	printf("  %s┐\n  %s│\n  %s┘\n  %s\n", top.s, middle.s, bottom.s, digits.s);
	hu_str_release(&top);
	hu_str_release(&middle);
	hu_str_release(&bottom);
	hu_str_release(&digits);
}

static void
value_line(const char *what, double x, hu_format f)
{
	char code[24], hex[32];

	hu_row_code(hu_encode(x, f), f, code);
	hu_row_hex(x, hex);
	if (hu_fitted_width() < 90) /* the code says what the hexadecimal number says */
		printf("  %-18s %-24.17g %s\n", what, x, code);
	else
		printf("  %-18s %-24.17g %-24s %s\n", what, x, hex, code);
}

static void
power_name(int e, char *text)
{
	if (e >= 0 && e < 20)
		snprintf(text, 24, "%ld", 1L << e);
	else
		snprintf(text, 24, "2^%d", e);
}

/* Prints the spacing of values, for each binade where these are few. */
static void
gaps(hu_format f)
{
	int n = f.emax - f.emin + 1;
	char from[24], to[24], gap[24];

	if (!hu_has_zero(f)) {
		printf("\n  Neighbours are a factor of 2 apart; there is no zero and no sign.\n");
		return;
	}
	printf("\nGaps\n  %-26s %s\n", "from .. to", "gap (1 ulp)");
	if (f.p > 1) {
		power_name(f.emin, to);
		power_name(f.emin - f.p + 1, gap);
		printf("  %-8s .. %-14s %s%s\n", "0", to, hu_has_subnormals(f) ? gap : "nothing",
			hu_has_subnormals(f) ? ", subnormal" : " between");
	}
	for (int e = f.emin; e <= f.emax; e++) {
		if (n > 12 && e > f.emin + 1 && e < f.emax - 1 && (e < -2 || e > 2)) {
			if (e == f.emin + 2 || e == 3)
				printf("  ...\n");
			continue;
		}
		power_name(e, from);
		power_name(e + 1, to);
		power_name(e - f.p + 1, gap);
		printf("  %-8s .. %-14s %s\n", from, to, gap);
	}
}

static void
specials(hu_format f)
{
	char nan[NAN_ROOM], a[24], b[24];
	uint64_t sign = (uint64_t)1 << (f.bits - 1);

	nan_codes(f, nan, sizeof nan);
	printf("\nSpecial codes\n");
	if (hu_has_zero(f)) {
		hu_row_code(0, f, a);
		hu_row_code(sign, f, b);
		printf("  zero               %s%s%s\n", a,
			hu_has_minus_zero(f) ? ", -0 is "
			: hu_has_sign(f)     ? ", no -0"
					     : "; a negative number becomes NaN, or zero where the mode may",
			hu_has_minus_zero(f) ? b : "");
	} else {
		printf("  zero               none: it becomes the smallest value; a negative number becomes NaN\n");
	}
	hu_row_code(hu_inf_code(f), f, a);
	hu_row_code(sign | hu_inf_code(f), f, b);
	printf("  infinity           %s%s%s\n", hu_has_inf(f) ? a : "none",
		hu_has_inf(f) && hu_has_sign(f) ? ", -inf is " : "", hu_has_inf(f) && hu_has_sign(f) ? b : "");
	hu_row_code(hu_nan_code(f), f, a);
	printf("  NaN                %s", nan);
	if (f.special == HU_SPECIAL_IEEE)
		printf("; written as %s", a);
	printf("\n");
}

/* Prints where rounding to nearest even stops giving the largest value: half a step beyond it. */
static void
above_line(hu_format f)
{
	double limit = f.max + hu_pow2(f.emax - f.p);

	printf("  above it           ");
	if (!hu_has_nan(f) || hu_saturates(f, 0))
		printf(hu_saturates(f, 0) ? "the largest: it saturates\n" : "the largest: there is nothing else\n");
	else if (!(limit < INFINITY))
		printf("RNE gives inf from 2^%d - 2^%d on; saturating, the largest\n", f.emax + 1, f.emax - f.p);
	else
		printf("RNE gives %s %s %.17g; saturating, the largest\n", hu_format_above(f),
			hu_round(limit, f, HU_RNE, 0, 0) == f.max ? "beyond" : "from", limit);
}

void
hu_format_page(hu_format f)
{
	double ulp = f.emin <= 0 && f.emax >= 0 ? hu_pow2(1 - f.p) : 0;
	const char *aliases = hu_format_aliases(f.id);

	printf("%s: %s\n", hu_format_name(f.id), hu_format_summary(f.id));
	if (*aliases)
		printf("also known as %s\n", aliases);
	printf("\n");
	draw(f);
	printf("\n  %d bits: %s%d of exponent (bias %d), %d of trailing significand; p = %d significant bit%s\n",
		f.bits, hu_has_sign(f) ? "sign, " : "no sign, ", f.ebits, hu_has_zero(f) ? 1 - f.emin : -f.emin,
		f.p - 1, f.p, f.p == 1 ? "" : "s");
	if (f.p > 1)
		printf("  value = m * 2^(e - %d), |m| < 2^%d, %d <= e <= %d\n\nRange\n", f.p - 1, f.p, f.emin, f.emax);
	else
		printf("  value = %s2^e, %d <= e <= %d\n\nRange\n",
			hu_has_sign(f)   ? "0 or +-"
			: hu_has_zero(f) ? "0 or "
					 : "",
			f.emin, f.emax);
	value_line("smallest", hu_smallest(f), f);
	if (f.p > 1)
		value_line("smallest normal", hu_smallest_normal(f), f);
	if (ulp != 0 && f.max >= 1)
		value_line("1", 1, f);
	value_line("largest", f.max, f);
	above_line(f);
	printf("\nPrecision\n  unit roundoff      2^-%d = %.6g\n", f.p, hu_unit(f));
	if (ulp != 0)
		printf("  ulp of 1           2^%d = %.6g\n", 1 - f.p, ulp);
	if (f.emax >= f.p && hu_has_zero(f))
		printf("  integers           every one up to 2^%d = %.0f\n", f.p, hu_pow2(f.p));
	printf("  decimal digits     %d survive from decimal to %s and back; %d tell all its values apart\n",
		(int)floor((f.p - 1) * 0.30102999566398120), hu_format_name(f.id),
		(int)ceil(f.p * 0.30102999566398120 + 1));
	gaps(f);
	specials(f);
}

json_t *
hu_format_json(hu_format f)
{
	char code[24], nan[NAN_ROOM];
	json_t *o = json_object();

	nan_codes(f, nan, sizeof nan);
	json_object_set_new(o, "name", json_string(hu_format_name(f.id)));
	json_object_set_new(o, "summary", json_string(hu_format_summary(f.id)));
	json_object_set_new(o, "aliases", json_string(hu_format_aliases(f.id)));
	json_object_set_new(o, "specials", json_string(hu_special_name(f.special)));
	json_object_set_new(o, "bits", json_integer(f.bits));
	json_object_set_new(o, "exponent_bits", json_integer(f.ebits));
	json_object_set_new(o, "p", json_integer(f.p));
	json_object_set_new(o, "emin", json_integer(f.emin));
	json_object_set_new(o, "emax", json_integer(f.emax));
	json_object_set_new(o, "max_finite", json_real(f.max));
	json_object_set_new(o, "min_normal", json_real(hu_smallest_normal(f)));
	json_object_set_new(o, "min_positive", json_real(hu_smallest(f)));
	json_object_set_new(o, "unit_roundoff", json_real(hu_unit(f)));
	json_object_set_new(o, "above_max", json_string(hu_format_above(f)));
	hu_row_code(hu_encode(f.max, f), f, code);
	json_object_set_new(o, "max_code", json_string(code));
	json_object_set_new(o, "nan_codes", json_string(nan));
	return o;
}
