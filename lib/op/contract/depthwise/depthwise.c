/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/depthwise/depthwise.h"

#include "lib/number/simd.h"
#include "lib/op/performed.h"

#include <stdlib.h>

static hu_depthwise_sum *
sum_of_processor(void)
{
	return HU_SIMD_PICK(hu_depthwise_sum_avx512, hu_depthwise_sum_avx2, hu_depthwise_sum_plain);
}

static hu_depthwise_wide *
wide_of_processor(void)
{
	return HU_SIMD_PICK(hu_depthwise_wide_avx512, hu_depthwise_wide_avx2, hu_depthwise_wide_plain);
}

static hu_depthwise_mixed *
mixed_of_processor(void)
{
	return HU_SIMD_PICK(hu_depthwise_mixed_avx512, hu_depthwise_mixed_avx2, hu_depthwise_mixed_plain);
}

static hu_depthwise_sum *
fours_of_processor(void)
{
	return HU_SIMD_PICK(hu_depthwise_fours_avx512, hu_depthwise_fours_avx2, hu_depthwise_fours_plain);
}

int
hu_depthwise_is_by_fours(const hu_contract *x, const hu_call *c)
{
	return hu_attr_count(c, "order", 0) == 2 && c->sum.id == HU_SUM_SEQUENTIAL && c->sum.acc == HU_FP32 &&
	       c->sum.mode == HU_RNE && x->ci == 1 && x->co == 1 && x->batches > 1 && !hu_attr_count(c, "part", 0) &&
	       !hu_is_wide(x->a->format) && !hu_is_wide(x->b->format);
}

/* 1 where hu_depthwise computes the call. */
static int
is_possible(const hu_contract *x, const hu_call *c, size_t part)
{
	int wide = hu_is_wide(x->a->format) + hu_is_wide(x->b->format);
	int known = c->sum.acc == HU_FP64 ? wide != 1 : c->sum.acc == HU_FP32 && !wide;

	if (hu_depthwise_is_by_fours(x, c))
		return 1;
	return known && x->ci == 1 && x->co == 1 && x->batches > 1 && (!part || part >= x->k) &&
	       c->sum.id == HU_SUM_FMA && c->sum.mode == HU_RNE &&
	       (c->sum.outer == HU_NO_FORMAT || c->sum.outer == c->sum.acc);
}

/* The channels of the pixels that the taps of output pixel M meet, SIZE bytes each; `outside` where they meet none. */
static void
meet(const hu_contract *x, size_t m, size_t size, const void *outside, const void **to)
{
	size_t col = m % x->wo, r = m / x->wo % x->ho, image = m / x->wo / x->ho;

	for (size_t i = 0; i < x->kh; i++) {
		ptrdiff_t v = (ptrdiff_t)(r * x->sh + i * x->dh) - x->pad_h;
		for (size_t j = 0; j < x->kw; j++) {
			ptrdiff_t u = (ptrdiff_t)(col * x->sw + j * x->dw) - x->pad_w;
			int in = v >= 0 && v < (ptrdiff_t)x->h && u >= 0 && u < (ptrdiff_t)x->w;
			size_t pixel = in ? (image * x->h + (size_t)v) * x->w + (size_t)u : 0;
			*to++ = in ? (const char *)x->a->data + pixel * x->cin * size : outside;
		}
	}
}

int
hu_depthwise(const hu_contract *x, const hu_call *c, size_t part, hu_tensor *y, const hu_env *env, hu_status *st)
{
	if (!is_possible(x, c, part))
		return 0;
	int wide = hu_is_wide(x->a->format), doubles = c->sum.acc == HU_FP64;
	size_t size = wide ? sizeof(double) : sizeof(float);
	hu_depthwise_sum *sum = c->sum.id == HU_SUM_FMA ? sum_of_processor() : fours_of_processor();
	void *outside = calloc(x->cin, size);
	int full = !outside;

#pragma omp parallel
	{
		const void **at = malloc(x->k * sizeof *at);
		void *line = malloc(x->cout * (doubles ? sizeof(double) : sizeof(float)));
		if (!at || !line)
#pragma omp atomic write
			full = 1;
#pragma omp barrier
#pragma omp for schedule(static)
		for (size_t m = 0; m < x->m; m++) {
			if (full)
				continue;
			meet(x, m, size, outside, at);
			if (doubles) {
				if (wide)
					wide_of_processor()(at, x->b->data, x->k, x->cout, line);
				else
					mixed_of_processor()(at, x->b->data, x->k, x->cout, line);
				hu_contract_store(c, y, m * x->cout, x->cout, line, x->scale, env);
			} else {
				sum(at, x->b->data, x->k, x->cout, line);
				hu_contract_finish(x, c, y, m * x->cout, x->cout, line, env);
			}
			hu_performed_macs(x->k * x->cout);
		}
		free(at);
		free(line);
	}
	free(outside);
	*st = full ? hu_fail(HU_ENOMEM, "there is no memory for a convolution of %zu channels", x->cout) : HU_OK;
	return 1;
}
