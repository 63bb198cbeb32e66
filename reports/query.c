/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/query.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct { const char *prefix; hu_column_kind kind; const char *suffix;
} kinds[] = {
	{ "id:", HU_COLUMN_ID, "_id" },
	{ "max:", HU_COLUMN_MAX, "" },
	{ "min:", HU_COLUMN_MIN, "" },
	{ "sum:", HU_COLUMN_SUM, "" },
	{ "mean:", HU_COLUMN_MEAN, "" },
	{ "smooth:", HU_COLUMN_SMOOTH, "_smooth" },
	{ "diff:", HU_COLUMN_DIFF, "_difference" },
	{ "label:", HU_COLUMN_LABEL, "_label" },
	{ "emin:", HU_COLUMN_EMIN, NULL },
	{ "emax:", HU_COLUMN_EMAX, NULL },
	{ "precision:", HU_COLUMN_PRECISION, NULL },
};

static void
add_column(hu_selection *s, hu_query *q, char *word)
{
	HU_ASSERT(s->columns < HU_SELECT_COLUMNS);
	hu_query_column *c = &q->column[s->columns];
	*c = (hu_query_column){ strcmp(word, "run") ? HU_COLUMN_PLAIN : HU_COLUMN_RUN, word, NULL, -1, -1 };
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
	q->grouped |= c->kind == HU_COLUMN_MAX || c->kind == HU_COLUMN_MIN || c->kind == HU_COLUMN_SUM ||
		      c->kind == HU_COLUMN_MEAN;
	q->diff |= c->kind == HU_COLUMN_DIFF;
	if (c->kind == HU_COLUMN_ID)
		s->level[s->levels++].column = c->source;
	s->column[s->columns++] =
		suffix ? hu_xprintf("%s%s", c->source, suffix) : hu_xprintf("%.*s", (int)strcspn(word, ":"), word);
}

void
hu_query_parse(hu_query *q, hu_selection *s)
{
	memset(q, 0, sizeof *q);
	char *save = NULL, *word = strtok_r(s->query, " ", &save);

	s->table = word;
	while ((word = strtok_r(NULL, " ", &save))) {
		if (!strcmp(word, "where")) {
			char *v = strtok_r(NULL, " ", &save), *sign = v + strcspn(v, "!=");
			HU_ASSERT(q->wheres < HU_QUERY_CLAUSES && *sign);
			q->where[q->wheres].equal = *sign == '=';
			q->where[q->wheres].value = sign + (*sign == '=' ? 1 : 2);
			*sign = 0;
			q->where[q->wheres++].column = v;
		} else if (!strcmp(word, "need")) {
			HU_ASSERT(q->needs < HU_QUERY_CLAUSES);
			q->need[q->needs++].column = strtok_r(NULL, " ", &save);
		} else if (!strcmp(word, "some")) {
			q->some = strtok_r(NULL, " ", &save);
		} else if (!strcmp(word, "moves")) {
			q->moves = strtok_r(NULL, " ", &save);
			q->moves_key = strtok_r(NULL, " ", &save);
		} else if (!strcmp(word, "top")) {
			q->top = strtoul(strtok_r(NULL, " ", &save), NULL, 10);
			q->top_column = strtok_r(NULL, " ", &save);
		} else {
			add_column(s, q, word);
		}
	}
	q->columns = s->columns;
}

static hu_status
find_column(const hu_table *t, const char *path, const char *name, int *at)
{
	*at = hu_table_column(t, name);
	if (*at < 0)
		return hu_fail(HU_EFILE,
			"%s: no column %s; made by another version? halfulp analyze makes the table again", path, name);
	return HU_OK;
}

hu_status
hu_query_resolve(hu_query *q, const hu_table *t, const char *path)
{
	for (int i = 0; i < q->columns; i++) {
		hu_query_column *c = &q->column[i];
		if (c->kind != HU_COLUMN_RUN)
			HU_TRY(find_column(t, path, c->source, &c->at));
		if (c->weight)
			HU_TRY(find_column(t, path, c->weight, &c->weight_at));
	}
	for (int i = 0; i < q->wheres; i++)
		HU_TRY(find_column(t, path, q->where[i].column, &q->where[i].at));
	for (int i = 0; i < q->needs; i++)
		HU_TRY(find_column(t, path, q->need[i].column, &q->need[i].at));
	return HU_OK;
}

