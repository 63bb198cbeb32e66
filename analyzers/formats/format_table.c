/* SPDX-License-Identifier: Apache-2.0
   The part of format_page.h that lists all formats in one table. */
#include "analyzers/formats/format_page.h"

#include "analyzers/value/rows.h"
#include "lib/base/table/fields.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

/* A format's row. */
typedef struct line {
	const char *name, *above, *nan, *aliases;
	int bits, ebits, p, emin, emax, least, unit;
	double max;
	char code[24];
} line;

static const hu_table_field column[] = {
	{ .name = "format",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, name),
		.tex = "Format",
		.means = "the name of the format" },
	{ .name = "bits", .kind = HU_FIELD_INT, .offset = offsetof(line, bits), .means = "how many bits a code has" },
	{ .name = "exponent_bits",
		.heading = "exp",
		.unit = "bits",
		.kind = HU_FIELD_INT,
		.offset = offsetof(line, ebits),
		.rank = 5,
		.tex = "$w_e$",
		.means = "how many of them hold the exponent" },
	{ .name = "p",
		.unit = "bits",
		.kind = HU_FIELD_INT,
		.offset = offsetof(line, p),
		.rank = 1,
		.tex = "$p$",
		.means = "the precision, with the implicit bit" },
	{ .name = "emin",
		.kind = HU_FIELD_INT,
		.offset = offsetof(line, emin),
		.rank = 8,
		.tex = "$e_{\\min}$",
		.means = "the exponent of the smallest normal value" },
	{ .name = "emax",
		.kind = HU_FIELD_INT,
		.offset = offsetof(line, emax),
		.rank = 8,
		.tex = "$e_{\\max}$",
		.means = "the exponent of the largest value" },
	{ .name = "max_finite",
		.heading = "max finite",
		.kind = HU_FIELD_REAL,
		.offset = offsetof(line, max),
		.rank = 1,
		.means = "the largest finite value" },
	{ .name = "min_normal",
		.heading = "min normal",
		.kind = HU_FIELD_POWER,
		.offset = offsetof(line, emin),
		.digits = 6,
		.rank = 2,
		.means = "the smallest normal value" },
	{ .name = "min_positive",
		.heading = "min positive",
		.kind = HU_FIELD_POWER,
		.offset = offsetof(line, least),
		.digits = 6,
		.rank = 2,
		.means = "the smallest value above 0" },
	{ .name = "unit_roundoff",
		.heading = "unit rnd.",
		.kind = HU_FIELD_POWER,
		.offset = offsetof(line, unit),
		.rank = 3,
		.tex = "$u$",
		.means = "the unit roundoff, the largest relative error of rounding to nearest" },
	{ .name = "above_max",
		.heading = "above max",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, above),
		.rank = 4,
		.tex = "above",
		.means = "what rounding to nearest gives for a value that is far too large" },
	{ .name = "nan_code",
		.heading = "NaN code",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, nan),
		.rank = 7,
		.means = "the code that NaN is written as" },
	{ .name = "aliases",
		.heading = "also known as",
		.kind = HU_FIELD_TEXT,
		.offset = offsetof(line, aliases),
		.rank = 6,
		.place = HU_FIELD_SHOWN,
		.means = "other names of the format" },
};
static const hu_fields table = HU_FIELDS(column, line);

static void
fill(line *to)
{
	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format f = hu_format_of((hu_format_id)i);
		line *l = &to[i];
		*l = (line){ hu_format_name(f.id), hu_format_above(f), "none", hu_format_aliases(f.id), f.bits, f.ebits,
			f.p, f.emin, f.emax, ilogb(hu_smallest(f)), -f.p, f.max, "" };
		hu_row_code(hu_nan_code(f), f, l->code);
		l->nan = hu_has_nan(f) ? l->code : "none";
	}
}

void
hu_formats_print(void)
{
	const char *row, *summary;
	line l[HU_FORMATS];
	hu_str names;

	fill(l);
	hu_fields_print(&table, l, HU_FORMATS, "--table and --json have all");
	putchar('\n');
	hu_fitted_prose("Also eXmY with X exponent and Y trailing significand bits, such as e5m7, e4m3b11fnuz, e3m4fn, "
			"e2m3ieee, IEEE P3109's binary8p1 to binary8p7, binary8p3u (no sign), binary6p3uf (and no "
			"infinity); and with the words ftz, nosub and sat: fp16ftz, e5m2nosub, e4m3sat.",
		0);
	hu_str_init(&names);
	hu_str_add(&names, "Block formats: ");
	for (int i = 0; (row = hu_block_row(i, &summary)); i++)
		hu_str_addf(&names, "%s%s", i ? ", " : "", row);
	hu_str_add(&names, ", other sizes as int4x32 and bfp8x16.");
	hu_fitted_prose(names.s, 0);
	hu_str_release(&names);
	printf("The page of one: halfulp formats e4m3\n");
}

hu_status
hu_formats_table(const char *kind)
{
	line l[HU_FORMATS];
	hu_str b;
	hu_tsv t;

	fill(l);
	hu_str_init(&b);
	if (!strcasecmp(kind, "latex")) {
		hu_fields_document(&b, &table, l, HU_FORMATS, HU_FIELDS_LATEX);
	} else if (!strcasecmp(kind, "markdown")) {
		hu_fields_document(&b, &table, l, HU_FORMATS, HU_FIELDS_MARKDOWN);
	} else if (!strcasecmp(kind, "tsv")) {
		hu_tsv_init(&t);
		hu_fields_tsv_header(&t, &table);
		for (int i = 0; i < HU_FORMATS; i++)
			hu_fields_tsv_row(&t, &table, &l[i]);
		hu_str_addn(&b, t.text.s, t.text.len);
		hu_tsv_release(&t);
	} else {
		hu_str_release(&b);
		return hu_fail(HU_EINVAL, "--table '%s' is unknown; known: latex, markdown, tsv", kind);
	}
	fputs(b.s, stdout);
	hu_str_release(&b);
	return HU_OK;
}
