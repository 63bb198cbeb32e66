/* SPDX-License-Identifier: Apache-2.0
   Rules: which tensors may differ by how much. PATTERN: WORD, WORD, … with a shell pattern (commas between several)
   and
     MEASURE <= X    differ, ulps, ulps(FORMAT), abs, rel, l2, nonfinite
     MEASURE >= X    cosine, sqnr
     exact           the same values and the same dtype
     optional        the name, or a step of it, may be missing in one of the two
     ignore          not compared at all
   nonfinite <= 0 holds in every rule that says nothing of it. */
#ifndef HU_ANALYZERS_RULES_H
#define HU_ANALYZERS_RULES_H

#include "analyzers/drift/files/pair.h"

typedef enum hu_metric {
	HU_METRIC_DIFFER,
	HU_METRIC_ULPS,
	HU_METRIC_ABS,
	HU_METRIC_REL,
	HU_METRIC_L2,
	HU_METRIC_COSINE,
	HU_METRIC_SQNR,
	HU_METRIC_NONFINITE,
	HU_METRICS
} hu_metric;

enum { HU_RULE_BOUNDS = 8 };

typedef struct hu_bound_on {
	hu_metric metric;
	hu_format_id format;
	double limit;
} hu_bound_on;

typedef struct hu_rule {
	char *pattern, *text; /* text: the rule as it was written */
	hu_bound_on bound[HU_RULE_BOUNDS];
	int bounds, exact, optional, ignore;
	int own;     /* somebody wrote it: a default has no say in a change of dtype */
	size_t used; /* tensors that it was the first to match */
} hu_rule;

typedef struct hu_rules {
	hu_rule *rule;
	size_t n, cap;
} hu_rules;

/* Adds the rule TEXT. WHERE ("rules.txt, line 3", "--rule") and what is wrong stand in the reason of a failure, which
   is ST: HU_EINVAL of the command line, HU_EFILE of a file. */
hu_status hu_rules_add(hu_rules *r, const char *where, const char *text, hu_status st);
/* Adds the rules of a file, one in each line; # begins a comment. */
hu_status hu_rules_read(hu_rules *r, const char *path);
hu_status hu_rules_parse(hu_rules *r, const char *name, const char *data);
void hu_rules_release(hu_rules *r);

/* Returns the first rule that matches and counts it as used, or NULL. */
hu_rule *hu_rules_match(hu_rules *r, const char *name);
/* Returns what holds of an item that no rule matches, by the coarser of its two dtypes. Integers, bool and texts
   are exact. Floating point of precision p, with ε = 2^(1-p), the distance from 1 to the next number: l2 <= c·ε, as
   if every element had moved by c ulps, and rel <= 4c·ε, where c is 1 for formats of at most 16 bits, whose
   elements are sums rounded once from a wider accumulator, and 16 for wider ones, where the order of a sum of some
   thousand terms moves as much. Numbers of metrics are held as fp32. */
hu_rule hu_rule_default(const hu_item *old, const hu_item *new);

const char *hu_metric_name(hu_metric m);
/* Returns the measure that b bounds. k is the place of its format among those that were measured. */
double hu_metric_of(const hu_measures *m, const hu_bound_on *b, int k);
/* Returns whether the value keeps the bound. NaN never does. */
int hu_bound_holds(const hu_bound_on *b, double value);
#endif
