/* SPDX-License-Identifier: Apache-2.0
   attention with block=N: a block of threads takes a tile of one matrix's queries through the blocks of keys. */
#include "cuda/element/flash.cuh"

/* What is kept of each row of a tile: the largest score so far, and with this block; the sum of exponentials; the
   factor of what was added before; whether it sees a key of this block or an earlier one. */
typedef struct rows {
	double top, next, sum, alpha;
	int sees;
} rows;

HU_DEVICE_CALL void
row_weighs(const hu_flash_task *t, const double *s, uint32_t n, rows *k)
{
	double m = k->top;

	for (uint32_t j = 0; j < n; j++)
		m = s[j] > m || s[j] != s[j] ? s[j] : m;
	k->next = m;
	k->sees = m != -HUGE_VAL;
	k->alpha = k->sees ? hu_flash_power(t->x.f, hu_rne(t->x.f, k->top - m)) : 1;
}

HU_KERNEL_OF(HU_FLASH_THREADS)
forward_kernel(HU_PARAM hu_flash_task t)
{
	HU_SHARED(rows, kept, HU_FLASH_TILE);
	const hu_flash_settled *x = &t.x;
	hu_flash_room r = hu_flash_room_here(&t);
	uint32_t me = threadIdx.x, N = (uint32_t)x->block, S = (uint32_t)x->S, L = (uint32_t)x->L, V = (uint32_t)x->V,
		 each = (L + HU_FLASH_TILE - 1) / HU_FLASH_TILE;

	HU_ONCE
	for (uint32_t at = blockIdx.x; at < t.tiles; at += gridDim.x) {
		uint32_t b = at / each, i0 = at % each * HU_FLASH_TILE,
			 count = L - i0 < HU_FLASH_TILE ? L - i0 : HU_FLASH_TILE;
		const double *v = t.in[2] + b / x->repeat * S * V;
		HU_SYNC();
		for (uint32_t k = me; k < count * V; k += HU_FLASH_THREADS)
			r.sums[k] = 0;
		if (me < count)
			kept[me].top = -HUGE_VAL, kept[me].sum = 0;
		HU_ONCE
		for (uint32_t j0 = 0; j0 < S && !(x->causal && j0 > i0 + count - 1); j0 += N) {
			uint32_t n = S - j0 < N ? S - j0 : N;
			HU_ONCE
			for (uint32_t k = me; k < count * n; k += HU_FLASH_THREADS)
				r.s[k] = hu_flash_score_at(&t, b, i0 + k / n, j0 + k % n);
			HU_SYNC();
			if (me < count)
				row_weighs(&t, r.s + me * n, n, &kept[me]);
			HU_SYNC();
			HU_ONCE
			for (uint32_t k = me; k < count * n; k += HU_FLASH_THREADS)
				r.p[k] = r.s[k] == -HUGE_VAL || !kept[k / n].sees
						 ? 0
						 : hu_flash_power(x->f, hu_rne(x->f, r.s[k] - kept[k / n].next));
			HU_SYNC();
			if (me < count && kept[me].sees && !(x->causal && j0 > i0 + me)) {
				rows *k = &kept[me];
				k->sum = hu_rne(x->f,
					hu_rne(x->f, k->sum * k->alpha) + hu_flash_four(x->f, r.p + me * n, NULL, n));
				k->top = k->next;
			}
			HU_SYNC();
			HU_ONCE
			for (uint32_t k = me; k < count * n; k += HU_FLASH_THREADS)
				r.p[k] = hu_rne(x->narrow, r.p[k]);
			HU_SYNC();
			HU_ONCE
			for (uint32_t k = me; k < count * V; k += HU_FLASH_THREADS) {
				uint32_t row = k / V, d = k % V;
				if (kept[row].sees && !(x->causal && j0 > i0 + row))
					r.sums[k] = hu_flash_sum_on(&t, &r, hu_rne(x->f, r.sums[k] * kept[row].alpha),
						r.p + row * n, r.s + row * n, v + (size_t)j0 * V + d, V, n);
			}
			HU_SYNC();
		}
		HU_SYNC();
		HU_ONCE
		for (uint32_t k = me; k < count * V; k += HU_FLASH_THREADS) {
			double sum = kept[k / V].top == -HUGE_VAL ? hu_nan() : kept[k / V].sum;
			hu_store_f64(&t.y[0], (b * L + i0) * V + k, hu_flash_quotient(x->f, x->held, r.sums[k], sum));
			if (t.nout > 2)
				hu_store_f64(&t.y[2], (b * L + i0) * V + k,
					hu_flash_quotient(x->f, x->f, r.sums[k], sum));
		}
		if (me < count && t.nout > 1) {
			double sum = kept[me].top == -HUGE_VAL ? hu_nan() : kept[me].sum;
			hu_store_f64(&t.y[1], b * L + i0 + me,
				hu_rne(x->f, hu_rne(x->f, kept[me].top * x->back) + hu_rne(x->f, hu_log(sum))));
		}
	}
}

extern "C" hu_status
HU_SIDE(op_attention)(hu_work *w)
{
	hu_flash_task t;
	hu_slot raw[3];

	HU_TRY(hu_flash_begin(w, &t, raw, 0));
	t.tiles = (uint32_t)(t.x.Q * ((t.x.L + HU_FLASH_TILE - 1) / HU_FLASH_TILE));
	unsigned blocks = hu_flash_blocks(&t, t.tiles);
	t.room = (double *)hu_work_take(w, (size_t)blocks * t.each * sizeof *t.room);
	HU_TRY(HU_GO(w, forward_kernel, blocks, HU_FLASH_THREADS, 0, t));
	return hu_flash_end(w, &t, raw);
}
