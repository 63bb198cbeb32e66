/* SPDX-License-Identifier: Apache-2.0
   softmax_xent: p = softmax of each row of logits, shifted by the row's maximum;
   loss = sum(w xent) / sum(w) with xent = log(sum exp) - logit of the label. */
#include "cuda/element/softmax.cuh"

#define LOSS(S, T) (out[0][i] = hu_xent##S(c, in[0][i], in[1][i], in[2][i], in[3][i]), out[1][i] = in[3][i])
#define BELOW(S, T) out[0][i] = hu_below##S(c, in[0][i], in[1][i])
#define TARGET(S, T) out[0][i] = hu_smooth_target##S(c, in[0][i], in[1][i], in[2][i])
#define SMOOTH(S, T) (out[0][i] = hu_smooth_xent##S(c, in[0][i], in[1][i], in[2][i]), out[1][i] = in[2][i])
HU_FORMULA(loss, 4, 2, LOSS)
HU_FORMULA(below, 2, 1, BELOW)
HU_FORMULA(target, 3, 1, TARGET)
HU_FORMULA(smooth, 3, 2, SMOOTH)
template <> inline constexpr int hu_is_long<loss> = 1;
template <> inline constexpr int hu_is_long<target> = 1;
template <> inline constexpr int hu_is_long<smooth> = 1;
#undef LOSS
#undef BELOW
#undef TARGET
#undef SMOOTH

/* The larger one, with NaN above all. For +0 and -0 either will do, because the differences from it have the same
   exponentials. */
HU_DEVICE double
larger(double a, double b)
{
	return a != a || b != b ? hu_nan() : b > a ? b : a;
}

/* One warp per row finds its largest logit in the compute format, and that of its label. */
HU_KERNEL
row_kernel(HU_PARAM hu_store_operand x, HU_PARAM hu_store_operand labels, uint32_t rows, uint32_t classes,
	hu_format compute, HU_PARAM hu_store_result top, HU_PARAM hu_store_result chosen, hu_pulse *pulse)
{
	uint32_t lane = threadIdx.x % 32;

	for (uint32_t r = blockIdx.x * HU_SUM_WARPS + threadIdx.x / 32; r < rows; r += gridDim.x * HU_SUM_WARPS) {
		double most = hu_inf(1), label = hu_load_f64(&labels, r);
		for (uint32_t j = lane; j < classes; j += 32)
			most = larger(most, hu_load_f64(&x, r * classes + j));
		for (unsigned by = 16; by; by /= 2)
			most = larger(most, hu_shfl_down(most, by));
		if (lane)
			continue;
		int known = label >= 0 && label < (double)classes && label == (double)(uint32_t)label;
		if (!known)
			pulse->fault = HU_FAULT_LABEL;
		hu_store_f64(&top, r, hu_rne(compute, most));
		hu_store_f64(&chosen, r, hu_load_f64(&x, r * classes + (known ? (uint32_t)label : 0)));
	}
}

/* Adds up in total the weighted losses of labels smoothed by s, and the weights. top, chosen and sum have a number for
   each row: its largest logit, its label's, and its sum of exponentials. */
static hu_status
smoothed(hu_work *w, double s, size_t rows, size_t classes, const hu_slot *top, const hu_slot *chosen,
	const hu_slot *sum, hu_slot *total)
{
	hu_field m = hu_field_of(w, rows * classes, classes), each = hu_field_of(w, rows, 1), all = each;
	hu_slot far[1], goal = hu_stat_slot(w, rows);

	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, top, HU_AT_ROW);
	HU_TRY(hu_sum_along<below>(w, &m, rows, classes, far));
	each.nk = 2;
	each.k[0] = s;
	each.k[1] = (double)classes;
	hu_field_in(&each, chosen, HU_AT_EACH);
	hu_field_in(&each, top, HU_AT_EACH);
	hu_field_in(&each, &far[0], HU_AT_EACH);
	hu_field_keep(&each, &goal);
	HU_TRY(hu_field_run<target>(w, &each));
	hu_field_in(&all, &goal, HU_AT_EACH);
	hu_field_in(&all, sum, HU_AT_EACH);
	hu_field_in(&all, w->in[2], HU_AT_EACH);
	return hu_sum_down<smooth>(w, &all, 1, rows, total);
}

extern "C" hu_status
HU_SIDE(op_softmax_xent)(hu_work *w)
{
	size_t classes = hu_last(w->in[0]->shape), n = w->in[0]->n, rows = n / classes;
	hu_slot top = hu_stat_slot(w, rows), chosen = hu_raw_slot(w, rows, HU_FP64), sum[1],
		total[2]; /* the logit itself, which is rounded where it is used */
	hu_field m = hu_field_of(w, n, classes), all = hu_field_of(w, rows, 1), one = hu_field_of(w, 1, 1),
		 p = hu_field_of(w, n, classes);

	HU_TRY(HU_GO(w, row_kernel, hu_blocks_for(rows, HU_SUM_WARPS, 65535), 32 * HU_SUM_WARPS, 0,
		hu_operand_of(w->in[0], HU_AT_EACH), hu_operand_of(w->in[1], HU_AT_EACH), (uint32_t)rows,
		(uint32_t)classes, m.compute, hu_result_of(&top, 0), hu_result_of(&chosen, 0), w->pulse));
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, &top, HU_AT_ROW);
	HU_TRY(hu_sum_along<hu_softmax_term>(w, &m, rows, classes, sum));
	double s = hu_attr_num(w->call, "label_smoothing", 0);
	if (s != 0) {
		HU_TRY(smoothed(w, s, rows, classes, &top, &chosen, &sum[0], total));
	} else {
		hu_field_in(&all, &chosen, HU_AT_EACH);
		hu_field_in(&all, &top, HU_AT_EACH);
		hu_field_in(&all, &sum[0], HU_AT_EACH);
		hu_field_in(&all, w->in[2], HU_AT_EACH);
		HU_TRY(hu_sum_down<loss>(w, &all, 1, rows, total));
	}
	hu_field_in(&one, &total[0], HU_AT_EACH);
	hu_field_in(&one, &total[1], HU_AT_EACH);
	hu_field_out(w, &one, w->out[0]);
	HU_TRY(HU_SIDE(formula)(w, &one, HU_FORMULA_div));
	if (w->call->nout < 2)
		return HU_OK;
	hu_field_in(&p, w->in[0], HU_AT_EACH);
	hu_field_in(&p, &top, HU_AT_ROW);
	hu_field_in(&p, &sum[0], HU_AT_ROW);
	hu_field_out(w, &p, w->out[1]);
	return hu_field_run<hu_softmax_share>(w, &p);
}
