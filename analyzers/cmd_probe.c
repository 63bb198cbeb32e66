/* SPDX-License-Identifier: Apache-2.0
   halfulp probe: the features by which papers tell matrix units apart, found by probing a model
   from outside, as they probe hardware (Fasi et al. 2021; Li et al. 2024). */
#include "lib/base/opt.h"
#include "lib/sum/model.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "model", "MODEL", "tc:hopper", "tensor core: tc:ARCH[,in=FORMAT][,out=FORMAT][,path=PATH]; in=fp16 where nothing is said" },
	{ "json", NULL, NULL, "print an object" },
	{ NULL, NULL, NULL, NULL }
};

/* The largest term of every probe: products of 2^10 down to 2^-18 exist in all formats probed. */
static const double top = 0x1p10;

/* Σ of N products, each a power of two times at most one more bit, from C. */
static double
sum(hu_sum s, const double *p, size_t n, double c)
{
	double a[64], b[64];

	for (size_t k = 0; k < n; k++) {
		int e = p[k] == 0 ? 0 : (int)floor(ilogb(p[k]) / 2.0);
		a[k] = ldexp(1, e);
		b[k] = p[k] / a[k];
	}
	return hu_model_tc(a, b, n, c, s, NULL);
}

/* The last k for which top + 2^-k top moves: bits behind the point that the output keeps. */
static int
kept(hu_sum s)
{
	int k = 1;

	while (k < 60 && sum(s, &top, 1, ldexp(top, -k)) != top)
		k++;
	return k - 1;
}

/* The same for a cancelled pair: bits that the alignment keeps. */
static int
aligned(hu_sum s)
{
	double p[2] = { top, -top };
	int k = 1;

	while (k < 60 && sum(s, p, 2, ldexp(top, -k)) != 0)
		k++;
	return k - 1;
}

/* Products that share a block: only within one does c + top + ulp come out exactly. */
static int
width(hu_sum s, double ulp)
{
	int j = 1;

	for (; j < 64; j++) {
		double p[64] = { 0 };
		p[0] = top;
		p[j] = ulp;
		if (sum(s, p, (size_t)j + 1, top + ulp) != 2 * top + 2 * ulp)
			break;
	}
	return j;
}

static const char *
rounding(double quarter, double three, double half_odd, double ulp)
{
	if (quarter == 0 && three == 0)
		return "toward zero";
	return quarter == 0 && three == ulp && half_odd == 2 * ulp ? "to nearest even" : "other";
}

static void
row(json_t *o, const char *name, json_t *value)
{
	json_object_set_new(o, name, value);
}

static hu_status
all(const hu_args *args, json_t *o)
{
	hu_sum s;
	char text[96];

	HU_TRY(hu_sum_parse(hu_args_text(args, "model"), &s));
	if (s.id != HU_SUM_TC)
		return hu_fail(HU_EINVAL, "--model: a tensor core is needed, as in tc:ampere");
	hu_format_id in = s.in == HU_NO_FORMAT ? HU_FP16 : s.in;
	if (in != HU_FP16 && in != HU_BF16 && in != HU_TF32 && in != HU_E4M3 && in != HU_E5M2)
		return hu_fail(HU_EINVAL, "--model: in=fp16, bf16, tf32, e4m3 or e5m2 can be probed");
	HU_TRY(hu_sum_resolve(&s, in, s.in2 == HU_NO_FORMAT ? in : s.in2, s.out));
	hu_sum_print(s, text, sizeof text);
	hu_tc t = hu_tc_of(s.arch, s.in, s.path);
	static const char *const marks[] = { "equals published vectors", "two sources", "one source", "undecided", "-" };
	hu_format f = hu_format_of(s.in), out = hu_format_of(s.out);
	int keep = kept(s), deep = aligned(s), extra = deep > keep ? deep - keep : 0, m = extra > 3 ? 16 : (1 << extra) + 2;
	double ulp = ldexp(top, -keep), lsb = ldexp(top, -deep), pair[2] = { top, -top }, p[64], four[4], tiny[1] = { 4 * hu_smallest(f) };

	/* Half bits that are chopped beside top but not below it, where they carry beyond top. */
	for (int k = 0; k < 64; k++)
		p[k] = lsb / 2;
	p[0] = extra > 3 ? lsb / 2 : (1 << extra) * lsb - lsb / 2;
	for (int k = 0; k < 4; k++)
		four[k] = ulp / 2;
	double rise = sum(s, p, (size_t)m, top - ulp / 2), level = sum(s, p, (size_t)m, top);
	double first[2] = { top, ulp };
	row(o, "model", json_string(text));
	row(o, "parameters", json_string(marks[s.out == HU_FP16 ? t.status16 : t.status]));
	row(o, "input subnormals", json_string(sum(s, tiny, 1, 0) == tiny[0] ? "kept" : "flushed"));
	row(o, "output subnormals", json_string(sum(s, p, 0, 0) == 0 && hu_model_tc(&out.max, &out.max, 0, hu_smallest(out), s, NULL) == hu_smallest(out) ? "kept" : "flushed"));
	row(o, "products in a block", json_integer(width(s, ulp)));
	row(o, "fraction bits of the output", json_integer(keep));
	row(o, "fraction bits of the alignment", json_integer(deep));
	row(o, "extra alignment bits", json_integer(deep - keep));
	row(o, "rounding of aligned terms", json_string(rounding(sum(s, pair, 2, 0.25 * lsb), sum(s, pair, 2, 0.75 * lsb), 0, lsb)));
	row(o, "rounding of the output", json_string(rounding(sum(s, &top, 1, 0.25 * ulp) - top, sum(s, &top, 1, 0.75 * ulp) - top, sum(s, first, 2, 0.5 * ulp) - top, ulp)));
	row(o, "normalised", json_string(sum(s, four, 4, top - ulp / 2) == top + (out.p == 11 ? 2 : 1) * ulp ? "once, at the end" : "in between"));
	row(o, "monotone", json_string(rise > level ? "no" : "not refuted"));
	row(o, "NaN", json_string(hu_isnan(sum(s, &top, 1, hu_nan())) ? (s.out == HU_FP16 ? "0x7fff" : "0x7fffffff") : "lost"));
	return HU_OK;
}

static int
run(const hu_args *args)
{
	json_t *o = json_object(), *value;
	const char *name;
	hu_status st = all(args, o);

	if (st == HU_OK && hu_args_given(args, "json")) {
		json_dumpf(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		putchar('\n');
	} else if (st == HU_OK) {
		json_object_foreach(o, name, value)
			json_is_string(value) ? printf("%-32s%s\n", name, json_string_value(value)) : printf("%-32s%lld\n", name, (long long)json_integer_value(value));
	}
	json_decref(o);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_probe = {
	"probe", "[OPTION...]", "find a tensor core model's features by probes, as papers do with hardware",
	"Each feature is found from sums alone: which products share a block, how many bits the alignment\n"
	"and the output keep, how they are rounded, whether a larger operand can give a smaller sum.\n"
	"parameters: where the model's row comes from.",
	opts, run
};
