/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/stochastic/redraw.h"

#include "lib/number/block/block.h"
#include "lib/op/attr.h"
#include "lib/program/links.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

int
hu_redraw_draws(const hu_call *c)
{
	const char *blocks = hu_attr_text(c, "blocks", "");
	hu_block b;

	if (hu_mode_draws(c->mode) || hu_mode_draws(c->sum.mode))
		return 1;
	return *blocks && hu_block_find(blocks, &b) == HU_OK && hu_mode_draws(b.mode);
}

int
hu_redraw_is_drawn(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (hu_redraw_draws(&p->c[i]))
			return 1;
	return 0;
}

/* Executes the calls from `first` on. */
static hu_status
run_from(hu_redraw *d, int first)
{
	for (int i = first; i < d->p->nc; i++)
		HU_TRY(hu_exec_one(&d->x, i, &d->env));
	return HU_OK;
}

static hu_status
copy_inputs(hu_redraw *d, hu_trace *t)
{
	const hu_program *p = d->from;

	for (int i = 0; i < p->nt; i++) {
		if (p->t[i].producer >= 0)
			continue;
		if (!t->t[i].data)
			return hu_fail(HU_EABSENT, "%s was not recorded", p->t[i].name);
		HU_TRY(hu_run_trace_need(&t->file, i));
		memcpy(d->x.t[i].data, t->t[i].data, t->t[i].n * hu_element_size(t->t[i].format));
	}
	return HU_OK;
}

/* What was recorded of the gradients is what draw 0 made of them, bit for bit. */
static hu_status
compare(const hu_redraw *d, hu_trace *t)
{
	const hu_program *p = d->from;

	for (int i = 0; i < p->nt; i++) {
		int g = p->t[i].trainable ? hu_program_grad(p, t->step, i) : -1;
		if (g < 0 || !t->t[g].data)
			continue;
		HU_TRY(hu_run_trace_need(&t->file, g));
		if (memcmp(d->x.t[g].data, t->t[g].data, t->t[g].n * hu_element_size(t->t[g].format)))
			return hu_fail(HU_EABSENT, "%s is not what was recorded when its call is executed again",
				p->t[g].name);
	}
	return HU_OK;
}

hu_status
hu_redraw_init(hu_redraw *d, const hu_analysis *a, hu_trace *t)
{
	const hu_program *p = a->run->train;

	memset(d, 0, sizeof *d);
	d->from = p;
	d->env = (hu_env){ (uint64_t)json_integer_value(json_object_get(a->run->manifest, "seed")), (uint32_t)t->step };
	for (int i = 0; i < p->nc; i++)
		if (p->c[i].op->role == HU_ROLE_OPAQUE || hu_attr_library(&p->c[i]) > 0)
			return hu_fail(HU_EABSENT, "call %d, %s, cannot be executed again", i, p->c[i].op->name);
	while (d->first < p->nc && !hu_redraw_draws(&p->c[d->first]))
		d->first++;
	d->p = hu_program_copy(p);
	hu_status st = hu_exec_init(&d->x, d->p);
	if (st != HU_OK) {
		hu_program_free(d->p);
		d->p = NULL;
		return st;
	}
	st = copy_inputs(d, t);
	if (st == HU_OK)
		st = run_from(d, 0);
	if (st == HU_OK)
		st = compare(d, t);
	if (st != HU_OK)
		hu_redraw_release(d);
	return st;
}

hu_status
hu_redraw_run(hu_redraw *d, int k)
{
	for (int i = d->first; i < d->p->nc; i++) {
		hu_call *c = &d->p->c[i];
		const char *own = d->from->c[i].seed_name;
		if (!hu_redraw_draws(c))
			continue;
		if (k)
			snprintf(c->seed_name, sizeof c->seed_name, "%.*s/%d", (int)sizeof c->seed_name - 16, own, k);
		else
			snprintf(c->seed_name, sizeof c->seed_name, "%s", own);
	}
	return run_from(d, d->first);
}

void
hu_redraw_release(hu_redraw *d)
{
	if (!d->p)
		return;
	hu_exec_release(&d->x);
	hu_program_free(d->p);
	d->p = NULL;
}
