/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/exact/contract_runs.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/element/map.h"

#include <stdlib.h>

enum { LANES = 8, LEAST = 8 /* elements of a run; shorter runs are surveyed with their rows */ };

uint64_t
hu_runs_largest(const double *x, size_t n, double *squares)
{
	double sum[LANES] = { *squares };
	uint64_t top[LANES] = { 0 };
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		HU_SIMD
		for (size_t j = 0; j < LANES; j++) {
			uint64_t u = hu_bits64(x[i + j]) & 0x7fffffffffffffff;
			top[j] = u > top[j] ? u : top[j];
			sum[j] += x[i + j] * x[i + j];
		}
	}
	for (; i < n; i++) {
		uint64_t u = hu_bits64(x[i]) & 0x7fffffffffffffff;
		top[0] = u > top[0] ? u : top[0];
		sum[0] += x[i] * x[i];
	}
	for (size_t j = 1; j < LANES; j++)
		top[0] = top[j] > top[0] ? top[j] : top[0];
	*squares = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])) +
		   (top[0] ? (double)n * 0x1p-1020 : 0);
	return top[0];
}

void
hu_runs_survey(hu_runs *r, const hu_contract *x, const double *err)
{
	size_t k = 0, count;
	hu_stretch at = { -1, 1, 0 };

	*r = (hu_runs){ 0, NULL, NULL, NULL };
	for (; k < x->k && x->m && at.offset < 0; k += at.length)
		at = x->row(x, 0, k);
	if (at.offset < 0 || at.stride != 1 || at.length < LEAST || at.length >= x->k || x->a->n % at.length ||
		!hu_is_wide(x->a->format))
		return;
	r->run = at.length;
	count = x->a->n / r->run;
	r->h = hu_xmalloc(count * (2 * sizeof *r->h + sizeof *r->top) + 1);
	r->e = r->h + count;
	r->top = (uint64_t *)(void *)(r->e + count);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (x->a->n > 65536)
	for (size_t i = 0; i < count; i++) {
		r->h[i] = r->e[i] = 0;
		r->top[i] = hu_runs_largest((const double *)x->a->data + i * r->run, r->run, &r->h[i]);
		if (err)
			hu_runs_largest(err + i * r->run, r->run, &r->e[i]);
	}
}

void
hu_runs_release(hu_runs *r)
{
	free(r->h);
}
