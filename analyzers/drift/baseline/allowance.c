/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/allowance.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "analyzers/drift/baseline/place.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of another column of the row that KEY is of; NaN where it has none. */
static double
beside(const hu_baseline *b, const char *key, const char *column)
{
	char *other = hu_xprintf("%.*s/%s", (int)(strrchr(key, '/') - key), key, column);
	const hu_baseline_quantity *q = hu_baseline_find(b, other);

	free(other);
	return q ? q->value : NAN;
}

/* K ulps at 1 of the format of a tensor: of fp32 where no call of the training makes it, as weights in a table of
   updates. */
static double
of_norm(const hu_baseline *b, const char *tensor, double k)
{
	hu_format_id f = tensor ? hu_program_row_format(b, tensor) : HU_NO_FORMAT;

	return ldexp(k, 1 - hu_format_of(f == HU_NO_FORMAT ? HU_FP32 : f).p);
}

static void
allow(hu_baseline *b, hu_baseline_quantity *q, const hu_place *p, double k)
{
	const char *column = p->column;
	int training = !strcmp(p->table, "metrics") || !strcmp(p->table, "exercise");
	double tolerance = 0;

	if (!strcmp(column, "digest") || !strncmp(column, "share_", 6) || !strcmp(column, "updates") ||
		!strcmp(column, "swamped"))
		q->side = HU_SIDE_ANY;
	else if (training && strcmp(column, "loss_scale") && strcmp(column, "skipped") &&
		 strncmp(column, "overflow_", 9))
		q->ulps = k;
	else if (!strcmp(column, "ulp_max") || !strcmp(column, "ulp_mean"))
		tolerance = k;
	else if (strstr(column, "normwise") || !strcmp(column, "l2_share_lost") || !strcmp(column, "cosine"))
		tolerance = of_norm(b, p->tensor, k);
	else if (!strcmp(column, "bound_ratio_max"))
		tolerance = k * q->value / beside(b, q->key, "ulp_max");
	else if (!strncmp(column, "log2_scale_", 11))
		tolerance = 1;
	if (tolerance > q->tolerance && isfinite(tolerance))
		q->tolerance = tolerance;
}

/* A summary is the worst of its rows, so it may move as far as the widest of them. */
static void
allow_summary(hu_baseline *b, hu_baseline_quantity *q, const hu_place *p)
{
	const char *table = q->key + strlen("summary/");
	size_t n = strcspn(table, "/");

	for (size_t i = 0; i < b->n; i++) {
		const hu_baseline_quantity *row = &b->q[i];
		const char *column = strrchr(row->key, '/');
		if (strncmp(row->key, table, n) || row->key[n] != '/' || strcmp(column + 1, p->column))
			continue;
		q->tolerance = fmax(q->tolerance, row->tolerance);
		q->side = row->side == HU_SIDE_ANY ? HU_SIDE_ANY : q->side;
	}
}

void
hu_baseline_allow(hu_baseline *b, double k)
{
	for (int summaries = 0; summaries < 2 && k > 0; summaries++)
		for (size_t i = 0; i < b->n; i++) {
			hu_baseline_quantity *q = &b->q[i];
			hu_place p;
			if (hu_is_program_row(q->key) || (strncmp(q->key, "summary/", 8) == 0) != summaries)
				continue;
			hu_place_init(&p, q->key);
			if (summaries)
				allow_summary(b, q, &p);
			else
				allow(b, q, &p, k);
			hu_place_release(&p);
		}
}
