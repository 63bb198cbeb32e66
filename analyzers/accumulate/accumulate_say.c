/* SPDX-License-Identifier: Apache-2.0
   The functions of accumulate_say.h. */
#include "analyzers/accumulate/accumulate_say.h"

#include "analyzers/value/rows.h"
#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is shown of `seed`, which is written anyway. */
enum { SEEDS = 1 };

#define FIELD(name, kind, member, place, means, ...)                                                                   \
	HU_FIELD_OF(hu_accumulate_row, name, kind, member, place, means, __VA_ARGS__)
static const hu_table_field field[] = {
	FIELD("format", TEXT, format, ANYWHERE, "the format of the terms"),
	FIELD("sum", TEXT, sum, ANYWHERE, "the summation model"),
	FIELD("length", COUNT, length, WRITTEN, "the model's :N"),
	FIELD("n", COUNT, n, WRITTEN, "how many terms are summed"),
	FIELD("result", TEXT, result, SHOWN, "the sum, in the fewest digits that tell it from other numbers"),
	FIELD("value", REAL, got.value, WRITTEN, "the sum"),
	FIELD("exact", TEXT, exact, ANYWHERE, "the exact sum of the terms, to 20 digits", .rank = 3),
	FIELD("error_ulps", REAL, got.ulps, ANYWHERE, "the error in ulps of the exact sum", .heading = "error ulp",
		.digits = 5, .rank = 2),
	FIELD("relative", REAL, got.relative, ANYWHERE, "the error over the exact sum", .digits = 4),
	FIELD("backward", REAL, got.backward, WRITTEN, "the error over the sum of magnitudes"),
	FIELD("bound", REAL, got.bound, WRITTEN, "what backward cannot exceed"),
	FIELD("sqrt_n_u", REAL, got.sqrt_n_u, WRITTEN, "the square root of n times the accumulator's unit roundoff"),
	FIELD("first_swamped", COUNT, got.first, ANYWHERE, "the first term that left the sum as it was",
		.heading = "1st lost"),
	FIELD("stagnation_term", COUNT, got.stop, ANYWHERE, "the last term that moved a sum which then stopped",
		.heading = "stops at"),
	FIELD("swamped_share", REAL, got.share, ANYWHERE, "the share of additions that left the sum as it was",
		.heading = "swamped", .digits = 4, .rank = 1),
	FIELD("seed", COUNT, seed, WRITTEN, "the seed of random terms and of stochastic rounding"),
	FIELD("seed", COUNT, seed, SHOWN, "the same", .only = SEEDS),
	FIELD("terms", TEXT, terms, WRITTEN, "the series"),
	FIELD("times", TEXT, times, WRITTEN, "the series of second factors"),
	FIELD("start", MEASURED, start, WRITTEN, "the number to which the terms are added"),
	FIELD("stagnation_value", MEASURED, stagnation, WRITTEN, "the sum where it stopped"),
	FIELD("hex", TEXT, hex, WRITTEN, "the sum as a hexadecimal number"),
	FIELD("bits", TEXT, bits, WRITTEN, "the sum's code"),
};

static hu_fields
columns(const hu_accumulate_options *o)
{
	hu_fields t = HU_FIELDS(field, hu_accumulate_row);

	t.with = o->seeds > 1 ? SEEDS : 0;
	return t;
}

void
hu_accumulate_help(void)
{
	hu_fields t = HU_FIELDS(field, hu_accumulate_row);

	hu_fields_help(&t);
}

void
hu_accumulate_add(hu_accumulate_rows *to, const hu_accumulated *r, const hu_series_exact *x, size_t n, hu_sum s,
	hu_format_id terms, const hu_accumulate_options *o)
{
	char bits[24], hex[40], sum[96], result[40];
	int has_length = hu_sum_takes_of(s.id) != HU_TAKES_ARCH && s.n; /* s.n: of an all-reduce the number of ranks */

	hu_row_code(hu_encode(r->value, r->f), r->f, bits);
	hu_row_hex(r->value, hex);
	hu_row_shortest(r->value, r->f, result);
	hu_sum_print(s, sum, sizeof sum);
	HU_GROW(to->v, to->n, to->cap);
	to->v[to->n++] = (hu_accumulate_row){ .got = *r,
		.terms = o->terms,
		.times = o->times,
		.format = hu_format_name(terms),
		.sum = hu_xstrdup(sum),
		.result = hu_xstrdup(result),
		.hex = hu_xstrdup(hex),
		.bits = hu_xstrdup(bits),
		.exact = hu_xstrdup(x->text),
		.n = (long long)n,
		.length = has_length ? s.n : -1,
		.seed = o->seed,
		.start = o->started ? o->start : NAN,
		.stagnation = r->stop >= 0 ? r->value : NAN };
}

void
hu_accumulate_release(hu_accumulate_rows *w)
{
	for (size_t i = 0; i < w->n; i++) {
		char *own[] = { w->v[i].sum, w->v[i].result, w->v[i].hex, w->v[i].bits, w->v[i].exact };
		for (size_t k = 0; k < sizeof own / sizeof *own; k++)
			free(own[k]);
	}
	free(w->v);
}

static void
print_tsv(const hu_accumulate_rows *w, const hu_fields *t, const hu_args *args, const hu_accumulate_options *o)
{
	char *line = hu_args_line(args, "accumulate");
	hu_tsv to;

	hu_tsv_init(&to);
	hu_tsv_note(&to, "table", "accumulate");
	hu_tsv_note(&to, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&to, "command", "%s", line);
	hu_tsv_note(&to, "seed", "%lld", o->seed);
	hu_fields_tsv_header(&to, t);
	for (size_t i = 0; i < w->n; i++)
		hu_fields_tsv_row(&to, t, &w->v[i]);
	fwrite(to.text.s, 1, to.text.len, stdout);
	hu_tsv_release(&to);
	free(line);
}

void
hu_accumulate_print(const hu_accumulate_rows *w, const hu_args *args, const hu_accumulate_options *o, size_t n)
{
	hu_fields t = columns(o);

	if (o->json) {
		hu_rows_print_json(hu_fields_array(&t, w->v, w->n));
	} else if (o->table) {
		print_tsv(w, &t, args, o);
	} else {
		printf("%zu terms: %s", n, o->terms);
		if (strcmp(o->times, "ones"))
			printf(" times %s", o->times);
		if (o->started)
			printf(" on top of %.17g", o->start);
		putchar('\n');
		hu_fields_print(&t, w->v, w->n, "--json and --table have all");
	}
}
