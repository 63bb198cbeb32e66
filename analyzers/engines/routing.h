/* SPDX-License-Identifier: Apache-2.0
   Two engines of a mixture of experts: for how many tokens their routers choose other sets of experts. */
#ifndef HU_ANALYZERS_ENGINES_ROUTING_H
#define HU_ANALYZERS_ENGINES_ROUTING_H

#include "analyzers/engines/forward.h"

/* One router: A's tensor, the tokens that both engines have, for how many of these the sets differ, and the first such
   token, -1 if there is none. */
typedef struct hu_router {
	int tensor;
	size_t tokens, differ;
	long long first;
} hu_router;

/* All routers that both engines have recorded with the same number of experts. tokens: the largest number that a router
   has; tokens_differ: those of which a set of any router differs; sets: the routers' tokens added up. */
typedef struct hu_routing {
	const hu_forward *a;
	int routers;
	hu_router *router;
	size_t tokens, tokens_differ, sets, sets_differ;
} hu_routing;

void hu_routing_measure(hu_routing *r, const hu_forward *a, const hu_forward *b);
void hu_routing_release(hu_routing *r);
/* Prints a line, or nothing where there are no routers. */
void hu_routing_print(const hu_routing *r);
/* The object `routers`, null where there are none; the caller frees it. */
json_t *hu_routing_json(const hu_routing *r);
#endif
