/* SPDX-License-Identifier: Apache-2.0
   Any text as a file of rules: refused in one line that names the line, or rules whose bounds are finite. Links
   libhalfulp.a. */
#include "t/fuzz/fuzz.h"

#include "analyzers/drift/files/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(rules)
{
	hu_rules r = { NULL, 0, 0 };
	char *text = malloc(size + 1);

	HU_ASSERT(text);
	memcpy(text, data, size);
	text[size] = 0;
	hu_status st = hu_rules_parse(&r, "fuzz", text);
	free(text);
	if (st != HU_OK)
		HU_ASSERT(st == HU_EFILE && strstr(hu_reason(), "fuzz, line ") && !strchr(hu_reason(), '\n'));
	for (size_t i = 0; st == HU_OK && i < r.n; i++) {
		const hu_rule *rule = &r.rule[i];
		HU_ASSERT(*rule->pattern && (rule->bounds || rule->exact || rule->optional || rule->ignore));
		for (int k = 0; k < rule->bounds; k++) {
			const hu_bound_on *b = &rule->bound[k];
			int more = b->metric == HU_METRIC_COSINE || b->metric == HU_METRIC_SQNR;
			HU_ASSERT(isfinite(b->limit) && (more || b->limit >= 0));
			HU_ASSERT(hu_bound_holds(b, b->limit) && !hu_bound_holds(b, NAN) &&
				  !hu_bound_holds(b, more ? -INFINITY : INFINITY));
		}
	}
	hu_rules_match(&r, "grad.w");
	hu_rules_release(&r);
	return st == HU_OK;
}
