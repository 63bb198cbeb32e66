/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/machine.h"

#include "cuda/transfer.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct hu_machine {
	const hu_side *side;
	const hu_program *p;
	void *queue;
	hu_slot *t;
	const hu_kernel **kernel;   /* of each call */
	uint64_t *name_hash;
	unsigned char *memory;      /* of all tensors, the scratch room and the pulse */
	unsigned char *scratch;
	int arch;
	hu_pulse *pulse;
	void *stage;                /* host: the largest tensor's codes */
};

static size_t
padded(size_t n)
{
	return (n + 255) / 256 * 256;
}

const hu_kernel *
hu_device_kernel(const hu_side *side, const char *op)
{
	for (const hu_kernel *k = side->kernels; k->op; k++)
		if (!strcmp(k->op, op))
			return k;
	return NULL;
}

hu_status
hu_device_serves(const hu_side *side, const hu_call *c)
{
	hu_format f = hu_format_of(c->fmt.compute);

	if (!hu_device_kernel(side, c->op->name))
		return hu_fail(HU_EUNABLE, "back end %s: operator %s (call %d, layer %s) has no kernel; use --backend cpu", side->name, c->op->name, c->id, c->layer);
	/* as hu_short_serves of cuda/short.h */
	if (f.id != HU_FP32 && f.id != HU_FP64 && !(f.p <= 25 && f.emax <= 500 && f.emin >= -400 && hu_has_minus_zero(f) && hu_has_nan(f)))
		return hu_fail(HU_EUNABLE, "back end %s: no kernel computes in %s (call %d, %s, layer %s); use --backend cpu", side->name, hu_format_name(f.id), c->id, c->op->name, c->layer);
	return HU_OK;
}

/* WORK of call C; ALL: room for its inputs' slots. */
static void
work_of(const hu_machine *m, const hu_call *c, hu_work *w, const hu_slot **all)
{
	memset(w, 0, sizeof *w);
	w->call = c;
	w->all = all;
	for (int i = 0; i < c->nin; i++) {
		all[i] = &m->t[c->in[i]];
		if (i < 16)
			w->in[i] = all[i];
	}
	for (int i = 0; i < c->nout; i++)
		w->out[i] = &m->t[c->out[i]];
	w->pulse = m->pulse;
	w->queue = m->queue;
	w->arch = m->arch;
	w->scratch = m->scratch;
}

static hu_status
launch(const hu_machine *m, int call, int dry, size_t *used)
{
	const hu_call *c = &m->p->c[call];
	const hu_slot *few[32], **all = c->nin <= 32 ? few : hu_xmalloc((size_t)c->nin * sizeof *all);
	hu_work w;

	work_of(m, c, &w, all);
	w.dry = dry;
	hu_status st = m->kernel[call]->launch(&w);
	if (all != few)
		free(all);
	*used = w.peak;
	return st;
}

/* Which batch would fit into LEFT bytes where the program's takes NEED: what has the batch as first dimension shrinks with it. */
static size_t
batch_that_fits(const hu_machine *m, double need, double left, size_t *batch)
{
	int x = hu_program_find(m->p, "input.x");
	double moving = 0;

	*batch = x >= 0 && m->p->t[x].shape.rank ? m->p->t[x].shape.d[0] : 0;
	for (int i = 0; *batch && i < m->p->nt; i++)
		if (m->t[i].shape.rank > 0 && m->t[i].shape.d[0] == *batch)
			moving += (double)m->t[i].n * (double)hu_slot_size(m->t[i].format);
	double room = left - (need - moving);
	return moving > 0 && room > 0 ? (size_t)(room / moving * (double)*batch) : 0;
}

static hu_status
out_of_memory(const hu_machine *m, size_t need)
{
	size_t left = 0, total = 0, batch;
	hu_status st = m->side->memory(&left, &total);
	size_t fits = batch_that_fits(m, (double)need, (double)left, &batch);

	if (st != HU_OK)
		return st;
	if (fits && fits < batch)
		return hu_fail(HU_ENOMEM, "program %s needs %.1f MB on the device, %.1f of its %.1f MB are free: a batch of %zu would fit", m->p->name, (double)need / 1e6, (double)left / 1e6, (double)total / 1e6, fits);
	return hu_fail(HU_ENOMEM, "program %s needs %.1f MB on the device, %.1f of its %.1f MB are free: use a smaller batch or width", m->p->name, (double)need / 1e6, (double)left / 1e6, (double)total / 1e6);
}

/* One allocation for everything. */
static hu_status
make_room(hu_machine *m)
{
	size_t need = padded(sizeof(hu_pulse)), most = 0, stage = sizeof(hu_pulse), used;

	for (int i = 0; i < m->p->nt; i++) {
		size_t bytes = m->t[i].n * hu_slot_size(m->t[i].format);
		need += padded(bytes);
		stage = bytes > stage ? bytes : stage;
	}
	for (int i = 0; i < m->p->nc; i++) {
		HU_TRY(launch(m, i, 1, &used));
		most = used > most ? used : most;
	}
	need += most;
	if (m->side->alloc((void **)&m->memory, need) != HU_OK)
		return out_of_memory(m, need);
	unsigned char *at = m->memory;
	m->pulse = (hu_pulse *)at;
	at += padded(sizeof(hu_pulse));
	for (int i = 0; i < m->p->nt; i++) {
		m->t[i].data = at;
		at += padded(m->t[i].n * hu_slot_size(m->t[i].format));
	}
	m->scratch = at;
	HU_TRY(m->side->host_alloc(&m->stage, stage));
	return m->side->clear(m->queue, m->memory, need - most); /* as the CPU's tensors start */
}

hu_status
hu_device_open(hu_machine **out, const hu_program *p, const hu_side *side)
{
	hu_machine *m = hu_xcalloc(1, sizeof *m);
	hu_status st;

	*out = NULL;
	m->side = side;
	m->p = p;
	m->t = hu_xcalloc((size_t)p->nt + 1, sizeof *m->t);
	m->name_hash = hu_xcalloc((size_t)p->nt + 1, sizeof *m->name_hash);
	m->kernel = hu_xcalloc((size_t)p->nc + 1, sizeof *m->kernel);
	for (int i = 0; i < p->nt; i++) {
		m->t[i] = (hu_slot){ NULL, p->t[i].format, p->t[i].shape, hu_count(p->t[i].shape) };
		m->name_hash[i] = hu_fnv1a64(p->t[i].name);
	}
	st = side->open(&m->queue);
	m->arch = side->arch();
	for (int i = 0; i < p->nt && st == HU_OK; i++)
		if (m->t[i].n > HU_MOST_ELEMENTS)
			st = hu_fail(HU_EUNABLE, "back end %s: tensor %s has %zu elements, and kernels reach 2^31: use a smaller batch", side->name, p->t[i].name, m->t[i].n);
	for (int i = 0; i < p->nc && st == HU_OK; i++) {
		st = hu_device_serves(side, &p->c[i]);
		m->kernel[i] = hu_device_kernel(side, p->c[i].op->name);
	}
	if (st == HU_OK)
		st = make_room(m);
	if (st != HU_OK)
		hu_device_close(m);
	else
		*out = m;
	return st;
}

void
hu_device_close(hu_machine *m)
{
	if (!m)
		return;
	m->side->release(m->memory);
	if (m->stage)
		m->side->host_release(m->stage);
	if (m->queue)
		m->side->close(m->queue);
	free(m->t);
	free(m->name_hash);
	free(m->kernel);
	free(m);
}

hu_status
hu_device_write(hu_machine *m, int tensor, const void *values)
{
	const hu_slot *t = &m->t[tensor];

	HU_TRY(m->side->wait(m->queue)); /* the last transfer from the stage */
	hu_transfer_pack(m->stage, values, t->n, t->format);
	return m->side->upload(m->queue, t->data, m->stage, t->n * hu_slot_size(t->format));
}

/* Waits for everything so far and passes on what a kernel met. */
static hu_status
settle(hu_machine *m, uint64_t *digest)
{
	hu_pulse now;

	HU_TRY(m->side->download(m->queue, m->stage, m->pulse, sizeof now));
	HU_TRY(m->side->wait(m->queue));
	memcpy(&now, m->stage, sizeof now);
	if (digest)
		*digest = now.digest;
	if (now.fault == HU_FAULT_LABEL)
		return hu_fail(HU_EINVAL, "softmax_xent: a label is not one of the classes");
	return HU_OK;
}

hu_status
hu_device_read(hu_machine *m, int tensor, void *values)
{
	const hu_slot *t = &m->t[tensor];

	HU_TRY(settle(m, NULL));
	HU_TRY(m->side->download(m->queue, m->stage, t->data, t->n * hu_slot_size(t->format)));
	HU_TRY(m->side->wait(m->queue));
	hu_transfer_unpack(values, m->stage, t->n, t->format);
	return HU_OK;
}

hu_status
hu_device_step(hu_machine *m, const hu_env *env)
{
	hu_pulse now = { env->seed, env->step, 0, 0 };
	size_t used;

	HU_TRY(m->side->wait(m->queue));
	memcpy(m->stage, &now, sizeof now);
	HU_TRY(m->side->upload(m->queue, m->pulse, m->stage, offsetof(hu_pulse, fault)));
	for (int i = 0; i < m->p->nc; i++)
		HU_TRY(launch(m, i, 0, &used));
	return HU_OK;
}

hu_status
hu_device_commit(hu_machine *m)
{
	for (int i = 0; i < m->p->nt; i++) {
		int next = m->p->t[i].next;
		if (next < 0)
			continue;
		void *data = m->t[i].data;
		m->t[i].data = m->t[next].data;
		m->t[next].data = data;
	}
	return HU_OK;
}

hu_status
hu_device_digest(hu_machine *m, uint64_t *digest)
{
	HU_TRY(m->side->clear(m->queue, &m->pulse->digest, sizeof m->pulse->digest));
	for (int i = 0; i < m->p->nt; i++)
		if (m->p->t[i].state && m->t[i].n)
			HU_TRY(m->side->digest(m->queue, &m->t[i], m->name_hash[i], &m->pulse->digest));
	return settle(m, digest);
}
