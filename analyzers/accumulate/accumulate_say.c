/* SPDX-License-Identifier: Apache-2.0
   The functions of accumulate_say.h. */
#include "analyzers/accumulate/accumulate_say.h"
#include "analyzers/value/rows.h"
#include "lib/base/build.h"
#include "lib/base/terminal/fitted.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
number(char *to, long long x)
{
	if (x >= 0)
		snprintf(to, 24, "%lld", x);
	else
		strcpy(to, "-");
}

/* The columns of a whole table. Rows are printed as they are computed, so that widths are fixed: a terminal that is
   narrower has a table of 80 columns, without the exact sum, the error in ulps and the share of swamped terms. */
enum { WIDE = 132 };

static int
is_narrow(void)
{
	return hu_fitted_width() < WIDE;
}

/* How wide the sum's column is there: a column of seeds takes two from it. */
static int
narrow_sum(const hu_accumulate_options *o)
{
	return o->seeds > 1 ? 25 : 27;
}

/* Returns a model's :N; 0 where it has none. */
static int
length_of(hu_sum s)
{
	return hu_sum_takes_of(s.id) == HU_TAKES_ARCH ? 0 : s.n; /* of an all-reduce the number of ranks */
}

void
hu_accumulate_print(const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s, hu_format_id terms,
	const hu_accumulate_options *o)
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
	if (is_narrow()) {
		int long_name = strlen(sum) > (size_t)narrow_sum(o); /* has a line of its own */

		if (long_name)
			printf("%-6s %s\n", hu_format_name(terms), sum);
		printf("%-6s %-*s %-11s %-10.4g %-9s %s", long_name ? "" : hu_format_name(terms), narrow_sum(o),
			long_name ? "" : sum, value, r->relative, first, stop);
		if (o->seeds > 1)
			printf("%*s %lld", (int)(9 - strlen(stop)), "", o->seed);
		putchar('\n');
		return;
	}
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

json_t *
hu_accumulate_json(const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s, hu_format_id terms,
	const hu_accumulate_options *o)
{
	char bits[24], hex[40], sum[96];

	hu_row_code(hu_encode(r->value, r->f), r->f, bits);
	hu_row_hex(r->value, hex);
	hu_sum_print(s, sum, sizeof sum);
	json_t *j = json_pack("{s:s s:s s:o s:I s:s s:s s:o s:o s:s s:s s:s s:o s:o s:o s:o s:o s:o s:o s:o s:f s:I}",
		"terms", o->terms, "times", o->times, "start", o->started ? real(o->start) : json_null(), "n",
		(json_int_t)n, "format", hu_format_name(terms), "sum", sum, "length",
		count(length_of(s) ? length_of(s) : -1), "value", real(r->value), "hex", hex, "bits", bits, "exact",
		x->text, "error_ulps", real(r->ulps), "relative", real(r->relative), "backward", real(r->backward),
		"bound", real(r->bound), "sqrt_n_u", real(r->sqrt_n_u), "first_swamped", count(r->first),
		"stagnation_term", count(r->stop), "stagnation_value", r->stop >= 0 ? real(r->value) : json_null(),
		"swamped_share", r->share, "seed", (json_int_t)o->seed);
	HU_ASSERT(j);
	return j;
}

void
hu_accumulate_heading(const hu_args *args, const hu_accumulate_options *o, size_t n)
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
	if (is_narrow()) {
		printf("\n%-6s %-*s %-11s %-10s %-9s %s\n", "terms", narrow_sum(o), "sum", "result", "relative",
			"1st lost", o->seeds > 1 ? "stops at  seed" : "stops at");
		return;
	}
	printf("\n%-6s %-28s %-16s %-23s %-11s %-11s %-10s %-10s %s\n", "terms", "sum", "result", "exact", "error ulp",
		"relative", "1st lost", "stops at", o->seeds > 1 ? "swamped    seed" : "swamped");
}
