/* SPDX-License-Identifier: Apache-2.0
   Bounds the memory that a contraction's emulation takes beyond its tensors, over all ways of computing in contract.c,
   from the sizes of their allocations. A new way must be added here too; t/trainer/bench/t-memory.py measures the
   program. */
#include "lib/op/contract/pieces.h"

#include "lib/sum/vector/lanes.h"
#include "lib/sum/vector/panel.h"

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* B is packed once, k by n, filled up to whole panels. Each thread has a strip of A (256 terms of eight tiles' rows, or
   where they lie) and the sums of a tile of eight by eight panels, one for each part and one more (contract.inc); or a
   line of A as doubles with its sums (contract_lanes.inc and the plain way). For a tensor core the quantised operands
   are kept besides their values, with k filled up to whole blocks of at most 64 in each part, 32 rows to a tile
   (contract_tc.c). */
double
hu_contract_workspace(const hu_call *c, const hu_shape *in, int threads)
{
	enum { STRIP = 256, TILE = 8, STEP = 64, ROWS = 32, PANEL = 64 };
	const hu_panel *panel = hu_panel_get();
	const hu_lanes *lanes = hu_lanes_get();
	hu_contract x;

	hu_contract_describe(&x, c, in);
	size_t part = hu_attr_count(c, "part", 0);
	double parts = part && part < x.k ? (double)((x.k + part - 1) / part) : 1, k = (double)x.k,
	       kp = k + parts * STEP, n = (double)x.n;
	int single = c->sum.id == HU_SUM_FMA && (c->sum.acc == HU_FP32 || c->sum.acc == HU_NO_FORMAT) &&
		     c->sum.mode == HU_RNE,
	    tc = c->sum.id == HU_SUM_TC;
	double nr = (double)larger(
		       panel->nr32, larger(panel->nr64, larger(lanes->n32, larger(lanes->n64, tc ? PANEL : 0)))),
	       e = single ? sizeof(float) : sizeof(double);
	double wide = n + nr < TILE * nr ? n + nr : TILE * nr, block = TILE * (double)panel->mr;
	double strip = e * block * STRIP;
	if (single && panel->pieces && strip < sizeof(hu_pieces))
		strip = sizeof(hu_pieces);
	double each = strip + e * (parts + 1) * block * wide;

	if (!single)
		each += sizeof(double) * (2 * k + 2 * nr + parts * (1 + nr)) +
			(tc ? k * 24 + kp * (12 * ROWS + 4 * nr) + parts * ROWS * nr * 4 : 0);
	return (n + nr) * (tc ? kp : k) * e + (double)threads * each + (tc ? kp * sizeof(size_t) + n : 0);
}
