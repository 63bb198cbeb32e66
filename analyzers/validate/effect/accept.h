/* SPDX-License-Identifier: Apache-2.0
   A budget that the user names: rules such as flips<=0.1% or sqnr>=30 that a policy's figures keep or break. */
#ifndef HU_ANALYZERS_ACCEPT_H
#define HU_ANALYZERS_ACCEPT_H

#include "analyzers/validate/effect/measures.h"

#include "lib/base/console/threshold.h"
#include "lib/base/str.h"

#include <jansson.h>

enum { HU_ACCEPT_TEXT = 32 }; /* characters of a figure */

/* A rule: its text as given, the figure, the limit on it, and whether that is a share of the inputs, given in percent.
   confidence: 0, or that of a rule such as flips<=1% at 95%, between 0 and 1: then the exact one-sided limit of the
   share at that confidence must keep it, and not the inputs alone. output: the one that the rule names as NAME:RULE,
   whose `name` has `length` characters; -1 without a name: then distances must hold for each output alone. */
typedef struct hu_accept {
	const char *text, *name;
	size_t length;
	int output;
	int figure, share;
	hu_threshold limit; /* of a share in percent as it was given, else the number that the figure is held to */
	double confidence;
} hu_accept;

/* What the inputs show of a rule on a share: COUNT of N speak against it (flips, wrong answers), which is a share of at
   most MOST at the confidence C, the rule's or 95 %. LIMIT: the share of them that the rule allows; INPUTS: so many
   with no more than COUNT of them show that it is kept, 0 where none would. */
typedef struct hu_accept_shown {
	size_t count, n, inputs;
	double most, limit, c;
} hu_accept_shown;

/* Reads a rule. Where it names no figure, HU_EINVAL says which there are. */
hu_status hu_accept_parse(hu_accept *a, const char *text);
/* Finds the outputs that the N rules name. HU_EINVAL where M has none of that name, or a rule counts what there is none
   of: decisions of that output, or without labels right ones. */
hu_status hu_accept_known(hu_accept *a, size_t n, const hu_deciding *d, const hu_imported *m, int labels);
/* Returns 1 where r keeps the rule, and 0 also where the figure is not known. *is becomes the figure as the rule counts
   it. */
int hu_accept_keeps(const hu_accept *a, const hu_effect *r, double *is);
/* Writes that figure as the rule writes its limit: a share in percent where the limit is one. */
void hu_accept_figure(char text[HU_ACCEPT_TEXT], const hu_accept *a, double is);
/* As above for these inputs alone, whatever confidence the rule asks for. */
int hu_accept_keeps_here(const hu_accept *a, const hu_effect *r, double *is);
/* Returns 1 where the rule is on a share of inputs that are independent, and what they show. */
int hu_accept_show(hu_accept_shown *s, const hu_accept *a, const hu_effect *r);
/* Returns how many inputs the rule's confidence takes if not one speaks against it; 0 without a confidence. */
size_t hu_accept_fewest(const hu_accept *a);
/* Adds what the inputs show of such a rule, such as "0 of 150: at most 1.98 % at 95 %; 299 inputs without a flip are
   needed"; nothing for other rules. Returns 1 where it added something. */
int hu_accept_tell(hu_str *b, const hu_accept *a, const hu_effect *r);
/* Returns an object of rule, is, keeps, confidence, count, of, share_most, inputs_needed and shown, the text above. */
json_t *hu_accept_json(const hu_accept *a, const hu_effect *r);
#endif
