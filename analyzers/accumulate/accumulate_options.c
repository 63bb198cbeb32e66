/* SPDX-License-Identifier: Apache-2.0
   The part of accumulate_options.h that reads the command line. */
#include "analyzers/accumulate/accumulate_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 1 << 27, MAX_SEEDS = 1000 };

static hu_status
add_sum(hu_accumulate_options *o, const char *text, size_t before, const char *length, const char *after, int ranged)
{
	hu_accumulate_model *m = &o->sum[o->sums];

	if (!*text)
		return hu_fail(HU_EINVAL, "--sum: a summation model is needed, such as fma or kahan,acc=fp16");
	if (o->sums == HU_ACCUMULATE_SUMS)
		return hu_fail(HU_EINVAL, "--sum: more than %d sums", HU_ACCUMULATE_SUMS);
	if (strlen(text) >= 96)
		return hu_fail(HU_EINVAL, "--sum: a model of more than 95 characters");
	snprintf(m->text, sizeof m->text, "%.*s%s%s", (int)before, text, length, after);
	m->ranged = ranged;
	o->sums++;
	return HU_OK;
}

/* Adds a model; NAME:A..B,… stands for NAME:A, NAME:2A, NAME:4A, … up to B. */
static hu_status
add_sums(hu_accumulate_options *o, const char *text)
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

hu_status
hu_accumulate_resolve(const hu_accumulate_model *m, hu_format_id f, hu_sum *s)
{
	char with[160];

	HU_TRY(hu_sum_parse(m->text, s));
	int whole = !hu_sum_is_unit(s->id) && !strstr(m->text, ",acc=");
	snprintf(with, sizeof with, "%s%s%s", m->text, whole ? ",acc=" : "", whole ? hu_format_name(f) : "");
	HU_TRY(hu_sum_parse(with, s));
	return hu_sum_resolve(s, f, f, s->out);
}

hu_status
hu_accumulate_parse(const hu_args *args, hu_accumulate_options *o)
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
	if (o->every && o->n / o->every >= HU_ACCUMULATE_ROWS)
		return hu_fail(HU_EINVAL, "--every %lld: at most %d rows are printed; take a larger one", o->every,
			HU_ACCUMULATE_ROWS);
	o->counted = hu_args_given(args, "n");
	o->started = hu_args_given(args, "terms:start");
	if (o->started)
		HU_TRY(hu_args_real(args, "terms:start", -INFINITY, INFINITY, &o->start));
	o->terms = hu_args_text(args, "terms");
	o->times = hu_args_text(args, "terms:times");
	o->json = hu_args_given(args, "json");
	o->table = hu_args_given(args, "table");
	for (int i = 0; (text = hu_args_nth(args, "sum", i)); i++)
		HU_TRY(add_sums(o, text));
	if (!o->sums)
		HU_TRY(add_sums(o, "fma"));
	for (int i = 0; i < o->sums; i++) /* checked before anything is computed or printed */
		for (int f = 0; f < o->formats; f++)
			HU_TRY(hu_accumulate_resolve(&o->sum[i], o->format[f], &s));
	return args->nrest ? hu_fail(HU_EINVAL, "'%s' is not understood: terms are given by --terms", args->rest[0])
			   : HU_OK;
}
