/* SPDX-License-Identifier: Apache-2.0
   The file of scores: a row a seed. */
#include "analyzers/drift/statistics/score.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_scores_write(const hu_scores *s, const char *path, const char *reason)
{
	hu_tsv t;

	hu_seeds_begin(&t, &s->by, "scores", HU_SCORE_VERSION, reason);
	hu_tsv_note(&t, "better", s->better > 0 ? "more" : "less");
	hu_tsv_note(&t, "rows", "%d", s->by.n);
	char *columns = hu_xprintf("seed %s", s->column);
	hu_tsv_header(&t, columns);
	free(columns);
	for (int i = 0; i < s->by.n; i++) {
		hu_tsv_int(&t, s->by.seed[i]);
		hu_tsv_real(&t, s->value[i]);
	}
	return hu_seeds_end(&t, path);
}

static hu_status
read_rows(void *to, const hu_table *t, const char *path)
{
	const char *better = hu_table_note(t, "better");
	hu_scores *s = to;

	HU_TRY(hu_seeds_version(t, "scores", HU_SCORE_VERSION, path));
	if (t->columns != 2 || strcmp(t->column[0], "seed") || strlen(t->column[1]) >= sizeof s->column || !better ||
		(strcmp(better, "more") && strcmp(better, "less")) || t->rows > HU_SEEDS)
		return hu_fail(HU_EFILE, "%s: its header is not one of scores", path);
	snprintf(s->column, sizeof s->column, "%s", t->column[1]);
	s->better = strcmp(better, "less") ? 1 : -1;
	for (int i = 0; i < t->rows; i++) {
		const char *cell = hu_table_cell(t, i, 0);
		char *end;
		long long seed = strtoll(cell, &end, 10);
		s->value[i] = hu_table_real(t, i, 1);
		if (!*cell || *end || !isfinite(s->value[i]))
			return hu_fail(HU_EFILE, "%s: row %d: a seed or a score is none", path, i + 1);
		if (hu_seeds_find(&s->by, seed) >= 0)
			return hu_fail(HU_EFILE, "%s: row %d: seed %s stands there twice", path, i + 1, cell);
		s->by.seed[s->by.n++] = seed;
	}
	return hu_scores_serve(s) == HU_OK ? HU_OK
					       : hu_fail(HU_EFILE, "%s: it has no three scores that differ", path);
}

hu_status
hu_scores_parse(hu_scores *s, const char *name, char *data, size_t n)
{
	memset(s, 0, sizeof *s);
	hu_status st = hu_baseline_parse_table(&s->by.of, read_rows, s, name, data, n);
	if (st != HU_OK)
		hu_scores_release(s);
	return st;
}

hu_status
hu_scores_read(hu_scores *s, const char *path)
{
	return hu_scores_parse(s, path, NULL, 0);
}
