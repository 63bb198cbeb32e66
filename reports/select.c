/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/select.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/store/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLAUSES = 8 };

typedef enum kind { PLAIN, RUN, ID, MAX, SUM, MEAN, SMOOTH, DIFF, EMIN, EMAX, PRECISION } kind;

static const struct { const char *prefix; kind kind; const char *suffix; } kinds[] = {
	{ "id:", ID, "_id" }, { "max:", MAX, "" }, { "sum:", SUM, "" }, { "mean:", MEAN, "" }, { "smooth:", SMOOTH, "_smooth" },
	{ "diff:", DIFF, "_difference" }, { "emin:", EMIN, NULL }, { "emax:", EMAX, NULL }, { "precision:", PRECISION, NULL },
};

typedef struct spec { kind kind; const char *source, *weight; int at, weight_at; } spec;
typedef struct cell { char *text; double x, weight; int any; } cell;

typedef struct work {
	spec spec[HU_SELECT_COLUMNS];
	int columns, grouped;
	struct { const char *column, *value; int equal, at; } where[MAX_CLAUSES];
	struct { const char *column; int at; } need[MAX_CLAUSES];
	int wheres, needs, diff;
	const char *some, *top_column;
	size_t top;
	cell *row;
	size_t rows, cap;
	size_t *slot, slots;          /* open addressing over rows by key; 0 is free */
	char **key;
	size_t keys, keycap;
	double smooth[HU_SELECT_COLUMNS], share;
	hu_table base;                /* the first run's table, for diff */
	size_t matched, measured;
} work;

/* ---- the query ---- */

static void
add_column(hu_selection *s, work *w, char *word)
{
	HU_ASSERT(s->columns < HU_SELECT_COLUMNS);
	spec *c = &w->spec[s->columns];
	*c = (spec){ strcmp(word, "run") ? PLAIN : RUN, word, NULL, -1, -1 };
	const char *suffix = "";
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strncmp(word, kinds[i].prefix, strlen(kinds[i].prefix))) {
			c->kind = kinds[i].kind;
			c->source = word + strlen(kinds[i].prefix);
			suffix = kinds[i].suffix;
		}
	char *colon = strchr(c->source, ':');
	if (colon) {
		*colon = 0;
		c->weight = colon + 1;
	}
	w->grouped |= c->kind == MAX || c->kind == SUM || c->kind == MEAN;
	w->diff |= c->kind == DIFF;
	if (c->kind == ID)
		s->level[s->levels++].column = c->source;
	s->column[s->columns++] = suffix ? hu_xprintf("%s%s", c->source, suffix) : hu_xprintf("%.*s", (int)strcspn(word, ":"), word);
}

static void
parse(hu_selection *s, work *w)
{
	char *save = NULL, *word = strtok_r(s->query, " ", &save);

	s->table = word;
	while ((word = strtok_r(NULL, " ", &save))) {
		if (!strcmp(word, "where")) {
			char *v = strtok_r(NULL, " ", &save), *sign = v + strcspn(v, "!=");
			HU_ASSERT(w->wheres < MAX_CLAUSES && *sign);
			w->where[w->wheres].equal = *sign == '=';
			w->where[w->wheres].value = sign + (*sign == '=' ? 1 : 2);
			*sign = 0;
			w->where[w->wheres++].column = v;
		} else if (!strcmp(word, "need")) {
			HU_ASSERT(w->needs < MAX_CLAUSES);
			w->need[w->needs++].column = strtok_r(NULL, " ", &save);
		} else if (!strcmp(word, "some")) {
			w->some = strtok_r(NULL, " ", &save);
		} else if (!strcmp(word, "top")) {
			w->top = strtoul(strtok_r(NULL, " ", &save), NULL, 10);
			w->top_column = strtok_r(NULL, " ", &save);
		} else {
			add_column(s, w, word);
		}
	}
	w->columns = s->columns;
}

/* ---- one table ---- */

static hu_status
find_column(const hu_table *t, const char *path, const char *name, int *at)
{
	*at = hu_table_column(t, name);
	if (*at < 0)
		return hu_fail(HU_EFILE, "%s: no column %s; made by another version? halfulp analyze makes the table again", path, name);
	return HU_OK;
}

static hu_status
resolve(work *w, const hu_table *t, const char *path)
{
	for (int i = 0; i < w->columns; i++) {
		spec *c = &w->spec[i];
		if (c->kind != RUN)
			HU_TRY(find_column(t, path, c->source, &c->at));
		if (c->weight)
			HU_TRY(find_column(t, path, c->weight, &c->weight_at));
	}
	for (int i = 0; i < w->wheres; i++)
		HU_TRY(find_column(t, path, w->where[i].column, &w->where[i].at));
	for (int i = 0; i < w->needs; i++)
		HU_TRY(find_column(t, path, w->need[i].column, &w->need[i].at));
	return HU_OK;
}

/* A cell that must be a number or "-": NaN for that and for what is not finite. */
static hu_status
number(hu_selection *s, const hu_table *t, const char *path, int row, int at, double *x)
{
	const char *text = hu_table_cell(t, row, at);
	char *end;

	*x = strtod(text, &end);
	if (strcmp(text, "-") && (end == text || *end))
		return hu_fail(HU_EFILE, "%s: row %d, column %s: '%s' is no number", path, row + 1, t->column[at], text);
	if (end == text)
		*x = NAN;
	else if (!isfinite(*x)) {
		*x = NAN;
		s->nonfinite++;
	}
	return HU_OK;
}

static int
level_of(hu_level *l, const char *name)
{
	for (int i = 0; i < l->names; i++)
		if (!strcmp(l->name[i], name))
			return i + 1;
	HU_GROW(l->name, l->names, l->cap);
	l->name[l->names] = hu_xstrdup(name);
	return ++l->names;
}

/* Index of the row whose plain cells are KEY, made where there is none. */
static size_t
row_of(work *w, char *key)
{
	if (2 * (w->rows + 1) > w->slots) {
		w->slots = w->slots ? 2 * w->slots : 64;
		free(w->slot);
		w->slot = hu_xcalloc(w->slots, sizeof *w->slot);
		for (size_t r = 0; w->grouped && r < w->rows; r++) {
			size_t h = hu_fnv1a64(w->key[r]) % w->slots;
			while (w->slot[h])
				h = (h + 1) % w->slots;
			w->slot[h] = r + 1;
		}
	}
	size_t h = hu_fnv1a64(key) % w->slots;
	if (w->grouped) {
		for (; w->slot[h]; h = (h + 1) % w->slots)
			if (!strcmp(w->key[w->slot[h] - 1], key)) {
				free(key);
				return w->slot[h] - 1;
			}
		w->slot[h] = w->rows + 1;
	}
	if (w->rows == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->row = hu_xrealloc(w->row, w->cap * (size_t)w->columns * sizeof *w->row);
		w->key = hu_xrealloc(w->key, w->cap * sizeof *w->key);
	}
	memset(w->row + w->rows * (size_t)w->columns, 0, (size_t)w->columns * sizeof *w->row);
	w->key[w->rows] = key;
	return w->rows++;
}

/* The base run's row of the same step: tables are in step order, so both sides move forward. */
static int
base_row(const hu_table *base, const char *step, int *from)
{
	int at = hu_table_column(base, "step");

	for (int k = 0; k < base->rows; k++) {
		int r = (*from + k) % base->rows;
		if (!strcmp(hu_table_cell(base, r, at), step)) {
			*from = r;
			return r;
		}
	}
	return -1;
}

static hu_status
format_number(const char *path, const char *name, kind k, double *x)
{
	hu_format_id id;

	if (hu_format_find(name, &id) != HU_OK)
		return hu_fail(HU_EFILE, "%s: unknown number format '%s'; made by a newer version?", path, name);
	hu_format f = hu_format_of(id);
	*x = k == EMIN ? f.emin : k == EMAX ? f.emax : f.p;
	return HU_OK;
}

static hu_status
fill(hu_selection *s, work *w, const hu_table *t, const char *path, int r, size_t out, int *from)
{
	cell *c = w->row + out * (size_t)w->columns;

	for (int i = 0; i < w->columns; i++, c++) {
		const spec *p = &w->spec[i];
		double x = NAN, weight = 1, other;
		if (p->kind == PLAIN || p->kind == ID || p->kind == RUN)
			continue;
		if (p->kind >= EMIN) {
			HU_TRY(format_number(path, hu_table_cell(t, r, p->at), p->kind, &x));
			c->x = x;
			c->any = 1;
			continue;
		}
		HU_TRY(number(s, t, path, r, p->at, &x));
		if (p->weight)
			HU_TRY(number(s, t, path, r, p->weight_at, &weight));
		if (p->kind == DIFF) {
			int b = base_row(&w->base, hu_table_cell(t, r, hu_table_column(t, "step")), from);
			int at = hu_table_column(&w->base, p->source);
			if (b < 0 || at < 0)
				continue;
			HU_TRY(number(s, &w->base, path, b, at, &other));
			x -= other;
		}
		if (isnan(x) || isnan(weight))
			continue;
		if (p->kind == SMOOTH)
			x = w->smooth[i] = isnan(w->smooth[i]) ? x : w->smooth[i] + w->share * (x - w->smooth[i]);
		if (p->kind == MAX)
			c->x = c->any && c->x > x ? c->x : x;
		else if (p->kind == SUM)
			c->x += x;
		else if (p->kind == MEAN) {
			c->x += x * weight;
			c->weight += weight;
		} else
			c->x = x;
		c->any = 1;
	}
	return HU_OK;
}

static hu_status
take_row(hu_selection *s, work *w, const hu_table *t, const char *path, int run, int r, int *from)
{
	double x;

	for (int i = 0; i < w->wheres; i++)
		if (!strcmp(hu_table_cell(t, r, w->where[i].at), w->where[i].value) != w->where[i].equal)
			return HU_OK;
	w->matched++;
	for (int i = 0; i < w->needs; i++) {
		HU_TRY(number(s, t, path, r, w->need[i].at, &x));
		if (isnan(x))
			return HU_OK;
	}
	if (w->diff && (run == 1 || base_row(&w->base, hu_table_cell(t, r, hu_table_column(t, "step")), from) < 0))
		return HU_OK;
	w->measured++;
	hu_str key;
	hu_str_init(&key);
	for (int i = 0; i < w->columns; i++) {
		kind k = w->spec[i].kind;
		if (k == PLAIN || k == ID)
			hu_str_addf(&key, "%s\t", hu_table_cell(t, r, w->spec[i].at));
		else if (k == RUN)
			hu_str_addf(&key, "%d\t", run);
	}
	size_t before = w->rows, out = row_of(w, key.s);
	if (out == before) {
		cell *c = w->row + out * (size_t)w->columns;
		for (int i = 0, l = 0; i < w->columns; i++, c++) {
			kind k = w->spec[i].kind;
			if (k == RUN)
				c->text = hu_xprintf("%d", run);
			else if (k == ID)
				c->text = hu_xprintf("%d", level_of(&s->level[l++], hu_table_cell(t, r, w->spec[i].at)));
			else if (k == PLAIN) {
				const char *text = hu_table_cell(t, r, w->spec[i].at);
				int bad = hu_match("nan,-nan,inf,-inf", text);
				s->nonfinite += (size_t)bad;
				c->text = hu_xstrdup(bad ? "-" : text);
			}
		}
	}
	return fill(s, w, t, path, r, out, from);
}

static hu_status
take_run(hu_selection *s, work *w, const char *dir, int run)
{
	char *path = hu_path(dir, "%s", s->table);
	hu_table t;
	int from = 0;
	hu_status st = HU_OK;

	if (!hu_exists(path)) {
		free(path);
		return HU_OK;
	}
	st = hu_table_read(&t, path);
	if (st == HU_OK && (st = resolve(w, &t, path)) == HU_OK) {
		/* forty means along the table, at least 1 row each: long runs get smooth, short ones stay as they are */
		w->share = 2.0 / (1.0 + (t.rows > 80 ? t.rows / 40.0 : 1.0));
		for (int i = 0; i < w->columns; i++)
			w->smooth[i] = NAN;
		for (int i = 0; run == 1 && i < t.notes; i++)
			hu_str_addf(&s->notes, "# %s\n", t.note[i]);
		for (int r = 0; r < t.rows && st == HU_OK; r++)
			st = take_row(s, w, &t, path, run, r, &from);
		if (run == 1 && w->diff && st == HU_OK)
			w->base = t;
		else
			hu_table_release(&t);
	}
	free(path);
	return st;
}

/* ---- the result ---- */

static void
finish_cell(const spec *p, cell *c)
{
	if (c->text)
		return;
	if (p->kind == MEAN && c->any)
		c->x = c->weight > 0 ? c->x / c->weight : NAN;
	if (!c->any || !isfinite(c->x)) {
		c->text = hu_xstrdup("-");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		c->text = hu_xprintf("%.*g", digits, c->x);
		if (strtod(c->text, NULL) == c->x)
			return;
		if (digits < 17)
			free(c->text);
	}
}

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Keeps the top rows; ties at the limit go to the first. */
static void
keep_top(hu_selection *s, const work *w)
{
	size_t n = s->rows, columns = (size_t)s->columns, kept = 0;

	if (!w->top || n <= w->top)
		return;
	double *x = hu_xmalloc(n * sizeof *x), *sorted = hu_xmalloc(n * sizeof *sorted);
	for (size_t r = 0; r < n; r++) {
		x[r] = hu_selection_real(s, r, w->top_column);
		if (isnan(x[r]))
			x[r] = -INFINITY;
		sorted[r] = x[r];
	}
	qsort(sorted, n, sizeof *sorted, descending);
	double limit = sorted[w->top - 1];
	size_t above = 0;
	for (size_t r = 0; r < n; r++)
		above += x[r] > limit;
	size_t ties = w->top - above;
	for (size_t r = 0; r < n; r++) {
		int keep = x[r] > limit || (x[r] == limit && ties && ties--);
		for (size_t i = 0; i < columns; i++)
			if (keep)
				s->cell[kept * columns + i] = s->cell[r * columns + i];
			else
				free(s->cell[r * columns + i]);
		kept += (size_t)keep;
	}
	s->dropped = n - kept;
	s->rows = kept;
	free(x);
	free(sorted);
}

static void
drop_rows(hu_selection *s)
{
	for (size_t i = 0; i < s->rows * (size_t)s->columns; i++)
		free(s->cell[i]);
	s->rows = 0;
}

static void
finish(hu_selection *s, work *w, int tables)
{
	s->rows = w->rows;
	s->cell = hu_xcalloc(w->rows * (size_t)w->columns + 1, sizeof *s->cell);
	for (size_t r = 0; r < w->rows; r++)
		for (int i = 0; i < w->columns; i++) {
			cell *c = &w->row[r * (size_t)w->columns + (size_t)i];
			finish_cell(&w->spec[i], c);
			s->cell[r * (size_t)w->columns + (size_t)i] = c->text;
		}
	keep_top(s, w);
	int some = !w->some;
	for (size_t r = 0; r < s->rows && !some; r++) {
		double x = hu_selection_real(s, r, w->some);
		some = !isnan(x) && x != 0;
	}
	if (!some && s->rows) {
		drop_rows(s);
		s->empty = hu_xprintf("every value of %s is zero", w->some);
	} else if (!s->rows) {
		s->empty = !tables ? hu_xprintf("%s is not there", s->table)
			: !w->matched ? hu_xprintf("%s has no row for it", s->table)
			: w->needs && !w->measured ? hu_xprintf("%s has no finite %s", s->table, w->need[0].column)
			: hu_xprintf("%s has no row for it", s->table);
	}
}

hu_status
hu_select(hu_selection *s, const char *query, char *const *dir, int n)
{
	work w = { 0 };
	hu_status st = HU_OK;
	int tables = 0;

	memset(s, 0, sizeof *s);
	hu_str_init(&s->notes);
	s->query = hu_xstrdup(query);
	parse(s, &w);
	for (int i = 0; i < n && st == HU_OK; i++) {
		char *path = hu_path(dir[i], "%s", s->table);
		tables += hu_exists(path);
		free(path);
		if (!i || !w.diff || w.base.rows)
			st = take_run(s, &w, dir[i], i + 1);
	}
	finish(s, &w, tables);
	for (size_t r = 0; r < w.rows; r++)
		free(w.key[r]);
	free(w.key);
	free(w.row);
	free(w.slot);
	hu_table_release(&w.base);
	if (st != HU_OK)
		hu_selection_release(s);
	return st;
}

void
hu_selection_release(hu_selection *s)
{
	drop_rows(s);
	for (int l = 0; l < s->levels; l++) {
		for (int i = 0; i < s->level[l].names; i++)
			free(s->level[l].name[i]);
		free(s->level[l].name);
	}
	for (int i = 0; i < s->columns; i++)
		free(s->column[i]);
	free(s->cell);
	free(s->query);
	free(s->empty);
	hu_str_release(&s->notes);
	memset(s, 0, sizeof *s);
}

void
hu_selection_text(const hu_selection *s, const char *head, hu_str *out)
{
	hu_str_init(out);
	hu_str_add(out, head);
	hu_str_add(out, s->notes.s);
	for (int i = 0; i < s->columns; i++)
		hu_str_addf(out, "%s%s", i ? "\t" : "", s->column[i]);
	hu_str_add(out, "\n");
	for (size_t r = 0; r < s->rows; r++)
		for (int i = 0; i < s->columns; i++)
			hu_str_addf(out, "%s%s", s->cell[r * (size_t)s->columns + (size_t)i], i + 1 == s->columns ? "\n" : "\t");
}

const char *
hu_selection_cell(const hu_selection *s, size_t row, const char *column)
{
	for (int i = 0; i < s->columns; i++)
		if (!strcmp(s->column[i], column))
			return s->cell[row * (size_t)s->columns + (size_t)i];
	return "-";
}

double
hu_selection_real(const hu_selection *s, size_t row, const char *column)
{
	const char *text = hu_selection_cell(s, row, column);
	char *end;
	double x = strtod(text, &end);

	return end == text || *end ? NAN : x;
}
