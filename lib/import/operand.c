/* SPDX-License-Identifier: Apache-2.0
   Operands that broadcast: the shape that values have together, and a value or a number repeated to it. */
#include "lib/import/importing.h"

int
hu_import_broadcast(const hu_value *a, const hu_value *b, int *rank, size_t *d)
{
	*rank = a->rank > b->rank ? a->rank : b->rank;
	for (int i = 0; i < *rank; i++) {
		int ia = i - (*rank - a->rank), ib = i - (*rank - b->rank);
		size_t da = ia < 0 ? 1 : a->d[ia], db = ib < 0 ? 1 : b->d[ib];
		if (da != db && da != 1 && db != 1)
			return 0;
		d[i] = da == 1 ? db : da;
	}
	return 1;
}

/* V repeated to the shape of ALL, in its order: channels last or not. */
int
hu_import_operand(hu_importing *c, hu_value *v, const hu_value *all, int last)
{
	hu_axes x;

	if (!last)
		return hu_import_expand(c, hu_import_plain(c, v), hu_import_shape(all->rank, all->d));
	x = hu_axes_same(hu_import_shape_last(all));
	if (hu_import_is_last(v) && v->rank == all->rank) {
		hu_shape s = c->p->t[v->last].shape;
		for (int j = 0; j < s.rank; j++)
			x.from[j] = s.d[j] == x.s.d[j] ? j : -1;
		return hu_import_move(c, v->last, &x);
	}
	if (v->rank == all->rank && v->n == all->n)
		return hu_import_last(c, v);
	for (int j = 0; j < all->rank; j++) {
		int axis = j == 0 ? 0 : j == all->rank - 1 ? 1 : j + 1, k = axis - (all->rank - v->rank);
		x.from[j] = k >= 0 && v->d[k] == all->d[axis] ? k : -1;
	}
	return hu_import_move(c, hu_import_plain(c, v), &x);
}

int
hu_import_operand_behind(hu_importing *c, hu_value *v, const hu_value *all, int last)
{
	return v->n == 1 && all->n > HU_IMPORT_FOLDED
		       ? hu_import_every(c, hu_import_plain(c, v), hu_import_shape(all->rank, all->d))
		       : hu_import_operand(c, v, all, last);
}

int
hu_import_like(hu_importing *c, int a, int type, double x)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	hu_shape s = c->p->t[a].shape; /* the new constant may move the program's tensors */
	return hu_import_expand(c, hu_import_number(c, type, x), s);
}

int
hu_import_beside(hu_importing *c, int a, int type, double x)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	hu_shape s = c->p->t[a].shape;
	return hu_import_every(c, hu_import_number(c, type, x), s);
}

int
hu_import_by(hu_importing *c, const char *op, int a, int type, double x)
{
	int whole = a >= 0 && c->p->t[a].format == HU_FP64, k = hu_import_beside(c, a, whole ? HU_ONNX_INT64 : type, x);

	return hu_import_call2(c, op, a, k);
}

int
hu_import_truth(hu_importing *c, const char *op, int a, int b)
{
	int t = b < 0 && c->st != HU_OK ? -1 : hu_import_call(c, op, HU_FP32, (int[]){ a, b }, b < 0 ? 1 : 2);

	if (t >= 0)
		c->p->t[t].cls = HU_OTHER;
	return t;
}
