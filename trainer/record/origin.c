/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/origin.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>

/* How many elements are not finite; 0 of a tensor that another rank has. */
static size_t
count(const hu_tensor *t)
{
	size_t n = 0;

	if (!t || !t->data)
		return 0;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) reduction(+ : n) if (t->n > 16384)
	for (size_t i = 0; i < t->n; i++)
		n += !hu_isfinite(hu_get(t, i));
	return n;
}

/* Whether the step's numbers that go on, or are told, have one that is not finite. */
static int
is_broken(hu_session *s, const hu_metrics_row *r)
{
	const hu_program *p = s->programs.train;

	if (!isfinite(r->loss) || !isfinite(r->grad_norm))
		return 1;
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].trainable && p->t[i].next >= 0 && count(s->backend->peek(s->train, p->t[i].next)))
			return 1;
	return 0;
}

void
hu_origin_observe(hu_session *s, hu_metrics_row *r)
{
	const hu_program *p = s->programs.train;

	if (!s->backend->peek || r->overflow_tensor >= 0 || !is_broken(s, r))
		return;
	signed char *odd = hu_xmalloc((size_t)p->nt + 1); /* -1: not yet looked at */
	for (int i = 0; i < p->nt; i++)
		odd[i] = -1;
	for (int i = 0; i < p->nc && r->overflow_tensor < 0; i++) {
		const hu_call *c = &p->c[i];
		int given = 0;
		for (int k = 0; k < c->nin; k++) {
			int t = c->in[k];
			if (odd[t] < 0)
				odd[t] = count(s->backend->peek(s->train, t)) != 0;
			given |= odd[t];
		}
		for (int k = 0; k < c->nout; k++) {
			size_t n = count(s->backend->peek(s->train, c->out[k]));
			odd[c->out[k]] = n != 0;
			if (!n || given || c->op->moves || isinf(hu_attr_num(c, "fill", 0)) || r->overflow_tensor >= 0)
				continue;
			r->overflow_call = i;
			r->overflow_tensor = c->out[k];
			r->overflow_count = (double)n;
		}
	}
	free(odd);
}
