/* SPDX-License-Identifier: Apache-2.0
   The first node apart: the first tensor, in the order of the first engine's forward calls, that two engines recorded
   with other values, though all that it is computed from is the same; and its cause, found by computing the node again
   with one aspect at a time taken from the other engine. */
#ifndef HU_ANALYZERS_ENGINES_NODE_H
#define HU_ANALYZERS_ENGINES_NODE_H

#include "analyzers/engines/cone.h"
#include "lib/program/differ/apart.h"

/* A node of A that was computed again with the aspects `from_b` of B's: in how many elements it still differs from B.
   done is 0 where it could not be computed. */
typedef struct hu_node_replay {
	unsigned from_b;
	int done;
	size_t differ;
} hu_node_replay;

enum { HU_NODE_REPLAYS = HU_CONE_ASPECTS + 1 };

/* Why a node's replays say nothing of the cause. */
typedef enum hu_node_unknown {
	HU_NODE_KNOWN,
	HU_NODE_LIBRARY, /* a call was computed by a library or by an operator that is not known */
	HU_NODE_ABSENT,  /* what it reads was not recorded */
	HU_NODE_MOVED,   /* an engine's own node, computed again, has other bits than it recorded */
	HU_NODE_FAILED   /* it could not be computed again */
} hu_node_unknown;

typedef struct hu_node {
	size_t compared;    /* tensors that both engines have recorded, up to this one */
	size_t unmatched;   /* tensors of A's forward calls that B has not, or has in another shape */
	int found;          /* 0: no tensor differs */
	int a, b;           /* its ids */
	int call_a, call_b; /* what makes it; -1: a weight or an input */
	size_t n;           /* elements that were compared */
	hu_apart apart;
	int weight, input; /* it is a tensor that no call makes */
	hu_node_unknown unknown;
	unsigned differ; /* the aspects in which the nodes differ */
	int batch;       /* the engines' batches have different sizes */
	unsigned cause; /* aspects that together make the node B's; 0: none does, or batch, or the numbers themselves */
	int nreplay;
	hu_node_replay replay[HU_NODE_REPLAYS];
	hu_cone node[2]; /* A's and B's, where one is found */
} hu_node;

/* Finds the node. HU_ENOMEM is the only failure; hu_node_release frees it in any case. */
hu_status hu_node_find(hu_node *node, const hu_forward *a, const hu_forward *b);
void hu_node_release(hu_node *node);
#endif
