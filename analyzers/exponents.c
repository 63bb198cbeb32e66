/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/exponents.h"

#include "lib/number/count.h"

#include <string.h>

static void
row(hu_tsv *out, size_t step, const hu_info *info, const char *bin, size_t count)
{
	if (!count)
		return;
	hu_tsv_int(out, (long long)step);
	hu_tsv_text(out, info->name);
	hu_tsv_text(out, hu_tclass_name(info->cls));
	hu_tsv_text(out, info->layer);
	hu_tsv_text(out, hu_format_name(info->format));
	hu_tsv_text(out, bin);
	hu_tsv_int(out, (long long)count);
}

static void
one(hu_tsv *out, size_t step, const hu_info *info, const hu_tensor *t)
{
	size_t count[HU_BINS];

	memset(count, 0, sizeof count);
	for (size_t i = 0; i < t->n; i++)
		count[hu_exponent_bin(hu_get(t, i))]++;
	row(out, step, info, "zero", count[HU_BIN_ZERO]);
	for (int e = HU_BIN_LOW; e <= HU_BIN_HIGH; e++) {
		char bin[16];
		snprintf(bin, sizeof bin, "%d", e);
		row(out, step, info, bin, count[e - HU_BIN_LOW]);
	}
	row(out, step, info, "nonfinite", count[HU_BIN_NONFINITE]);
}

void
hu_exponents_add(hu_tsv *out, const hu_program *p, size_t step, const hu_tensor *t)
{
	for (int i = 0; i < p->nt; i++)
		if (t[i].data)
			one(out, step, &p->t[i], &t[i]);
}
