/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/query.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/store/run.h"
#include "reports/human.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cell {
	char *text;
	double x, weight;
	int any;
} cell;

typedef struct work {
	hu_query q;
	cell *row;
	size_t rows, cap;
	size_t *slot, slots; /* hash table (open addressing) of rows by key; 0 is free */
	char **key;
	double smooth[HU_SELECT_COLUMNS], share;
	hu_table base;  /* the first run's table, for diff */
	int *base_slot; /* hash table (open addressing) of its rows by step; 0 is free */
	size_t base_slots;
	size_t matched, measured;
} work;

/* ---- one table ---- */

/* Reads a cell that must be a number or "-"; NaN for "-" and for values that are not finite. */
static hu_status
number(hu_selection *s, const hu_table *t, const char *path, int row, int at, double *x)
{
	const char *text = hu_table_cell(t, row, at);
	char *end;

	*x = strtod(text, &end);
	if (strcmp(text, "-") && (end == text || *end))
		return hu_fail(
			HU_EFILE, "%s: row %d, column %s: '%s' is no number", path, row + 1, t->column[at], text);
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

static int
level_of_cells(hu_level *l, const hu_table *t, int r, const hu_query_column *c)
{
	const char *first = hu_table_cell(t, r, c->at);
	char *both = c->weight ? hu_xprintf("%s %s", first, hu_table_cell(t, r, c->weight_at)) : hu_xstrdup(first);
	int id = level_of(l, both);

	free(both);
	return id;
}

/* Returns the index of the row whose plain cells are key; it is made where there is none. */
static size_t
row_of(work *w, char *key)
{
	if (2 * (w->rows + 1) > w->slots) {
		w->slots = w->slots ? 2 * w->slots : 64;
		free(w->slot);
		w->slot = hu_xcalloc(w->slots, sizeof *w->slot);
		for (size_t r = 0; w->q.grouped && r < w->rows; r++) {
			size_t h = hu_fnv1a64(w->key[r]) % w->slots;
			while (w->slot[h])
				h = (h + 1) % w->slots;
			w->slot[h] = r + 1;
		}
	}
	size_t h = hu_fnv1a64(key) % w->slots;
	if (w->q.grouped) {
		for (; w->slot[h]; h = (h + 1) % w->slots)
			if (!strcmp(w->key[w->slot[h] - 1], key)) {
				free(key);
				return w->slot[h] - 1;
			}
		w->slot[h] = w->rows + 1;
	}
	if (w->rows == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->row = hu_xrealloc(w->row, w->cap * (size_t)w->q.columns * sizeof *w->row);
		w->key = hu_xrealloc(w->key, w->cap * sizeof *w->key);
	}
	memset(w->row + w->rows * (size_t)w->q.columns, 0, (size_t)w->q.columns * sizeof *w->row);
	w->key[w->rows] = key;
	return w->rows++;
}

static size_t
base_slot(const work *w, const char *step)
{
	int at = hu_table_column(&w->base, "step");
	size_t h = hu_fnv1a64(step) % w->base_slots;

	while (w->base_slot[h] && strcmp(hu_table_cell(&w->base, w->base_slot[h] - 1, at), step))
		h = (h + 1) % w->base_slots;
	return h;
}

/* Returns the base run's row of the same step; -1 where it has none. */
static int
base_row(const work *w, const char *step)
{
	return w->base_slot[base_slot(w, step)] - 1;
}

static void
keep_base(work *w, const hu_table *t)
{
	w->base = *t;
	w->base_slots = 2 * (size_t)t->rows + 1;
	w->base_slot = hu_xcalloc(w->base_slots, sizeof *w->base_slot);
	for (int r = 0; r < t->rows; r++)
		w->base_slot[base_slot(w, hu_table_cell(t, r, hu_table_column(t, "step")))] = r + 1;
}

static hu_status
format_number(const char *path, const char *name, hu_column_kind k, double *x)
{
	hu_format_id id;

	if (hu_format_find(name, &id) != HU_OK)
		return hu_fail(HU_EFILE, "%s: unknown number format '%s'; made by a newer version?", path, name);
	hu_format f = hu_format_of(id);
	*x = k == HU_COLUMN_EMIN ? f.emin : k == HU_COLUMN_EMAX ? f.emax : f.p;
	return HU_OK;
}

static hu_status
fill(hu_selection *s, work *w, const hu_table *t, const char *path, int r, size_t out)
{
	cell *c = w->row + out * (size_t)w->q.columns;

	for (int i = 0; i < w->q.columns; i++, c++) {
		const hu_query_column *p = &w->q.column[i];
		double x = NAN, weight = 1, other;
		if (p->kind == HU_COLUMN_PLAIN || p->kind == HU_COLUMN_ID || p->kind == HU_COLUMN_RUN ||
			p->kind == HU_COLUMN_LABEL)
			continue;
		if (p->kind >= HU_COLUMN_EMIN) {
			HU_TRY(format_number(path, hu_table_cell(t, r, p->at), p->kind, &x));
			c->x = x;
			c->any = 1;
			continue;
		}
		HU_TRY(number(s, t, path, r, p->at, &x));
		if (p->weight)
			HU_TRY(number(s, t, path, r, p->weight_at, &weight));
		if (p->kind == HU_COLUMN_DIFF) {
			int b = base_row(w, hu_table_cell(t, r, hu_table_column(t, "step")));
			int at = hu_table_column(&w->base, p->source);
			if (b < 0 || at < 0)
				continue;
			HU_TRY(number(s, &w->base, path, b, at, &other));
			x -= other;
		}
		if (isnan(x) || isnan(weight))
			continue;
		if (p->kind == HU_COLUMN_SMOOTH)
			x = w->smooth[i] = isnan(w->smooth[i]) ? x : w->smooth[i] + w->share * (x - w->smooth[i]);
		if (p->kind == HU_COLUMN_MAX)
			c->x = c->any && c->x > x ? c->x : x;
		else if (p->kind == HU_COLUMN_MIN)
			c->x = c->any && c->x < x ? c->x : x;
		else if (p->kind == HU_COLUMN_SUM)
			c->x += x;
		else if (p->kind == HU_COLUMN_MEAN) {
			c->x += x * weight;
			c->weight += weight;
		} else
			c->x = x;
		c->any = 1;
	}
	return HU_OK;
}

static hu_status
take_row(hu_selection *s, work *w, const hu_table *t, const char *path, int run, int r)
{
	double x;

	for (int i = 0; i < w->q.wheres; i++)
		if ((strcmp(hu_table_cell(t, r, w->q.where[i].at), w->q.where[i].value) == 0) != w->q.where[i].equal)
			return HU_OK;
	w->matched++;
	for (int i = 0; i < w->q.needs; i++) {
		HU_TRY(number(s, t, path, r, w->q.need[i].at, &x));
		if (isnan(x))
			return HU_OK;
	}
	if (w->q.diff && (run == 1 || base_row(w, hu_table_cell(t, r, hu_table_column(t, "step"))) < 0))
		return HU_OK;
	w->measured++;
	hu_str key;
	hu_str_init(&key);
	for (int i = 0; i < w->q.columns; i++) {
		hu_column_kind k = w->q.column[i].kind;
		if (k == HU_COLUMN_PLAIN || k == HU_COLUMN_ID || k == HU_COLUMN_LABEL)
			hu_str_addf(&key, "%s\t%s\t", hu_table_cell(t, r, w->q.column[i].at),
				hu_table_cell(t, r, w->q.column[i].weight_at));
		else if (k == HU_COLUMN_RUN)
			hu_str_addf(&key, "%d\t", run);
	}
	size_t before = w->rows, out = row_of(w, key.s);
	if (out == before) {
		cell *c = w->row + out * (size_t)w->q.columns;
		for (int i = 0, l = 0; i < w->q.columns; i++, c++) {
			hu_column_kind k = w->q.column[i].kind;
			if (k == HU_COLUMN_RUN)
				c->text = hu_xprintf("%d", run);
			else if (k == HU_COLUMN_ID)
				c->text = hu_xprintf("%d", level_of_cells(&s->level[l++], t, r, &w->q.column[i]));
			else if (k == HU_COLUMN_LABEL) {
				char *brief = hu_abbreviate(hu_table_cell(t, r, w->q.column[i].at), HU_LABEL);
				c->text = w->q.column[i].weight ? hu_xprintf("%s  %s", brief,
									  hu_table_cell(t, r, w->q.column[i].weight_at))
								: hu_xstrdup(brief);
				free(brief);
			} else if (k == HU_COLUMN_PLAIN) {
				const char *text = hu_table_cell(t, r, w->q.column[i].at);
				int bad = hu_match("nan,-nan,inf,-inf", text);
				s->nonfinite += (size_t)bad;
				c->text = hu_xstrdup(bad ? "-" : text);
			}
		}
	}
	return fill(s, w, t, path, r, out);
}

/* The tables of an analysis have to be whole: what one says is said of all its rows. */
static hu_status
read_whole(hu_table *t, const char *name, const char *path)
{
	return strncmp(name, "analysis/", 9) ? hu_table_read(t, path)
					     : hu_table_read_sealed(t, path, "halfulp analyze");
}

static hu_status
take_run(hu_selection *s, work *w, const char *dir, int run)
{
	char *path = hu_path(dir, "%s", s->table);
	hu_table t;
	hu_status st = HU_OK;

	if (!hu_exists(path)) {
		free(path);
		return HU_OK;
	}
	st = read_whole(&t, s->table, path);
	if (st != HU_OK) {
		free(path);
		return st;
	}
	st = hu_query_resolve(&w->q, &t, path);
	if (st != HU_OK) {
		hu_table_release(&t);
	} else {
		/* the mean follows the table with a window of a fortieth of it, at least 1 row: long runs become
		   smooth, short ones stay as they are */
		w->share = 2.0 / (1.0 + (t.rows > 80 ? t.rows / 40.0 : 1.0));
		for (int i = 0; i < w->q.columns; i++)
			w->smooth[i] = NAN;
		for (int i = 0; run == 1 && i < t.notes; i++)
			hu_str_addf(&s->notes, "# %s\n", t.note[i]);
		for (int r = 0; r < t.rows && st == HU_OK; r++)
			st = take_row(s, w, &t, path, run, r);
		if (run == 1 && w->q.diff && st == HU_OK)
			keep_base(w, &t);
		else
			hu_table_release(&t);
	}
	free(path);
	return st;
}

/* ---- the result ---- */

static void
finish_cell(const hu_query_column *p, cell *c)
{
	if (c->text)
		return;
	if (p->kind == HU_COLUMN_MEAN && c->any)
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

/* Does column C take two values in rows whose K is the same? */
static int
moves(const hu_selection *s, const char *c, const char *k)
{
	for (size_t r = 1; r < s->rows; r++)
		for (size_t q = r; q-- > 0;)
			if (!strcmp(hu_selection_cell(s, q, k), hu_selection_cell(s, r, k))) {
				if (hu_selection_real(s, q, c) != hu_selection_real(s, r, c))
					return 1;
				break;
			}
	return 0;
}

static void
finish(hu_selection *s, work *w, int tables)
{
	s->rows = w->rows;
	s->cell = hu_xcalloc(w->rows * (size_t)w->q.columns + 1, sizeof *s->cell);
	for (size_t r = 0; r < w->rows; r++)
		for (int i = 0; i < w->q.columns; i++) {
			cell *c = &w->row[r * (size_t)w->q.columns + (size_t)i];
			finish_cell(&w->q.column[i], c);
			s->cell[r * (size_t)w->q.columns + (size_t)i] = c->text;
		}
	hu_selection_top(s, w->q.top, w->q.top_column);
	int some = !w->q.some;
	for (size_t r = 0; r < s->rows && !some; r++) {
		double x = hu_selection_real(s, r, w->q.some);
		some = !isnan(x) && x != 0;
	}
	if (!some && s->rows) {
		hu_selection_empty(s);
		s->empty = hu_xprintf("every value of %s is zero", w->q.some);
	} else if (s->rows && w->q.moves && !moves(s, w->q.moves, w->q.moves_key)) {
		hu_selection_empty(s);
		s->empty = hu_xprintf("no %s ever changes its %s", w->q.moves_key, w->q.moves);
	} else if (!s->rows) {
		s->empty = !tables       ? hu_xprintf("%s is not there", s->table)
			   : !w->matched ? hu_xprintf("%s has no row for it", s->table)
			   : w->q.needs && !w->measured
				   ? hu_xprintf("%s has no finite %s", s->table, w->q.need[0].column)
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
	hu_query_parse(&w.q, s);
	for (int i = 0; i < n && st == HU_OK; i++) {
		char *path = hu_path(dir[i], "%s", s->table);
		tables += hu_exists(path);
		free(path);
		if (!i || !w.q.diff || w.base.rows)
			st = take_run(s, &w, dir[i], i + 1);
	}
	finish(s, &w, tables);
	for (size_t r = 0; r < w.rows; r++)
		free(w.key[r]);
	free(w.key);
	free(w.row);
	free(w.slot);
	free(w.base_slot);
	hu_table_release(&w.base);
	if (st != HU_OK)
		hu_selection_release(s);
	return st;
}
