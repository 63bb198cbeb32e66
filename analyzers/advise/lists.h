/* SPDX-License-Identifier: Apache-2.0
   The lists of nodes that other tools read, each applied as its tool applies it: the tool's file is made in memory,
   with all that it changes beside the products, and run on both parts of the inputs before the list is written. */
#ifndef HU_ANALYZERS_ADVISE_LISTS_H
#define HU_ANALYZERS_ADVISE_LISTS_H

#include "analyzers/advise/search.h"
#include "analyzers/network/network.h"

/* asked: a scheme of --format is the tool's. keeps: what the tool writes with these nodes keeps the budget on both
   parts. effect[h] is measured where tried is set; refused: why there is no such file, NULL: there is; runs counts what
   was run for it. */
typedef struct hu_proven_list {
	const char *name, *tool;
	int asked, keeps, tried;
	hu_tool_list nodes;
	hu_effect effect[2];
	char *refused;
	size_t runs;
} hu_proven_list;

/* block: node_block_list of the converters to float16, which begins with the plan's float32 products and grows from the
   first node whose result is not finite, then by the operators that help most. quantised: nodes_to_quantize, which
   begins with the plan's int8 products and loses those that do most damage. */
typedef struct hu_lists {
	hu_proven_list block, quantised;
} hu_lists;

/* Says which of both are asked for by the schemes. */
void hu_lists_ask(hu_lists *l, const hu_search *s);
/* Finds the lists for the plan BEST. Ranges of all of the model's values must have been measured where `quantised` is
   asked for. */
hu_status hu_lists_prove(hu_lists *l, hu_network *n, hu_search *s, const hu_assignment *best);
void hu_lists_release(hu_lists *l);
#endif
