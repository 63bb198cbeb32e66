/* SPDX-License-Identifier: Apache-2.0
   Tables: every kind of column in every form, with what is missing, not finite, or in other scripts; text that fits
   its width, whatever has to give way for it. */
#include "lib/base/table/fields.h"
#include "t/tool/tap.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct record {
	const char *name, *says;
	long long count;
	int whole, flag, power;
	double real, measured;
} record;

#define AT(member) offsetof(record, member)
static const hu_table_field columns[] = {
	{ .name = "name", .kind = HU_FIELD_TEXT, .offset = AT(name), .means = "a name" },
	{ .name = "count", .heading = "n", .kind = HU_FIELD_COUNT, .offset = AT(count), .rank = 1, .means = "a count" },
	{ .name = "whole", .kind = HU_FIELD_INT, .offset = AT(whole), .rank = 2, .means = "an integer" },
	{ .name = "flag", .kind = HU_FIELD_FLAG, .offset = AT(flag), .rank = 3, .means = "yes or no" },
	{ .name = "power", .kind = HU_FIELD_POWER, .offset = AT(power), .rank = 4, .means = "a power", .tex = "$u$" },
	{ .name = "real",
		.unit = "ms",
		.kind = HU_FIELD_REAL,
		.offset = AT(real),
		.digits = 4,
		.rank = 5,
		.means = "a time" },
	{ .name = "measured",
		.kind = HU_FIELD_MEASURED,
		.offset = AT(measured),
		.digits = -2,
		.rank = 6,
		.means = "a loss" },
	{ .name = "only", .kind = HU_FIELD_INT, .offset = AT(whole), .only = 2, .rank = 7, .means = "at times" },
	{ .name = "hidden",
		.kind = HU_FIELD_INT,
		.offset = AT(whole),
		.place = HU_FIELD_WRITTEN,
		.means = "for programs" },
	{ .name = "says", .kind = HU_FIELD_PROSE, .offset = AT(says), .place = HU_FIELD_SHOWN, .means = "a sentence" },
};
static const record rows[] = {
	{ "dense.weight", "one", 12, -3, 1, -24, 1.0 / 3, 2.5 },
	{ "d\xc3\xa9\n", "zwei", -1, 0, 0, INT_MIN, NAN, NAN },
	{ "", NULL, 0, 7, -1, 3, -INFINITY, INFINITY },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Returns what a table prints; at a width of COLUMNS. */
static char *
printed(const hu_fields *t, const void *r, size_t n, const char *width)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/out", test_dir());
	fflush(stdout);
	int was = dup(STDOUT_FILENO);
	if (width)
		setenv("COLUMNS", width, 1);
	else
		unsetenv("COLUMNS");
	if (!freopen(path, "w", stdout))
		bail_out("no file");
	hu_fields_print(t, r, n, "--json has all");
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	char *text = calloc(1, 1 << 16);
	f = fopen(path, "r");
	if (!text || !f || fread(text, 1, (1 << 16) - 1, f) == 0)
		bail_out("nothing printed");
	fclose(f);
	return text;
}

static size_t
widest(const char *text)
{
	size_t most = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = strndup(text, n);
		size_t w = hu_fitted_wide(line);
		most = w > most ? w : most;
		free(line);
		text += n + (text[n] == '\n');
	}
	return most;
}

static void
forms(hu_fields t)
{
	hu_tsv tsv;
	hu_str b;
	json_t *all = hu_fields_array(&t, rows, ROWS);
	char *json = json_dumps(all, JSON_COMPACT);

	is_text(json,
		"[{\"name\":\"dense.weight\",\"count\":12,\"whole\":-3,\"flag\":true,\"power\":5.9604644775390625e-8,"
		"\"real\":0.33333333333333331,\"measured\":2.5,\"hidden\":-3},"
		"{\"name\":\"d\xc3\xa9\\n\",\"count\":null,\"whole\":0,\"flag\":false,\"power\":null,\"real\":\"nan\","
		"\"measured\":null,\"hidden\":0},"
		"{\"name\":null,\"count\":0,\"whole\":7,\"flag\":null,\"power\":8.0,\"real\":\"-inf\","
		"\"measured\":\"inf\",\"hidden\":7}]",
		"JSON has null for what was not measured, and words for what is not finite");
	free(json);
	json_decref(all);
	hu_tsv_init(&tsv);
	hu_fields_tsv_header(&tsv, &t);
	for (int i = 0; i < ROWS; i++)
		hu_fields_tsv_row(&tsv, &t, &rows[i]);
	is_text(tsv.text.s,
		"name\tcount\twhole\tflag\tpower\treal\tmeasured\thidden\n"
		"dense.weight\t12\t-3\t1\t5.9604644775390625e-08\t0.3333333333333333\t2.5\t-3\n"
		"d\xc3\xa9\\n\t-\t0\t0\t-\tnan\t-\t0\n"
		"-\t0\t7\t-\t8\t-inf\tinf\t7\n",
		"TSV");
	hu_tsv_release(&tsv);
	hu_str_init(&b);
	hu_fields_document(&b, &t, rows, ROWS, HU_FIELDS_LATEX);
	is_text(b.s,
		"\\begin{tabular}{lrrrrrrr}\n\\hline\nname & n & whole & flag & $u$ & real & measured & hidden \\\\\n"
		"\\hline\n"
		"dense.weight & 12 & -3 & yes & $2^{-24}$ & $0.333333$ & $2.5$ & -3 \\\\\n"
		"d\xc3\xa9\\textbackslash{}n & - & 0 & no & - & nan & - & 0 \\\\\n"
		"- & 0 & 7 & - & $2^{3}$ & $-\\infty$ & $\\infty$ & 7 \\\\\n\\hline\n\\end{tabular}\n",
		"LaTeX");
	hu_str_release(&b);
	hu_str_init(&b);
	hu_fields_document(&b, &t, rows, 1, HU_FIELDS_MARKDOWN);
	is_text(b.s,
		"| name | count | whole | flag | power | real | measured | hidden |\n"
		"|---|---:|---:|---:|---:|---:|---:|---:|\n"
		"| dense.weight | 12 | -3 | yes | 5.9604644775390625e-08 | 0.33333333333333331 | 2.5 | -3 |\n",
		"Markdown");
	hu_str_release(&b);
}

/* Text where there is room for everything, and headings alone. */
static void
texts(hu_fields t)
{
	char *text = printed(&t, rows, ROWS, NULL);

	is_text(text,
		"name           n  whole  flag  power  real ms  measured  says\n"
		"dense.weight  12     -3   yes  2^-24   0.3333      2.50  one\n"
		"d\xc3\xa9\\n           -      0    no      -      nan         -  zwei\n"
		"-              0      7     -    2^3     -inf       inf  -\n",
		"text, with a control character escaped and UTF-8 counted by characters");
	free(text);
	t.with = 2;
	text = printed(&t, rows, 1, NULL);
	ok(strstr(text, "measured  only  says") != NULL, "a column that was asked for is there");
	free(text);
	t.with = 0;
	text = printed(&t, NULL, 0, "80");
	is_text(text, "name  says\n", "a table without rows has the headings of the columns that are always there");
	free(text);
}

/* Text that has to fit. */
static void
narrow(hu_fields t)
{
	char name[200], says[400] = "";
	record r = { name, says, 123456789012345, INT_MAX, 1, -1074, -1.0 / 3e-300, 123456789.123 };
	char *text;

	for (int i = 0; i < 40; i++)
		strcat(says, i % 7 == 3 ? "w\xc3\xb6rter " : "words ");
	says[strlen(says) - 1] = 0;
	for (size_t n = 1; n < sizeof name / 2; n++) { /* of two bytes a character */
		for (size_t i = 0; i < n; i++)
			memcpy(name + 2 * i, "\xc3\xa9", 2);
		name[2 * n] = 0;
		text = printed(&t, &r, 1, "80");
		if (widest(text) > 80)
			ok(0, "a name of %zu characters fits: %zu", n, widest(text));
		free(text);
	}
	memset(name, 'x', sizeof name);
	name[150] = 0;
	text = printed(&t, &r, 1, "80");
	ok(widest(text) <= 80, "every name fits 80 columns");
	ok(strstr(text, "…") && strstr(text, "xxxxxxx…"), "a name that is too long loses its middle");
	ok(strstr(text, " columns are left out to fit 80: --json has all.\n") != NULL, "and what is left out is said");
	free(text);
	text = printed(&t, &r, 1, "120");
	ok(widest(text) <= 120 && widest(text) > 80, "and a wider terminal has more");
	free(text);
	text = printed(&t, &r, 1, NULL);
	ok(strstr(text, name) && strstr(text, says), "a file has whole names and sentences");
	ok(!strstr(text, "left out"), "and nothing is left out there");
	free(text);
}

/* Rows that are printed one by one. */
static void
streamed(hu_fields t)
{
	hu_fitted to = { 0 };
	char path[512];

	snprintf(path, sizeof path, "%s/stream", test_dir());
	fflush(stdout);
	int was = dup(STDOUT_FILENO);
	unsetenv("COLUMNS");
	if (!freopen(path, "w", stdout))
		bail_out("no file");
	hu_fields_begin(&to, &t);
	for (int i = 0; i < 2; i++)
		hu_fields_row(&to, &t, &rows[i]);
	fflush(stdout);
	int failed = ferror(stdout);
	dup2(was, STDOUT_FILENO);
	char text[512] = "";
	FILE *f = fopen(path, "r");
	if (!f || !fread(text, 1, sizeof text - 1, f))
		bail_out("nothing printed");
	fclose(f);
	hu_fitted_release(&to);
	ok(!failed, "rows one by one");
	is_text(text,
		"name  n  whole  flag  power  real ms  measured  says\n"
		"dense.weight  12     -3   yes  2^-24   0.3333      2.50  one\n"
		"d\xc3\xa9\\n  -      0    no      -      nan         -  zwei\n",
		"rows that are printed one by one keep whole cells in a file");
	if (!freopen("/dev/full", "w", stdout))
		bail_out("no /dev/full");
	hu_fields_print(&t, rows, ROWS, NULL);
	failed = fflush(stdout) != 0 || ferror(stdout);
	dup2(was, STDOUT_FILENO);
	clearerr(stdout);
	close(was);
	ok(failed, "an output that is full is seen");
}

static void
orders(hu_fields t)
{
	const hu_table_field *name = &t.column[0], *count = &t.column[1], *real = &t.column[5];

	is_int(hu_fields_find(&t, "count"), 1, "a column by its name");
	is_int(hu_fields_find(&t, "n"), 1, "and by its heading");
	is_int(hu_fields_find(&t, "nn"), -1, "and none by another");
	ok(hu_field_order(count, &rows[2], &rows[0], 0) < 0 && hu_field_order(count, &rows[2], &rows[0], 1) > 0,
		"counts in both orders");
	ok(hu_field_order(count, &rows[1], &rows[0], 0) > 0 && hu_field_order(count, &rows[1], &rows[0], 1) > 0,
		"what was not measured is last in both");
	ok(hu_field_order(name, &rows[0], &rows[1], 0) < 0 && hu_field_order(name, &rows[2], &rows[1], 0) > 0, "texts");
	ok(hu_field_order(real, &rows[2], &rows[0], 0) < 0 && hu_field_order(real, &rows[1], &rows[0], 0) > 0,
		"-inf is the smallest, NaN the largest");
	ok(isnan(hu_field_value(count, &rows[1])) && hu_field_value(&t.column[4], &rows[2]) == 8, "values");
}

/* Texts and numbers in one column, sizes, and columns with nothing in them. */
static void
cells(void)
{
	typedef struct mixed {
		hu_field_cell cell;
		hu_field_sizes sizes;
		double none;
	} mixed;
	static const hu_table_field c[] = {
		HU_FIELD_OF(mixed, "cell", CELL, cell, ANYWHERE, "a number or a text", .digits = 3, .rank = 1),
		HU_FIELD_OF(mixed, "sizes", SIZES, sizes, ANYWHERE, "a shape", .rank = 2),
		HU_FIELD_OF(mixed, "none", MEASURED, none, ANYWHERE, "nothing", .rank = 3),
	};
	static const size_t shape[] = { 2, 30 };
	static const mixed m[] = { { { 1.0 / 3, NULL }, { shape, 2 }, NAN }, { { 0, "0x1 b" }, { shape, 0 }, NAN },
		{ { NAN, NULL }, { NULL, 0 }, NAN }, { { INFINITY, NULL }, { shape, 1 }, NAN } };
	hu_fields t = HU_FIELDS(c, mixed);
	json_t *all = hu_fields_array(&t, m, 4);
	char *text = json_dumps(all, JSON_COMPACT);
	hu_tsv tsv;

	is_text(text,
		"[{\"cell\":0.33333333333333331,\"sizes\":[2,30],\"none\":null},{\"cell\":\"0x1 b\",\"sizes\":[],"
		"\"none\":null},{\"cell\":null,\"sizes\":null,\"none\":null},{\"cell\":\"inf\",\"sizes\":[2],"
		"\"none\":null}]",
		"JSON has texts, numbers and arrays of sizes");
	free(text);
	json_decref(all);
	hu_tsv_init(&tsv);
	hu_fields_tsv_header(&tsv, &t);
	for (int i = 0; i < 4; i++)
		hu_fields_tsv_row(&tsv, &t, &m[i]);
	is_text(tsv.text.s, "cell\tsizes\tnone\n0.3333333333333333\t2x30\t-\n0x1 b\t-\t-\n-\t-\t-\ninf\t2\t-\n",
		"TSV has them too");
	hu_tsv_release(&tsv);
	t.dense = 1;
	text = printed(&t, m, 4, NULL);
	is_text(text, " cell  sizes\n0.333   2x30\n0x1 b      -\n    -      -\n  inf      2\n",
		"of a dense table a column with nothing in it is left out of the text");
	free(text);
	ok(hu_field_order(&c[0], &m[0], &m[3], 0) < 0 && hu_field_order(&c[0], &m[2], &m[3], 0) > 0,
		"numbers have an order, and rows without one come last");
}

int
main(void)
{
	hu_fields t = HU_FIELDS(columns, record);

	forms(t);
	texts(t);
	narrow(t);
	streamed(t);
	orders(t);
	cells();
	json_t *two = json_pack("[{s:i s:i}, {s:i s:i}]", "a", 1, "b", 2, "b", 3, "c", 4);
	hu_fields_complete(two);
	char *both = json_dumps(two, JSON_COMPACT);
	is_text(both, "[{\"a\":1,\"b\":2,\"c\":null},{\"b\":3,\"c\":4,\"a\":null}]", "rows of two kinds have all keys");
	free(both);
	json_decref(two);
	return done_testing();
}
