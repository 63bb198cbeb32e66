/* SPDX-License-Identifier: Apache-2.0
   Kahan's compensation of weights (update=kahan), as optimi has it: beside the weight w in a short format lies the
   state w_compensation, c, in the same one. The optimizer's step u = w - w_ahead is in float32; then c1 = c - u, the
   next w is w + c1 and the next c is c1 + (w - next w), each rounded to the format. What w's rounding loses stays in c,
   so that both together are the weight. In a skipped step u is 0, and w + c is w: c is at most half an ulp of w, and
   in a tie w was chosen for being even. */
#include "trainer/optim/optim.h"

#include <stdio.h>

/* The call that makes a parameter's next value. */
static hu_call *
update_of(hu_program *p, int i)
{
	return p->t[i].next >= 0 && p->t[p->t[i].next].producer >= 0 ? &p->c[p->t[p->t[i].next].producer] : NULL;
}

static void
compensate(hu_program *p, int i)
{
	hu_format_id own = p->t[i].format;
	int next = p->t[i].next, call = update_of(p, i)->id;
	char name[HU_NAME + 24];

	snprintf(name, sizeof name, "%s_ahead", p->t[i].name);
	int ahead = hu_program_tensor(p, name, HU_FP32, p->t[i].shape, HU_OTHER);
	p->c[call].out[0] = ahead;
	p->c[call].fmt.out = HU_FP32;
	p->t[ahead].producer = call;
	p->t[next].producer = -1;
	snprintf(name, sizeof name, "%s_compensation", p->t[i].name);
	int c = hu_program_tensor(p, name, own, p->t[i].shape, HU_OTHER);
	p->t[c].state = 1;
	int u = hu_optim_apply(p, i, "sub", "taken", HU_FP32, 0, (int[]){ i, ahead }, 2),
	    moved = hu_optim_apply(p, i, "sub", "compensated", own, 0, (int[]){ c, u }, 2);
	hu_program_call(p, "add", HU_UPDATE, p->t[i].layer, (int[]){ i, moved }, 2, &next, 1);
	int rest = hu_optim_apply(p, i, "sub", "rest", own, 0, (int[]){ i, next }, 2), after = hu_optim_next(p, c);
	hu_program_call(p, "add", HU_UPDATE, p->t[i].layer, (int[]){ moved, rest }, 2, &after, 1);
}

void
hu_optim_kahan(hu_program *p)
{
	for (int i = 0, n = p->nt; i < n; i++)
		if (p->t[i].trainable && update_of(p, i) && hu_format_of(p->t[i].format).p < 24)
			compensate(p, i);
}
