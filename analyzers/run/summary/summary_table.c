/* SPDX-License-Identifier: Apache-2.0
   What the parts of the summary share: tables that have to be whole, and numbers as JSON. */
#include "analyzers/run/summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads a table that this run's analysis made. */
static hu_status
of_this_run(const hu_run *r, const char *path, hu_table *t)
{
	HU_TRY(hu_table_read_sealed(t, path, "halfulp analyze without --only"));
	const char *of = hu_table_note(t, hu_run_note(r));
	if (of && !strcmp(of, r->xxh3))
		return HU_OK;
	hu_table_release(t);
	return hu_fail(HU_EFILE,
		"%s was not made from this run as it is now; halfulp analyze without --only writes it anew", path);
}

hu_status
hu_summary_table(const hu_run *r, const char *name, hu_table *t, int *there)
{
	char *path = hu_path(r->dir, "analysis/%s", name);

	*there = hu_exists(path);
	hu_status st = *there ? of_this_run(r, path, t) : HU_OK;
	*there = *there && st == HU_OK;
	free(path);
	return st;
}

json_t *
hu_summary_number(double x)
{
	int whole = fabs(x) < 9e15 && x == floor(x);

	return !isfinite(x) ? json_null() : whole ? json_integer((json_int_t)x) : json_real(x);
}
