/* SPDX-License-Identifier: Apache-2.0
   Bounds of an exact step in pairs of doubles by the agreement of two precisions; propagate.h has the argument and its
   limits. Nothing here computes a value. */
#ifndef HU_JUDGE_AGREEMENT_H
#define HU_JUDGE_AGREEMENT_H

#include "lib/judge/exact_step.h"
#include "lib/judge/propagate.h"

typedef struct hu_agreement {
	const hu_tensor *second; /* by tensor id, as the same program made it in its own formats; NULL: no agreement,
				    and nothing but jumps is noted */
	int formats;             /* 1 where tensors were rounded to the formats that the program says */
	char *open;              /* by tensor id: 1 where a jump before it is undecided */
	char *rests;             /* by tensor id: 1 where its bounds rest on an agreement, its own or an earlier one */
	char *exact;             /* by tensor id: 1 where its leading doubles are exact and finite */
	int *digits;             /* by tensor id: precision of the coarsest rounding before it, at most float32's */
	hu_bounding how;
} hu_agreement;

void hu_agreement_init(hu_agreement *g, const hu_exact_step *x, const hu_tensor *second, int formats);
void hu_agreement_release(hu_agreement *g);
/* After call c of x: notes of its outputs whether a jump is open in them, and else bounds products by the agreement
   with the second precision where their running bound is wider. */
void hu_agreement_after(hu_agreement *g, hu_exact_step *x, const hu_call *c);
/* Frees the trailing zeros of those outputs of c that are exact doubles, whose products then need no bounds on trailing
   parts. */
void hu_agreement_round(const hu_agreement *g, hu_exact_step *x, const hu_call *c);
#endif
