/* SPDX-License-Identifier: Apache-2.0
   Any bytes as a baseline of a score: refused in one line, or three finite scores or more that differ, of as many
   seeds. Links libhalfulp.a. */
#include "t/fuzz/fuzz.h"

#include "analyzers/drift/statistics/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FUZZ_SIGNED_TARGET(scores)
{
	hu_scores s;
	int differ = 0;
	char *text = malloc(size + 1);

	HU_ASSERT(text);
	memcpy(text, data, size);
	text[size] = 0;
	if (hu_scores_parse(&s, "fuzz", text, size) != HU_OK) {
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
		return 0;
	}
	HU_ASSERT(s.by.n >= 3 && s.by.n <= HU_SEEDS);
	for (int i = 0; i < s.by.n; i++) {
		HU_ASSERT(isfinite(s.value[i]));
		differ |= s.value[i] != s.value[0];
		for (int k = 0; k < i; k++)
			HU_ASSERT(s.by.seed[k] != s.by.seed[i]);
	}
	HU_ASSERT(differ && strlen(s.column) < sizeof s.column);
	hu_scores_release(&s);
	return 1;
}
