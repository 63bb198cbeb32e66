/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/value/rows.h"

#include "lib/judge/judge.h"
#include "lib/base/console/show_json.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "lib/base/str.h"
#include "lib/number/code.h"
#include "lib/number/count.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXACT = 1100,
	DIGITS = 36
}; /* bits of an exact value rounded to odd, more than any format can distinguish; digits of it that are shown */

static double
relative_error(double got, mpfr_srcptr exact)
{
	mpfr_t d;
	double r;

	if (mpfr_nan_p(exact) || isnan(got))
		return mpfr_nan_p(exact) && isnan(got) ? 0 : INFINITY;
	if (!mpfr_number_p(exact) || !isfinite(got))
		return mpfr_cmp_d(exact, got) == 0 ? 0 : INFINITY;
	if (mpfr_zero_p(exact))
		return got == 0 ? 0 : INFINITY;
	mpfr_init2(d, EXACT);
	mpfr_sub_d(d, exact, got, MPFR_RNDN);
	mpfr_div(d, d, exact, MPFR_RNDN);
	r = fabs(mpfr_get_d(d, MPFR_RNDN));
	mpfr_clear(d);
	return r;
}

/* Prints x as %Rg does, without the digits that only show that 1100 bits are not infinitely many. */
static char *
decimal(mpfr_srcptr x)
{
	char *s = NULL;

	if (mpfr_nan_p(x))
		mpfr_asprintf(&s, "nan");
	else
		mpfr_asprintf(&s, "%.*Rg", DIGITS, x);
	return s;
}

/* Returns the error, or the smallest double where the error is below that and not 0. */
static double
not_zero(double error, double got, mpfr_srcptr exact)
{
	return error == 0 && mpfr_number_p(exact) && mpfr_cmp_d(exact, got) ? 0x1p-1074 : error;
}

/* MPFR's whole range of exponents is set first: with its default, 2^30, larger values would become infinities or zeros,
   and only flags would say so. */
hu_status
hu_row_exact(const hu_expr *e, hu_format f, mpfr_ptr exact)
{
	mpfr_init2(exact, EXACT);
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	mpfr_clear_flags();
	hu_status st = hu_expr_exact(e, f, exact);
	if (st == HU_OK && !mpfr_overflow_p() && !mpfr_underflow_p())
		return HU_OK;
	mpfr_clear(exact);
	HU_TRY(st);
	return hu_fail(HU_EINVAL,
		"the exact value, or one on the way to it, lies %s 2^%s%ld, where MPFR's range ends: write it with "
		"smaller exponents",
		mpfr_overflow_p() ? "beyond" : "below", mpfr_overflow_p() ? "" : "-", (long)mpfr_get_emax());
}

void
hu_row_errors(hu_row *r, mpfr_srcptr exact, double ulps)
{
	r->ulps = not_zero(ulps, r->value, exact);
	r->relative = not_zero(relative_error(r->value, exact), r->value, exact);
	r->exact = decimal(exact);
}

hu_status
hu_row_init(hu_row *r, const char *input, const hu_expr *e, hu_arithmetic *a, int once)
{
	mpfr_t exact;

	memset(r, 0, sizeof *r);
	HU_TRY(hu_expr_codes_fit(e, a->f));
	r->input = input;
	r->name = hu_format_name(a->f.id);
	r->f = a->f;
	HU_TRY(hu_row_exact(e, a->f, exact));
	r->value = once ? hu_arithmetic_round(a, exact) : hu_expr_value(e, a);
	if (a->notes & HU_NOTE_REFUSED) {
		mpfr_clear(exact);
		return HU_EINVAL;
	}
	r->code = hu_encode(r->value, a->f);
	r->code_bits = a->f.bits;
	r->notes = a->notes | (hu_is_subnormal(r->value, a->f) ? HU_NOTE_SUBNORMAL : 0);
	hu_row_errors(r, exact, hu_judge_ulps(r->value, exact, a->f));
	mpfr_clear(exact);
	return HU_OK;
}

void
hu_row_release(hu_row *r)
{
	if (r->exact)
		mpfr_free_str(r->exact);
	r->exact = NULL;
}

void
hu_row_shortest(double value, hu_format f, char *text)
{
	int digits = 1;

	if (isnan(value)) {
		strcpy(text, "nan");
		return;
	}
	if (isfinite(value) && fabs(value) < 1e15 && value == floor(value)) {
		snprintf(text, 40, "%.0f", value);
		return;
	}
	for (; digits < 17; digits++) {
		snprintf(text, 40, "%.*g", digits, value);
		if (hu_round(strtod(text, NULL), f, HU_RNE, 0, 0) == value)
			return;
	}
	snprintf(text, 40, "%.17g", value);
}

static void
notes_text(const hu_row *r, hu_str *s)
{
	for (int i = 0; i < HU_NOTES; i++)
		if (r->notes >> i & 1)
			hu_str_addf(s, "%s%s", s->len ? " " : "", hu_note_name(i));
}

static int
width(const char *name)
{
	int n = (int)strlen(name);

	return n > 8 ? n : 8;
}

/* On a terminal too narrow for a whole row, 139 columns with the longest flags, value and hex are left out: result and
   bits say the same. */
static int
narrow(void)
{
	return hu_fitted_width() < 139;
}

void
hu_row_heading(const char *name)
{
	if (narrow())
		printf("%-*s %-12s %-12s %-10s %-10s %s\n", width(name), "format", "result", "bits", "error ulp",
			"relative", "flags");
	else
		printf("%-*s %-22s %-18s %-23s %-23s %-10s %-10s %s\n", width(name), "format", "result", "bits",
			"value", "hex", "error ulp", "relative", "flags");
}

void
hu_row_code_of(uint64_t code, int bits, char *text)
{
	*text++ = '0';
	*text++ = 'x';
	for (int i = (bits + 3) / 4 - 1; i >= 0; i--)
		*text++ = "0123456789abcdef"[code >> (4 * i) & 15];
	*text = 0;
}

void
hu_row_hex(double value, char *text)
{
	int e = 0;

	if (isnan(value)) {
		strcpy(text, "nan");
		return;
	}
	if (fpclassify(value) == FP_SUBNORMAL)
		value = 2 * frexp(value, &e);
	snprintf(text, 32, "%a", value);
	if (e)
		snprintf(strchr(text, 'p'), 13, "p%d", e - 1);
}

void
hu_row_code(uint64_t code, hu_format f, char *text)
{
	hu_row_code_of(code, f.bits, text);
}

void
hu_row_print(const hu_row *r)
{
	char shortest[40], bits[24], value[40], hex[40];
	hu_str notes;

	hu_str_init(&notes);
	notes_text(r, &notes);
	hu_row_shortest(r->value, r->f, shortest);
	hu_row_code_of(r->code, r->code_bits, bits);
	snprintf(value, sizeof value, isnan(r->value) ? "nan" : "%.17g", r->value);
	hu_row_hex(r->value, hex);
	if (narrow()) {
		hu_str line;
		hu_str_init(&line);
		hu_str_addf(&line, "%-*s %-12s %-12s %-10.5g %-10.4g ", width(r->name), r->name, shortest, bits,
			r->ulps, r->relative);
		size_t flags = hu_fitted_wide(line.s);
		hu_str_add(&line, notes.len ? notes.s : "exact");
		hu_fitted_prose(line.s, flags);
		hu_str_release(&line);
	} else
		printf("%-*s %-22s %-18s %-23s %-23s %-10.5g %-10.4g %s\n", width(r->name), r->name, shortest, bits,
			value, hex, r->ulps, r->relative, notes.len ? notes.s : "exact");
	hu_str_release(&notes);
}

/* A row as programs read it. */
typedef struct written {
	const char *input, *format, *hex, *bits, *exact, *flags;
	double value, ulps;
} written;

#define WRITTEN(name, kind, member, means) HU_FIELD_OF(written, name, kind, member, WRITTEN, means)
static const hu_table_field column[] = {
	WRITTEN("input", TEXT, input, "what was evaluated"),
	WRITTEN("format", TEXT, format, "the format"),
	WRITTEN("value", REAL, value, "the value in the format"),
	WRITTEN("hex", TEXT, hex, "the value as a hexadecimal float"),
	WRITTEN("bits", TEXT, bits, "its code"),
	WRITTEN("exact", TEXT, exact, "the exact value, to 36 digits"),
	WRITTEN("error_ulps", REAL, ulps, "the error in ulps of the format"),
	WRITTEN("flags", WORDS, flags, "what happened on the way, such as overflow or swamped"),
};
static const hu_fields table = HU_FIELDS(column, written);

json_t *
hu_row_json(const hu_row *r)
{
	char bits[24], hex[40];
	hu_str flags;

	hu_str_init(&flags);
	notes_text(r, &flags);
	hu_row_code_of(r->code, r->code_bits, bits);
	hu_row_hex(r->value, hex);
	json_t *o = hu_fields_object(&table,
		&(written){ r->input, r->name, hex, bits, r->exact, flags.s, r->value, r->ulps });
	hu_str_release(&flags);
	return o;
}

/* Calls `each` with every line of standard input that is not blank. Failures, also those of `each`, name the line;
   HU_EINVAL where a line has a NUL, HU_EFILE where reading fails. */
static hu_status
read_lines(hu_status (*each)(const char *text, void *to), void *to)
{
	char *line = NULL, *why;
	size_t cap = 0, number = 0;
	ssize_t n;
	hu_status st = HU_OK;

	while (st == HU_OK && (errno = 0, n = getline(&line, &cap, stdin)) >= 0) {
		number++;
		if (strlen(line) != (size_t)n)
			st = hu_fail(
				HU_EINVAL, "byte %zu is a NUL: text is needed, a line an expression", strlen(line) + 1);
		line[strcspn(line, "\r\n")] = 0;
		if (st == HU_OK && line[strspn(line, " \t")])
			st = each(line, to);
	}
	if (st != HU_OK) {
		why = hu_xstrdup(hu_reason());
		hu_fail(st, "standard input, line %zu: %s", number, why);
		free(why);
	} else if (!feof(stdin)) {
		st = hu_fail(errno == ENOMEM ? HU_ENOMEM : HU_EFILE, "standard input, line %zu: cannot be read: %s",
			number + 1, strerror(errno));
	}
	free(line);
	return st;
}

hu_status
hu_rows_each(hu_status (*each)(const char *text, void *to), void *to, const hu_args *args)
{
	hu_status st = HU_OK;

	for (int i = 0; st == HU_OK && i < args->nrest; i++)
		st = strcmp(args->rest[i], "-") ? each(args->rest[i], to) : read_lines(each, to);
	return st;
}

void
hu_rows_print_json(json_t *rows)
{
	hu_json_write(rows, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(rows);
}

void
hu_rows_end_json(json_t *rows, int json, hu_status st)
{
	if (json && (st == HU_OK || json_array_size(rows)))
		hu_rows_print_json(rows);
	else
		json_decref(rows);
}
