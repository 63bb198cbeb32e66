/* SPDX-License-Identifier: Apache-2.0
   The table of formats: each row agrees with itself and with the standards'
   numbers, and names are found as people write them. */
#include "lib/number/format.h"
#include "lib/number/round.h"
#include "t/tap.h"

#include <string.h>

static void
test_rows(void)
{
	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format f = hu_format_of((hu_format_id)i);
		double all_ones = (2 - hu_pow2(1 - f.p)) * hu_pow2(f.emax);
		const char *name = hu_format_name((hu_format_id)i);
		hu_format_id id = HU_NO_FORMAT;
		is_int(f.id, i, "%s: the row's place is its id", name);
		is_int(f.bits, 1 + f.ebits + f.p - 1, "%s: sign, exponent and significand fill the code", name);
		is_int(f.emin, 2 - (1 << (f.ebits - 1)), "%s: emin is 1 - bias", name);
		if (f.special == HU_SPECIAL_IEEE) {
			is_int(f.emax, (1 << (f.ebits - 1)) - 1, "%s: the top exponent is for specials", name);
			is_near(f.max, all_ones, 0, "%s: max finite has every bit set", name);
		} else {
			is_int(f.emax, 1 << (f.ebits - 1), "%s: the top exponent holds numbers", name);
			is_near(f.max, all_ones - hu_pow2(f.emax - f.p + 1), 0, "%s: max finite is one step below NaN's place", name);
		}
		ok(hu_format_find(name, &id) == HU_OK && (int)id == i, "%s is found by its name", name);
		ok(hu_round(f.max, f, HU_RNE, 0, 0) == f.max && hu_round(hu_smallest(f), f, HU_RNE, 0, 0) == hu_smallest(f),
		   "%s: largest and smallest are values of the format", name);
	}
}

static void
test_numbers(void)
{
	hu_format h = hu_format_of(HU_FP16), b = hu_format_of(HU_BF16), e = hu_format_of(HU_E4M3), g = hu_format_of(HU_E5M2);

	is_near(h.max, 65504, 0, "fp16's largest");
	is_near(hu_smallest(h), 0x1p-24, 0, "fp16's smallest");
	is_near(hu_smallest_normal(h), 0x1p-14, 0, "fp16's smallest normal");
	is_near(hu_unit(h), 0x1p-11, 0, "fp16's unit roundoff");
	is_near(hu_smallest(b), 0x1p-133, 0, "bf16's smallest");
	is_near(e.max, 448, 0, "e4m3's largest");
	is_near(hu_smallest(e), 0x1p-9, 0, "e4m3's smallest");
	is_near(g.max, 57344, 0, "e5m2's largest");
	is_near(hu_smallest(hu_format_of(HU_FP32)), 0x1p-149, 0, "fp32's smallest");
	is_near(hu_smallest(hu_format_of(HU_FP64)), 0x1p-1074, 0, "fp64's smallest");
	ok(!hu_has_inf(e) && hu_has_inf(g), "e5m2 has infinities, e4m3 has none");
}

static void
test_names(void)
{
	static const struct { const char *name; hu_format_id id; } rows[] = {
		{ "half", HU_FP16 }, { "Float16", HU_FP16 }, { "binary16", HU_FP16 }, { "BFLOAT16", HU_BF16 }, { "single", HU_FP32 },
		{ "double", HU_FP64 }, { "float64", HU_FP64 }, { "float8_e4m3fn", HU_E4M3 }, { "e4m3fn", HU_E4M3 }, { "float8_e5m2", HU_E5M2 },
		{ "tensorfloat32", HU_TF32 },
	};
	hu_format_id id, list[3];
	hu_mode mode;
	int n;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ok(hu_format_find(rows[i].name, &id) == HU_OK && id == rows[i].id, "%s is %s", rows[i].name, hu_format_name(rows[i].id));
	is_int(hu_format_find("fp15", &id), HU_EINVAL, "fp15 is unknown");
	ok(strstr(hu_reason(), "fp15") && strstr(hu_reason(), "fp16"), "the reason names it and the nearest: %s", hu_reason());
	is_int(hu_format_find("", &id), HU_EINVAL, "the empty name is unknown");
	is_int(hu_format_find("e4m", &id), HU_EINVAL, "a beginning of a name is none");
	ok(hu_mode_find("rne", &mode) == HU_OK && mode == HU_RNE, "modes are found in any case");
	ok(hu_mode_find("stochastic", &mode) == HU_OK && mode == HU_SR, "and by alias");
	is_int(hu_mode_find("nearer", &mode), HU_EINVAL, "an unknown mode is refused");
	ok(hu_format_list("fp16,bfloat16,single", list, 3, &n) == HU_OK && n == 3 && list[1] == HU_BF16 && list[2] == HU_FP32, "a list, in order");
	is_int(hu_format_list("fp16,bf16,fp32,fp64", list, 3, &n), HU_EINVAL, "a list that is too long");
	is_int(hu_format_list("fp16,none", list, 3, &n), HU_EINVAL, "a list with a wrong name");
	is_int(hu_format_list("", list, 3, &n), HU_EINVAL, "an empty list");
}

int
main(void)
{
	test_rows();
	test_numbers();
	test_names();
	return done_testing();
}
