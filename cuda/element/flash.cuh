/* SPDX-License-Identifier: Apache-2.0
   Attention in blocks, and its gradients, on the device: every format and summation model by the arithmetic of
   lib/op/contract/attention/arithmetic.h, in the order that flash.h there says. A block of threads takes a tile of
   queries, or of keys, and goes through the blocks of the others; what a thread computes is one score, one weight, or
   one component of a sum, so that no bit depends on how many there are. Operands are doubles, made once a call. */
#ifndef HU_CUDA_FLASH_CUH
#define HU_CUDA_FLASH_CUH

#include "cuda/element/store.h"

extern "C" {
#include "lib/op/contract/attention/settled.h"
}

enum { HU_FLASH_TILE = 4, HU_FLASH_THREADS = 64, HU_FLASH_OPERANDS = 7 };

/* The operands as doubles, the results, of a gradient D and L log2 e of each query, and the room of each block of
   threads: `each` doubles, of which a thread has a pair of columns for itself. tiles is how many there are. */
typedef struct hu_flash_task {
	hu_flash_settled x;
	const double *in[HU_FLASH_OPERANDS];
	hu_store_result y[3];
	double *d, *l, *room;
	uint32_t nout, each, tiles;
} hu_flash_task;

/* The room of this block of threads: two weights of each row and element of a block, the sums of each row, and a
   thread's columns, with an element in front. */
typedef struct hu_flash_room {
	double *s, *p, *sums, *a, *b;
} hu_flash_room;

HU_DEVICE hu_flash_room
hu_flash_room_here(const hu_flash_task *t)
{
	uint32_t N = (uint32_t)t->x.block, E = (uint32_t)t->x.E, V = (uint32_t)t->x.V;
	double *at = t->room + (size_t)blockIdx.x * t->each;
	hu_flash_room r = { at, at + HU_FLASH_TILE * N, at + 2 * HU_FLASH_TILE * N, NULL, NULL };

	r.a = r.sums + HU_FLASH_TILE * (E + V) + (size_t)threadIdx.x * 2 * (N + 1);
	r.b = r.a + N + 1;
	return r;
}

/* Score j of query i of matrix b as it is exponentiated; -infinity where the key is hidden. */
HU_DEVICE_CALL double
hu_flash_score_at(const hu_flash_task *t, uint32_t b, uint32_t i, uint32_t j)
{
	const hu_flash_settled *x = &t->x;
	const double *q = t->in[0] + ((size_t)b * x->L + i) * x->E, *k = t->in[1] + (b / x->repeat * x->S + j) * x->E;
	double s, add = 0;

	if (x->causal && j > i)
		return -HUGE_VAL;
	if (x->mask >= 0)
		add = t->in[x->mask][b * x->mask_step + (size_t)i * x->S + j];
	if (add == -HUGE_VAL)
		return add;
	s = hu_rne(x->f, hu_flash_products(x->f, x->inner, q, k, x->E) * x->scale);
	return x->mask >= 0 ? hu_rne(x->f, s + hu_rne(x->f, x->base * add)) : s;
}

/* What the sum becomes after n weights w, as they enter a product, times every `step`-th number of v. s tells which of
   these are hidden (-infinity) where it is not NULL: they meet +0. */
HU_DEVICE_CALL double
hu_flash_sum_on(const hu_flash_task *t, const hu_flash_room *r, double sum, const double *w, const double *s,
	const double *v, uint32_t step, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++) {
		r->a[j + 1] = w[j];
		r->b[j + 1] = s[j] == -HUGE_VAL ? 0 : v[(size_t)j * step];
	}
	return hu_flash_goes_on(t->x.f, t->x.outer, t->x.start, r->a, r->b, n, sum);
}

HU_KERNEL
hu_flash_widen_kernel(HU_PARAM hu_store_operand from, double *to, uint32_t n)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		to[i] = hu_load_f64(&from, i);
}

/* On the host: settles the call, makes its operands and says how many blocks of threads take the rows. */
static inline hu_status
hu_flash_begin(hu_work *w, hu_flash_task *t, hu_slot *raw, int gradient)
{
	hu_format_id format[HU_FLASH_OPERANDS];
	hu_shape shape[HU_FLASH_OPERANDS];

	memset(t, 0, sizeof *t);
	for (int k = 0; k < w->call->nin; k++) {
		format[k] = w->in[k]->format;
		shape[k] = w->in[k]->shape;
	}
	HU_TRY(hu_flash_settle(&t->x, w->call, format, shape, gradient));
	for (int k = 0; k < w->call->nin; k++) {
		uint32_t n = (uint32_t)w->in[k]->n;
		double *to = (double *)hu_work_take(w, n * sizeof *to);
		HU_TRY(HU_GO(w, hu_flash_widen_kernel, hu_blocks_for(n, 256, 65535), 256, 0, hu_operand_of(w->in[k], 0),
			to, n));
		t->in[k] = to;
	}
	t->nout = (uint32_t)w->call->nout;
	for (uint32_t k = 0; k < t->nout; k++)
		t->y[k] = hu_result_begin(w, w->out[k], &raw[k], 1);
	t->each = HU_FLASH_TILE * (uint32_t)(2 * t->x.block + t->x.E + t->x.V) +
		  HU_FLASH_THREADS * 2 * (uint32_t)(t->x.block + 1);
	return HU_OK;
}

/* How many blocks of threads share `tiles` tiles: as many as 64 MB of room serve. */
static inline unsigned
hu_flash_blocks(const hu_flash_task *t, size_t tiles)
{
	enum { ROOM = 1 << 23 };

	return hu_blocks_for(tiles, 1, t->each < ROOM ? ROOM / t->each : 1);
}

static inline hu_status
hu_flash_end(hu_work *w, const hu_flash_task *t, const hu_slot *raw)
{
	for (uint32_t k = 0; k < t->nout; k++)
		HU_TRY(hu_result_finish(w, &raw[k], w->out[k]));
	return HU_OK;
}
#endif
