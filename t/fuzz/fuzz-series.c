/* SPDX-License-Identifier: Apache-2.0
   Any bytes as metrics: refused in one line, or series whose steps ascend and whose cells stand in the file. */
#include "t/fuzz/fuzz.h"

#include "lib/store/series/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(series)
{
	hu_series_file f;
	char *text = malloc(size + 1);

	HU_ASSERT(text);
	memcpy(text, data, size);
	text[size] = 0;
	hu_status st = hu_series_parse(&f, "fuzz", text, size, NULL);
	free(text);
	if (st != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n') && !f.n);
		return 0;
	}
	HU_ASSERT(f.n);
	for (size_t i = 0; i < f.n; i++) {
		const hu_metric_series *s = &f.series[i];
		HU_ASSERT(s->n && s->name);
		for (size_t k = 0; k < s->n; k++) {
			const hu_point *p = &s->point[k];
			HU_ASSERT(*p->text && (!k || hu_point_order(p - 1, p) < 0));
			HU_ASSERT(!s->numbers || !strpbrk(p->text, "xX"));
		}
		for (size_t k = 0; k < i; k++)
			HU_ASSERT(strcmp(f.series[k].name, s->name));
	}
	hu_series_release(&f);
	return 1;
}
