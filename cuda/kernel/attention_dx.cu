/* SPDX-License-Identifier: Apache-2.0
   attention_dx with block=N: a pass over the queries, whose gradients go through the blocks of keys, and one over the
   keys, whose gradients go through the blocks of queries of every matrix that shares them. Each computes the weights of
   its pairs, so that nothing is added by two blocks of threads. */
#include "cuda/element/flash.cuh"

HU_KERNEL
common_kernel(HU_PARAM hu_flash_task t)
{
	const hu_flash_settled *x = &t.x;

	HU_ONCE
	for (uint32_t at = blockIdx.x * blockDim.x + threadIdx.x; at < x->Q * x->L; at += gridDim.x * blockDim.x) {
		t.d[at] = hu_flash_four(x->f, t.in[5] + at * x->V, t.in[3] + at * x->V, x->V);
		t.l[at] = hu_rne(x->f, t.in[4][at] * x->base);
	}
}

/* Sets p and s of query i of matrix b and key j, as they enter a product; s is -infinity and both count as 0 where the
   key is hidden. */
HU_DEVICE_CALL void
pair(const hu_flash_task *t, uint32_t b, uint32_t i, uint32_t j, double *p, double *s, double *seen)
{
	const hu_flash_settled *x = &t->x;
	size_t at = (size_t)b * x->L + i;
	double e, dp;

	*p = *s = 0;
	*seen = hu_flash_score_at(t, b, i, j);
	if (*seen == -HUGE_VAL)
		return;
	e = hu_flash_power(x->f, hu_rne(x->f, *seen - t->l[at]));
	dp = hu_flash_products(
		x->f, x->inner, t->in[5] + at * x->V, t->in[2] + (b / x->repeat * x->S + j) * x->V, x->V);
	*p = hu_rne(x->narrow, e);
	*s = hu_rne(x->narrow, hu_rne(x->f, e * hu_rne(x->f, dp - t->d[at])));
}

HU_KERNEL_OF(HU_FLASH_THREADS)
queries_kernel(HU_PARAM hu_flash_task t)
{
	const hu_flash_settled *x = &t.x;
	hu_flash_room r = hu_flash_room_here(&t);
	uint32_t me = threadIdx.x, N = (uint32_t)x->block, S = (uint32_t)x->S, L = (uint32_t)x->L, E = (uint32_t)x->E,
		 each = (L + HU_FLASH_TILE - 1) / HU_FLASH_TILE;

	HU_ONCE
	for (uint32_t at = blockIdx.x; at < t.tiles; at += gridDim.x) {
		uint32_t b = at / each, i0 = at % each * HU_FLASH_TILE,
			 count = L - i0 < HU_FLASH_TILE ? L - i0 : HU_FLASH_TILE;
		const double *keys = t.in[1] + b / x->repeat * S * E;
		HU_SYNC();
		for (uint32_t k = me; k < count * E; k += HU_FLASH_THREADS)
			r.sums[k] = 0;
		HU_ONCE
		for (uint32_t j0 = 0; j0 < S && !(x->causal && j0 > i0 + count - 1); j0 += N) {
			uint32_t n = S - j0 < N ? S - j0 : N;
			double unused;
			HU_SYNC();
			HU_ONCE
			for (uint32_t k = me; k < count * n; k += HU_FLASH_THREADS)
				pair(&t, b, i0 + k / n, j0 + k % n, &unused, &r.p[k], &r.s[k]);
			HU_SYNC();
			HU_ONCE
			for (uint32_t k = me; k < count * E; k += HU_FLASH_THREADS)
				if (!(x->causal && j0 > i0 + k / E))
					r.sums[k] = hu_flash_sum_on(&t, &r, r.sums[k], r.p + k / E * n, r.s + k / E * n,
						keys + (size_t)j0 * E + k % E, E, n);
		}
		HU_SYNC();
		HU_ONCE
		for (uint32_t k = me; k < count * E; k += HU_FLASH_THREADS)
			hu_store_f64(&t.y[0], (b * L + i0) * E + k, hu_rne(x->f, r.sums[k] * x->factor));
	}
}

/* Adds what a block of n queries of matrix b from i0 on gives to the sums of `count` keys from j0 on: dk by the weights
   s, or, where of_values is set, dv by p. */
HU_DEVICE_CALL void
keys_add(const hu_flash_task *t, const hu_flash_room *r, uint32_t b, uint32_t i0, uint32_t n, uint32_t j0,
	uint32_t count, int of_values)
{
	const hu_flash_settled *x = &t->x;
	uint32_t width = (uint32_t)(of_values ? x->V : x->E), N = (uint32_t)x->block;
	double *sums = of_values ? r->sums + HU_FLASH_TILE * x->E : r->sums, unused;
	const double *from = t->in[of_values ? 5 : 0] + ((size_t)b * x->L + i0) * width;

	HU_SYNC();
	HU_ONCE
	for (uint32_t k = threadIdx.x; k < count * n; k += HU_FLASH_THREADS)
		pair(t, b, i0 + k % n, j0 + k / n, of_values ? &r->p[k] : &unused, of_values ? &unused : &r->p[k],
			&r->s[k]);
	HU_SYNC();
	HU_ONCE
	for (uint32_t k = threadIdx.x; k < count * width; k += HU_FLASH_THREADS) {
		uint32_t key = k / width;
		if (!(x->causal && i0 < (j0 + key) / N * N))
			sums[k] = hu_flash_sum_on(
				t, r, sums[k], r->p + key * n, r->s + key * n, from + k % width, width, n);
	}
}

HU_KERNEL_OF(HU_FLASH_THREADS)
keys_kernel(HU_PARAM hu_flash_task t)
{
	const hu_flash_settled *x = &t.x;
	hu_flash_room r = hu_flash_room_here(&t);
	uint32_t me = threadIdx.x, N = (uint32_t)x->block, S = (uint32_t)x->S, L = (uint32_t)x->L, E = (uint32_t)x->E,
		 V = (uint32_t)x->V, each = (S + HU_FLASH_TILE - 1) / HU_FLASH_TILE;
	double *of_values = r.sums + HU_FLASH_TILE * E;

	HU_ONCE
	for (uint32_t at = blockIdx.x; at < t.tiles; at += gridDim.x) {
		uint32_t g = at / each, j0 = at % each * HU_FLASH_TILE,
			 count = S - j0 < HU_FLASH_TILE ? S - j0 : HU_FLASH_TILE;
		HU_SYNC();
		for (uint32_t k = me; k < HU_FLASH_TILE * (E + V); k += HU_FLASH_THREADS)
			r.sums[k] = 0;
		HU_ONCE
		for (uint32_t b = g * (uint32_t)x->repeat; b < (g + 1) * x->repeat; b++)
			HU_ONCE
		for (uint32_t i0 = x->causal ? j0 / N * N : 0; i0 < L; i0 += N) {
			uint32_t n = L - i0 < N ? L - i0 : N;
			keys_add(&t, &r, b, i0, n, j0, count, 0);
			if (t.nout > 2)
				keys_add(&t, &r, b, i0, n, j0, count, 1);
		}
		HU_SYNC();
		HU_ONCE
		for (uint32_t k = me; k < count * E; k += HU_FLASH_THREADS)
			hu_store_f64(&t.y[1], (g * S + j0) * E + k, hu_rne(x->f, r.sums[k] * x->factor));
		HU_ONCE
		for (uint32_t k = me; t.nout > 2 && k < count * V; k += HU_FLASH_THREADS)
			hu_store_f64(&t.y[2], (g * S + j0) * V + k, of_values[k]);
	}
}

extern "C" hu_status
HU_SIDE(op_attention_dx)(hu_work *w)
{
	hu_flash_task t;
	hu_slot raw[3];

	HU_TRY(hu_flash_begin(w, &t, raw, 1));
	size_t queries = t.x.Q * t.x.L, of_queries = t.x.Q * ((t.x.L + HU_FLASH_TILE - 1) / HU_FLASH_TILE),
	       of_keys = t.x.Q / t.x.repeat * ((t.x.S + HU_FLASH_TILE - 1) / HU_FLASH_TILE);
	unsigned blocks[2] = { hu_flash_blocks(&t, of_queries), hu_flash_blocks(&t, of_keys) };
	t.d = (double *)hu_work_take(w, queries * sizeof *t.d);
	t.l = (double *)hu_work_take(w, queries * sizeof *t.l);
	t.room = (double *)hu_work_take(
		w, (size_t)(blocks[0] > blocks[1] ? blocks[0] : blocks[1]) * t.each * sizeof *t.room);
	HU_TRY(HU_GO(w, common_kernel, hu_blocks_for(queries, 128, 65535), 128, 0, t));
	t.tiles = (uint32_t)of_queries;
	HU_TRY(HU_GO(w, queries_kernel, blocks[0], HU_FLASH_THREADS, 0, t));
	t.tiles = (uint32_t)of_keys;
	if (t.nout > 1)
		HU_TRY(HU_GO(w, keys_kernel, blocks[1], HU_FLASH_THREADS, 0, t));
	return hu_flash_end(w, &t, raw);
}
