/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/forward.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/number/code.h"

#include <stdlib.h>
#include <string.h>

static int
traced(const hu_run *r, size_t step)
{
	for (int i = 0; i < r->nstep; i++)
		if (r->step[i] == step)
			return 1;
	return 0;
}

/* Sets *step to the one that was asked for, or to the first that all runs have. */
static hu_status
choose_step(size_t *step, const hu_forward *e, int n, long long asked)
{
	for (int i = 0; i < n; i++)
		if (asked >= 0 && !traced(&e[i].run, (size_t)asked))
			return hu_fail(HU_EFILE, "%s: step %lld was not traced; train with --trace steps=%lld",
				hu_shown(e[i].name), asked, asked);
	for (int i = 0; asked < 0 && i < e[0].run.nstep; i++)
		if (traced(&e[n - 1].run, e[0].run.step[i]))
			asked = (long long)e[0].run.step[i];
	if (asked < 0)
		return hu_fail(HU_EFILE, "%s%s%s: no step was traced%s; train with --trace steps=0",
			hu_shown(e[0].name), n > 1 ? " and " : "", n > 1 ? hu_shown(e[1].name) : "",
			n > 1 ? " in both" : "");
	*step = (size_t)asked;
	return HU_OK;
}

void
hu_forward_release(hu_forward *e)
{
	if (e->made) {
		hu_exec_release(&e->exec);
		hu_program_free(e->made);
	} else if (e->t) {
		hu_run_free_trace(&e->run, e->t);
	}
	if (e->run.dir)
		hu_run_release(&e->run);
	memset(e, 0, sizeof *e);
}

hu_status
hu_forward_open(hu_forward *e, int n, const char *const *dir, long long step)
{
	size_t number = 0;
	hu_status st = HU_OK;

	memset(e, 0, (size_t)n * sizeof *e);
	for (int i = 0; i < n && st == HU_OK; i++) {
		st = hu_run_open(&e[i].run, dir[i]);
		e[i].name = dir[i];
	}
	if (st == HU_OK)
		st = choose_step(&number, e, n, step);
	for (int i = 0; i < n && st == HU_OK; i++) {
		e[i].step = number;
		e[i].seed = (uint64_t)json_integer_value(json_object_get(e[i].run.manifest, "seed"));
		e[i].p = e[i].run.train;
		st = hu_run_load_trace(&e[i].run, number, &e[i].t);
	}
	for (int i = 0; i < n && st != HU_OK; i++)
		hu_forward_release(&e[i]);
	return st;
}

/* The tensor that the first call of a loss reads; -1 where the program has no loss. */
static int
before_loss(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (p->c[i].phase == HU_FORWARD && hu_program_is_loss(&p->c[i]))
			return p->c[i].in[0];
	return -1;
}

/* How many samples the step's batch has: rows of the first tensor that no call makes and that is no state; 1 where the
   rows of a tensor cannot be dealt to them equally. */
static size_t
samples(const hu_program *p, size_t rows)
{
	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		if (t->producer < 0 && !t->state && t->shape.rank && !strncmp(t->name, "input.", 6))
			return t->shape.d[0] && rows % t->shape.d[0] == 0 ? t->shape.d[0] : 1;
	}
	return 1;
}

hu_status
hu_forward_logits(hu_logits *l, const hu_forward *e, const char *name)
{
	int id = name ? hu_program_find(e->p, name) : before_loss(e->p);
	const char *dir = hu_shown(e->name);

	memset(l, 0, sizeof *l);
	if (id < 0 && name)
		return hu_fail(HU_EFILE, "%s: its program has no tensor %s", dir, hu_shown(name));
	if (id < 0)
		return hu_fail(HU_EFILE,
			"%s: its program has no loss that says which tensor the logits are: name it by --output", dir);
	const hu_tensor *t = &e->t[id];
	if (!t->data)
		return hu_fail(HU_EFILE, "%s: %s was not recorded in step %zu; train with --trace '%s'", dir,
			hu_shown(e->p->t[id].name), e->step, hu_shown(e->p->t[id].name));
	if (t->shape.rank < 2 || !t->n)
		return hu_fail(HU_EFILE, "%s: %s has no rows of classes", dir, hu_shown(e->p->t[id].name));
	l->classes = hu_last(t->shape);
	size_t rows = t->n / l->classes;
	l->sequences = samples(e->p, rows);
	l->positions = rows / l->sequences;
	l->x = hu_alloc(t->n * sizeof *l->x);
	if (!l->x)
		return hu_fail(HU_ENOMEM, "no memory for %zu numbers", t->n);
	for (size_t i = 0; i < t->n; i++)
		l->x[i] = hu_get(t, i);
	return HU_OK;
}

void
hu_forward_cut(hu_logits *a, hu_logits *b)
{
	size_t least = a->sequences < b->sequences ? a->sequences : b->sequences;

	if (a->positions == b->positions && a->classes == b->classes)
		a->sequences = b->sequences = least;
}

size_t
hu_forward_common(const hu_tensor *a, const hu_tensor *b)
{
	if (!a->data || !b->data || a->shape.rank != b->shape.rank)
		return 0;
	for (int i = 1; i < a->shape.rank; i++)
		if (a->shape.d[i] != b->shape.d[i])
			return 0;
	return a->n < b->n ? a->n : b->n;
}

int
hu_forward_same(const hu_tensor *a, const hu_tensor *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x = hu_get(a, i), y = hu_get(b, i);
		if (hu_bits64(x) != hu_bits64(y) && (x == x || y == y))
			return 0;
	}
	return 1;
}
