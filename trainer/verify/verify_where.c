/* SPDX-License-Identifier: Apache-2.0
   Where a step that is executed again parts from the recorded one: call, tensor, element and both values. */
#include "lib/base/mem.h"
#include "lib/program/differ/apart.h"
#include "trainer/verify/verify.h"

#include <stdlib.h>
#include <string.h>

/* Appends why the tensor that was made by call c, or that no call makes, differs: as far as recorded operands show. */
static void
add_cause(hu_str *s, const hu_program *p, int id, const hu_tensor *recorded, size_t step)
{
	const hu_info *t = &p->t[id];
	const hu_call *c = t->producer >= 0 ? &p->c[t->producer] : NULL;
	int all = 1;

	if (!c && t->state) {
		hu_str_addf(s, step ? ": the step began with another state"
				    : ": the training began with other weights than were recorded");
		return;
	}
	if (!c) {
		hu_str_add(s, ": the step read other input data than were recorded");
		return;
	}
	for (int i = 0; i < c->nin; i++)
		all &= recorded[c->in[i]].data != NULL;
	hu_str_add(s, all ? "; all that the call read is as recorded, so its arithmetic is another one"
			  : "; it is the first recorded tensor that differs, and not all that the call read was "
			    "recorded (--trace '*' records it)");
}

/* Appends what differs in one tensor; 0 where nothing does. */
static int
tensor(hu_str *s, const hu_program *p, int id, size_t step, const hu_tensor *was, const hu_tensor *is)
{
	const hu_info *t = &p->t[id];
	hu_apart d = hu_apart_of(was, is);

	if (!d.differ)
		return 0;
	if (t->producer >= 0)
		hu_str_addf(s, "step %zu, call %d (%s, layer %s), tensor %s: ", step, t->producer,
			p->c[t->producer].op->name, p->c[t->producer].layer, t->name);
	else
		hu_str_addf(s, "step %zu, tensor %s: ", step, t->name);
	hu_apart_text(s, &d);
	return 1;
}

hu_status
hu_verify_where(hu_str *s, hu_session *x, const hu_run *r, size_t step)
{
	const hu_program *p = r->train;
	int traced = 0, found = 0;
	hu_tensor *recorded, now;
	hu_status st = HU_OK;

	for (int i = 0; i < r->nstep; i++)
		traced |= r->step[i] == step;
	if (!traced)
		return HU_OK;
	HU_TRY(hu_run_load_trace(r, step, &recorded));
	for (int pass = -1; pass < p->nc && !found && st == HU_OK; pass++)
		for (int i = 0; i < p->nt && !found && st == HU_OK; i++) {
			int id = p->t[i].producer == pass && recorded[i].data
					 ? hu_program_find(x->programs.train, p->t[i].name)
					 : -1;
			if (id < 0 || !hu_same_shape(p->t[i].shape, x->programs.train->t[id].shape))
				continue;
			st = hu_session_read(x, id, &now);
			found = st == HU_OK && tensor(s, p, i, step, &recorded[i], &now);
			if (found)
				add_cause(s, p, i, recorded, step);
		}
	hu_run_free_trace(r, recorded);
	return st;
}

hu_status
hu_verify_where_state(hu_str *s, hu_session *x, const hu_run *r, size_t step)
{
	const hu_program *p = r->train;
	size_t *saved;
	int there = 0, n, found = 0;
	hu_tensor *t, now;

	HU_TRY(hu_run_list_steps(r->dir, "checkpoint", &saved, &n));
	for (int i = 0; i < n; i++)
		there |= saved[i] == step + 1; /* a checkpoint holds the state before the step that it is named after */
	free(saved);
	if (!there)
		return HU_OK;
	HU_TRY(hu_run_read_state(r, p, (long)step + 1, &t));
	hu_status st = HU_OK;
	for (int i = 0; i < p->nt && st == HU_OK && !found; i++) {
		int id = t[i].data ? hu_program_find(x->programs.train, p->t[i].name) : -1;
		if (id < 0 || !hu_same_shape(p->t[i].shape, x->programs.train->t[id].shape))
			continue;
		st = hu_session_read(x, id, &now);
		found = st == HU_OK && tensor(s, p, i, step, &t[i], &now);
	}
	if (found)
		hu_str_addf(s,
			" in the state behind step %zu; that step was not traced, and a run with --trace steps="
			"%zu names the call",
			step, step);
	hu_run_free_state(p, t);
	return st;
}

hu_status
hu_verify_where_call(hu_str *s, const hu_run *r, size_t step)
{
	hu_differences d;

	if (!r->nstep)
		return HU_OK;
	HU_TRY(hu_verify_trace(&d, r));
	size_t i = 0;
	while (i < d.n && d.list[i].inherited)
		i++;
	if (i < d.n) {
		const hu_difference *x = &d.list[i];
		const hu_call *c = &r->train->c[x->call];
		hu_str_addf(s,
			"step %zu is the first that differs, and was not traced; of traced step %zu call %d (%s, layer "
			"%s), on its recorded inputs, makes another tensor %s: element %zu is %.9g, recorded %.9g",
			step, x->step, x->call, c->op->name, c->layer, r->train->t[x->tensor].name, x->element, x->got,
			x->recorded);
	}
	hu_differences_release(&d);
	return HU_OK;
}
