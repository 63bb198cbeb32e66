/* SPDX-License-Identifier: Apache-2.0
   Which numbers of ranks are tried for one order of the sum in one wire format, and the rows of all that were. */
#ifndef HU_ANALYZERS_SERIES_H
#define HU_ANALYZERS_SERIES_H

#include "analyzers/allreduce/reduce_out.h"

/* Computes the row of `ranks` ranks. */
typedef hu_status (*hu_series_try)(hu_reduce_row *to, long long ranks, const void *of);

/* Appends the rows of first, 2 first, 4 first, ... and last, by rising numbers of ranks, to the n rows at *rows, and
   adds their number to *n. Where one of these is broken and one before it is not, numbers between the last that holds
   and the first that does not are tried too, each halfway, until neighbours are left. Errors are not monotone: what
   follows is that those two neighbours hold and break, and not that no fewer ranks break. The caller frees *rows, also
   on failure. */
hu_status hu_series_add(
	hu_reduce_row **rows, int *n, long long first, long long last, hu_series_try attempt, const void *of);
#endif
