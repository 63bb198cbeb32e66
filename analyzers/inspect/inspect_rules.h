/* SPDX-License-Identifier: Apache-2.0
   Rules on the rows of inspect, such as sqnr<30: what --fail-if and --show say. */
#ifndef HU_ANALYZERS_INSPECT_RULES_H
#define HU_ANALYZERS_INSPECT_RULES_H

#include "analyzers/inspect/inspect_table.h"
#include "lib/base/console/threshold.h"
#include "lib/base/console/opt.h"

/* A rule: its text, the column, and the limit on it, which is in percent of the elements where the column counts them
   and the limit says so. */
typedef struct hu_inspect_rule {
	const char *text;
	int column;
	hu_threshold limit;
} hu_inspect_rule;

typedef struct hu_inspect_rules {
	hu_inspect_rule *rule;
	size_t n;
} hu_inspect_rules;

/* Reads every value of the repeatable option. HU_EINVAL says which columns there are. */
hu_status hu_inspect_rules_parse(hu_inspect_rules *s, const hu_args *a, const char *option);
void hu_inspect_rules_release(hu_inspect_rules *s);

/* Returns 1 where the row's figure *is satisfies the rule; 0 where its column does not apply to the row. A row whose
   elements all are infinite or NaN, before the cast or after it, has no error, and satisfies every rule on one. */
int hu_inspect_rule_holds(const hu_inspect_rule *rule, const hu_inspect_row *r, double *is);

/* Prints a line for each row and rule of --fail-if that it satisfies, or with `tap` a TAP line for each row and rule.
   Returns how many rows satisfy one. */
size_t hu_inspect_rules_print(const hu_inspect_rules *s, const hu_inspect_row *row, size_t n, const char *of, int tap);
#endif
