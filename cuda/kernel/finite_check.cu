/* SPDX-License-Identifier: Apache-2.0
   finite_check: is there an infinity or NaN among the first `judged` inputs? If so, it searches the other inputs in
   order for the first one that has any (all inputs, if all are judged). */
#include "cuda/element/search.cuh"

HU_KERNEL
count_kernel(uint64_t *bad, HU_PARAM hu_store_operand x, uint32_t n)
{
	uint64_t mine = 0;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		mine += !hu_isfinite(hu_load_f64(&x, i));
	hu_count_in(bad, mine);
}

HU_KERNEL
verdict_kernel(const uint64_t *bad, int inputs, int judged, HU_PARAM hu_store_result found, double *place)
{
	int any = 0;

	place[0] = -1;
	place[1] = place[2] = 0;
	for (int i = 0; i < judged && i < inputs; i++)
		any |= bad[i] != 0;
	for (int i = judged < inputs ? judged : 0; i < inputs && any; i++)
		if (bad[i]) {
			if (place[2] == 0) {
				place[0] = i;
				place[1] = (double)bad[i];
			}
			place[2]++;
		}
	hu_put_f32(&found, 0, (float)any);
}

extern "C" hu_status
HU_SIDE(op_finite_check)(hu_work *w)
{
	int n = w->call->nin, judged = (int)hu_attr_num(w->call, "judged", n);
	hu_slot place = hu_raw_slot(w, 3, HU_FP64);
	uint64_t *bad;

	judged = judged < n ? judged : n;
	HU_TRY(hu_counters(w, &bad, (size_t)n));
	for (int i = 0; i < judged; i++)
		HU_TRY(HU_GO(w, count_kernel, hu_blocks_for(w->all[i]->n, 256, 1024), 256, 0, bad + i,
			hu_operand_of(w->all[i], HU_AT_EACH), (uint32_t)w->all[i]->n));
	if (judged > 0)
		HU_TRY(hu_search(w, w, judged, bad));
	HU_TRY(HU_GO(w, verdict_kernel, 1, 1, 0, (const uint64_t *)bad, n, judged, hu_result_of(w->out[0], 0),
		(double *)place.data));
	return w->call->nout > 1 ? HU_SIDE(round)(w, &place, w->out[1]) : HU_OK;
}
