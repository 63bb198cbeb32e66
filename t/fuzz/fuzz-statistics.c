/* SPDX-License-Identifier: Apache-2.0
   Any bytes as a baseline of statistics: refused in one line, or finite numbers of three seeds or more. Links
   libhalfulp.a. */
#include "t/fuzz/fuzz.h"

#include "analyzers/drift/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FUZZ_SIGNED_TARGET(statistics)
{
	hu_statistics s;
	char *text = malloc(size + 1);

	HU_ASSERT(text);
	memcpy(text, data, size);
	text[size] = 0;
	if (hu_statistics_parse(&s, "fuzz", text, size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	HU_ASSERT(s.by.n >= 3 && s.n >= 1 && s.n <= HU_AGGREGATES);
	for (int i = 0; i < s.n; i++) {
		HU_ASSERT(s.q[i].kind < HU_AGGREGATE_KINDS && s.q[i].s >= 0 && isfinite(s.q[i].s));
		HU_ASSERT(s.q[i].tau >= 0 && isfinite(s.q[i].tau));
		HU_ASSERT(s.q[i].better >= -1 && s.q[i].better <= 1);
		for (int k = 0; k < i; k++)
			HU_ASSERT(strcmp(s.q[k].name, s.q[i].name));
		for (int k = 0; k < s.by.n; k++)
			HU_ASSERT(isfinite(s.q[i].value[k]) && isfinite(s.q[i].repeat[k]));
	}
	hu_statistics_release(&s);
	return 1;
}
