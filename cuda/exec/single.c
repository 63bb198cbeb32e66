/* SPDX-License-Identifier: Apache-2.0
   Runs one call on the device: transfers its operands there and its results back. The parity tests of single operators
   use it. */
#include "cuda/exec/machine.h"
#include "cuda/exec/transfer.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static hu_status
bring(const hu_side *side, void *queue, hu_slot *s, const hu_tensor *t, int values)
{
	size_t bytes = t->n * hu_slot_size(t->format);
	hu_status st;

	*s = (hu_slot){ NULL, t->format, t->shape, t->n };
	HU_TRY(side->alloc(&s->data, bytes));
	if (!values)
		return HU_OK;
	void *codes = hu_xmalloc(bytes + 1);
	hu_transfer_pack(codes, t->data, t->n, t->format);
	st = side->upload(queue, s->data, codes, bytes);
	if (st == HU_OK)
		st = side->wait(queue);
	free(codes);
	return st;
}

static hu_status
fetch(const hu_side *side, void *queue, const hu_slot *s, hu_tensor *t)
{
	size_t bytes = t->n * hu_slot_size(t->format);
	void *codes = hu_xmalloc(bytes + 1);
	hu_status st = side->download(queue, codes, s->data, bytes);

	if (st == HU_OK)
		st = side->wait(queue);
	if (st == HU_OK)
		hu_transfer_unpack(t->data, codes, t->n, t->format);
	free(codes);
	return st;
}

/* Makes a dry run to learn the scratch space, then the run itself. */
static hu_status
run(const hu_side *side, const hu_kernel *k, hu_work *w, const hu_env *env)
{
	hu_pulse now = { env->seed, env->step, 0, 0 };

	w->dry = 1;
	w->scratch = HU_NOWHERE;
	hu_status st = k->launch(w);
	w->scratch = NULL;
	HU_TRY(st);
	HU_TRY(side->alloc((void **)&w->scratch, w->peak));
	HU_TRY(side->alloc((void **)&w->pulse, sizeof now));
	HU_TRY(side->upload(w->queue, w->pulse, &now, sizeof now));
	w->dry = 0;
	w->used = 0;
	HU_TRY(k->launch(w));
	HU_TRY(side->download(w->queue, &now, w->pulse, sizeof now));
	HU_TRY(side->wait(w->queue));
	return hu_machine_fault(now.fault);
}

hu_status
hu_device_call_by(const hu_side *side, hu_gemm_way gemm, char *ran, const hu_call *c, hu_tensor *const *in,
	hu_tensor *const *out, const hu_env *env)
{
	const hu_kernel *k = hu_machine_kernel(side, c->op);
	int all = c->nin + c->nout;
	hu_work w;

	HU_TRY(hu_machine_serves(side, c));
	memset(&w, 0, sizeof w);
	hu_slot *slots = hu_xcalloc((size_t)all + 1, sizeof *slots);
	const hu_slot **inputs = hu_xcalloc((size_t)all + 1, sizeof *inputs);
	hu_status st = side->open(&w.queue);
	for (int i = 0; i < all && st == HU_OK; i++)
		st = bring(side, w.queue, &slots[i], i < c->nin ? in[i] : out[i - c->nin], i < c->nin);
	for (int i = 0; i < c->nin; i++) {
		inputs[i] = &slots[i];
		if (i < 16)
			w.in[i] = &slots[i];
	}
	for (int i = 0; i < c->nout; i++)
		w.out[i] = &slots[c->nin + i];
	w.call = c;
	w.arch = side->arch();
	w.gemm = gemm;
	w.ran = ran;
	w.all = inputs;
	if (st == HU_OK)
		st = run(side, k, &w, env);
	for (int i = 0; i < c->nout && st == HU_OK; i++)
		st = fetch(side, w.queue, w.out[i], out[i]);
	if (st != HU_OK && w.queue)
		side->wait(w.queue); /* earlier work on the queue may still use the memory */
	for (int i = 0; i < all; i++)
		side->release(slots[i].data);
	side->release(w.scratch);
	side->release(w.pulse);
	if (w.queue)
		side->close(w.queue);
	free(slots);
	free(inputs);
	return st;
}

hu_status
hu_device_call(const hu_side *side, const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	return hu_device_call_by(side, HU_GEMM_AUTO, NULL, c, in, out, env);
}
