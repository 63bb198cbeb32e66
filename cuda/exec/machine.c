/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/exec/machine_parts.h"

#include "cuda/exec/transfer.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/op/attr.h"
#include "lib/op/axis/extreme.h"
#include "lib/op/element/formulas.h"
#include "lib/op/reduce/reduce_family.h"
#include "lib/op/reduce/summed.h"

#include <stdlib.h>
#include <string.h>

static const hu_kernel *
kernel_named(const hu_side *side, const char *op)
{
	for (const hu_kernel *k = side->kernels; k->op; k++)
		if (!strcmp(k->op, op))
			return k;
	return NULL;
}

const hu_kernel *
hu_machine_kernel(const hu_side *side, const hu_op *op)
{
	/* Families whose operators all have one kernel. */
	static const struct {
		const hu_columns *family;
		const char *kernel;
	} shared[] = {
		{ &hu_family_reduce, "reduce" },
		{ &hu_family_extreme, "extreme" },
		{ &hu_family_extreme_dx, "extreme_dx" },
	};
	const hu_kernel *own = kernel_named(side, op->name);

	for (size_t i = 0; i < sizeof shared / sizeof *shared && !own; i++)
		if (op->family == shared[i].family)
			return kernel_named(side, shared[i].kernel);
	return own || !hu_pointwise_is_formula(op) ? own : kernel_named(side, "pointwise");
}

hu_status
hu_machine_serves(const hu_side *side, const hu_call *c)
{
	if (!hu_machine_kernel(side, c->op))
		return hu_fail(HU_EUNABLE,
			"back end %s: operator %s (call %d, layer %s) has no kernel; use the back end cpu", side->name,
			c->op->name, c->id, c->layer);
	if (hu_summed_by(c))
		return hu_fail(HU_EUNABLE,
			"back end %s: operator %s (call %d, layer %s) adds by %s, and its kernel by the fixed tree; "
			"use the "
			"back end cpu",
			side->name, c->op->name, c->id, c->layer, hu_sum_name(c->sum.id));
	if (hu_op_takes(c->op, "block") && !hu_attr_count(c, "block", 0))
		return hu_fail(HU_EUNABLE,
			"back end %s: operator %s (call %d, layer %s) has a kernel for blocks alone; give it the "
			"attribute "
			"block=N or use the back end cpu",
			side->name, c->op->name, c->id, c->layer);
	return HU_OK;
}

static hu_status
check_program(hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++)
		if (m->t[i].n > HU_MOST_ELEMENTS)
			return hu_fail(HU_EUNABLE,
				"back end %s: tensor %s has %zu elements, and kernels reach 2^31: use a smaller batch",
				m->side->name, m->p->t[i].name, m->t[i].n);
	for (int i = 0; i < m->p->nc; i++) {
		HU_TRY(hu_machine_serves(m->side, &m->p->c[i]));
		m->kernel[i] = hu_machine_kernel(m->side, m->p->c[i].op);
	}
	return HU_OK;
}

static hu_status
open_all(hu_machine *m)
{
	HU_TRY(m->side->open(&m->queue));
	HU_TRY(m->side->open(&m->feed_queue));
	m->arch = m->side->arch();
	HU_TRY(check_program(m));
	for (int k = 0; k < 2; k++)
		hu_plan_init_stretches(&m->schedule.plan[k], m->p, m->side, m->t, k, m->part ? m->part->stretch : NULL);
	if (m->part)
		hu_machine_part_plan(m);
	HU_TRY(hu_machine_allocate(m));
	HU_TRY(m->side->queues->event_open(&m->beaten));
	HU_TRY(hu_machine_feed_open(m));
	return m->part ? hu_machine_part_open(m) : HU_OK;
}

/* Returns 1 if each tensor succeeds at most one state tensor and has no successor itself. A commit then always
   exchanges the same pairs of pointers, which have only two positions, and a step can be recorded for each. */
static int
one_successor_each(const hu_program *p)
{
	char *taken = hu_xcalloc((size_t)p->nt + 1, 1);
	int yes = 1;

	for (int i = 0; i < p->nt; i++) {
		int next = p->t[i].next;
		if (next < 0)
			continue;
		yes &= p->t[next].next < 0 && !taken[next];
		taken[next] = 1;
	}
	free(taken);
	return yes;
}

/* Opens a machine of p, or of what s says of it. */
static hu_status
open_some(hu_machine **out, const hu_program *p, const hu_spread *s, const hu_side *side, hu_gemm_way gemm)
{
	hu_machine *m = hu_xcalloc(1, sizeof *m);

	*out = NULL;
	m->side = side;
	m->p = p;
	m->gemm = gemm;
	m->schedule.fuse = 1;
	m->schedule.use_graphs = one_successor_each(p);
	m->ran = hu_xcalloc((size_t)p->nc + 1, sizeof *m->ran);
	m->t = hu_xcalloc((size_t)p->nt + 1, sizeof *m->t);
	m->schedule.shadow = hu_xcalloc((size_t)p->nt + 1, sizeof *m->schedule.shadow);
	m->name_hash = hu_xcalloc((size_t)p->nt + 1, sizeof *m->name_hash);
	m->kernel = hu_xcalloc((size_t)p->nc + 1, sizeof *m->kernel);
	for (int i = 0; i < p->nt; i++) {
		m->t[i] = (hu_slot){ NULL, p->t[i].format, p->t[i].shape, hu_count(p->t[i].shape) };
		m->name_hash[i] = hu_fnv1a64(p->t[i].name);
	}
	if (s)
		hu_machine_part_init(m, s);
	hu_status st = open_all(m);
	if (st != HU_OK)
		hu_machine_close(m);
	else
		*out = m;
	return st;
}

hu_status
hu_machine_open(hu_machine **out, const hu_program *p, const hu_side *side, hu_gemm_way gemm)
{
	return open_some(out, p, NULL, side, gemm);
}

hu_status
hu_machine_open_part(hu_machine **out, const hu_spread *s, const hu_side *side, hu_gemm_way gemm)
{
	return open_some(out, s->p, s, side, gemm);
}

/* Waits, because kernels that still run may use the memory about to be freed. A failure of this wait does not replace
   the reason for which the machine is closed. */
static void
finish_work(hu_machine *m)
{
	char *why = hu_xstrdup(hu_reason());

	if (m->queue)
		m->side->wait(m->queue);
	if (m->feed_queue)
		m->side->wait(m->feed_queue);
	hu_fail(HU_EDEVICE, "%s", why);
	free(why);
}

void
hu_machine_close(hu_machine *m)
{
	if (!m)
		return;
	finish_work(m);
	hu_machine_drop_graphs(m);
	hu_machine_feed_close(m);
	hu_machine_look_close(m);
	hu_machine_profile_close(m);
	hu_machine_part_close(m);
	hu_machine_release_memory(m);
	if (m->stage)
		m->side->host_release(m->stage);
	if (m->beat)
		m->side->host_release(m->beat);
	hu_machine_gather_close(m);
	if (m->beaten)
		m->side->queues->event_close(m->beaten);
	if (m->feed_queue)
		m->side->close(m->feed_queue);
	if (m->queue)
		m->side->close(m->queue);
	for (int k = 0; k < 2; k++)
		hu_plan_release(&m->schedule.plan[k]);
	free(m->t);
	free(m->schedule.shadow);
	free(m->name_hash);
	free(m->kernel);
	free(m->ran);
	free(m);
}

const char *
hu_machine_ran(hu_machine *m, int call)
{
	return *m->ran[call] ? m->ran[call] : NULL;
}

void
hu_machine_tune(hu_machine *m, int fuse, int graphs)
{
	m->side->wait(m->queue);
	hu_machine_drop_graphs(m);
	hu_machine_forget_ahead(m);
	m->schedule.fuse = fuse != 0;
	m->schedule.use_graphs = graphs && one_successor_each(m->p);
}

hu_status
hu_machine_write(hu_machine *m, int tensor, const void *values)
{
	const hu_slot *t = &m->t[tensor];
	hu_status st;

	if (hu_machine_feed(m, tensor, values, &st))
		return st;
	m->look.made = 0;
	hu_machine_forget_ahead(m);
	HU_TRY(m->side->wait(m->queue)); /* for the last transfer from the staging buffer */
	hu_transfer_pack(m->stage, values, t->n, t->format);
	return m->side->upload(m->queue, t->data, m->stage, t->n * hu_slot_size(t->format));
}

/* Waits for everything so far and reports what a kernel met. */
static hu_status
settle(hu_machine *m, uint64_t *digest)
{
	hu_pulse now;

	HU_TRY(m->side->download(m->queue, m->stage, m->pulse, sizeof now));
	HU_TRY(m->side->wait(m->queue));
	memcpy(&now, m->stage, sizeof now);
	if (digest)
		*digest = now.digest;
	return hu_machine_fault(now.fault);
}

hu_status
hu_machine_read(hu_machine *m, int tensor, void *values)
{
	const hu_slot *t = &m->t[tensor];
	const void *seen;
	hu_status st;

	if (hu_machine_seen(m, tensor, &seen, &st)) {
		HU_TRY(st);
		hu_transfer_unpack(values, seen, t->n, t->format);
		return HU_OK;
	}
	if (m->look.back)
		return hu_fail(HU_EUNABLE, "tensor %s of the step before is no longer there: it was not watched",
			m->p->t[tensor].name);
	HU_TRY(settle(m, NULL));
	HU_TRY(m->side->download(m->queue, m->stage, t->data, t->n * hu_slot_size(t->format)));
	HU_TRY(m->side->wait(m->queue));
	hu_transfer_unpack(values, m->stage, t->n, t->format);
	return HU_OK;
}

hu_status
hu_machine_step(hu_machine *m, const hu_env *env)
{
	HU_TRY(hu_machine_begin(m, env));
	m->profile.timed = 0;
	HU_TRY(hu_machine_run(m));
	m->schedule.stepped = 1;
	HU_TRY(hu_machine_look_send(m));
	return hu_machine_profile_read(m);
}

hu_status
hu_machine_commit(hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++) {
		int next = m->p->t[i].next;
		if (next < 0)
			continue;
		void *data = m->t[i].data;
		m->t[i].data = m->t[next].data;
		m->t[next].data = data;
	}
	m->schedule.turn ^= 1;
	m->schedule.ahead = m->schedule.fuse && m->schedule.stepped && m->schedule.ahead == HU_AHEAD_HERE
				    ? HU_AHEAD_MADE
				    : HU_AHEAD_NONE;
	m->schedule.stepped = 0;
	return HU_OK;
}

/* Sums the digests of the states that are there; own: of those alone that belong to one rank. */
static hu_status
digest_of(hu_machine *m, int own, uint64_t *digest)
{
	HU_TRY(m->side->clear(m->queue, &m->pulse->digest, sizeof m->pulse->digest));
	for (int i = 0; i < m->p->nt; i++)
		if (m->p->t[i].state && m->t[i].n && hu_machine_holds(m, i) && (!own || m->p->t[i].own))
			HU_TRY(m->side->digest(m->queue, &m->t[i], m->name_hash[i], &m->pulse->digest));
	return settle(m, digest);
}

hu_status
hu_machine_digest(hu_machine *m, uint64_t *digest)
{
	hu_status st;

	return hu_machine_digest_seen(m, digest, &st) ? st : digest_of(m, 0, digest);
}

hu_status
hu_machine_part_own_digest(hu_machine *m, uint64_t *digest)
{
	*digest = 0;
	for (int i = 0; i < m->p->nt; i++)
		if (m->p->t[i].state && m->p->t[i].own)
			return digest_of(m, 1, digest);
	return HU_OK;
}
