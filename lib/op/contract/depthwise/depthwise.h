/* SPDX-License-Identifier: Apache-2.0
   Convolutions of one filter for each channel, which as products would have one column each: here channels that lie
   side by side in memory are computed side by side. */
#ifndef HU_OP_CONTRACT_DEPTHWISE_H
#define HU_OP_CONTRACT_DEPTHWISE_H

#include "lib/op/contract/contract.h"
#include "lib/op/sink.h"

/* to[i] = Σ_k x[k][i] w[k * n + i] of n channels i, x[k] pointing to numbers like w's, in ascending k < taps from +0
   by fused multiply-adds in fp32, or wide in fp64; mixed are sums in fp64 of numbers in fp32. Each instruction set
   gives the same bits. */
typedef void hu_depthwise_sum(const void *const *x, const float *w, size_t taps, size_t n, float *to);
typedef void hu_depthwise_wide(const void *const *x, const double *w, size_t taps, size_t n, double *to);
typedef void hu_depthwise_mixed(const void *const *x, const float *w, size_t taps, size_t n, double *to);
hu_depthwise_sum hu_depthwise_sum_plain, hu_depthwise_sum_avx2, hu_depthwise_sum_avx512;
hu_depthwise_wide hu_depthwise_wide_plain, hu_depthwise_wide_avx2, hu_depthwise_wide_avx512;
hu_depthwise_mixed hu_depthwise_mixed_plain, hu_depthwise_mixed_avx2, hu_depthwise_mixed_avx512;

/* How many of the taps that are left, 1 or more, are added to one another before their sum is added to those before,
   where terms are added by fours; and such sums, each product and each sum rounded to fp32. */
static inline size_t
hu_depthwise_four(size_t left)
{
	return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}
hu_depthwise_sum hu_depthwise_fours_plain, hu_depthwise_fours_avx2, hu_depthwise_fours_avx512;

/* Whether the settled convolution, each channel of which has one filter, adds its terms by fours: order=2, and the
   summation model sequential in fp32. hu_depthwise_some computes N of its outputs alone, and what count gets, as
   hu_contract_some does. */
int hu_depthwise_is_by_fours(const hu_contract *x, const hu_call *c);
hu_status hu_depthwise_some(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, double *value, hu_swamp *count);
hu_status hu_depthwise_swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count);

/* Emulates the settled convolution c, forwards, described by x, where each channel has one filter and sums are fma, to
   nearest even, without parts, in fp32, or by fours, or in fp64 where both operands are that wide or neither is
   (hu_contract_own's `whole`): the bits of its products. *st may be HU_ENOMEM. */
int hu_depthwise(const hu_contract *x, const hu_call *c, size_t part, hu_tensor *y, const hu_env *env, hu_status *st);

/* Encloses the outputs of such a convolution, forwards, whose operands are certified values (sink->low), each sum term
   by term in double-double (hu_contract_own's `certified`). It returns 0, and gives the sink nothing, where filters
   take several channels or the result is scaled. */
int hu_depthwise_enclose(const hu_contract *x, hu_sink *sink);
#endif
