/* SPDX-License-Identifier: Apache-2.0
   cast: y = x in another format, rounded once. With scaled=1, x is first multiplied by s = 2^floor(log2(max/amax)),
   which is the second output; amax is x's largest magnitude, max the format's. */
#include "cuda/element/scaled.cuh"
#include "cuda/element/stat.h"

HU_KERNEL
amax_kernel(uint64_t *amax, HU_PARAM hu_store_operand x, uint32_t n)
{
	uint32_t whole = x.kind == HU_KIND_F64 ? 0 : n / 8, runs = hu_runs(n, whole, 8);
	uint64_t mine = 0;

	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < runs; t += gridDim.x * blockDim.x) {
		uint64_t u = hu_run_largest(&x, x.data, hu_run_at<8>(t, whole));
		mine = u > mine ? u : mine;
	}
	hu_largest_in(amax, mine);
}

HU_KERNEL
scale_kernel(double *k, const uint64_t *amax, double max, HU_PARAM hu_store_result out)
{
	k[0] = hu_cast_scale(hu_from_bits64(*amax), max);
	if (out.data)
		hu_put_f32(&out, 0, (float)k[0]);
}

/* If the cast is not scaled, the second output is 1. */
HU_KERNEL
one_kernel(HU_PARAM hu_store_result out)
{
	hu_put_f32(&out, 0, 1);
}

extern "C" hu_status
HU_SIDE(op_cast)(hu_work *w)
{
	hu_field m = hu_field_of(w, w->in[0]->n, 1);
	hu_store_result second = w->call->nout > 1 ? hu_result_of(w->out[1], 0) : hu_result_none();
	uint64_t *amax;

	if (w->in[0]->format == HU_FP64)
		m.compute = hu_format_of(HU_FP64); /* one rounding, not two */
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	if (hu_attr_num(w->call, "scaled", 0) == 0) {
		if (second.data)
			HU_TRY(HU_GO(w, one_kernel, 1, 1, 0, second));
		return hu_field_run<hu_itself>(w, &m);
	}
	double *k = hu_numbers(w, 1);
	HU_TRY(hu_counters(w, &amax, 1));
	HU_TRY(HU_GO(w, amax_kernel, hu_blocks_for(m.n, 256, 1024), 256, 0, amax, m.in[0], m.n));
	HU_TRY(HU_GO(w, scale_kernel, 1, 1, 0, k, (const uint64_t *)amax, hu_format_of(w->call->fmt.out).max, second));
	m.nk = 1;
	m.kd = k;
	return HU_SIDE(formula)(w, &m, HU_FORMULA_scale);
}
