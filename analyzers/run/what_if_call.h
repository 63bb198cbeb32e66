/* SPDX-License-Identifier: Apache-2.0
   A product summed again under other summation models, a tile of the call at a time. */
#ifndef HU_ANALYZERS_WHAT_IF_CALL_H
#define HU_ANALYZERS_WHAT_IF_CALL_H

#include "analyzers/run/analyzer.h"

/* What was found of a call, or of a tile of it, under one model: whether the model takes the call's operands, and if
   so how many of the whole call's outputs are judged, their errors, the largest of their bounds in ulps, and the
   additions. */
typedef struct hu_what_if_call {
	int taken;
	size_t n;
	hu_errors_sum sum;
	double bound_ulps;
	hu_swamp count;
} hu_what_if_call;

/* Judges unit u, which is one of a product, under the call's own model, into f[0], and under each of the n others; all
   of f is zeroed before. `there` gets 0 where the operands are not in the trace; why, to which it is appended, the
   reason where a model does not take them. */
hu_status hu_what_if_call_compute(hu_analysis *a, hu_trace *t, const hu_work_unit *u, const hu_sum *model, int n,
	hu_what_if_call *f, int *there, hu_str *why, hu_methods *methods);
/* Writes what was found to a pack; reads that of a tile of a call with `of` outputs and adds it to *f. */
void hu_what_if_call_put(hu_pack *r, hu_what_if_call *f);
void hu_what_if_call_get(hu_pack *r, hu_what_if_call *f, size_t of);
void hu_what_if_call_release(hu_what_if_call *f);
#endif
