/* SPDX-License-Identifier: Apache-2.0
   A node of an engine as it can be compared with another engine's: the calls between a tensor and the tensors before it
   whose values both engines have in common. It can be computed again with some of its aspects taken from the other
   engine's node, which says which of them makes the two differ. */
#ifndef HU_ANALYZERS_ENGINES_CONE_H
#define HU_ANALYZERS_ENGINES_CONE_H

#include "analyzers/engines/forward.h"

/* The aspects of a node, as bits of a set: the formats of operands, accumulators and results with their rounding
   modes and the casts that they need; the order of its sums; which operators it is made of; and all other attributes.
 */
enum { HU_CONE_FORMAT = 1, HU_CONE_ORDER = 2, HU_CONE_FUSION = 4, HU_CONE_SETTING = 8, HU_CONE_ASPECTS = 4 };

typedef struct hu_cone {
	const hu_forward *e;
	int tensor;       /* what the node computes */
	int *call, n;     /* the numbers of its calls, ascending; casts among them */
	int *main, nmain; /* those that are no casts (hu_cone_is_cast) */
	char *reads;      /* by tensor id: 1 where a call of the node reads it and none makes it */
	int unknown;      /* a call is opaque or was computed by a library, so that it cannot be computed again */
	int absent;       /* what it reads was not recorded */
} hu_cone;

/* Whether the operator only brings a tensor to another format: a cast, one in blocks or by a map of codes, the Hadamard
   transform before one. */
int hu_cone_is_cast(const hu_op *op);
/* common, by tensor id: 1 where the other engine has the same values. */
void hu_cone_init(hu_cone *c, const hu_forward *e, int tensor, const char *common);
void hu_cone_release(hu_cone *c);
/* Among how many ranks the node divides its sums: the products that it consists of, whose results an all-reduce adds;
   0 for any other node. */
int hu_cone_ranks(const hu_cone *c);
/* The aspects in which the two nodes differ. */
unsigned hu_cone_differ(const hu_cone *a, const hu_cone *b);
/* Computes a's node with the aspects `from_b` of b's; *out gets the result, whose data the caller frees. HU_EINVAL
   where that combination cannot be computed, such as a tensor core's order on formats that it does not take. */
hu_status hu_cone_replay(hu_tensor *out, const hu_cone *a, const hu_cone *b, unsigned from_b);
const char *hu_cone_aspect(int i); /* "format" and so on; NULL past the last */
#endif
