/* SPDX-License-Identifier: Apache-2.0
   What a call's roundings to narrower formats made zero or subnormal, a tile of the call at a time. */
#ifndef HU_ANALYZERS_UNDERFLOW_CALL_H
#define HU_ANALYZERS_UNDERFLOW_CALL_H

#include "analyzers/formats/flush.h"
#include "analyzers/run/analyzer.h"

/* What was counted of one rounding; there is 0 where nothing was to be counted, or the tensors are not in the trace. */
typedef struct hu_underflow_call_part { int there; hu_flush u; } hu_underflow_call_part;

/* Counts of unit u, which is one of a call, into a part for each output and, behind them, one for what ranks send; they
   are zeroed before. A cast is counted on all elements, another result on those that are judged. */
hu_status hu_underflow_call_compute(
	hu_analysis *a, hu_trace *t, const hu_work_unit *u, hu_underflow_call_part *part, hu_methods *methods);

/* The formats of part k of call c, and how many elements it is of. */
void hu_underflow_call_formats(
	const hu_program *p, const hu_call *c, int k, hu_format_id *from, hu_format_id *to, size_t *of);

/* Passes parts through a pack, and adds those of another tile. */
void hu_underflow_call_pack(hu_pack *r, hu_underflow_call_part *part, int n);
void hu_underflow_call_merge(hu_underflow_call_part *to, const hu_underflow_call_part *part, int n);
void hu_underflow_call_flush(hu_pack *r, hu_flush *u);
#endif
