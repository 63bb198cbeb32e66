/* SPDX-License-Identifier: Apache-2.0
   halfulp accumulate: sums a series in number formats by summation models, beside the exact sum. */
#include "analyzers/accumulate/accumulate_say.h"
#include "analyzers/accumulate/terms.h"
#include "analyzers/value/rows.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/number/round.h"
#include "lib/sum/sum_unit.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "terms", "SERIES", "harmonic",
		"harmonic, ones, constant:C, uniform:A,B, normal:M,S, FILE.npy or FILE.npz:NAME" },
	{ "terms:times", "SERIES", "ones", "second factors, given as terms are; the sum is then an inner product" },
	{ "terms:start", "W", NULL, "a number to which the terms are added, as a weight before its updates" },
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

typedef struct rows {
	size_t *n;
	hu_series_exact *exact;
	int rows;
	hu_progress *bar; /* a step of it is a term of an exact sum or of one in a format */
} rows;

/* Chooses the numbers of terms that get a row: powers of two below n, or multiples of `every` where that is not 0; and
   n. */
static void
choose_rows(rows *w, size_t n, int table, size_t every)
{
	w->rows = 0;
	w->n = hu_xcalloc(HU_ACCUMULATE_ROWS + 1, sizeof *w->n);
	for (size_t m = every ? every : 1; table && m < n; m = every ? m + every : 2 * m)
		w->n[w->rows++] = m;
	w->n[w->rows++] = n;
	w->exact = hu_xcalloc((size_t)w->rows, sizeof *w->exact);
}

/* Returns 1 where sum i is computed of the first n[k] terms: one length of a range alone is that of all terms. */
static int
has_row(const hu_accumulate_options *o, const rows *w, int i, int k)
{
	return k == w->rows - 1 || !o->sum[i].ranged;
}

/* The steps of the bar in one format. */
static size_t
steps_of(const hu_accumulate_options *o, const rows *w)
{
	size_t steps = 0;

	for (int k = 0; k < w->rows; k++) {
		steps += w->n[k];
		for (int i = 0; i < o->sums; i++)
			steps += has_row(o, w, i, k) ? w->n[k] : 0;
	}
	return steps;
}

/* Computes every sum of the terms in one format. */
static void
in_format(const hu_accumulate_options *o, hu_format_id id, const hu_series *s, rows *w, hu_accumulate_rows *to)
{
	hu_accumulated *r = hu_xcalloc((size_t)(o->sums * w->rows), sizeof *r);
	hu_sum *sum = hu_xcalloc((size_t)o->sums, sizeof *sum);

	for (int i = 0; i < o->sums; i++)
		if (hu_accumulate_resolve(&o->sum[i], id, &sum[i]) != HU_OK)
			hu_bug(__FILE__, __LINE__, "%s", hu_reason()); /* hu_accumulate_parse has tried them all */
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 1)
		for (int k = w->rows - 1; k >= 0; k--) { /* long ones first, since they take longest */
			hu_series_exact_init(&w->exact[k], s, w->n[k] + (size_t)s->start);
			hu_progress_step(w->bar, w->n[k]);
		}
#pragma omp for schedule(dynamic, 1)
		for (int at = 0; at < o->sums * w->rows; at++) {
			int i = at % o->sums, k = w->rows - 1 - at / o->sums;
			if (!has_row(o, w, i, k))
				continue;
			hu_accumulate(&r[i * w->rows + k], s, &w->exact[k], sum[i], (uint64_t)o->seed);
			hu_progress_step(w->bar, w->n[k]);
		}
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
	}
	for (int i = 0; i < o->sums; i++)
		for (int k = o->sum[i].ranged ? w->rows - 1 : 0; k < w->rows; k++)
			hu_accumulate_add(to, &r[i * w->rows + k], &w->exact[k], w->n[k], sum[i], id, o);
	for (int k = 0; k < w->rows; k++)
		hu_series_exact_release(&w->exact[k]);
	free(r);
	free(sum);
}

/* Refuses terms of format f that a model does not take. */
static hu_status
taken(const hu_accumulate_options *o, hu_format_id f, const double *x, const double *y, size_t n)
{
	hu_sum s;

	for (int i = 0; i < o->sums; i++) {
		HU_TRY(hu_accumulate_resolve(&o->sum[i], f, &s));
		HU_TRY(hu_sum_unit_takes_all(&s, 0, x, n, "--terms"));
		HU_TRY(hu_sum_unit_takes_all(&s, 1, y, n, "--terms times="));
	}
	return HU_OK;
}

/* Makes both factors of every term; *n decreases where a file has fewer. */
static hu_status
factors(const hu_accumulate_options *o, size_t *n, double **a, double **b)
{
	size_t have;

	HU_TRY(hu_terms("terms", o->terms, (uint64_t)o->seed, n, a));
	if (o->counted && *n < (size_t)o->n)
		return hu_fail(HU_EFILE, "--terms %s has %zu elements where --n asks for %lld; --n %zu takes them all",
			o->terms, *n, o->n, *n);
	have = *n;
	HU_TRY(hu_terms("terms:times", o->times, (uint64_t)o->seed, &have, b));
	return have == *n ? HU_OK
			  : hu_fail(HU_EFILE,
				    "--terms times=%s has %zu elements where there are %zu terms; --n %zu takes the "
				    "first of "
				    "both",
				    o->times, have, *n, have);
}

/* Computes the sums of the terms that o->seed draws, and sets *terms to their number. */
static hu_status
with_seed(const hu_accumulate_options *o, hu_progress *bar, hu_accumulate_rows *to, size_t *terms)
{
	size_t n = (size_t)o->n, start = (size_t)o->started;
	double *a = NULL, *b = NULL, *x = NULL;
	rows w = { NULL, NULL, 0, bar };
	hu_status st = factors(o, &n, &a, &b);

	if (st == HU_OK && !(x = malloc(2 * (n + start) * sizeof *x)))
		st = hu_fail(HU_ENOMEM, "no memory for %zu terms", n);
	if (st == HU_OK)
		choose_rows(&w, n, o->table, (size_t)o->every);
	if (st == HU_OK && !bar->total)
		hu_progress_start(bar, "accumulate", (size_t)o->seeds * (size_t)o->formats * steps_of(o, &w));
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
		st = taken(o, o->format[i], x, y, n + start);
		if (st == HU_OK)
			in_format(o, o->format[i], &s, &w, to);
	}
	*terms = n;
	free(w.n);
	free(w.exact);
	free(a);
	free(b);
	free(x);
	return st;
}

static hu_status
all(const hu_args *args, hu_accumulate_options *o)
{
	hu_accumulate_rows w = { NULL, 0, 0 };
	long long first = o->seed;
	hu_progress bar = { .total = 0 };
	hu_status st = HU_OK;
	size_t n = 0;

	if (hu_args_given(args, "json"))
		hu_progress_disable();
	for (; st == HU_OK && o->seed < first + o->seeds; o->seed++)
		st = with_seed(o, &bar, &w, &n);
	hu_progress_end(&bar);
	o->seed = first;
	if (st == HU_OK)
		hu_accumulate_print(&w, args, o, n);
	hu_accumulate_release(&w);
	return st;
}

static int
run(const hu_args *args)
{
	hu_accumulate_options *o = hu_xcalloc(1, sizeof *o);
	hu_status st = hu_accumulate_parse(args, o);

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
	const char *series[] = { hu_args_text(of, "terms"), hu_args_text(of, "terms:times") }, *text;

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

static const hu_opt_need needs[] = { { "every", tabulates, "without --table, which prints a row for each n" },
	{ "seed seeds", draws, "where nothing is random: terms are not uniform: or normal:, and no sum has mode=SR" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_accumulate = { "accumulate", "[OPTION...]",
	"sum a series in number formats by summation models, beside the exact sum",
	"Terms are first rounded to the format, to nearest; the exact sum is that of the rounded terms. Terms\n"
	"count from 1. A nonzero term is swamped where it leaves the accumulator as it was. `stops at` is the\n"
	"last term that moved a sum which then stopped, that is, whose last 8 or more terms are swamped; it is 0\n"
	"where start= already swamps them all. For chunks the outer accumulator is judged and each chunk counts\n"
	"as its first term; stochastic rounding stops no sum.\n"
	"Models: NAME[:N][,acc=FORMAT][,mode=MODE] with fma, sequential, chunk:N, openblas:N, pairwise, kahan,\n"
	"neumaier, dot2, fabsum:N, splitk:N, promote:N;\n"
	"an all-reduce over N ranks, each with its share of the terms: ring:N, tree:N (recursive doubling),\n"
	"halving:N, hier:N:G (rings in nodes of G, a tree over them), [,wire=FORMAT] being the format of what\n"
	"ranks send;\n"
	"tc:volta|turing|ampere|ada|hopper|blackwell|rtxblackwell[,out=fp16][,path=mma|wgmma|tcgen05];\n"
	"of bf16 terms avx512bf16, amxbf16, bfdot; of fp32 terms bf16x9; of fp64 terms ozaki:N, ozakidynamic;\n"
	"of fp16 and bf16 terms cdna1, cdna2[,terms=2], cdna3, the last also of tf32, e4m3fnuz and e5m2fnuz;\n"
	"of integers of 8 bits mmaint8, vnniint8, amxint8, armint8[,a=u8][,b=u8][,saturate=1], avx2int8.\n"
	"N may be a range A..B: the lengths A, 2A, 4A, ... up to B, a row each.",
	opts, run, needs, hu_accumulate_help };
