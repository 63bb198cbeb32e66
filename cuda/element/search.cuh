/* SPDX-License-Identifier: Apache-2.0
   The finite check's search: which of a step's tensors have elements that are not finite, and how many. It reads them
   only if one of the tensors judged before has any. */
#ifndef HU_CUDA_SEARCH_CUH
#define HU_CUDA_SEARCH_CUH

#include "cuda/element/many.cuh"
#include "cuda/element/scalar.cuh"

enum { HU_SEARCHED = 180, HU_SEARCH_KINDS = 8 };

typedef struct hu_searching {
	uint32_t count, judged;
	const uint64_t *bad;
	uint64_t *out;
	const void *x[HU_SEARCHED];
	uint32_t n[HU_SEARCHED];
	uint8_t kind_of[HU_SEARCHED];
	hu_store_operand kinds[HU_SEARCH_KINDS];
} hu_searching;

HU_KERNEL
hu_search_kernel(HU_PARAM hu_searching s)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < s.judged; i++)
		any |= s.bad[i];
	if (!any)
		return;
	for (uint32_t t = 0; t < s.count; t++) {
		hu_store_operand x = hu_operand_at(&s.kinds[s.kind_of[t]], s.x[t]);
		uint64_t mine = 0;
		for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.n[t]; i += gridDim.x * blockDim.x)
			mine += !hu_isfinite(hu_load_f64(&x, i));
		hu_count_in(&s.out[t], mine);
	}
}

/* bad[i] becomes the count for input i of check, from number judged on; those before it are already counted. */
static hu_status
hu_search(hu_work *w, const hu_work *check, int judged, uint64_t *bad)
{
	hu_searching s;

	memset(&s, 0, sizeof s);
	s.judged = (uint32_t)judged;
	s.bad = bad;
	for (int at = judged; at < check->call->nin;) {
		hu_format_id of[HU_SEARCH_KINDS];
		int kinds = 0, k;
		size_t most = 0;
		s.count = 0;
		s.out = bad + at;
		for (; at < check->call->nin && s.count < HU_SEARCHED; at++) {
			const hu_slot *x = check->all[at];
			for (k = 0; k < kinds && of[k] != x->format; k++)
				;
			if (k == HU_SEARCH_KINDS)
				break;
			if (k == kinds) {
				of[kinds] = x->format;
				s.kinds[kinds++] = hu_operand_of(x, HU_AT_EACH);
			}
			most = x->n > most ? x->n : most;
			s.x[s.count] = x->data;
			s.n[s.count] = (uint32_t)x->n;
			s.kind_of[s.count++] = (uint8_t)k;
		}
		HU_TRY(HU_GO(
			w, hu_search_kernel, hu_blocks_for(most, 4 * HU_MANY_THREADS, 128), HU_MANY_THREADS, 0, s));
	}
	return HU_OK;
}
#endif
