/* SPDX-License-Identifier: Apache-2.0
   The table of formats: each row agrees with itself and with the standards'
   numbers, and names are found as people write them. */
#include "lib/number/format.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <string.h>

/* A row is what its parameters make of it, but for the fields that name it. */
static void
test_rows(void)
{
	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format f = hu_format_of((hu_format_id)i),
			  c = hu_format_of(hu_format_custom(f.ebits, f.p - 1, f.special, 1 - f.emin, 0));
		const char *name = hu_format_name((hu_format_id)i);
		hu_format_id id = HU_NO_FORMAT;
		is_int(f.id, i, "%s: the row's place is its id", name);
		ok(hu_format_find(name, &id) == HU_OK && (int)id == i, "%s is found by its name", name);
		ok(hu_round(f.max, f, HU_RNE, 0, 0) == f.max &&
				hu_round(hu_smallest(f), f, HU_RNE, 0, 0) == hu_smallest(f),
			"%s: largest and smallest are values of the format", name);
		if (f.special == HU_SPECIAL_SCALE || f.p == 53)
			continue;
		is_int(f.bits, c.bits, "%s: sign, exponent and significand fill the code", name);
		is_int(f.emin, 1 - hu_format_bias(f.ebits, f.special), "%s: emin is 1 - bias", name);
		is_int(f.emax, c.emax, "%s: emax follows from the specials", name);
		is_near(f.max, c.max, 0, "%s: max finite follows from the specials", name);
	}
}

static void
test_custom(void)
{
	/* name, the name it gets, p, emin, emax, max: P3109's from its draft's bias 2^(K-P-1), unsigned 2^(K-P), and
	   codes */
	static const struct { const char *name, *means; int p, emin, emax; double max;
	} rows[] = {
		{ "e5m7", "e5m7", 8, -14, 15, 65280 },
		{ "E4M3B11FNUZ", "e4m3b11fnuz", 4, -10, 4, 30 },
		{ "e5m10", "fp16", 11, -14, 15, 65504 },
		{ "e5m10ieee", "fp16", 11, -14, 15, 65504 },
		{ "e4m3fnuz", "e4m3fnuz", 4, -7, 7, 240 },
		{ "e4m3b8fnuz", "e4m3fnuz", 4, -7, 7, 240 },
		{ "e2m1ieee", "e2m1b1", 2, 0, 1, 3 },
		{ "e3m0finite", "e3m0finite", 1, -2, 4, 16 },
		{ "e4m0fn", "e4m0fn", 1, -6, 7, 128 },
		{ "e3m4fn", "e3m4fn", 5, -2, 4, 30 },
		{ "e11m40", "e11m40", 41, -1022, 1023, 0x1.ffffffffffp1023 },
		{ "e1m6finite", "e1m6finite", 7, 1, 1, 3.96875 },
		{ "e8m7", "bf16", 8, -126, 127, 0x1.fep127 },
		{ "binary8p1", "binary8p1", 1, -63, 62, 0x1p62 },
		{ "binary8p2", "binary8p2", 2, -31, 31, 0x1p31 },
		{ "binary8p3", "binary8p3", 3, -15, 15, 49152 },
		{ "Binary8P4", "binary8p4", 4, -7, 7, 224 },
		{ "binary8p5", "binary8p5", 5, -3, 3, 15 },
		{ "binary8p6", "binary8p6", 6, -1, 1, 3.875 },
		{ "binary8p7", "binary8p7", 7, 0, 0, 1.96875 },
		{ "binary8p3sat", "binary8p3sat", 3, -15, 15, 49152 },
		{ "binary8p3sfsat", "e5m2fnuzsat", 3, -15, 15, 57344 },
		{ "binary8p3se", "binary8p3", 3, -15, 15, 49152 },
		{ "binary8p4sf", "e4m3fnuzsat", 4, -7, 7, 240 },
		{ "binary8p3f", "e5m2fnuzsat", 3, -15, 15, 57344 },
		{ "binary8p3u", "binary8p3u", 3, -31, 31, 0x1.4p31 },
		{ "binary8p3ue", "binary8p3u", 3, -31, 31, 0x1.4p31 },
		{ "binary8p3uf", "binary8p3uf", 3, -31, 31, 0x1.8p31 },
		{ "binary8p8uf", "binary8p8uf", 8, 0, 0, 1.984375 },
		{ "binary8p8u", "binary8p8u", 8, 0, 0, 1.9765625 },
		{ "binary8p1u", "binary8p1u", 1, -127, 125, 0x1p125 },
		{ "binary8p2u", "binary8p2u", 2, -63, 62, 0x1.8p62 },
		{ "binary8p1uf", "binary8p1uf", 1, -127, 126, 0x1p126 },
		{ "binary6p3", "binary6p3", 3, -3, 3, 12 },
		{ "binary3p1", "binary3p1", 1, -1, 0, 1 },
		{ "binary4p2sf", "e2m1fnuzsat", 2, -1, 1, 3 },
		{ "binary15p10", "binary15p10", 10, -15, 15, 65408 },
		{ "binary16p11", "binary16p11", 11, -15, 15, 65472 },
		{ "e4m3p3109", "binary8p4", 4, -7, 7, 224 },
		{ "e4m3b5p3109", "e4m3b5p3109", 4, -4, 10, 1792 },
		{ "e5m10ftz", "e5m10ftz", 11, -14, 15, 65504 },
		{ "fp16ftz", "e5m10ftz", 11, -14, 15, 65504 },
		{ "halfnosubsat", "e5m10nosubsat", 11, -14, 15, 65504 },
		{ "e4m3sat", "e4m3fnsat", 4, -6, 8, 448 },
		{ "e4m3fnSATFTZ", "e4m3fnftzsat", 4, -6, 8, 448 },
		{ "e4m3ieeesat", "e4m3b7sat", 4, -6, 7, 240 },
		{ "e4m3b7sat", "e4m3b7sat", 4, -6, 7, 240 },
		{ "e2m1ftz", "e2m1finiteftz", 2, 0, 2, 6 },
		{ "e5m7b20fnuznosub", "e5m7b20fnuznosub", 8, -19, 11, 0x1.fep11 },
		{ "tf32sat", "e8m10sat", 11, -126, 127, 0x1.ffcp127 },
	};
	static const struct { const char *name, *says;
	} impossible[] = { { "e0m40", "character 2:" }, { "e12m3", "character 2:" }, { "e9m99", "character 4:" },
		{ "e5m52", "character 4:" }, { "e5m60", "character 4:" }, { "e1m3", "character 2:" },
		{ "e5m0", "character 4:" }, { "e5m10b", "character 7:" }, { "e5m10b99999", "character 11:" },
		{ "e5m10b3000", "bias of 3000" }, { "e11m3fn", "character 2:" }, { "e11m3b2000", "character 2:" },
		{ "e4m3x", "character 5: 'x'" }, { "e4m3scale", "character 5: 'scale'" },
		{ "e4m3fnftzx", "character 10: 'x'" }, { "e4m3ftznosub", "exclude" },
		{ "e4m3ftzftz", "character 8: 'ftz'" }, { "fp64sat", "character 5:" }, { "e8m0ftz", "character 5:" },
		{ "binary8p0", "character 9:" }, { "binary8p8", "character 9:" }, { "binary8p9u", "character 9:" },
		{ "binary8p3x", "character 10: 'x'" }, { "binary2p1", "character 7:" },
		{ "binary99p3", "character 7:" }, { "binary15p1", "character 10:" }, { "e1m0fn", "character 2:" },
		{ "e1m0p3109", "character 2:" }, { "e99999999999m1", "unknown format" } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_format_id id = HU_NO_FORMAT, again = HU_NO_FORMAT;
		hu_status st = hu_format_find(rows[i].name, &id);
		hu_format f = hu_format_of(id);
		ok(st == HU_OK && f.id == id && f.p == rows[i].p && f.emin == rows[i].emin && f.emax == rows[i].emax &&
				f.max == rows[i].max,
			"%s: p %d, emin %d, emax %d, max %.17g", rows[i].name, f.p, f.emin, f.emax, f.max);
		is_text(hu_format_name(id), rows[i].means, "%s has one name", rows[i].name);
		ok(hu_format_find(hu_format_name(id), &again) == HU_OK && again == id, "which finds the same format");
	}
	for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
		hu_format_id id;
		ok(hu_format_find(impossible[i].name, &id) != HU_OK && strstr(hu_reason(), impossible[i].name) &&
				strstr(hu_reason(), impossible[i].says),
			"%s is refused: %s", impossible[i].name, hu_reason());
	}
	is_text(hu_format_name(HU_NO_FORMAT), "-", "no format has no name");
	is_int(hu_format_of(HU_NO_FORMAT).bits, 0, "and no bits");
}

/* Every combination is found again by the name it gets, with the same numbers. */
static void
test_names_of_all(void)
{
	static const char *const suffix[] = { "ieee", "fn", "fnuz", "finite", "p3109" }, *const words[] = { "", "ftz",
		"nosub", "sat", "ftzsat", "nosubsat" };
	long wrong = 0, all = 0;

	for (int e = 1; e <= 11; e++)
		for (int m = 0; m <= 51; m++)
			for (int special = 0; special <= HU_SPECIAL_P3109; special++)
				for (int k = 0; k < 18; k++) {
					int bias = hu_format_bias(e, special) + k % 3 - 1;
					char name[40];
					hu_format_id id, again;
					snprintf(name, sizeof name, "e%dm%db%d%s%s", e, m, bias < 0 ? 0 : bias,
						suffix[special], words[k / 3]);
					if (hu_format_find(name, &id) != HU_OK)
						continue;
					all++;
					wrong += hu_format_find(hu_format_name(id), &again) != HU_OK || again != id;
				}
	for (int bits = 3; bits <= 15; bits++)
		for (int p = 1; p <= bits; p++)
			for (int k = 0; k < 24; k++) {
				static const char *const kinds[] = { "se", "sf", "ue", "uf" };
				char name[40];
				hu_format_id id, again;
				snprintf(name, sizeof name, "binary%dp%d%s%s", bits, p, kinds[k % 4], words[k / 4]);
				if (hu_format_find(name, &id) != HU_OK)
					continue;
				all++;
				wrong += hu_format_of(id).bits != bits || hu_format_of(id).p != p ||
					 hu_format_find(hu_format_name(id), &again) != HU_OK || again != id;
			}
	ok(all > 40000 && wrong == 0, "%ld formats have a name each that finds them, %ld not", all, wrong);
}

static void
test_numbers(void)
{
	hu_format h = hu_format_of(HU_FP16), b = hu_format_of(HU_BF16), e = hu_format_of(HU_E4M3),
		  g = hu_format_of(HU_E5M2);

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
	static const struct { const char *name; hu_format_id id;
	} rows[] = {
		{ "half", HU_FP16 },
		{ "Float16", HU_FP16 },
		{ "binary16", HU_FP16 },
		{ "BFLOAT16", HU_BF16 },
		{ "single", HU_FP32 },
		{ "double", HU_FP64 },
		{ "float64", HU_FP64 },
		{ "float8_e4m3fn", HU_E4M3 },
		{ "e4m3fn", HU_E4M3 },
		{ "float8_e5m2", HU_E5M2 },
		{ "tensorfloat32", HU_TF32 },
	};
	hu_format_id id, list[3];
	hu_mode mode;
	int n;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ok(hu_format_find(rows[i].name, &id) == HU_OK && id == rows[i].id, "%s is %s", rows[i].name,
			hu_format_name(rows[i].id));
	is_int(hu_format_find("fp15", &id), HU_EABSENT, "fp15 is unknown");
	ok(strstr(hu_reason(), "fp15") && strstr(hu_reason(), "fp16"), "the reason names it and the nearest: %s",
		hu_reason());
	is_int(hu_format_find("", &id), HU_EABSENT, "the empty name is unknown");
	is_int(hu_format_find("e4m", &id), HU_EABSENT, "a beginning of a name is none");
	ok(hu_mode_find("rne", &mode) == HU_OK && mode == HU_RNE, "modes are found in any case");
	ok(hu_mode_find("stochastic", &mode) == HU_OK && mode == HU_SR, "and by alias");
	is_int(hu_mode_find("nearer", &mode), HU_EABSENT, "an unknown mode is refused");
	ok(hu_format_list("fp16,bfloat16,single", list, 3, &n) == HU_OK && n == 3 && list[1] == HU_BF16 &&
			list[2] == HU_FP32,
		"a list, in order");
	is_int(hu_format_list("fp16,bf16,fp32,fp64", list, 3, &n), HU_EINVAL, "a list that is too long");
	is_int(hu_format_list("fp16,none", list, 3, &n), HU_EABSENT, "a list with a wrong name");
	is_int(hu_format_list("", list, 3, &n), HU_EINVAL, "an empty list");
	ok(hu_format_list("FP16,bf16,Half,e5m10,e8m7", list, 2, &n) == HU_OK && n == 2 && list[0] == HU_FP16 &&
			list[1] == HU_BF16,
		"each format once, by any name");
}

int
main(void)
{
	test_rows();
	test_numbers();
	test_custom();
	test_names_of_all();
	test_names();
	return done_testing();
}
