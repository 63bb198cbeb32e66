/* SPDX-License-Identifier: Apache-2.0
   softmax_xent_dx: dlogits = dloss w / sum(w) (p - onehot(label)), or less the smoothed label. */
#include "cuda/element/stat.h"

#define WEIGHT(S, T) out[0][i] = hu_xent_weight##S(c, in[0][i], in[1][i], in[2][i])
#define F(S, T) out[0][i] = hu_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i])
HU_FORMULA(weight, 3, 1, WEIGHT)
#define SMOOTH(S, T) out[0][i] = hu_smooth_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i])
HU_FORMULA(dlogits, 4, 1, F)
HU_FORMULA(smooth_dlogits, 4, 1, SMOOTH)
#undef WEIGHT
#undef F
#undef SMOOTH

extern "C" hu_status
HU_SIDE(op_softmax_xent_dx)(hu_work *w)
{
	size_t rows = w->in[2]->n;
	hu_field each = hu_field_of(w, rows, 1), dx = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));
	hu_slot sum, by;

	HU_TRY(HU_SIDE(sum_down)(w, w->in[2], 1, rows, 1, &sum));
	by = hu_stat_slot(w, rows);
	hu_field_in(&each, w->in[2], HU_AT_EACH);
	hu_field_in(&each, w->in[3], HU_AT_ONE);
	hu_field_in(&each, &sum, HU_AT_ONE);
	hu_field_keep(&each, &by);
	HU_TRY(hu_field_run<weight>(w, &each));
	hu_field_in(&dx, w->in[0], HU_AT_EACH);
	hu_field_in(&dx, w->in[1], HU_AT_ROW);
	hu_field_in(&dx, NULL, HU_AT_INDEX);
	hu_field_in(&dx, &by, HU_AT_ROW);
	hu_field_out(w, &dx, w->out[0]);
	double s = hu_attr_num(w->call, "label_smoothing", 0);
	if (s == 0)
		return hu_field_run<dlogits>(w, &dx);
	dx.nk = 2;
	dx.k[0] = s;
	dx.k[1] = (double)hu_last(w->in[0]->shape);
	return hu_field_run<smooth_dlogits>(w, &dx);
}
