/* SPDX-License-Identifier: Apache-2.0
   What figures take from tables (reports/select.h), and how numbers and names are
   written for people (reports/human.h). Tables are made here, a few rows each. */
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/select.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *dir[2];

static void
table(int run, const char *name, const char *text)
{
	char *path = hu_path(dir[run], "%s", name);

	if (hu_file_write(path, text, strlen(text)) != HU_OK)
		bail_out("%s", hu_reason());
	free(path);
}

/* The selection's rows as "a b|c d". */
static char *
rows(const hu_selection *s)
{
	hu_str b;

	hu_str_init(&b);
	for (size_t r = 0; r < s->rows; r++)
		for (int i = 0; i < s->columns; i++)
			hu_str_addf(&b, "%s%s", i ? " " : r ? "|" : "", s->cell[r * (size_t)s->columns + (size_t)i]);
	return b.s;
}

static void
gives(const char *query, int runs, const char *want, const char *what)
{
	hu_selection s;

	if (!is_int(hu_select(&s, query, dir, runs), HU_OK, "%s: read", what)) {
		diag("%s", hu_reason());
		return;
	}
	char *got = rows(&s);
	is_text(got, want, "%s", what);
	free(got);
	hu_selection_release(&s);
}

static void
refuses(const char *query, const char *says, const char *what)
{
	hu_selection s;

	is_int(hu_select(&s, query, dir, 1), HU_EFILE, "%s: a bad file", what);
	ok(strstr(hu_reason(), says) != NULL, "%s: the reason has '%s'", what, says) || (diag("%s", hu_reason()), 0);
}

static void
selecting(void)
{
	table(0, "a.tsv",
		"# seed: "
		"1\nlayer\top\tx\tn\nl1\tmm\t1\t1\nl2\tmm\t8\t1\nl1\tmm\t3\t3\nl1\tcast\t-"
		"\t1\nl2\tcast\tinf\t1\nl3\tcast\t0\t2\n");
	gives("a.tsv layer x", 1, "l1 1|l2 8|l1 3|l1 -|l2 -|l3 0",
		"plain columns keep rows; what is not finite is missing");
	gives("a.tsv layer op max:x sum:n", 1, "l1 mm 3 4|l2 mm 8 1|l1 cast - 1|l2 cast - 1|l3 cast 0 2",
		"rows of equal keys are one");
	gives("a.tsv layer mean:x:n", 1, "l1 2.5|l2 8|l3 0", "a weighted mean leaves out what is missing");
	gives("a.tsv layer max:x need x", 1, "l1 3|l2 8|l3 0", "need drops rows");
	gives("a.tsv layer max:x where op=cast", 1, "l1 -|l2 -|l3 0", "where keeps rows");
	gives("a.tsv layer max:x where op!=cast", 1, "l1 3|l2 8", "where drops rows");
	gives("a.tsv layer max:x top 2 x", 1, "l1 3|l2 8", "top keeps the largest in their order");
	gives("a.tsv id:layer id:layer:op sum:n", 1, "1 1 4|2 2 1|1 3 1|2 4 1|3 5 2", "numbers of values and of pairs");
	gives("a.tsv label:layer:op sum:n where layer=l1", 1, "l1  mm 4|l1  cast 1", "labels of an axis");

	hu_selection s;
	hu_select(&s, "a.tsv id:layer x some x", dir, 1);
	is_int(s.nonfinite, 1, "cells that are not finite are counted");
	is_int(s.level[0].names, 3, "names of an id column");
	is_text(s.level[0].name[2], "l3", "in order of appearance");
	is_text(s.notes.s, "# seed: 1\n", "provenance is kept");
	hu_selection_release(&s);
	hu_select(&s, "a.tsv layer x where layer=l3 some x", dir, 1);
	is_int((long long)s.rows, 0, "some: rows of zeros alone are none");
	ok(s.empty && strstr(s.empty, "zero"), "and the reason says so");
	hu_selection_release(&s);
	hu_select(&s, "none.tsv layer x", dir, 1);
	ok(s.rows == 0 && s.empty && strstr(s.empty, "not there"),
		"a table that is absent gives no rows and the reason");
	hu_selection_release(&s);
}

static void
formats(void)
{
	table(0, "f.tsv", "format\tcount\nfp16\t1\nbf16\t2\n");
	gives("f.tsv format precision:format emin:format emax:format", 1, "fp16 11 -14 15|bf16 8 -126 127",
		"a format's parameters");
	table(0, "f.tsv", "format\tcount\nfp17\t1\n");
	refuses("f.tsv precision:format", "fp17", "an unknown format");
}

static void
comparing(void)
{
	table(0, "m.tsv", "step\tloss\n1\t4\n2\t2\n3\t1\n");
	table(1, "m.tsv", "step\tloss\n1\t4.5\n2\t2\n3\tnan\n4\t9\n");
	gives("m.tsv run step loss", 2, "1 1 4|1 2 2|1 3 1|2 1 4.5|2 2 2|2 3 -|2 4 9", "runs one after another");
	gives("m.tsv run step diff:loss", 2, "2 1 0.5|2 2 0|2 3 -", "differences at equal steps");
	gives("m.tsv run step diff:loss need loss", 2, "2 1 0.5|2 2 0", "and where both are finite");
	gives("m.tsv run step smooth:loss", 1, "1 1 4|1 2 2|1 3 1", "a short table is not smoothed");
}

static void
refusing(void)
{
	table(0, "b.tsv", "layer\tx\nl1\t1\nl2\tword\n");
	refuses("b.tsv layer max:x", "'word' is no number", "a word for a number");
	refuses("b.tsv layer max:y", "no column y", "a column that is absent");
	table(0, "b.tsv", "layer\tx\nl1\t1\nl2");
	refuses("b.tsv layer max:x", "cut short", "a table that was cut");
	table(0, "b.tsv", "");
	refuses("b.tsv layer max:x", "no header", "an empty file");
}

static void
reads(double x, hu_quantity unit, const char *want)
{
	char *got = hu_human(x, unit);

	is_text(got, want, "%g reads %s", x, want);
	free(got);
}

static void
escaped(void (*how)(hu_str *, const char *), const char *text, const char *want)
{
	hu_str b;

	hu_str_init(&b);
	how(&b, text);
	is_text(b.s, want, "%s is written %s", text, want);
	hu_str_release(&b);
}

static void
abbreviated(const char *name, const char *want)
{
	char *got = hu_abbreviate(name, 16);

	is_text(got, want, "%s in 16 characters", name);
	free(got);
}

static void
writing(void)
{
	reads(NAN, HU_UNIT_REAL, "–");
	reads(-INFINITY, HU_UNIT_REAL, "−∞");
	reads(0.13019, HU_UNIT_REAL, "0.1302");
	reads(1.5e-9, HU_UNIT_REAL, "1.5\u202f×\u202f10^−9");
	reads(0.41234, HU_UNIT_SHARE, "41.2\u202f%");
	reads(0, HU_UNIT_SHARE, "0\u202f%");
	reads(-0.41234, HU_UNIT_SHARE, "−41.2\u202f%");
	reads(-0.0123, HU_UNIT_SHARE, "−1.23\u202f%");
	reads(-2469134, HU_UNIT_BYTES, "−2.47\u202fMB");
	reads(1234567, HU_UNIT_COUNT, "1\u202f234\u202f567");
	reads(999, HU_UNIT_COUNT, "999");
	reads(1 - 2e-6, HU_UNIT_COSINE, "1\u202f−\u202f2\u202f×\u202f10^−6");
	reads(0.5, HU_UNIT_COSINE, "0.5");
	reads(2469134, HU_UNIT_BYTES, "2.47\u202fMB");
	reads(65536, HU_UNIT_POWER, "2^16");
	reads(0.5, HU_UNIT_POWER, "2^−1");
	reads(65535, HU_UNIT_POWER, "6.554\u202f×\u202f10^4");
	escaped(hu_html_text, "<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
	escaped(hu_html_number, "2^−3 to 2^16 <", "2<sup>−3</sup> to 2<sup>16</sup> &lt;");
	escaped(hu_html_number, "2^-2 and 10^-12, 3^+4", "2<sup>−2</sup> and 10<sup>−12</sup>, 3<sup>+4</sup>");
	escaped(hu_html_number, "a^b 2^- 2^−", "a^b 2^- 2^−");
	escaped(hu_html_number, "-inf", "−∞");
	escaped(hu_html_number, "inf times", "∞ times");
	escaped(hu_html_number, "-0.5", "−0.5");
	escaped(hu_html_number, "-1.5e-07", "−1.5·10⁻⁷");
	escaped(hu_html_number, "-info", "-info");
	escaped(hu_html_number, "info", "info");
	escaped(hu_show_word, "runs/a-1", "runs/a-1");
	escaped(hu_show_word, "a\nb'\\\xc3\xaf", "$'a\\x0ab\\'\\\\\\xc3\\xaf'");
	escaped(hu_html_text, "<a\x1b>\xe2\x80\xae", "&lt;a\\x1b&gt;\\u202e");
	escaped(hu_show_word, "it's $x", "'it'\\''s $x'");
	abbreviated("dense1.w", "dense1.w");
	abbreviated("encoder.layers.11.attention.dense", "e.l.11.a.dense");
	abbreviated("a_name_without_any_part", "…ithout_any_part");
	abbreviated("äöüäöüäöüäöüäöüäöü", "…äöüäöüäöüäöüäöü");
}

int
main(void)
{
	for (int i = 0; i < 2; i++) {
		dir[i] = hu_path(test_dir(), "run%d", i + 1);
		if (hu_make_dirs(dir[i]) != HU_OK)
			bail_out("%s", hu_reason());
	}
	selecting();
	formats();
	comparing();
	refusing();
	writing();
	free(dir[0]);
	free(dir[1]);
	return done_testing();
}
