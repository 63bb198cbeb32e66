/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/allreduce/series.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static int
by_ranks(const void *a, const void *b)
{
	int x = ((const hu_reduce_row *)a)->how.sum.n, y = ((const hu_reduce_row *)b)->how.sum.n;

	return (x > y) - (x < y);
}

/* Appends the row of one number of ranks, and says if that is broken. */
static hu_status
add(hu_reduce_row **rows, int *n, int *broken, long long ranks, hu_series_try attempt, const void *of)
{
	*rows = hu_xrealloc(*rows, ((size_t)*n + 1) * sizeof **rows);
	hu_reduce_row *row = &(*rows)[*n];
	memset(row, 0, sizeof *row);
	HU_TRY(attempt(row, ranks, of));
	*broken = row->broken;
	++*n;
	return HU_OK;
}

hu_status
hu_series_add(hu_reduce_row **rows, int *n, long long first, long long last, hu_series_try attempt, const void *of)
{
	long long holds = 0, breaks = 0;
	int start = *n, broken;

	for (long long k = first, end = 0; !end; k *= 2) {
		end = k >= last;
		k = end ? last : k;
		HU_TRY(add(rows, n, &broken, k, attempt, of));
		if (broken && !breaks)
			breaks = k;
		else if (!breaks)
			holds = k;
	}
	while (holds && breaks - holds > 1) {
		long long middle = holds + (breaks - holds) / 2;
		HU_TRY(add(rows, n, &broken, middle, attempt, of));
		*(broken ? &breaks : &holds) = middle;
	}
	qsort(*rows + start, (size_t)(*n - start), sizeof **rows, by_ranks);
	return HU_OK;
}
