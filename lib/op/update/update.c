/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/update/update.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/count.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

hu_status
hu_update_swamping(const hu_map *m, const size_t *element, size_t n, const hu_env *env, hu_swamp *count)
{
	hu_bounded *y = hu_xmalloc((n + 1) * 2 * sizeof *y);

	hu_map_runs(m, element, n, 2, y);
	for (size_t i = 0; i < n; i++) {
		double w = hu_get(m->in[0].t, element[i]), d = y[2 * i + 1].v;
		hu_update_tally one = { 0, 0 };
		hu_update_count(&one, w, d, hu_stored(m->call, env, m->call->fmt.out, element[i], y[2 * i].v));
		count->outputs++;
		count->additions += one.updates;
		count->swamped += one.swamped;
	}
	free(y);
	return HU_OK;
}

/* hu_update_count for floats without branches. */
static void
count_f32(const float *w, const float *next, size_t n, const float *d, hu_update_tally *count)
{
	uint32_t updates = 0, swamped = 0;

#ifndef __clang__
#pragma omp simd reduction(+ : updates, swamped)
#endif
	for (size_t i = 0; i < n; i++) {
		float a = fabsf(w[i]), b = fabsf(d[i]);
		uint32_t moves = (uint32_t)(a <= FLT_MAX) & (uint32_t)(b <= FLT_MAX) & (uint32_t)(b > 0);
		updates += moves;
		swamped += moves & (uint32_t)(next[i] == w[i]);
	}
	count->updates += updates;
	count->swamped += swamped;
}

/* Counts one block; d32 or d64 holds what was subtracted from each weight. */
static void
count_block(const hu_tensor *w, const hu_tensor *next, size_t first, size_t n, const float *d32, const double *d64,
	hu_update_tally *count)
{
	if (d32 && !hu_is_wide(w->format) && !hu_is_wide(next->format)) {
		count_f32((const float *)w->data + first, (const float *)next->data + first, n, d32, count);
		return;
	}
	for (size_t i = 0; i < n; i++)
		hu_update_count(count, hu_get(w, first + i), d32 ? (double)d32[i] : d64[i], hu_get(next, first + i));
}

void
hu_update_tally_all(const hu_map *m, const hu_tensor *w, const hu_tensor *next, hu_update_tally *count)
{
	hu_ctx_f32 c32 = hu_map_context_f32(m);
	hu_ctx_f64 c64 = hu_map_context_f64(m);
	uint64_t updates = 0, swamped = 0;
	int narrow = m->compute == HU_FP32;

#pragma omp parallel for schedule(static) num_threads(hu_threads()) reduction(+ : updates, swamped) if (w->n > 4096)
	for (size_t first = 0; first < w->n; first += HU_MAP_BLOCK) {
		float d32[2][HU_MAP_BLOCK], *to32[HU_MAP_OUT] = { d32[0], d32[1] };
		double d64[2][HU_MAP_BLOCK], *to64[HU_MAP_OUT] = { d64[0], d64[1] };
		size_t n = w->n - first < HU_MAP_BLOCK ? w->n - first : HU_MAP_BLOCK;
		hu_update_tally one = { 0, 0 };
		if (narrow)
			hu_map_block_f32(m, &c32, first, n, to32);
		else
			hu_map_block_f64(m, &c64, first, n, to64);
		count_block(w, next, first, n, narrow ? d32[1] : NULL, d64[1], &one);
		updates += one.updates;
		swamped += one.swamped;
	}
	count->updates += updates;
	count->swamped += swamped;
}
