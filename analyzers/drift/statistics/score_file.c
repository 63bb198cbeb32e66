/* SPDX-License-Identifier: Apache-2.0
   The file of scores: a row a seed. */
#include "analyzers/drift/statistics/score.h"

#include "analyzers/drift/baseline/baseline_common.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST "# halfulp scores: "

int
hu_scores_are_in(const char *path)
{
	return hu_baseline_begins(path, FIRST);
}

hu_status
hu_scores_write(const hu_scores *s, const char *path, const char *reason)
{
	hu_tsv t;

	hu_tsv_init(&t);
	hu_tsv_note(&t, "halfulp scores", "%d", HU_SCORE_VERSION);
	hu_baseline_head(&t, &s->of, reason);
	hu_tsv_note(&t, "better", s->better > 0 ? "more" : "less");
	hu_tsv_note(&t, "rows", "%d", s->n);
	char *columns = hu_xprintf("seed %s", s->column);
	hu_tsv_header(&t, columns);
	free(columns);
	for (int i = 0; i < s->n; i++) {
		hu_tsv_int(&t, s->seed[i]);
		hu_tsv_real(&t, s->value[i]);
	}
	hu_baseline_sign(&t);
	return hu_tsv_write(&t, path);
}

static hu_status
read_rows(void *to, const hu_table *t, const char *path)
{
	const char *version = hu_table_note(t, "halfulp scores"), *better = hu_table_note(t, "better");
	hu_scores *s = to;

	if (!version || strtol(version, NULL, 10) != HU_SCORE_VERSION)
		return hu_fail(HU_EFILE, "%s: no scores of version %d", path, HU_SCORE_VERSION);
	if (t->columns != 2 || strcmp(t->column[0], "seed") || strlen(t->column[1]) >= sizeof s->column || !better ||
		(strcmp(better, "more") && strcmp(better, "less")) || t->rows > HU_SCORES)
		return hu_fail(HU_EFILE, "%s: its header is not one of scores", path);
	snprintf(s->column, sizeof s->column, "%s", t->column[1]);
	s->better = strcmp(better, "less") ? 1 : -1;
	for (int i = 0; i < t->rows; i++) {
		const char *cell = hu_table_cell(t, i, 0);
		char *end;
		s->seed[s->n] = strtoll(cell, &end, 10);
		s->value[s->n++] = hu_table_real(t, i, 1);
		if (!*cell || *end || !isfinite(s->value[i]))
			return hu_fail(HU_EFILE, "%s: row %d: a seed or a score is none", path, i + 1);
		for (int k = 0; k < i; k++)
			if (s->seed[k] == s->seed[i])
				return hu_fail(HU_EFILE, "%s: row %d: seed %s stands there twice", path, i + 1, cell);
	}
	return hu_scores_blessable(s) == HU_OK ? HU_OK
					       : hu_fail(HU_EFILE, "%s: it has no three scores that differ", path);
}

hu_status
hu_scores_parse(hu_scores *s, const char *name, char *data, size_t n)
{
	memset(s, 0, sizeof *s);
	hu_status st = hu_baseline_parse_table(&s->of, read_rows, s, name, data, n);
	if (st != HU_OK)
		hu_scores_release(s);
	return st;
}

hu_status
hu_scores_read(hu_scores *s, const char *path)
{
	return hu_scores_parse(s, path, NULL, 0);
}
