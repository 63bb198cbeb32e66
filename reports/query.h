/* SPDX-License-Identifier: Apache-2.0
   The parsed form of a figure's query (select.h describes the language), which select.c runs. Names point into the
   selection's copy of the query. */
#ifndef HU_REPORTS_QUERY_H
#define HU_REPORTS_QUERY_H

#include "reports/select.h"

enum { HU_QUERY_CLAUSES = 8 };

typedef enum hu_column_kind {
	HU_COLUMN_PLAIN,
	HU_COLUMN_RUN,
	HU_COLUMN_ID,
	HU_COLUMN_MAX,
	HU_COLUMN_MIN,
	HU_COLUMN_SUM,
	HU_COLUMN_MEAN,
	HU_COLUMN_SMOOTH,
	HU_COLUMN_DIFF,
	HU_COLUMN_LABEL,
	HU_COLUMN_EMIN,
	HU_COLUMN_EMAX,
	HU_COLUMN_PRECISION
} hu_column_kind;

/* A column of a query; at and weight_at are indices of columns of the table that is being read. */
typedef struct hu_query_column { hu_column_kind kind; const char *source, *weight; int at, weight_at; } hu_query_column;

typedef struct hu_query {
	hu_query_column column[HU_SELECT_COLUMNS];
	int columns, grouped, diff;   /* grouped: rows with equal plain cells are joined into one */
	struct { const char *column, *value; int equal, at; } where[HU_QUERY_CLAUSES];
	struct { const char *column; int at; } need[HU_QUERY_CLAUSES];
	int wheres, needs;
	const char *some, *moves, *moves_key, *top_column;
	size_t top;
} hu_query;

/* Parses s->query and sets the names of s's columns. A query comes from figures.def, so a wrong one aborts. */
void hu_query_parse(hu_query *q, hu_selection *s);
/* Finds the query's columns in table t; HU_EFILE names the one that is missing. */
hu_status hu_query_resolve(hu_query *q, const hu_table *t, const char *path);
#endif
