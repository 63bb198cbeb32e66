/* SPDX-License-Identifier: Apache-2.0
   Tiles of a contraction's outputs, for processes that judge them. */
#include "lib/op/contract/contract.h"

#include <math.h>

/* Kernels compute several rows and a panel of columns at once: a tile has a multiple of so many. */
enum { ROWS = 8, COLUMNS = 32, MOST = 1000000 };

/* Describes a call that is a contraction and has outputs; 0: it is none. Elements of all batches lie side by side
   within row_step where that is the larger step: *side gets how many batches. */
static int
describe(hu_contract *x, size_t *side, const hu_call *c, const hu_shape *in)
{
	if (HU_COLUMN(c->op, enclose) != hu_contract_enclose)
		return 0;
	hu_contract_describe(x, c, in);
	*side = x->batches > 1 && x->row_step > x->batch_step ? x->batches : 1;
	return x->m && x->n && x->batches && x->row_step;
}

int
hu_contract_cut(const hu_call *c, const hu_shape *in, double macs, size_t least, size_t *step)
{
	hu_contract x;
	size_t side;

	*step = 0;
	if (!describe(&x, &side, c, in))
		return 1;
	double rows = macs / ((double)x.n * (double)x.k * (double)side + 1);
	*step = (rows > (double)least ? (size_t)rows : least) * x.row_step;
	size_t all = x.m * x.n * x.batches, tiles = (all + *step - 1) / *step;
	return tiles > 1 && tiles < MOST ? (int)tiles : 1;
}

/* About `want` of n, a multiple of `unit`, so that all parts but the last have as many and the last not much less. */
static size_t
even(double want, size_t n, size_t unit)
{
	double parts = ceil((double)n / (want > 1 ? want : 1) - 0.5);
	size_t each = (size_t)ceil((double)n / (parts > 1 ? parts : 1));

	each = (each + unit - 1) / unit * unit;
	return each < n ? each : n;
}

int
hu_contract_tile(hu_contract_tiles *t, const hu_call *c, const hu_shape *in, double macs, double pack)
{
	hu_contract x;
	size_t side;

	*t = (hu_contract_tiles){ .all = 0 };
	if (!describe(&x, &side, c, in))
		return 1;
	double k = (double)x.k * (double)side + 1, outputs = macs / k, n = (double)x.n, rows = outputs / n, columns = n;
	/* Packing (rows + columns) k elements is least where there are as many of each, which pays where it takes more
	   than a fifth of the products' time, or where whole rows would be too few. */
	if (x.batches == 1 && rows < n && (rows < ROWS || (rows + n) * pack > outputs / 5)) {
		columns = sqrt(outputs);
		columns = columns < COLUMNS ? COLUMNS : columns > n ? n : columns;
		rows = outputs / columns;
	}
	*t = (hu_contract_tiles){ x.m * x.n * x.batches, 0, x.row_step, x.row_step, x.k };
	if (columns < n)
		t->columns = even(columns, x.n, COLUMNS);
	t->step = even(rows > ROWS ? rows : ROWS, t->all / t->row, ROWS) * x.row_step;
	size_t across = (t->row + t->columns - 1) / t->columns, tiles = (t->all + t->step - 1) / t->step * across;
	return tiles > 1 && tiles < MOST ? (int)tiles : 1;
}

hu_region
hu_contract_region(const hu_contract_tiles *t, int i)
{
	size_t across = (t->row + t->columns - 1) / t->columns, first = (size_t)i / across * t->step,
	       left = (size_t)i % across * t->columns;
	hu_region r = { first, t->all - first < t->step ? t->all : first + t->step, 0, 0, 0 };

	if (across > 1) {
		r.row = t->row;
		r.left = left;
		r.right = t->row - left < t->columns ? t->row : left + t->columns;
	}
	return r;
}
