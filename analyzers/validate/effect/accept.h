/* SPDX-License-Identifier: Apache-2.0
   A budget that the user names: rules such as flips<=0.1% or sqnr>=30 that a policy's figures keep or break. */
#ifndef HU_ANALYZERS_ACCEPT_H
#define HU_ANALYZERS_ACCEPT_H

#include "analyzers/validate/effect/measures.h"

/* A rule: its text as given, the figure, whether that must be at least or at most the limit, and whether the limit is a
   share of the inputs, given in percent. output: the one that the rule names as NAME:RULE, whose `name` has
   `length` characters; -1 without a name: then distances must hold for each output alone. */
typedef struct hu_accept {
	const char *text, *name;
	size_t length;
	int output;
	int figure, least, share;
	double limit;
} hu_accept;

/* Reads a rule. Where it names no figure, HU_EINVAL says which there are. */
hu_status hu_accept_parse(hu_accept *a, const char *text);
/* Finds the outputs that the N rules name. HU_EINVAL where M has none of that name, or a rule counts what there is none
   of: decisions of that output, or without labels right ones. */
hu_status hu_accept_known(hu_accept *a, size_t n, const hu_deciding *d, const hu_imported *m, int labels);
/* Returns 1 where r keeps the rule, and 0 also where the figure is not known. *is becomes the figure as the rule counts
   it. */
int hu_accept_keeps(const hu_accept *a, const hu_effect *r, double *is);
#endif
