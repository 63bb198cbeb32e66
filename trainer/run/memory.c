/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/memory.h"

#include "lib/base/mem.h"
#include "lib/base/guard/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns 1 where a cast reads parameter i: the products then read that copy, and the parameter is its master
   weight. */
static int
is_master(const hu_program *p, int i)
{
	for (int c = 0; c < p->nc; c++)
		if (p->c[c].op->role == HU_ROLE_CAST && p->c[c].in[0] == i)
			return 1;
	return 0;
}

hu_memory
hu_memory_of(const hu_program *p)
{
	hu_memory m = { 0, 0, 0, 0, 0 };
	char *is_next = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].next >= 0)
			is_next[p->t[i].next] = 1;
	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		double bytes = hu_info_bytes(t);
		if (is_next[i] || t->reused)
			continue;
		if (t->trainable && is_master(p, i))
			m.masters += bytes;
		else if (t->cls == HU_WEIGHT || !strcmp(t->role, "rm") || !strcmp(t->role, "rv"))
			m.weights += bytes;
		else if (t->cls == HU_ACTIVATION)
			m.activations += bytes;
		else if (t->cls == HU_GRADIENT || t->cls == HU_WGRAD)
			m.gradients += bytes;
		else if (t->state)
			m.optimizer_state += bytes;
	}
	free(is_next);
	return m;
}

double
hu_memory_total(const hu_memory *m)
{
	return m->weights + m->masters + m->activations + m->gradients + m->optimizer_state;
}

json_t *
hu_memory_to_json(const hu_memory *m)
{
	return json_pack("{s:f s:f s:f s:f s:f}", "weights", m->weights, "masters", m->masters, "activations",
		m->activations, "gradients", m->gradients, "optimizer_state", m->optimizer_state);
}

hu_status
hu_parse_bytes(const char *text, double *bytes)
{
	return hu_limit_parse("memory", text, bytes);
}

size_t
hu_parameters(const hu_program *p)
{
	size_t n = 0;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].trainable)
			n += hu_count(p->t[i].shape);
	return n;
}
