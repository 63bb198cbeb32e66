/* SPDX-License-Identifier: Apache-2.0
   halfulp probe: finds the features by which papers tell matrix units apart. It probes a model from outside, as the
   papers probe hardware (Fasi et al. 2021; Li et al. 2024). */
#include "analyzers/probe/probe.h"
#include "analyzers/probe/probe_command.h"
#include "analyzers/probe/probe_features.h"
#include "lib/base/console/show_json.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "lib/sum/tc/status.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "model", "MODEL", "tc:hopper",
				       "tensor core: tc:ARCH[,in=FORMAT][,out=FORMAT][,path=PATH]; without in= it is "
				       "fp16; mxfp4 and nvfp4 are probed with scales of 1" },
	{ "backend", "NAME", "model",
		"what is probed: the model alone, or beside it the matrix instructions of cuda or of shim" },
	{ "sample", "N", "0", "with --backend: number of sums of random operands to compare for each instruction" },
	{ "seed", "N", "1", "seed of these operands" },
	{ "out", "FILE.tsv", NULL, "with --backend: write the rows to FILE.tsv too" },
	{ "json", NULL, NULL,
		"print an object; with --backend an array with an object for each probe and instruction" },
	{ NULL, NULL, NULL, NULL } };

/* The largest term of every probe: products from 2^10 down to 2^-18 exist in all formats that are probed. */
static const double top = 0x1p10;

/* Returns Σ of n products from c; each product is a power of two times a factor of at most two bits. */
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

/* Returns the last k for which top + 2^-k top differs from top: the bits after the point that the output keeps. */
static int
kept(hu_sum s)
{
	int k = 1;

	while (k < 60 && sum(s, &top, 1, ldexp(top, -k)) != top)
		k++;
	return k - 1;
}

/* The same for a cancelled pair: the bits that the alignment keeps. */
static int
aligned(hu_sum s)
{
	double p[2] = { top, -top };
	int k = 1;

	while (k < 60 && sum(s, p, 2, ldexp(top, -k)) != 0)
		k++;
	return k - 1;
}

/* Returns how many products are added in one block: only within one block is c + top + ulp exact. */
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

static const char *const verdicts[] = { "PASS", "FAIL", "open" };

/* An answer: what was asked, what came out, what a paper has. */
typedef struct line {
	const char *probe, *inputs, *value, *tabled, *verdict;
} line;

static const hu_table_field field[] = {
	{ .name = "probe",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, probe),
		.means = "the probe's name in the papers" },
	{ .name = "inputs",
		.kind = HU_FIELD_PROSE,
		.offset = offsetof(line, inputs),
		.means = "what is multiplied and added" },
	{ .name = "value", .kind = HU_FIELD_TEXT, .offset = offsetof(line, value), .means = "what the model gives" },
	{ .name = "tabled",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, tabled),
		.rank = 1,
		.means = "what the papers found on the device" },
	{ .name = "verdict",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, verdict),
		.means = "PASS, FAIL, or open where no paper has a value" },
};
static const hu_fields table = HU_FIELDS(field, line);

/* Applies the papers' probes and compares with the values they tabled; lists what none of them settled. Returns how
   many differ. */
static int
probes(json_t *o, hu_sum s, hu_tc t)
{
	static hu_probe p[HU_PROBES];
	json_t *list = json_array(), *open = json_array();
	hu_probe_unit u = hu_probe_model(s, 0);
	size_t n = hu_probe_table(&u, t, p);
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		line l = { p[i].name, p[i].what, p[i].got, p[i].want, verdicts[p[i].result] };
		failed += p[i].result == HU_PROBE_FAIL;
		json_array_append_new(list, hu_fields_object(&table, &l));
	}
#define TC_OPEN(probe, condition, what)                                                                                \
	if (condition)                                                                                                 \
		json_array_append_new(open, json_pack("{s:s s:s}", "probe", probe, "open", what));
#include "lib/sum/tc/open.def"
#undef TC_OPEN
	json_object_set_new(o, "probes", list);
	json_object_set_new(o, "unsettled", open);
	return failed;
}

static const char *
text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static void
print_probes(const json_t *o)
{
	static line l[HU_PROBES];
	const char *name, *what;
	size_t i, n = 0;
	json_t *j;

	json_array_foreach(json_object_get(o, "probes"), i, j) if (n < HU_PROBES) l[n++] = (line){ text_of(j, "probe"),
		text_of(j, "inputs"), text_of(j, "value"), text_of(j, "tabled"), text_of(j, "verdict") };
	putchar('\n');
	hu_fields_print(&table, l, n, "--json has all");
	json_array_foreach(
		json_object_get(o, "unsettled"), i, j) if (!json_unpack(j, "{s:s s:s}", "probe", &name, "open", &what))
	{
		char *text = hu_xprintf("unsettled, %s would tell: %s", name, what);
		if (!i)
			putchar('\n');
		hu_fitted_prose(text, 4);
		free(text);
	}
}

static hu_status
all(const hu_args *args, json_t *o, int *failed)
{
	hu_sum s;
	char text[96];

	HU_TRY(hu_sum_parse(hu_args_text(args, "model"), &s));
	if (s.id != HU_SUM_TC)
		return hu_fail(HU_EINVAL, "--model: a tensor core is needed, as in tc:ampere");
	if (s.n)
		return hu_fail(HU_EINVAL,
			"--model: promote= is what a kernel does, and probes ask the unit itself: leave it out");
	hu_format_id in = s.in == HU_NO_FORMAT ? HU_FP16 : s.in;
	HU_TRY(hu_sum_resolve(&s, in, s.in2 == HU_NO_FORMAT ? in : s.in2, s.out));
	hu_sum_print(s, text, sizeof text);
	hu_tc t = hu_tc_of_sum(s);
	row(o, "model", json_string(text));
	row(o, "parameters", json_string(hu_tc_status(t, s.out)));
	row(o, "source", json_string(hu_tc_source(t)));
	if (t.kind == HU_TC_CHAIN) {
		row(o, "arithmetic", json_string("fused multiply-adds, k ascending, each to nearest even"));
		hu_probe_chain(o, s);
		hu_probe_products(o, s, 1);
		*failed = probes(o, s, t);
		return HU_OK;
	}
	if (hu_probe_is_narrow(s)) {
		hu_probe_narrow(o, s);
		hu_probe_products(o, s, hu_probe_narrow_length(s));
		*failed = probes(o, s, t);
		return HU_OK;
	}
	hu_format f = hu_format_of(s.in), out = hu_format_of(s.out);
	int keep = kept(s), deep = aligned(s), extra = deep > keep ? deep - keep : 0,
	    m = extra > 3 ? 16 : (1 << extra) + 2;
	double ulp = ldexp(top, -keep), lsb = ldexp(top, -deep), pair[2] = { top, -top }, p[64], four[4],
	       tiny[1] = { 4 * hu_smallest(f) };

	/* halves of the last bit are cut off beside top but not below it, where they carry beyond top */
	for (int k = 0; k < 64; k++)
		p[k] = lsb / 2;
	p[0] = extra > 3 ? lsb / 2 : (1 << extra) * lsb - lsb / 2;
	for (int k = 0; k < 4; k++)
		four[k] = ulp / 2;
	double rise = sum(s, p, (size_t)m, top - ulp / 2), level = sum(s, p, (size_t)m, top);
	double first[2] = { top, ulp };
	row(o, "input subnormals", json_string(sum(s, tiny, 1, 0) == tiny[0] ? "kept" : "flushed"));
	row(o, "output subnormals",
		json_string(sum(s, p, 0, 0) == 0 && hu_model_tc(&out.max, &out.max, 0, hu_smallest(out), s, NULL) ==
							    hu_smallest(out)
				    ? "kept"
				    : "flushed"));
	row(o, "products in a block", json_integer(width(s, ulp)));
	row(o, "fraction bits of the output", json_integer(keep));
	row(o, "fraction bits of the alignment", json_integer(deep));
	row(o, "extra alignment bits", json_integer(deep - keep));
	row(o, "rounding of aligned terms",
		json_string(rounding(sum(s, pair, 2, 0.25 * lsb), sum(s, pair, 2, 0.75 * lsb), 0, lsb)));
	row(o, "rounding of the output",
		json_string(rounding(sum(s, &top, 1, 0.25 * ulp) - top, sum(s, &top, 1, 0.75 * ulp) - top,
			sum(s, first, 2, 0.5 * ulp) - top, ulp)));
	row(o, "normalised",
		json_string(sum(s, four, 4, top - ulp / 2) == top + (out.p == 11 ? 2 : 1) * ulp ? "once, at the end"
												: "in between"));
	row(o, "monotone", json_string(rise > level ? "no" : "not refuted"));
	row(o, "NaN",
		json_string(
			hu_isnan(sum(s, &top, 1, hu_nan())) ? (s.out == HU_FP16 ? "0x7fff" : "0x7fffffff") : "lost"));
	hu_probe_products(o, s, width(s, ulp));
	*failed = probes(o, s, t);
	return HU_OK;
}

static hu_status
refuse(const hu_args *args)
{
	return args->nrest
		       ? hu_fail(HU_EINVAL, "'%s': probe takes options alone, as in --model tc:ampere", args->rest[0])
		       : HU_OK;
}

static void
say(const char *name, const char *value)
{
	char *text = hu_xprintf("%-32s%s", name, value);

	hu_fitted_prose(text, 32);
	free(text);
}

static int
run(const hu_args *args)
{
	json_t *o = json_object(), *value;
	const char *name;
	int failed = 0;
	hu_status st = refuse(args);

	if (st == HU_OK && strcmp(hu_args_text(args, "backend"), "model")) {
		json_decref(o);
		return hu_probe_command(args);
	}
	if (st == HU_OK)
		st = all(args, o, &failed);

	if (st == HU_OK && hu_args_given(args, "json")) {
		hu_json_write(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		putchar('\n');
	} else if (st == HU_OK) {
		json_object_foreach(o, name, value) if (json_is_string(value)) say(name, json_string_value(value));
		else if (json_is_integer(value)) printf("%-32s%lld\n", name, (long long)json_integer_value(value));
		print_probes(o);
	}
	json_decref(o);
	return st == HU_OK ? (failed ? HU_EXIT_JUDGED : HU_EXIT_OK) : hu_complain(st);
}

static int
asks_backend(const void *of)
{
	return strcmp(hu_args_text(of, "backend"), "model");
}
static int
draws(const void *of)
{
	return strcmp(hu_args_text(of, "sample"), "0");
}

static const hu_opt_need needs[] = { { "out sample seed", asks_backend,
					     "on the model alone, which has no such rows; --backend cuda or shim has" },
	{ "seed", draws, "without --sample" }, { NULL, NULL, NULL } };

static void
say_columns(void)
{
	hu_fields_help(&table);
}

const hu_command hu_cmd_probe = { "probe", "[OPTION...]",
	"find the features of a tensor core model by test sums, as papers do with hardware",
	"Each feature is found from sums alone: which products are added in one block, how many bits the\n"
	"alignment and the output keep, how they are rounded, whether a larger operand can give a smaller sum.\n"
	"`parameters` says what the model's row rests on (equals published vectors: test vectors from hardware,\n"
	"to which this program's tests compare it; measured elsewhere: others compared it), and `source` names\n"
	"who published it. The probes of the literature follow, with the values that papers tabled for the\n"
	"architecture (exit 1 where one differs), and then what no published vector settles.\n"
	"--backend cuda runs the same probes on the device, one instruction after the other, beside the model,\n"
	"and exits 1 where they differ; --backend shim runs the same kernel on the host, where the model answers.\n"
	"--sample compares sums of random operands as well.",
	opts, run, needs, say_columns };
