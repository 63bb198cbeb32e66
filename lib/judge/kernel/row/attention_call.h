/* SPDX-License-Identifier: Apache-2.0
   What attention.c is asked to compute: operands, their shapes, and facts. */
#ifndef HU_JUDGE_KERNEL_ATTENTION_CALL_H
#define HU_JUDGE_KERNEL_ATTENTION_CALL_H

#include "lib/judge/kernel/graph.h"

typedef struct hu_attention_call {
	const hu_roundoffs *a;
	size_t outer, heads, kv_heads, n, keys, depth, width, window, causal;
	size_t end;       /* of this sequence: where the last query stands, of causal=2 */
	size_t first, of; /* the queries are a stretch of so many, from this one on */
	double scale, diagonal, cap, up, tiny_p, factors, blocks, g, s, gd, sd;
	double upv, tiny_pv, most_pv; /* of P V where it is stored before it is divided; from most_pv on it overflows */
	int p_below; /* the denominator sums the stored P */
	int turns;   /* query head h has head h mod kv_heads of the keys, and not that of its block */
	hu_balls q, k, v, mask, slopes, sinks, lengths, scores;
} hu_attention_call;

/* Takes in the operands q, k, v, mask, slopes, sinks and lengths, of which the last four may be absent, and the facts
   of a call. HU_EFILE where shapes do not fit each other. */
hu_status hu_attention_call_read(hu_attention_call *t, const hu_ball_call *c, const hu_balls *in);
#endif
