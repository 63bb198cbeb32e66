/* SPDX-License-Identifier: Apache-2.0
   The memory of an exact step's values: allocated when a call computes them, freed after their last reader. */
#include "lib/judge/exact_step.h"

#include "lib/base/memory/room.h"

#define HU_ROOM_FOR "the exact step's values (--no-propagate goes on without)"

size_t
hu_exact_step_lows(const hu_exact_step *x)
{
	return x->rung == HU_STEP_TWO ? 2 : x->rung == HU_STEP_FOUR ? 3 : HU_STEP_PARTS - 1;
}

static void
drop_low(hu_exact_step *x, int id)
{
	hu_room_free((double *)(size_t)x->t[id].low);
	x->t[id].low = NULL;
	x->t[id].lows = 0;
	x->low[id] = (hu_low){ NULL, NULL };
}

void
hu_exact_step_drop(hu_exact_step *x, int id)
{
	drop_low(x, id);
	hu_room_free(x->t[id].data);
	x->t[id].data = NULL;
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
	t->lows = x->rung == HU_STEP_TWO ? 1 : (int)hu_exact_step_lows(x);
	if (x->rung == HU_STEP_TWO)
		x->low[id] = (hu_low){ *low, *low + t->n };
	return HU_OK;
}
