/* SPDX-License-Identifier: Apache-2.0
   Builds tables as text, and reads them whole: a table that was read is one block of text cut into cells in place. */
#include "lib/base/tsv.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void
hu_tsv_init(hu_tsv *t)
{
	hu_str_init(&t->text);
	t->head = 0;
	t->columns = t->at = 0;
}

void
hu_tsv_release(hu_tsv *t)
{
	hu_str_release(&t->text);
}

void
hu_tsv_note(hu_tsv *t, const char *key, const char *fmt, ...)
{
	va_list ap;
	char value[4096];

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	for (char *s = value; *s; s++)
		if (*s == '\n' || *s == '\t')
			*s = ' ';
	const char *shown = hu_shown(value);
	hu_str rest;
	hu_str_init(&rest);
	hu_str_add(&rest, t->text.s + t->head);
	t->text.s[t->text.len = t->head] = 0;
	hu_str_addf(&t->text, "# %s: %s\n", key, shown);
	t->head = t->text.len;
	hu_str_addn(&t->text, rest.s, rest.len);
	hu_str_release(&rest);
}

void
hu_tsv_header(hu_tsv *t, const char *columns)
{
	for (const char *s = columns; *s; s++) {
		char c = *s == ' ' ? '\t' : *s;
		t->columns += c == '\t';
		hu_str_addn(&t->text, &c, 1);
	}
	t->columns++;
	hu_str_add(&t->text, "\n");
}

void
hu_tsv_text(hu_tsv *t, const char *s)
{
	hu_str_show(&t->text, *s ? s : "-");
	hu_str_add(&t->text, ++t->at == t->columns ? "\n" : "\t");
	if (t->at == t->columns)
		t->at = 0;
}

/* Writes x with so many digits to `to` where these are x again; returns whether they are. */
static int
reads_back(char to[HU_TSV_REAL], int digits, double x)
{
	char shorter[HU_TSV_REAL];

	snprintf(shorter, sizeof shorter, "%.*g", digits, x);
	if (strtod(shorter, NULL) != x)
		return 0;
	strcpy(to, shorter);
	return 1;
}

/* The number of digits to try first. What rounds to x lies as far on its one side as on its other, save beside a power
   of two, so that fewer digits are not enough where more are not. */
static int
least(double x)
{
	char text[HU_TSV_REAL];
	int e;

	return isfinite(x) && fabs(frexp(x, &e)) != 0.5 && !reads_back(text, 15, x) ? 16 : 1;
}

void
hu_tsv_real_text(char to[HU_TSV_REAL], double x)
{
	if (isnan(x))
		strcpy(to, "nan");
	else
		snprintf(to, HU_TSV_REAL, "%.17g", x);
	/* Integers of up to 15 digits stay as %.17g writes them, without an exponent. */
	const int whole = x == floor(x) && fabs(x) < 1e15;
	for (int digits = least(x); digits < 17 && isfinite(x) && !whole; digits++)
		if (reads_back(to, digits, x))
			return;
}

void
hu_tsv_real(hu_tsv *t, double x)
{
	char b[HU_TSV_REAL];

	hu_tsv_real_text(b, x);
	hu_tsv_text(t, b);
}

void
hu_tsv_int(hu_tsv *t, long long x)
{
	char b[32];

	snprintf(b, sizeof b, "%lld", x);
	hu_tsv_text(t, b);
}

void
hu_tsv_none(hu_tsv *t)
{
	hu_tsv_text(t, "-");
}

void
hu_tsv_measured(hu_tsv *t, double x)
{
	if (x != x)
		hu_tsv_none(t);
	else
		hu_tsv_real(t, x);
}

static const char seal_form[] = "%d rows, checksum 0x%016llx";

void
hu_tsv_seal(hu_tsv *t)
{
	int lines = 0;

	HU_ASSERT(t->at == 0 && t->columns);
	for (const char *s = t->text.s + t->head; *s; s++)
		lines += *s == '\n';
	hu_tsv_note(t, HU_TSV_SEAL, seal_form, lines - 1, (unsigned long long)hu_fnv1a64(t->text.s));
}

hu_status
hu_tsv_save(const hu_tsv *t, const char *path)
{
	HU_ASSERT(t->at == 0);
	return hu_file_write(path, t->text.s, t->text.len);
}

hu_status
hu_tsv_write(hu_tsv *t, const char *path)
{
	hu_status st = hu_tsv_save(t, path);

	hu_tsv_release(t);
	return st;
}

/* Cuts a line at its tabs and appends the cells to *out. Returns their number. */
static int
split(char *line, char ***out, int *len, int *cap)
{
	int n = 0;

	for (char *s = line;; s++, n++) {
		char *tab = strchr(s, '\t');
		if (tab)
			*tab = 0;
		HU_GROW(*out, *len, *cap);
		(*out)[(*len)++] = s;
		if (!tab)
			return n + 1;
		s = tab;
	}
}

/* Returns 1 where all cells of a line are plain text (show.h). Only the tabs between them are allowed. */
static int
printable(char *line)
{
	int plain = 1;

	for (char *s = line, *tab; plain && s; s = tab ? tab + 1 : NULL) {
		tab = strchr(s, '\t');
		if (tab)
			*tab = 0;
		plain = hu_plain(s);
		if (tab)
			*tab = '\t';
	}
	return plain;
}

/* The checksum of a table's text without its seal. */
static uint64_t
checksum(const char *text, size_t n)
{
	static const char seal[] = "\n# " HU_TSV_SEAL ": ";
	const char *at = !strncmp(text, seal + 1, strlen(seal) - 1) ? text : strstr(text, seal);

	if (!at)
		return hu_fnv1a64(text);
	at += at != text;
	const char *after = at + strcspn(at, "\n");
	size_t head = (size_t)(at - text), rest = *after ? (size_t)(text + n - after) - 1 : 0;
	char *without = hu_xmalloc(head + rest + 1);
	memcpy(without, text, head);
	memcpy(without + head, text + n - rest, rest);
	uint64_t hash = hu_fnv1a64_bytes((const unsigned char *)without, head + rest);
	free(without);
	return hash;
}

/* Compares a table with its seal, where it has one. */
static hu_status
check_seal(const hu_table *t, const char *name, uint64_t hash)
{
	const char *seal = hu_table_note(t, HU_TSV_SEAL);
	char own[80];

	snprintf(own, sizeof own, seal_form, t->rows, (unsigned long long)hash);
	if (!seal || !strcmp(seal, own))
		return HU_OK;
	return hu_fail(HU_EFILE,
		"%s: the table has %s, but was written with %s: it was cut short or changed; write it anew", name, own,
		seal);
}

hu_status
hu_table_parse(hu_table *t, const char *name, char *data, size_t n)
{
	uint64_t hash = checksum(data, n);
	int ncap = 0, ccap = 0, cells = 0, cap = 0, lcap = 0, line = 0;

	memset(t, 0, sizeof *t);
	t->data = data;
	if (strlen(data) != n) {
		hu_fail(HU_EFILE, "%s: byte %zu is zero, so this is no text file", name, strlen(data));
		hu_table_release(t);
		return HU_EFILE;
	}
	for (char *s = t->data, *next; *s; s = next) {
		char *nl = strchr(s, '\n');
		next = nl ? nl + 1 : s + strlen(s);
		if (nl)
			*nl = 0;
		line++;
		if (!printable(s)) {
			hu_fail(HU_EFILE, "%s:%d: there are characters that no table of halfulp has: %.80s", name, line,
				s);
			hu_table_release(t);
			return HU_EFILE;
		}
		if (*s == '#') {
			HU_GROW(t->note, t->notes, ncap);
			t->note[t->notes++] = s + (s[1] == ' ' ? 2 : 1);
		} else if (!t->columns) {
			split(s, &t->column, &t->columns, &ccap);
		} else {
			int got = split(s, &t->cell, &cells, &cap);
			if (got != t->columns || !nl) {
				hu_fail(HU_EFILE, "%s:%d: the row has %d cells, the header %d%s", name, line, got,
					t->columns,
					nl ? "" : ", and the last line has no end: was the file cut short?");
				hu_table_release(t);
				return HU_EFILE;
			}
			HU_GROW(t->line, t->rows, lcap);
			t->line[t->rows++] = line;
		}
	}
	if (!t->columns) {
		hu_table_release(t);
		return hu_fail(HU_EFILE, "%s: there is no header row", name);
	}
	hu_status st = check_seal(t, name, hash);
	if (st != HU_OK)
		hu_table_release(t);
	return st;
}

hu_status
hu_table_read(hu_table *t, const char *path)
{
	char *data;
	size_t n;

	memset(t, 0, sizeof *t);
	HU_TRY(hu_file_read(path, &data, &n));
	return hu_table_parse(t, path, data, n);
}

hu_status
hu_table_read_sealed(hu_table *t, const char *path, const char *again)
{
	hu_status st = hu_table_read(t, path);

	if (st == HU_OK && hu_table_note(t, HU_TSV_SEAL))
		return HU_OK;
	if (st == HU_OK) {
		hu_table_release(t);
		return hu_fail(HU_EFILE,
			"%s: no line says how many rows the table has and which checksum, so that it may have been "
			"cut; %s writes it anew",
			path, again);
	}
	return st;
}

void
hu_table_release(hu_table *t)
{
	free(t->data);
	free(t->note);
	free(t->column);
	free(t->cell);
	free(t->line);
	memset(t, 0, sizeof *t);
}

int
hu_table_column(const hu_table *t, const char *name)
{
	for (int i = 0; i < t->columns; i++)
		if (!strcmp(t->column[i], name))
			return i;
	return -1;
}

const char *
hu_table_cell(const hu_table *t, int row, int column)
{
	HU_ASSERT(row >= 0 && row < t->rows && column < t->columns);
	return column < 0 ? "-" : t->cell[(size_t)row * (size_t)t->columns + (size_t)column];
}

double
hu_table_real(const hu_table *t, int row, int column)
{
	const char *s = hu_table_cell(t, row, column);
	char *end;
	double x = strtod(s, &end);

	return end == s || *end ? NAN : x;
}

const char *
hu_table_note(const hu_table *t, const char *key)
{
	size_t n = strlen(key);

	for (int i = 0; i < t->notes; i++)
		if (!strncmp(t->note[i], key, n) && !strncmp(t->note[i] + n, ": ", 2))
			return t->note[i] + n + 2;
	return NULL;
}
