/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/bins.h"

#include "lib/number/count.h"

#include <stdio.h>

static void
row(hu_tsv *out, size_t step, const hu_info *t, const char *bin, uint64_t count)
{
	if (!count)
		return;
	hu_tsv_int(out, (long long)step);
	hu_tsv_text(out, t->name);
	hu_tsv_text(out, hu_tclass_name(t->cls));
	hu_tsv_text(out, t->layer);
	hu_tsv_text(out, hu_format_name(t->format));
	hu_tsv_text(out, bin);
	hu_tsv_int(out, (long long)count);
}

void
hu_bins_rows(hu_tsv *out, size_t step, const hu_info *t, const uint64_t *bins)
{
	row(out, step, t, "zero", bins[HU_BIN_ZERO]);
	for (int e = HU_BIN_LOW; e <= HU_BIN_HIGH; e++) {
		char bin[16];
		snprintf(bin, sizeof bin, "%d", e);
		row(out, step, t, bin, bins[e - HU_BIN_LOW]);
	}
	row(out, step, t, "nonfinite", bins[HU_BIN_NONFINITE]);
}
