/* SPDX-License-Identifier: Apache-2.0
   halfulp accumulate: sums a series in number formats by summation models, beside the exact sum. */
#include "analyzers/accumulate/accumulate_run.h"
#include "analyzers/calc/rows.h"
#include "analyzers/accumulate/terms.h"
#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/number/code.h"
#include "lib/number/round.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 1 << 27, MAX_SUMS = 256, MAX_ROWS = 4096, MAX_SEEDS = 1000 };

static const hu_opt opts[] = {
	{ "terms", "SERIES", "harmonic",
		"harmonic, ones, constant:C, uniform:A,B, normal:M,S, FILE.npy or FILE.npz:NAME" },
	{ "times", "SERIES", "ones", "second factors, given as --terms is; the sum is then an inner product" },
	{ "start", "W", NULL, "a number to which the terms are added, as a weight before its updates" },
	{ "n", "N", "1000", "number of terms" },
	{ "format", "LIST", "fp16,bf16,fp32",
		"formats of the terms, and of the accumulator unless the model says acc=" },
	{ "sum", "MODEL", NULL,
		"summation model: fma, chunk:64, chunk:1..4096, kahan, tc:hopper, ...; repeatable [fma]" },
	{ "seed", "K", "1", "seed of random terms and of stochastic rounding" },
	{ "seeds", "COUNT", "1", "repeat the sums with so many seeds, from --seed on" },
	{ "table", NULL, NULL,
		"print tab-separated rows for plots: one for every n that is a power of two, or for every length "
		"of a range" },
	{ "every", "M", NULL, "with --table: rows for every n that is a multiple of M instead" },
	{ "json", NULL, NULL, "print an array with an object for each sum (with --table: for each row)" },
	{ NULL, NULL, NULL, NULL }
};

/* One --sum with one length: the text that hu_sum_parse reads. */
typedef struct model { char text[112]; int ranged; } model;

typedef struct options {
	hu_format_id format[HU_FORMATS];
	int formats, json, table, sums, started, counted; /* counted: --n was given */
	model sum[MAX_SUMS];
	long long seed, seeds, n, every; /* every: 0 where --table has powers of two */
	double start;
	const char *terms, *times;
} options;

typedef struct rows { size_t *n; hu_series_exact *exact; int rows; } rows;

static hu_status
add_sum(options *o, const char *text, size_t before, const char *length, const char *after, int ranged)
{
	model *m = &o->sum[o->sums];

	if (!*text)
		return hu_fail(HU_EINVAL, "--sum: a summation model is needed, such as fma or kahan,acc=fp16");
	if (o->sums == MAX_SUMS || strlen(text) >= 96)
		return hu_fail(HU_EINVAL,
			o->sums == MAX_SUMS ? "--sum: more than %d sums" : "--sum: a model of more than 95 characters",
			MAX_SUMS);
	snprintf(m->text, sizeof m->text, "%.*s%s%s", (int)before, text, length, after);
	m->ranged = ranged;
	o->sums++;
	return HU_OK;
}

/* Adds a model; NAME:A..B,… stands for NAME:A, NAME:2A, NAME:4A, … up to B. */
static hu_status
add_sums(options *o, const char *text)
{
	const char *dots = strstr(text, ".."), *colon = strchr(text, ':');
	char *end, length[24];

	if (!dots || !colon || colon > dots)
		return add_sum(o, text, strlen(text), "", "", 0);
	long a = strtol(colon + 1, &end, 10), b = end == dots && end > colon + 1 ? strtol(dots + 2, &end, 10) : 0;
	if (a < 1 || b < a || b > 1 << 24 || (*end && *end != ','))
		return hu_fail(HU_EINVAL,
			"--sum %s: a range of lengths is A..B with 1 <= A <= B <= 2^24, as in chunk:2..4096", text);
	for (long n = a; n <= b; n *= 2) {
		snprintf(length, sizeof length, "%ld", n);
		HU_TRY(add_sum(o, text, (size_t)(colon + 1 - text), length, end, 1));
	}
	return HU_OK;
}

/* Resolves the model m for terms of format f. */
static hu_status
resolve(const model *m, hu_format_id f, hu_sum *s)
{
	char with[160];
	int whole = strncmp(m->text, "tc:", 3) && !strstr(m->text, ",acc=");

	snprintf(with, sizeof with, "%s%s%s", m->text, whole ? ",acc=" : "", whole ? hu_format_name(f) : "");
	HU_TRY(hu_sum_parse(with, s));
	return hu_sum_resolve(s, f, f, s->out);
}

static hu_status
parse(const hu_args *args, options *o)
{
	const char *text;
	hu_sum s;

	memset(o, 0, sizeof *o);
	HU_TRY(hu_format_list(hu_args_text(args, "format"), o->format, HU_FORMATS, &o->formats));
	HU_TRY(hu_args_int(args, "seed", 0, 0x7fffffffffffffffLL - MAX_SEEDS, &o->seed));
	HU_TRY(hu_args_int(args, "seeds", 1, MAX_SEEDS, &o->seeds));
	HU_TRY(hu_args_int(args, "n", 1, MAX_N, &o->n));
	if (hu_args_given(args, "every"))
		HU_TRY(hu_args_int(args, "every", 1, MAX_N, &o->every));
	if (o->every && o->n / o->every >= MAX_ROWS)
		return hu_fail(HU_EINVAL, "--every %lld: at most %d rows are printed; take a larger one", o->every,
			MAX_ROWS);
	o->counted = hu_args_given(args, "n");
	o->started = hu_args_given(args, "start");
	if (o->started)
		HU_TRY(hu_args_real(args, "start", -INFINITY, INFINITY, &o->start));
	o->terms = hu_args_text(args, "terms");
	o->times = hu_args_text(args, "times");
	o->json = hu_args_given(args, "json");
	o->table = hu_args_given(args, "table");
	for (int i = 0; (text = hu_args_nth(args, "sum", i)); i++)
		HU_TRY(add_sums(o, text));
	if (!o->sums)
		HU_TRY(add_sums(o, "fma"));
	for (int i = 0; i < o->sums; i++) /* checked before anything is computed or printed */
		for (int f = 0; f < o->formats; f++)
			HU_TRY(resolve(&o->sum[i], o->format[f], &s));
	return args->nrest ? hu_fail(HU_EINVAL, "'%s' is not understood: terms are given by --terms", args->rest[0])
			   : HU_OK;
}

static void
number(char *to, long long x)
{
	if (x >= 0)
		snprintf(to, 24, "%lld", x);
	else
		strcpy(to, "-");
}

/* Returns a model's :N; 0 where it has none. */
static int
length_of(hu_sum s)
{
	return s.id == HU_SUM_TC ? 0 : s.n; /* of an all-reduce the number of ranks */
}

static void
print(const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s, hu_format_id terms, const options *o)
{
	char value[40], first[24], stop[24], length[24], sum[96];

	number(first, r->first);
	number(stop, r->stop);
	number(length, length_of(s) ? length_of(s) : -1);
	hu_sum_print(s, sum, sizeof sum);
	if (o->table) {
		printf("%s\t%s\t%s\t%zu\t%.17g\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%s\t%s\t%.6g\t%lld\n",
			hu_format_name(terms), sum, length, n, r->value, x->text, r->ulps, r->relative, r->backward,
			r->bound, r->sqrt_n_u, first, stop, r->share, o->seed);
		return;
	}
	hu_row_shortest(r->value, r->f, value);
	printf("%-6s %-28s %-16s %-23s %-11.5g %-11.4g %-10s %-10s %-*.4g", hu_format_name(terms), sum, value, x->text,
		r->ulps, r->relative, first, stop, o->seeds > 1 ? 10 : 0, r->share);
	if (o->seeds > 1)
		printf(" %lld", o->seed);
	putchar('\n');
}

static json_t *
real(double x)
{
	return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

static json_t *
count(long long x)
{
	return x >= 0 ? json_integer((json_int_t)x) : json_null();
}

static json_t *
to_json(const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s, const options *o, hu_format_id f)
{
	char bits[24], hex[40], sum[96];

	hu_row_code(hu_encode(r->value, r->f), r->f, bits);
	hu_row_hex(r->value, hex);
	hu_sum_print(s, sum, sizeof sum);
	json_t *j = json_pack("{s:s s:s s:o s:I s:s s:s s:o s:o s:s s:s s:s s:o s:o s:o s:o s:o s:o s:o s:o s:f s:I}",
		"terms", o->terms, "times", o->times, "start", o->started ? real(o->start) : json_null(), "n",
		(json_int_t)n, "format", hu_format_name(f), "sum", sum, "length",
		count(length_of(s) ? length_of(s) : -1), "value", real(r->value), "hex", hex, "bits", bits, "exact",
		x->text, "error_ulps", real(r->ulps), "relative", real(r->relative), "backward", real(r->backward),
		"bound", real(r->bound), "sqrt_n_u", real(r->sqrt_n_u), "first_swamped", count(r->first),
		"stagnation_term", count(r->stop), "stagnation_value", r->stop >= 0 ? real(r->value) : json_null(),
		"swamped_share", r->share, "seed", (json_int_t)o->seed);
	HU_ASSERT(j);
	return j;
}

/* Chooses the numbers of terms that get a row: powers of two below n, or multiples of `every` where that is not 0; and
   n. */
static void
choose_rows(rows *w, size_t n, int table, size_t every)
{
	w->rows = 0;
	w->n = hu_xcalloc(MAX_ROWS + 1, sizeof *w->n);
	for (size_t m = every ? every : 1; table && m < n; m = every ? m + every : 2 * m)
		w->n[w->rows++] = m;
	w->n[w->rows++] = n;
	w->exact = hu_xcalloc((size_t)w->rows, sizeof *w->exact);
}

/* Computes and prints every sum of the terms in one format. */
static void
in_format(const options *o, hu_format_id id, const hu_series *s, rows *w, json_t *list)
{
	hu_accumulated *r = hu_xcalloc((size_t)(o->sums * w->rows), sizeof *r);
	hu_sum *sum = hu_xcalloc((size_t)o->sums, sizeof *sum);

	for (int i = 0; i < o->sums; i++)
		if (resolve(&o->sum[i], id, &sum[i]) != HU_OK)
			hu_bug(__FILE__, __LINE__, "%s", hu_reason()); /* parse() has tried them all */
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 1)
		for (int k = w->rows - 1; k >= 0; k--) /* long ones first, since they take longest */
			hu_series_exact_init(&w->exact[k], s, w->n[k] + (size_t)s->start);
#pragma omp for schedule(dynamic, 1)
		for (int at = 0; at < o->sums * w->rows; at++) {
			int i = at % o->sums, k = w->rows - 1 - at / o->sums;
			if (k == w->rows - 1 || !o->sum[i].ranged)
				hu_accumulate(&r[i * w->rows + k], s, &w->exact[k], sum[i], (uint64_t)o->seed);
		}
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
	}
	for (int i = 0; i < o->sums; i++)
		for (int k = o->sum[i].ranged ? w->rows - 1 : 0; k < w->rows; k++) {
			if (o->json)
				json_array_append_new(
					list, to_json(&r[i * w->rows + k], &w->exact[k], w->n[k], sum[i], o, id));
			else
				print(&r[i * w->rows + k], &w->exact[k], w->n[k], sum[i], id, o);
		}
	for (int k = 0; k < w->rows; k++)
		hu_series_exact_release(&w->exact[k]);
	free(r);
	free(sum);
}

static void
heading(const hu_args *args, const options *o, size_t n)
{
	if (o->json)
		return;
	if (o->table) {
		char *line = hu_args_line(args, "accumulate");
		printf("# table: accumulate\n# halfulp: %s\n# command: %s\n# seed: %lld\n", hu_build_version(), line,
			o->seed);
		free(line);
		printf("format\tsum\tlength\tn\tvalue\texact\terror_ulps\trelative\tbackward\tbound\tsqrt_n_u\tfirst_"
		       "swamped\tstagnation_term\tswamped_share\tseed\n");
		return;
	}
	printf("%zu terms: %s", n, o->terms);
	if (strcmp(o->times, "ones"))
		printf(" times %s", o->times);
	if (o->started)
		printf(" on top of %.17g", o->start);
	printf("\n%-6s %-28s %-16s %-23s %-11s %-11s %-10s %-10s %s\n", "terms", "sum", "result", "exact", "error ulp",
		"relative", "1st lost", "stops at", o->seeds > 1 ? "swamped    seed" : "swamped");
}

/* Makes both factors of every term; *n decreases where a file has fewer. */
static hu_status
factors(const options *o, size_t *n, double **a, double **b)
{
	size_t have;

	HU_TRY(hu_terms("terms", o->terms, (uint64_t)o->seed, n, a));
	if (o->counted && *n < (size_t)o->n)
		return hu_fail(HU_EFILE, "--terms %s has %zu elements where --n asks for %lld; --n %zu takes them all",
			o->terms, *n, o->n, *n);
	have = *n;
	HU_TRY(hu_terms("times", o->times, (uint64_t)o->seed, &have, b));
	return have == *n ? HU_OK
			  : hu_fail(HU_EFILE,
				    "--times %s has %zu elements where there are %zu terms; --n %zu takes the first of "
				    "both",
				    o->times, have, *n, have);
}

/* Computes the sums of the terms that o->seed draws. The first seed prints the heading. */
static hu_status
with_seed(const hu_args *args, const options *o, json_t *list, int first)
{
	size_t n = (size_t)o->n, start = (size_t)o->started;
	double *a = NULL, *b = NULL, *x = NULL;
	rows w = { NULL, NULL, 0 };
	hu_status st = factors(o, &n, &a, &b);

	if (st == HU_OK && !(x = malloc(2 * (n + start) * sizeof *x)))
		st = hu_fail(HU_ENOMEM, "no memory for %zu terms", n);
	if (st == HU_OK && first)
		heading(args, o, n);
	if (st == HU_OK)
		choose_rows(&w, n, o->table, (size_t)o->every);
	for (int i = 0; st == HU_OK && i < o->formats; i++) {
		hu_format f = hu_format_of(o->format[i]);
		double *y = x + n + start;
		if (start) {
			x[0] = hu_round(o->start, f, HU_RNE, 0, 0);
			y[0] = 1;
		}
#pragma omp parallel for
		for (size_t k = 0; k < n; k++) {
			x[k + start] = hu_round(a[k], f, HU_RNE, 0, 0);
			y[k + start] = hu_round(b[k], f, HU_RNE, 0, 0);
		}
		hu_series s = { x, y, o->started };
		in_format(o, o->format[i], &s, &w, list);
	}
	free(w.n);
	free(w.exact);
	free(a);
	free(b);
	free(x);
	return st;
}

static hu_status
all(const hu_args *args, options *o)
{
	json_t *list = o->json ? json_array() : NULL;
	long long first = o->seed;
	hu_status st = HU_OK;

	for (; st == HU_OK && o->seed < first + o->seeds; o->seed++)
		st = with_seed(args, o, list, o->seed == first);
	if (st == HU_OK && list)
		hu_rows_print_json(list);
	else
		json_decref(list);
	return st;
}

static int
run(const hu_args *args)
{
	options *o = hu_xcalloc(1, sizeof *o);
	hu_status st = parse(args, o);

	if (st == HU_OK)
		st = all(args, o);
	free(o);
	mpfr_free_cache();
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

/* Condition: a series or a rounding draws random numbers. */
static int
draws(const void *of)
{
	const char *series[] = { hu_args_text(of, "terms"), hu_args_text(of, "times") }, *text;

	for (int i = 0; i < 2; i++)
		if (!strncmp(series[i], "uniform", 7) || !strncmp(series[i], "normal", 6))
			return 1;
	for (int i = 0; (text = hu_args_nth(of, "sum", i)); i++)
		if (strstr(text, "mode=SR") || strstr(text, "mode=sr"))
			return 1;
	return 0;
}

static int
tabulates(const void *of)
{
	return hu_args_given(of, "table");
}

static const hu_opt_need needs[] = {
	{ "every", tabulates, "without --table, which prints a row for each n" },
	{ "seed seeds", draws, "where nothing is random: terms are not uniform: or normal:, and no sum has mode=SR" },
	{ NULL, NULL, NULL }
};

const hu_command hu_cmd_accumulate = { "accumulate", "[OPTION...]",
	"sum a series in number formats by summation models, beside the exact sum",
	"Terms are first rounded to the format, to nearest; the exact sum is that of the rounded terms. Terms\n"
	"count from 1. A nonzero term is swamped where it leaves the accumulator as it was. `stops at` is the\n"
	"last term that moved a sum which then stopped, that is, whose last 8 or more terms are swamped; it is 0\n"
	"where --start already swamps them all. For chunks the outer accumulator is judged and each chunk counts\n"
	"as its first term; stochastic rounding stops no sum.\n"
	"Models: NAME[:N][,acc=FORMAT][,mode=MODE] with fma, sequential, chunk:N, pairwise, kahan, neumaier,\n"
	"dot2, fabsum:N, splitk:N, promote:N;\n"
	"an all-reduce over N ranks, each with its share of the terms: ring:N, tree:N (recursive doubling),\n"
	"halving:N, hier:N:G (rings in nodes of G, a tree over them), [,wire=FORMAT] being the format of what\n"
	"ranks send;\n"
	"tc:volta|turing|ampere|ada|hopper|blackwell|rtxblackwell[,out=fp16][,path=mma|wgmma|tcgen05].\n"
	"N may be a range A..B: the lengths A, 2A, 4A, ... up to B, a row each. doc/formats.md explains the\n"
	"columns of --table.",
	opts, run, needs };
