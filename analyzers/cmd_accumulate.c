/* SPDX-License-Identifier: Apache-2.0
   halfulp accumulate: what formats and summation models make of a series. */
#include "analyzers/judge.h"
#include "analyzers/rows.h"
#include "analyzers/terms.h"
#include "lib/base/opt.h"
#include "lib/exact/dot.h"
#include "lib/number/code.h"
#include "lib/sum/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 1 << 27 };

static const hu_opt opts[] = {
	{ "terms", "SERIES", "harmonic", "harmonic, ones, constant:C, uniform:A,B, normal:M,S or FILE.npy" },
	{ "n", "N", "1000", "number of terms" },
	{ "format", "LIST", "fp16,bf16,fp32", "formats of the terms, and of the accumulators unless a sum says acc=" },
	{ "sum", "MODEL", NULL, "summation model, repeatable: fma, chunk:64, kahan, tc:hopper, ... (default fma)" },
	{ "seed", "K", "1", "of random terms and of stochastic rounding" },
	{ "table", NULL, NULL, "a row for every n that is a power of two, tab-separated, for plots" },
	{ "json", NULL, NULL, "print an array, a row a sum" },
	{ NULL, NULL, NULL, NULL }
};

typedef struct options {
	hu_format_id format[HU_FORMATS];
	int formats, json, table;
	long long seed, n;
	const char *terms;
} options;

/* One sum of the first n terms. */
typedef struct result {
	size_t n;
	hu_format f;             /* of the value */
	double value, ulps, relative;
	char sum[96], *exact;
	hu_sum_count count;
} result;

static hu_status
parse(const hu_args *args, options *o)
{
	memset(o, 0, sizeof *o);
	HU_TRY(hu_format_list(hu_args_text(args, "format"), o->format, HU_FORMATS, &o->formats));
	HU_TRY(hu_args_int(args, "seed", 0, 0x7fffffffffffffffLL, &o->seed));
	HU_TRY(hu_args_int(args, "n", 1, MAX_N, &o->n));
	o->terms = hu_args_text(args, "terms");
	o->json = hu_args_given(args, "json");
	o->table = hu_args_given(args, "table");
	if (o->json && o->table)
		return hu_fail(HU_EINVAL, "--json and --table exclude each other");
	return args->nrest ? hu_fail(HU_EINVAL, "'%s' is not understood: terms are given by --terms", args->rest[0]) : HU_OK;
}

/* The model of TEXT for terms of format F. */
static hu_status
model(const char *text, hu_format_id f, hu_sum *s)
{
	char with[160];
	int whole = strncmp(text, "tc:", 3) && !strstr(text, ",acc=");

	snprintf(with, sizeof with, "%s%s%s", text, whole ? ",acc=" : "", whole ? hu_format_name(f) : "");
	HU_TRY(hu_sum_parse(with, s));
	return hu_sum_resolve(s, f, f, s->out);
}

static void
run_one(result *r, const double *x, const double *ones, size_t n, hu_sum s, uint64_t seed)
{
	hu_draw draw = { seed, hu_draw_stream("accumulate"), 0, 0 };
	mpfr_t exact, d;

	memset(&r->count, 0, sizeof r->count);
	r->n = n;
	r->f = hu_part_format(s);
	r->value = hu_model_run(x, ones, n, s, &draw, &r->count);
	hu_sum_print(s, r->sum, sizeof r->sum);
	mpfr_init(exact);
	mpfr_init2(d, 64);
	hu_exact_dot(exact, x, ones, n);
	r->ulps = hu_judge_ulps(r->value, exact, r->f);
	mpfr_d_sub(d, r->value, exact, MPFR_RNDN);
	mpfr_div(d, d, exact, MPFR_RNDN);
	r->relative = mpfr_zero_p(exact) ? (r->value == 0 ? 0 : INFINITY) : fabs(mpfr_get_d(d, MPFR_RNDN));
	mpfr_asprintf(&r->exact, "%.20Rg", exact);
	mpfr_clears(exact, d, (mpfr_ptr)0);
}

static double
share(const result *r)
{
	return r->count.additions ? (double)r->count.swamped / (double)r->count.additions : 0;
}

/* The last term that moved a sum that has stopped; 0 where it has not. */
static uint64_t
stopped(const result *r)
{
	return r->count.run >= HU_STAGNANT_RUN ? r->count.last : 0;
}

static void
number(char *to, uint64_t x)
{
	if (x)
		snprintf(to, 24, "%llu", (unsigned long long)x);
	else
		strcpy(to, "-");
}

static void
print(const result *r, hu_format_id terms, int tabs)
{
	char value[40], first[24], stop[24];

	number(first, r->count.first);
	number(stop, stopped(r));
	if (tabs) {
		printf("%s\t%s\t%zu\t%.17g\t%s\t%.6g\t%.6g\t%s\t%s\t%.6g\n", hu_format_name(terms), r->sum, r->n, r->value, r->exact, r->ulps, r->relative, first, stop, share(r));
		return;
	}
	hu_row_shortest(r->value, r->f, value);
	printf("%-6s %-28s %-16s %-23s %-11.5g %-11.4g %-10s %-10s %.4g\n", hu_format_name(terms), r->sum, value, r->exact, r->ulps, r->relative, first, stop, share(r));
}

static json_t *
real(double x)
{
	return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

static json_t *
count(uint64_t x)
{
	return x ? json_integer((json_int_t)x) : json_null();
}

static json_t *
row(const result *r, const char *terms, hu_format_id f)
{
	char bits[24], hex[40];

	hu_row_code(hu_encode(r->value, r->f), r->f, bits);
	snprintf(hex, sizeof hex, isnan(r->value) ? "nan" : "%a", r->value);
	return json_pack("{s:s s:I s:s s:s s:o s:s s:s s:s s:o s:o s:o s:o s:o s:f}", "terms", terms, "n", (json_int_t)r->n, "format", hu_format_name(f), "sum", r->sum, "value", real(r->value), "hex", hex, "bits", bits, "exact", r->exact, "error_ulps", real(r->ulps),
		"relative", real(r->relative), "first_swamped", count(r->count.first), "stagnation_term", count(stopped(r)), "stagnation_value", stopped(r) ? real(r->value) : json_null(), "swamped_share", share(r));
}

/* Every sum of the terms in one format. */
static hu_status
in_format(const hu_args *args, const options *o, hu_format_id id, const double *terms, double *x, const double *ones, size_t n, json_t *rows)
{
	const char *text = hu_args_nth(args, "sum", 0);
	hu_format f = hu_format_of(id);

	for (size_t k = 0; k < n; k++)
		x[k] = hu_round(terms[k], f, HU_RNE, 0, 0);
	for (int i = 0; i == 0 || text; text = hu_args_nth(args, "sum", ++i)) {
		hu_sum s;
		result r;
		HU_TRY(model(text ? text : "fma", id, &s));
		for (size_t m = o->table ? 1 : n; m; m = m == n ? 0 : 2 * m < n ? 2 * m : n) {
			run_one(&r, x, ones, m, s, (uint64_t)o->seed);
			if (o->json)
				json_array_append_new(rows, row(&r, o->terms, id));
			else
				print(&r, id, o->table);
			mpfr_free_str(r.exact);
		}
	}
	return HU_OK;
}

static hu_status
all(const hu_args *args, const options *o)
{
	size_t n = (size_t)o->n;
	double *terms, *x, *ones;
	hu_status st = HU_OK;

	for (int i = 0; hu_args_nth(args, "sum", i); i++) /* before anything is computed or printed */
		for (int f = 0; f < o->formats; f++) {
			hu_sum s;
			HU_TRY(model(hu_args_nth(args, "sum", i), o->format[f], &s));
		}
	HU_TRY(hu_terms(o->terms, (uint64_t)o->seed, &n, &terms));
	json_t *rows = json_array();
	x = malloc(n * sizeof *x);
	ones = malloc(n * sizeof *ones);
	if (!x || !ones)
		st = hu_fail(HU_ENOMEM, "no memory for %zu terms", n);
	for (size_t k = 0; st == HU_OK && k < n; k++)
		ones[k] = 1;
	if (st == HU_OK && o->table)
		printf("format\tsum\tn\tvalue\texact\terror_ulps\trelative\tfirst_swamped\tstagnation_term\tswamped_share\n");
	else if (st == HU_OK && !o->json)
		printf("%zu terms: %s\n%-6s %-28s %-16s %-23s %-11s %-11s %-10s %-10s %s\n", n, o->terms, "terms", "sum", "result", "exact", "error ulp", "relative", "1st lost", "stops at", "swamped");
	for (int f = 0; st == HU_OK && f < o->formats; f++)
		st = in_format(args, o, o->format[f], terms, x, ones, n, rows);
	if (st == HU_OK && o->json)
		hu_rows_print_json(rows);
	else
		json_decref(rows);
	free(terms);
	free(x);
	free(ones);
	return st;
}

static int
run(const hu_args *args)
{
	options o;
	hu_status st = parse(args, &o);

	if (st == HU_OK)
		st = all(args, &o);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_accumulate = {
	"accumulate", "[OPTION...]", "sum a series in number formats by summation models, beside the exact sum",
	"Terms are first rounded to the format, to nearest; the exact sum is that of the rounded terms.\n"
	"Terms count from 1. Swamped: a nonzero term that leaves the accumulator as it was. stops at: the\n"
	"last term that moved a sum which has stopped (at least 8 swamped terms end it); in chunks the\n"
	"outer accumulator is judged, by the first term of each. Models: NAME[:N][,acc=FORMAT][,mode=MODE]\n"
	"with fma, sequential, chunk:N, pairwise, kahan, neumaier, dot2, fabsum:N, splitk:N, promote:N;\n"
	"tc:volta|turing|ampere|ada|hopper|blackwell|rtxblackwell[,out=fp16][,path=mma|wgmma|tcgen05].",
	opts, run
};
