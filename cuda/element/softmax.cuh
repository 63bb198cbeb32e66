/* SPDX-License-Identifier: Apache-2.0
   softmax, its logarithm and the gradients of both: a sum over each group, and a formula of each element and its
   group's sum. Rows of up to 4096 elements take one pass, a warp for each row, with the fixed tree of reduce.cuh; a
   warp keeps what it summed for the second formula. Other groups take a pass for each step. O describes the operator:
     O::shift  whether b is the group's largest a; otherwise it is the second operand
     O::term   the formula of what is summed, of a and b
     O::sum    the formula of what becomes of the sum
     O::value  the formula of the result, of a, b, what the sum became, and the term
     O::passed the same without the term
     O::keeps  whether value needs the term */
#ifndef HU_CUDA_SOFTMAX_CUH
#define HU_CUDA_SOFTMAX_CUH

#include "cuda/element/groups.cuh"
#include "cuda/element/winner.h"

enum { HU_KEPT = 512 };

/* exp(x - top), and its quotient by the sum of all. */
#define HU_EXP_BELOW(S, T) out[0][i] = hu_exp_below##S(c, in[0][i], in[1][i])
#define HU_SHARE(S, T) out[0][i] = hu_softmax##S(c, in[0][i], in[1][i], in[2][i])
HU_FORMULA(hu_softmax_term, 2, 1, HU_EXP_BELOW)
HU_FORMULA(hu_softmax_share, 3, 1, HU_SHARE)
template <> inline constexpr int hu_is_long<hu_softmax_term> = 1;
template <> inline constexpr int hu_is_long<hu_softmax_share> = 1;
#undef HU_EXP_BELOW
#undef HU_SHARE

template <class S>
HU_DEVICE typename S::T
hu_row_top(const hu_store_operand *x, uint32_t first, uint32_t each, hu_format compute)
{
	hu_candidate best = hu_no_candidate(0);

	HU_ONCE
	for (uint32_t j = threadIdx.x % 32; j < each; j += 32) {
		hu_candidate one = { hu_load_f64(x, first + j), j };
		if (hu_beats(one, best, 0))
			best = one;
	}
	return (typename S::T)hu_rne(compute, hu_warp_winner(best, 0).value);
}

template <class O, class S>
HU_KERNEL_OF(32 * HU_SUM_WARPS)
hu_softmax_kernel(HU_PARAM hu_field m, uint32_t rows, uint32_t each)
{
	typedef typename S::T T;
	HU_SHARED(T, kept, O::keeps ? HU_SUM_WARPS * HU_KEPT : 1);
	uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	typename S::C c;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t row = blockIdx.x * HU_SUM_WARPS + warp; row < rows; row += gridDim.x * HU_SUM_WARPS) {
		uint32_t first = row * each;
		T in[4][1] = { { 0 }, { 0 }, { 0 }, { 0 } }, out[1][1], sum = 0;
		if (O::shift)
			in[1][0] = hu_row_top<S>(&m.in[0], first, each, m.compute);
		HU_ONCE
		for (uint32_t j = lane; j < each; j += 32) {
			in[0][0] = S::taken(&c, HU_AT_EACH, S::load(&c, &m.in[0], m.in[0].data, first + j));
			if (!O::shift)
				in[1][0] = S::taken(&c, HU_AT_EACH, S::load(&c, &m.in[1], m.in[1].data, first + j));
			O::term::run(S(), &c, in, out);
			if (O::keeps && j < HU_KEPT)
				kept[warp * HU_KEPT + j] = out[0][0];
			sum = S::add(&c, sum, out[0][0]);
		}
		for (unsigned by = 16; by; by /= 2)
			sum = S::add(&c, sum, hu_shfl_down(sum, by));
		in[2][0] = hu_shfl(sum, 0);
		O::sum::run(S(), &c, in + 2, out);
		in[2][0] = out[0][0];
		HU_ONCE
		for (uint32_t j = lane; j < each; j += 32) {
			in[0][0] = S::taken(&c, HU_AT_EACH, S::load(&c, &m.in[0], m.in[0].data, first + j));
			if (!O::shift)
				in[1][0] = S::taken(&c, HU_AT_EACH, S::load(&c, &m.in[1], m.in[1].data, first + j));
			if (O::keeps && j < HU_KEPT)
				in[3][0] = kept[warp * HU_KEPT + j];
			else if (O::keeps)
				O::term::run(S(), &c, in, in + 3);
			O::value::run(S(), &c, in, out);
			S::store(&m.out[0], first + j, out[0][0]);
		}
	}
}

/* The passes for any groups. */
template <class O>
static hu_status
hu_softmax_passes(hu_work *w, const hu_reduce_dims *d)
{
	hu_field terms = hu_group_field(w, d), each = hu_field_of(w, hu_group_count(d), 1), m;
	int how = hu_group_how(d);
	hu_slot top, sum[1], stat = hu_stat_slot(w, hu_group_count(d));

	hu_field_in(&terms, w->in[0], HU_AT_EACH);
	if (O::shift)
		HU_TRY(HU_SIDE(tops)(w, w->in[0], d, &top));
	hu_field_in(&terms, O::shift ? &top : w->in[1], O::shift ? how : HU_AT_EACH);
	m = terms;
	HU_TRY(hu_group_sum<typename O::term>(w, &terms, d, sum));
	hu_field_in(&each, &sum[0], HU_AT_EACH);
	hu_field_keep(&each, &stat);
	HU_TRY(hu_field_run<typename O::sum>(w, &each));
	hu_field_in(&m, &stat, how);
	hu_field_out(w, &m, w->out[0]);
	return hu_field_run<typename O::passed>(w, &m);
}

/* Computes the call's output, along the axis that the call names. */
template <class O>
static hu_status
hu_softmax_run(hu_work *w)
{
	hu_reduce_dims d;

	HU_TRY(hu_axis_of(w->call, w->in[0]->shape, &d));
	if (d.inner > 1 || d.middle > HU_SUM_BLOCK)
		return hu_softmax_passes<O>(w, &d);
	hu_field m = hu_group_field(w, &d);
	hu_field_in(&m, w->in[0], HU_AT_EACH);
	hu_field_in(&m, w->in[O::shift ? 0 : 1], HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	HU_TRY_IN_NUMERIC(m.compute, HU_GO(w, (hu_softmax_kernel<O, S>), hu_blocks_for(d.outer, HU_SUM_WARPS, 65535),
					     32 * HU_SUM_WARPS, 0, m, (uint32_t)d.outer, (uint32_t)d.middle));
	return hu_result_finish(w, &m.raw[0], w->out[0]);
}
#endif
