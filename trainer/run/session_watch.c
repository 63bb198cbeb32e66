/* SPDX-License-Identifier: Apache-2.0
   Registers with a device what hu_metrics_observe (trainer/record/metrics.c) reads after every step. */
#include "trainer/run/session.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdlib.h>

hu_status
hu_session_watch(hu_session *s)
{
	const hu_program *p = s->programs.train;
	int *counted = hu_xmalloc(2 * ((size_t)p->nt + 1) * sizeof *counted), *surveyed = counted + p->nt + 1, n = 0,
	    ns = 0, neach = 0;
	const int wanted[] = { s->id.loss, s->id.scale, s->id.norm, s->id.found, s->id.where, s->id.p, s->id.labels,
		p->t[s->id.scale].next, s->id.rate },
		  eval[] = { s->eval_id.loss, s->eval_id.p };
	int each[sizeof wanted / sizeof *wanted];

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (wanted[i] >= 0)
			each[neach++] = wanted[i];
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			counted[n++] = p->t[i].grad;
	for (int i = 0; i < p->nt; i++)
		if (s->config->count && hu_match(s->config->count, p->t[i].name))
			surveyed[ns++] = i;
	hu_status st = s->backend->watch(s->train, each, neach, counted, n, surveyed, ns);
	free(counted);
	return st == HU_OK ? s->backend->watch(s->eval, eval, 2, NULL, 0, NULL, 0) : st;
}
