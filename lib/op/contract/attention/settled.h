/* SPDX-License-Identifier: Apache-2.0
   A call of attention in blocks as a device computes it: its sizes, formats and sums, from its shapes alone. flash.h
   says what is computed. */
#ifndef HU_OP_CONTRACT_ATTENTION_SETTLED_H
#define HU_OP_CONTRACT_ATTENTION_SETTLED_H

#include "lib/op/call.h"
#include "lib/op/contract/attention/arithmetic.h"

/* factor is rounded to f. mask is the operand's number, or -1, and mask_step the elements from one matrix of queries to
   the next one's mask. The rest is as in hu_flash and hu_attention. */
typedef struct hu_flash_settled {
	hu_format f, narrow, held;
	hu_sum inner, outer;
	hu_flash_start start;
	double scale, base, back, factor;
	size_t Q, repeat, L, S, E, V, block, mask_step;
	int mask, causal;
} hu_flash_settled;

/* Settles a call with blocks from its operands' formats and shapes. HU_EINVAL where it is refused (hu_flash_check). */
hu_status hu_flash_settle(
	hu_flash_settled *x, const hu_call *c, const hu_format_id *format, const hu_shape *in, int gradient);
#endif
