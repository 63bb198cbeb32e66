/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/str.h"
#include "lib/op/reduce/summed.h"
#include "lib/program/pass/pass.h"

void
hu_pass_accumulate(hu_program *p, const char *pattern, hu_sum sum)
{
	for (int i = 0; i < p->nc; i++) {
		hu_call *c = &p->c[i];
		int products = c->op->cls == HU_CLASS_GEMM || hu_attr_num(c, "block", 0) > 0;
		if (!products || p->t[c->out[0]].cls == HU_OTHER || !hu_match(pattern, c->layer))
			continue;
		c->sum = sum;
		/* A unit has an accumulator of its own; a tensor core's is in the call's format unless the model names
		   another. */
		if (!hu_sum_is_unit(sum.id))
			c->fmt.acc = sum.acc;
		else if (sum.out != HU_NO_FORMAT)
			c->fmt.acc = sum.out;
	}
}

hu_status
hu_pass_reductions(hu_program *p, const char *pattern, hu_sum sum)
{
	for (int i = 0; i < p->nc; i++) {
		hu_call *c = &p->c[i];
		if (!hu_summed_takes(c->op) || hu_program_is_loss(c) || !hu_match(pattern, c->layer))
			continue;
		HU_TRY(hu_summed_set(c, sum));
	}
	return HU_OK;
}
