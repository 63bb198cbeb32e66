/* SPDX-License-Identifier: Apache-2.0
   A budget that the user names: rules such as flips<=0.1% or sqnr>=30 that a policy's figures keep or break. */
#ifndef HU_ANALYZERS_ACCEPT_H
#define HU_ANALYZERS_ACCEPT_H

#include "analyzers/validate/measures.h"

/* A rule: its text as given, the figure, whether that must be at least or at most the limit, and whether the limit is a
   share of the inputs, given in percent. */
typedef struct hu_accept {
	const char *text;
	int figure, least, share;
	double limit;
} hu_accept;

/* Reads a rule. Where it names no figure, HU_EINVAL says which there are. */
hu_status hu_accept_parse(hu_accept *a, const char *text);
/* HU_EINVAL where one of the N rules counts what there is none of: decisions, or without labels right ones. */
hu_status hu_accept_known(const hu_accept *a, size_t n, const hu_deciding *d, int labels);
/* Returns 1 where r keeps the rule, and 0 also where the figure is not known. *is becomes the figure as the rule counts
   it. */
int hu_accept_keeps(const hu_accept *a, const hu_effect *r, double *is);
#endif
