/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/baseline_headline.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The worst of one column. */
typedef struct worst {
	char *key, *text;
	double value;
	hu_baseline_side side;
	hu_format_id format;
} worst;

static int
is_worse(double x, double than, hu_baseline_side side)
{
	return isnan(x) ? !isnan(than) : isnan(than) ? 0 : side == HU_SIDE_UP ? x > than : x < than;
}

void
hu_baseline_summarize(hu_baseline *b)
{
	worst *w = NULL;
	size_t n = 0, cap = 0, rows = b->n;

	for (size_t i = 0; i < rows; i++) {
		const hu_baseline_quantity *q = &b->q[i];
		const char *table = q->key, *column = strrchr(q->key, '/');
		if (!column || !q->number || (q->side != HU_SIDE_UP && q->side != HU_SIDE_DOWN))
			continue;
		char *key = hu_xprintf("summary/%.*s%s", (int)strcspn(table, "/"), table, column);
		size_t k = 0;
		while (k < n && strcmp(w[k].key, key))
			k++;
		if (k == n) {
			HU_GROW(w, n, cap);
			w[n++] = (worst){ key, q->text, q->value, q->side, q->format };
			continue;
		}
		free(key);
		if (is_worse(q->value, w[k].value, w[k].side)) {
			w[k].value = q->value;
			w[k].text = q->text;
		}
	}
	for (size_t k = 0; k < n; k++) {
		hu_baseline_add(b, w[k].key, w[k].text, w[k].side, w[k].format);
		free(w[k].key);
	}
	free(w);
	hu_baseline_sort(b);
}

int
hu_is_headline(const hu_baseline *b, const hu_baseline_quantity *q)
{
	double last = 0, step;

	if (!strncmp(q->key, "summary/", 8))
		return 1;
	if (strncmp(q->key, "metrics/", 8))
		return 0;
	if (!strncmp(q->key, "metrics/last/", 13) || !strncmp(q->key, "metrics/0/", 10))
		return 1;
	for (size_t i = 0; i < b->n; i++)
		if (!strncmp(b->q[i].key, "metrics/", 8) && (step = strtod(b->q[i].key + 8, NULL)) > last)
			last = step;
	return strtod(q->key + 8, NULL) == last;
}
