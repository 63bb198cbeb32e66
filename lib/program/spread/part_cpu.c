/* SPDX-License-Identifier: Apache-2.0
   A rank's part of a step, emulated on the CPU. Tensors of short formats are numbers of 32 bits in memory and travel as
   codes; others are sent from where they are. */
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/program/spread/backend_cpu.h"
#include "lib/program/spread/part.h"

#include <stdio.h>
#include <stdlib.h>

static hu_status
part_open(hu_machine **m, const hu_spread *s, hu_gemm_way gemm)
{
	HU_TRY(hu_cpu_open(m, s->p, gemm, s->need));
	(*m)->s = s;
	(*m)->message = hu_xcalloc((size_t)s->p->nt + 1, sizeof *(*m)->message);
	return HU_OK;
}

static void
part_where(char *name, size_t size)
{
	snprintf(name, size, "cpu");
}

static double
part_memory(const hu_machine *m)
{
	double bytes = 0;

	for (int i = 0; i < m->x.p->nt; i++)
		if (m->s->need[i])
			bytes += (double)(m->x.t[i].n * hu_element_size(m->x.t[i].format));
	return bytes;
}

static hu_status
part_begin(hu_machine *m, const hu_env *env)
{
	m->env = *env;
	return HU_OK;
}

static hu_status
part_end(hu_machine *m)
{
	(void)m;
	return HU_OK;
}

static hu_status
part_run(hu_machine *m, int first, int n)
{
	hu_status st = HU_OK;

	for (int i = first; i < first + n && st == HU_OK; i++)
		st = hu_exec_one(&m->x, m->s->todo[i].id, &m->env);
	return st;
}

static hu_status
part_carry(hu_machine *m, int call)
{
	const hu_call *c = &m->x.p->c[call];
	hu_tensor *in[16], *out[16];

	HU_ASSERT(c->nin <= 16 && c->nout <= 16);
	for (int k = 0; k < c->nin; k++)
		in[k] = &m->x.t[c->in[k]];
	for (int k = 0; k < c->nout; k++)
		out[k] = &m->x.t[c->out[k]];
	return HU_COLUMN(c->op, carry)(c, in, out, &m->env);
}

static hu_status
part_judge(hu_machine *m, int call)
{
	hu_call c = m->x.p->c[call];
	hu_tensor *out[2] = { &m->x.t[c.out[0]], &m->x.t[c.out[1]] };

	c.nin = hu_spread_judged(&c);
	hu_tensor **in = hu_xmalloc(((size_t)c.nin + 1) * sizeof *in);
	for (int k = 0; k < c.nin; k++)
		in[k] = &m->x.t[c.in[k]];
	hu_status st = HU_COLUMN(c.op, emulate)(&c, in, out, &m->env);
	free(in);
	return st;
}

static hu_status
part_found(hu_machine *m, int call, int *yes)
{
	*yes = hu_get(&m->x.t[m->x.p->c[call].out[0]], 0) != 0;
	return HU_OK;
}

static hu_status
part_count(hu_machine *m, const int *tensor, int n, double *nonfinite)
{
	for (int i = 0; i < n; i++)
		nonfinite[i] = (double)hu_tensor_nonfinite(&m->x.t[tensor[i]]);
	return HU_OK;
}

static hu_status
part_own_digest(hu_machine *m, uint64_t *digest)
{
	*digest = hu_exec_own_digest(&m->x);
	return HU_OK;
}

/* The bytes of an element on its way: its code where that is shorter than the number that holds it. */
static size_t
element(const hu_tensor *t)
{
	size_t code = hu_is_wide(t->format) ? sizeof(double) : hu_bulk_element(t->format),
	       held = hu_element_size(t->format);

	return code < held ? code : held;
}

static int
travels_as_codes(const hu_tensor *t)
{
	return element(t) < hu_element_size(t->format);
}

static size_t
part_bytes(const hu_machine *m, int tensor)
{
	return m->x.t[tensor].n * element(&m->x.t[tensor]);
}

static hu_status
part_room(hu_machine *m, int tensor, void **message)
{
	if (travels_as_codes(&m->x.t[tensor]) && !m->message[tensor])
		m->message[tensor] = hu_xmalloc(part_bytes(m, tensor) + 1);
	*message = travels_as_codes(&m->x.t[tensor]) ? m->message[tensor] : m->x.t[tensor].data;
	return HU_OK;
}

/* Codes are as exact as the numbers: every one is of the tensor's format. */
static hu_status
part_out(hu_machine *m, int tensor, void **message)
{
	const hu_tensor *t = &m->x.t[tensor];

	HU_TRY(part_room(m, tensor, message));
	if (travels_as_codes(t))
		hu_bulk_pack(*message, t->data, t->n, t->format);
	return HU_OK;
}

static hu_status
part_in(hu_machine *m, int tensor)
{
	const hu_tensor *t = &m->x.t[tensor];

	if (travels_as_codes(t))
		hu_bulk_unpack(t->data, m->message[tensor], t->n, t->format);
	return HU_OK;
}

const hu_part_calls hu_part_cpu = { .open = part_open,
	.where = part_where,
	.memory = part_memory,
	.begin = part_begin,
	.end = part_end,
	.run = part_run,
	.carry = part_carry,
	.judge = part_judge,
	.found = part_found,
	.count = part_count,
	.own_digest = part_own_digest,
	.bytes = part_bytes,
	.out = part_out,
	.room = part_room,
	.in = part_in };
