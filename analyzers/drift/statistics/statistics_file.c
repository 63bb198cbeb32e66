/* SPDX-License-Identifier: Apache-2.0
   The file: a row a quantity, with the value of every run. */
#include "analyzers/drift/statistics/statistics.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_statistics_write(const hu_statistics *s, const char *path, const char *reason)
{
	hu_str columns;
	hu_tsv t;

	hu_seeds_begin(&t, &s->by, "statistics", HU_STATISTICS_VERSION, reason);
	hu_tsv_note(&t, "alpha", "0.005 over all quantities");
	hu_tsv_note(&t, "rows", "%d", s->n);
	hu_str_init(&columns);
	hu_str_add(&columns, "quantity kind better spread order");
	for (int i = 0; i < s->by.n; i++)
		hu_str_addf(&columns, " seed:%lld other:%lld", s->by.seed[i], s->by.seed[i]);
	hu_tsv_header(&t, columns.s);
	hu_str_release(&columns);
	for (int i = 0; i < s->n; i++) {
		const hu_statistic *q = &s->q[i];
		hu_tsv_text(&t, q->name);
		hu_tsv_text(&t, hu_aggregate_kind_name(q->kind));
		hu_tsv_int(&t, q->better);
		hu_tsv_real(&t, q->s);
		hu_tsv_real(&t, q->tau);
		for (int k = 0; k < s->by.n; k++) {
			hu_tsv_real(&t, q->value[k]);
			hu_tsv_real(&t, q->repeat[k]);
		}
	}
	return hu_seeds_end(&t, path);
}

/* Whether the spreads are those of the values, but for the floor of s, which adds to it. Values whose squares leave
   double's range have none. */
static int
follow(const hu_statistic *q, int n)
{
	double mean = 0, squares = 0, moved = 0;

	for (int k = 0; k < n; k++)
		mean += q->value[k] / n;
	for (int k = 0; k < n; k++) {
		squares += (q->value[k] - mean) * (q->value[k] - mean);
		moved += (q->repeat[k] - q->value[k]) * (q->repeat[k] - q->value[k]);
	}
	double s = sqrt(squares / (n - 1)), tau = sqrt(moved / n);
	return q->s >= s * (1 - 1e-9) && fabs(q->tau - tau) <= 1e-9 * tau;
}

static int
is_named(const hu_statistics *s, int n, const char *name)
{
	int i = 0;

	while (i < n && strcmp(s->q[i].name, name))
		i++;
	return i < n;
}

static hu_status
read_row(hu_statistics *s, const hu_table *t, int row, const char *path)
{
	const char *kind = hu_table_cell(t, row, 1), *name = hu_table_cell(t, row, 0);
	hu_statistic *q = &s->q[s->n];
	int finite = 1;

	if (is_named(s, s->n++, name))
		return hu_fail(HU_EFILE, "%s: row %d: %s stands there twice", path, row + 1, name);
	snprintf(q->name, sizeof q->name, "%s", name);
	while (q->kind < HU_AGGREGATE_KINDS && strcmp(hu_aggregate_kind_name(q->kind), kind))
		q->kind++;
	double better = hu_table_real(t, row, 2);
	q->better = (better > 0) - (better < 0);
	q->s = hu_table_real(t, row, 3);
	q->tau = hu_table_real(t, row, 4);
	for (int k = 0; k < s->by.n; k++) {
		q->value[k] = hu_table_real(t, row, 5 + 2 * k);
		q->repeat[k] = hu_table_real(t, row, 6 + 2 * k);
		finite &= isfinite(q->value[k]) && isfinite(q->repeat[k]);
	}
	finite &= isfinite(q->s) && isfinite(q->tau);
	if (q->kind == HU_AGGREGATE_KINDS || !finite || better != q->better || strcmp(q->name, name))
		return hu_fail(HU_EFILE, "%s: row %d, %s: a kind or a number is none", path, row + 1, q->name);
	return follow(q, s->by.n) ? HU_OK
				  : hu_fail(HU_EFILE, "%s: row %d, %s: its spreads are not those of its values", path,
					    row + 1, q->name);
}

static hu_status
read_seeds(hu_statistics *s, const hu_table *t, const char *path)
{
	static const char *const first[] = { "quantity", "kind", "better", "spread", "order" };
	int wrong = t->columns < 11 || (t->columns - 5) % 2 || (t->columns - 5) / 2 > HU_SEEDS;

	for (int i = 0; i < 5 && !wrong; i++)
		wrong = strcmp(t->column[i], first[i]) != 0;
	for (int i = 5; i < t->columns && !wrong; i += 2) {
		char *end = NULL,
		     *name = hu_xprintf("other:%s", strncmp(t->column[i], "seed:", 5) ? "" : t->column[i] + 5);
		long long seed = strtoll(name + 6, &end, 10);
		wrong = !name[6] || *end || strcmp(name, t->column[i + 1]) || hu_seeds_find(&s->by, seed) >= 0;
		s->by.seed[s->by.n++] = seed;
		free(name);
	}
	return wrong ? hu_fail(HU_EFILE, "%s: its header is not one of statistics of three different seeds", path)
		     : HU_OK;
}

static hu_status
read_rows(void *to, const hu_table *t, const char *path)
{
	HU_TRY(hu_seeds_version(t, "statistics", HU_STATISTICS_VERSION, path));
	HU_TRY(read_seeds(to, t, path));
	if (t->rows < 1 || t->rows > HU_AGGREGATES)
		return hu_fail(
			HU_EFILE, "%s: it has %d quantities, and 1 to %d are possible", path, t->rows, HU_AGGREGATES);
	for (int i = 0; i < t->rows; i++)
		HU_TRY(read_row(to, t, i, path));
	return HU_OK;
}

hu_status
hu_statistics_parse(hu_statistics *s, const char *name, char *data, size_t n)
{
	memset(s, 0, sizeof *s);
	hu_status st = hu_baseline_parse_table(&s->by.of, read_rows, s, name, data, n);
	if (st != HU_OK)
		hu_statistics_release(s);
	return st;
}

hu_status
hu_statistics_read(hu_statistics *s, const char *path)
{
	return hu_statistics_parse(s, path, NULL, 0);
}
