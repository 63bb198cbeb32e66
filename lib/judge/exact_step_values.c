/* SPDX-License-Identifier: Apache-2.0
   The memory of an exact step's values, allocated when a call computes them and freed after their last reader; and the
   values that MPFR's references give. */
#include "lib/judge/exact_step.h"

#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"
#include "lib/base/thread.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* values held in MPFR at a time */

#define HU_ROOM_FOR "the exact step's values (--no-propagate goes on without)"

size_t
hu_exact_step_lows(const hu_exact_step *x)
{
	return x->precision == HU_STEP_TWO ? 2 : x->precision == HU_STEP_FOUR ? 3 : HU_STEP_PARTS - 1;
}

/* Whether another tensor has the same leading doubles (low: trailing parts). */
static int
is_shared(const hu_exact_step *x, int id, int low)
{
	for (int k = x->next[id]; k != id; k = x->next[k])
		if (low ? x->t[k].low == x->t[id].low : x->t[k].data == x->t[id].data)
			return 1;
	return 0;
}

static void
drop_low(hu_exact_step *x, int id)
{
	if (x->t[id].low && !is_shared(x, id, 1))
		hu_room_free((double *)(size_t)x->t[id].low);
	x->t[id].low = NULL;
	x->t[id].lows = 0;
	x->low[id] = (hu_low){ NULL, NULL };
}

void
hu_exact_step_drop(hu_exact_step *x, int id)
{
	drop_low(x, id);
	if (x->t[id].data && !is_shared(x, id, 0))
		hu_room_free(x->t[id].data);
	x->t[id].data = NULL;
}

void
hu_exact_step_share(hu_exact_step *x, int to, int from)
{
	hu_tensor *t = &x->t[to];

	hu_exact_step_drop(x, to);
	t->data = x->t[from].data;
	t->low = x->t[from].low;
	t->lows = x->t[from].lows;
	x->low[to] = x->low[from];
	if (x->next[to] == to) {
		x->next[to] = x->next[from];
		x->next[from] = to;
	}
}

hu_status
hu_exact_step_own(hu_exact_step *x, int id)
{
	hu_tensor *t = &x->t[id];
	const double *from = t->data;

	if (!from || !is_shared(x, id, 0))
		return HU_OK;
	t->data = NULL;
	HU_TRY(hu_exact_step_make(x, id));
	memcpy(t->data, from, t->n * sizeof *from);
	return HU_OK;
}

void
hu_exact_step_round(hu_exact_step *x, int id)
{
	drop_low(x, id); /* the leading double is the nearest one */
}

hu_status
hu_exact_step_make(hu_exact_step *x, int id)
{
	return x->t[id].data ? HU_OK : hu_room_get(&x->t[id].data, (x->t[id].n + 1) * sizeof(double), HU_ROOM_FOR);
}

hu_status
hu_exact_step_make_low(hu_exact_step *x, int id, double **low)
{
	hu_tensor *t = &x->t[id];
	void *room;

	drop_low(x, id);
	HU_TRY(hu_room_get(&room, (t->n * hu_exact_step_lows(x) + 1) * sizeof(double), HU_ROOM_FOR));
	*low = room;
	t->low = room;
	t->lows = x->precision == HU_STEP_TWO ? 1 : (int)hu_exact_step_lows(x);
	if (x->precision == HU_STEP_TWO)
		x->low[id] = (hu_low){ *low, *low + t->n };
	return HU_OK;
}

/* Stores e as a double and lows more, each the nearest to what the earlier ones leave. Returns 0 for a number beyond
   double's range. */
static int
put(hu_tensor *t, double *low, size_t lows, size_t i, mpfr_t e)
{
	double h = mpfr_get_d(e, MPFR_RNDN);
	int held = hu_isfinite(h) || !mpfr_number_p(e);

	((double *)t->data)[i] = h;
	for (size_t p = 0; p < lows; p++) {
		if (hu_isfinite(h))
			mpfr_sub_d(e, e, h, MPFR_RNDN);
		else
			mpfr_set_zero(e, 1);
		h = mpfr_get_d(e, MPFR_RNDN);
		low[p * t->n + i] = h;
	}
	return held;
}

/* Whether united ranks share the elements of a call by its reference: each computes all of what groups share. */
static int
is_united(const hu_call *c)
{
	return hu_ranks_united() > 1 && c->op->cls == HU_CLASS_GEMM;
}

hu_status
hu_exact_step_by_reference(hu_exact_step *x, const hu_call *c, hu_tensor *const *in)
{
	for (int k = 0; k < c->nout; k++) {
		int id = c->out[k];
		hu_tensor *y = &x->t[id];
		double *low;
		HU_TRY(hu_exact_step_make(x, id));
		HU_TRY(hu_exact_step_make_low(x, id, &low));
		/* Norms repeat the work on their groups for every list. */
		int held = 1;
		size_t most = c->op->cls == HU_CLASS_NORM || c->op->cls == HU_CLASS_LOSS || y->n < CHUNK ? y->n : CHUNK,
		       *element = hu_xmalloc((most + 1) * sizeof *element);
		mpfr_t *e = hu_xmalloc((most + 1) * sizeof *e);
		hu_status st = HU_OK;
		size_t begin = 0, end = y->n;
		if (is_united(c))
			hu_ranks_slice(y->n, 1, &begin, &end);
		for (size_t first = begin; first < end && st == HU_OK; first += most) {
			size_t n = end - first < most ? end - first : most;
			for (size_t i = 0; i < n; i++) {
				element[i] = first + i;
				mpfr_init2(e[i], 256);
			}
			st = x->engine->exact(c, in, k, element, n, e);
#pragma omp parallel for schedule(static) reduction(&& : held) if (n > 256)
			for (size_t i = 0; i < n; i++) {
				held = put(y, low, hu_exact_step_lows(x), first + i, e[i]) && held;
				mpfr_clear(e[i]);
			}
		}
		free(e);
		free(element);
		if (is_united(c))
			st = hu_ranks_agree(st);
		if (is_united(c) && st == HU_OK) {
			hu_ranks_assemble(y->data, y->n, 1, sizeof(double));
			for (size_t p = 0; p < hu_exact_step_lows(x); p++)
				hu_ranks_assemble(low + p * y->n, y->n, 1, sizeof(double));
			held = hu_ranks_all(held);
		}
		x->known[id] = (char)held;
		if (st != HU_OK)
			return hu_fail(st, "the exact step: the reference of %s failed", c->op->name);
	}
	return HU_OK;
}
