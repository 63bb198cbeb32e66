/* SPDX-License-Identifier: Apache-2.0
   The part of session.h that reads tensors, one at a time or copies of many, and checkpoints. */
#include "trainer/run/session.h"

#include "lib/base/mem.h"
#include "lib/store/run.h"

#include <stdlib.h>

hu_status
hu_session_read_from(hu_session *s, hu_machine *m, const hu_program *p, int i, hu_tensor *t)
{
	if (s->backend->peek) {
		const hu_tensor *own = s->backend->peek(m, i);
		if (own) {
			*t = *own;
			return HU_OK;
		}
	}
	t->format = p->t[i].format;
	t->shape = p->t[i].shape;
	t->n = hu_count(t->shape);
	t->data = s->read;
	return s->backend->read(m, i, t->data);
}

hu_status
hu_session_read(hu_session *s, int i, hu_tensor *t)
{
	return hu_session_read_from(s, s->train, s->programs.train, i, t);
}

hu_status
hu_session_scalar(hu_session *s, int i, double *x)
{
	hu_tensor t;

	HU_TRY(hu_session_read(s, i, &t));
	*x = hu_get(&t, 0);
	return HU_OK;
}

static hu_status
read_all(hu_session *s, const int *tensor, int n, void *const *values)
{
	if (s->backend->gather)
		return s->backend->gather(s->train, tensor, n, values);
	for (int i = 0; i < n; i++)
		HU_TRY(s->backend->read(s->train, tensor[i], values[i]));
	return HU_OK;
}

/* Makes *out, with room for the values of the tensors that select marks, all where it is NULL. */
static hu_status
make_room(hu_session *s, const char *select, hu_tensor **out)
{
	const hu_program *p = s->programs.train;
	hu_tensor *t = hu_xcalloc((size_t)p->nt + 1, sizeof *t);
	hu_status st = HU_OK;

	for (int i = 0; i < p->nt && st == HU_OK; i++) {
		t[i].format = p->t[i].format;
		t[i].shape = p->t[i].shape;
		t[i].n = hu_count(t[i].shape);
		if (select && !select[i])
			continue;
		t[i].data = hu_alloc(t[i].n * hu_element_size(t[i].format));
		if (!t[i].data)
			st = hu_fail(HU_ENOMEM, "no memory to copy %s (%zu elements)", p->t[i].name, t[i].n);
	}
	if (st == HU_OK)
		*out = t;
	else
		hu_session_free_tensors(s, t);
	return st;
}

hu_status
hu_session_copy(hu_session *s, const char *select, hu_tensor **out)
{
	const hu_program *p = s->programs.train;
	hu_tensor *t;

	HU_TRY(make_room(s, select, &t));
	int *tensor = hu_xmalloc(((size_t)p->nt + 1) * sizeof *tensor), n = 0;
	void **values = hu_xmalloc(((size_t)p->nt + 1) * sizeof *values);
	for (int i = 0; i < p->nt; i++)
		if (t[i].data) {
			tensor[n] = i;
			values[n++] = t[i].data;
		}
	hu_status st = read_all(s, tensor, n, values);
	free(tensor);
	free(values);
	if (st == HU_OK)
		*out = t;
	else
		hu_session_free_tensors(s, t);
	return st;
}

hu_status
hu_session_state_room(hu_session *s, hu_tensor **t)
{
	const hu_program *p = s->programs.train;
	char *state = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nt; i++)
		state[i] = p->t[i].state != 0;
	hu_status st = make_room(s, state, t);
	free(state);
	return st;
}

hu_status
hu_session_restore(hu_session *s, const hu_tensor *t)
{
	for (int i = 0; i < s->programs.train->nt; i++)
		if (s->programs.train->t[i].state)
			HU_TRY(s->backend->write(s->train, i, t[i].data));
	return HU_OK;
}

hu_status
hu_session_load(hu_session *s, const char *dir, size_t step)
{
	hu_tensor *t;
	json_t *meta;

	HU_TRY(hu_session_state_room(s, &t));
	hu_status st = hu_run_load_checkpoint(dir, (long)step, s->programs.train, t, &meta);
	if (st == HU_OK) {
		json_decref(meta);
		st = hu_session_restore(s, t);
	}
	hu_session_free_tensors(s, t);
	return st;
}

void
hu_session_free_tensors(const hu_session *s, hu_tensor *t)
{
	for (int i = 0; t && i < s->programs.train->nt; i++)
		free(t[i].data);
	free(t);
}
