/* SPDX-License-Identifier: Apache-2.0
   Sums of a formula's results by the fixed tree of lib/sum/tree.h, in the compute format, along rows or down the rows
   of each channel. Blocks have 4096 terms. A lane of the tree is a warp's lane (for rows) or a thread of its own with
   shared memory (for columns); the blocks' sums are reduced in the same way (stat.cu). The terms are never stored. */
#ifndef HU_CUDA_REDUCE_CUH
#define HU_CUDA_REDUCE_CUH

#include "cuda/element/stat.h"

enum { HU_SUM_BLOCK = 4096, HU_SUM_WARPS = 8, HU_SUM_TILE = 32 };

/* Loads operand o of element i and of the many - 1 after it, which the sum takes next and which lie step elements
   apart: 32 along a row if along is set, else 32 rows down. */
template <class S, int V>
HU_DEVICE void
hu_terms_load(const hu_field *m, const typename S::C *c, const hu_store_operand *o, int along, uint32_t i,
	uint32_t step, uint32_t many, typename S::T *x)
{
	uint32_t place = hu_field_place(m, o->how, i);

	if constexpr (V > 1) {
		int moves = o->how == HU_AT_EACH || o->how == (along ? HU_AT_CHANNEL : HU_AT_ROW);
		uint32_t by = o->how == HU_AT_EACH ? step : 32;
		if (moves) {
			hu_strided_load<V>(x, o, o->data, place, by, many);
		} else {
			typename S::T one = S::load(c, o, o->data, place);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				x[v] = one;
		}
	} else {
		x[0] = S::load(c, o, o->data, place);
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = S::taken(c, o->how, x[v]);
}

/* The number of terms that a lane loads before it adds the first. */
template <class F, class S>
constexpr int hu_terms = sizeof(typename S::T) == 4 && F::nin < 3 && !hu_is_long<F> ? 8 : (int)S::vector;

/* Adds to sum, in order, the results of element i and of those of at most left elements after it that its lane adds
   next. */
template <class F, class S>
HU_DEVICE void
hu_terms_add(const hu_field *m, const typename S::C *c, int along, uint32_t i, uint32_t step, uint32_t left,
	typename S::T *sum)
{
	enum { V = hu_terms<F, S> };
	typename S::T in[F::nin][V], term[F::nout][V];
	uint32_t many = (left + 31) / 32 < V ? (left + 31) / 32 : (uint32_t)V;

	HU_UNROLL
	for (int k = 0; k < F::nin; k++)
		hu_terms_load<S, V>(m, c, &m->in[k], along, i, step, many, in[k]);
	hu_formula_run<F, S, V>(c, in, term, many);
	HU_UNROLL
	for (int v = 0; v < V; v++) {
		if ((uint32_t)v >= many)
			break;
		HU_UNROLL
		for (int k = 0; k < F::nout; k++)
			sum[k] = S::add(c, sum[k], term[k][v]);
	}
}

/* Sums rows rows of each terms in blocks blocks, one warp per block. Result k of row r and block b is element r blocks
   + b of out[k]. */
template <class F, class S>
HU_KERNEL_OF(32 * HU_SUM_WARPS)
hu_rows_kernel(HU_PARAM hu_field m, uint32_t rows, uint32_t each, uint32_t blocks)
{
	typedef typename S::T T;
	typename S::C c;
	uint32_t lane = threadIdx.x % 32;

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t at = blockIdx.x * HU_SUM_WARPS + threadIdx.x / 32; at < rows * blocks;
		at += gridDim.x * HU_SUM_WARPS) {
		uint32_t row = at / blocks, first = at % blocks * HU_SUM_BLOCK,
			 last = first + HU_SUM_BLOCK < each ? first + HU_SUM_BLOCK : each;
		T sum[F::nout] = { 0 };
		HU_ONCE
		for (uint32_t j = first + lane; j < last; j += 32 * hu_terms<F, S>)
			hu_terms_add<F, S>(&m, &c, 1, row * each + j, 32, last - j, sum);
		HU_UNROLL
		for (int k = 0; k < F::nout; k++) {
			for (unsigned by = 16; by; by /= 2)
				sum[k] = S::add(&c, sum[k], hu_shfl_down(sum[k], by));
			if (lane == 0)
				S::store(&m.out[k], at, sum[k]);
		}
	}
}

/* Sums segments of rows rows of C = channels: a thread block sums a block of 4096 rows and width = blockDim.x channels,
   with thread (x, y) as the tree's lane y of channel x. Result k of segment s, block b and channel c is element (s
   blocks + b) C + c of out[k]. */
template <class F, class S>
HU_KERNEL_OF(32 * HU_SUM_TILE)
hu_columns_kernel(HU_PARAM hu_field m, uint32_t rows, uint32_t channels, uint32_t blocks)
{
	typedef typename S::T T;
	HU_SHARED(T, lanes, F::nout * 32 * HU_SUM_TILE);
	typename S::C c;
	uint32_t width = blockDim.x, tiles = (channels + width - 1) / width, at = blockIdx.x / tiles;
	uint32_t channel = blockIdx.x % tiles * width + threadIdx.x, lane = threadIdx.y, segment = at / blocks;
	uint32_t first = at % blocks * HU_SUM_BLOCK, last = first + HU_SUM_BLOCK < rows ? first + HU_SUM_BLOCK : rows;
	T sum[F::nout] = { 0 };

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t r = first + lane; r < last && channel < channels; r += 32 * hu_terms<F, S>)
		hu_terms_add<F, S>(
			&m, &c, 0, (segment * rows + r) * channels + channel, 32 * channels, last - r, sum);
	HU_UNROLL
	for (int k = 0; k < F::nout; k++) {
		T *mine = lanes + ((uint32_t)k * 32 + lane) * HU_SUM_TILE + threadIdx.x;
		*mine = sum[k];
		HU_ONCE
		for (uint32_t step = 16; step; step /= 2) {
			HU_SYNC();
			if (lane < step)
				*mine = S::add(&c, *mine, mine[step * HU_SUM_TILE]);
		}
		if (lane == 0 && channel < channels)
			S::store(&m.out[k], at * channels + channel, *mine);
	}
}

static inline size_t
hu_sum_blocks(size_t n)
{
	return n ? (n + HU_SUM_BLOCK - 1) / HU_SUM_BLOCK : 1;
}

/* What is summed is one number for each element, channel, row, channel of an image or call. */
static inline void
hu_sum_operands(const hu_field *m)
{
	for (int k = 0; k < m->nin; k++)
		HU_ASSERT(m->in[k].how == HU_AT_EACH || m->in[k].how == HU_AT_CHANNEL || m->in[k].how == HU_AT_ROW ||
			  m->in[k].how == HU_AT_IMAGE || m->in[k].how == HU_AT_ONE);
}

/* Allocates one level's results: nout stats of n numbers. */
static inline void
hu_sum_level(hu_work *w, hu_field *m, hu_slot *sum, int nout, size_t n)
{
	hu_sum_operands(m);
	m->nout = 0;
	for (int k = 0; k < nout; k++) {
		sum[k] = hu_stat_slot(w, n);
		hu_field_keep(m, &sum[k]);
	}
}

/* Allocates sum[k] and computes it: result k of m's formula summed along each of rows rows of each elements. */
template <class F>
static hu_status
hu_sum_along(hu_work *w, hu_field *m, size_t rows, size_t each, hu_slot *sum)
{
	size_t blocks = hu_sum_blocks(each);
	unsigned grid = hu_blocks_for(rows * blocks, HU_SUM_WARPS, 65535);

	hu_sum_level(w, m, sum, F::nout, rows * blocks);
	HU_TRY_IN_NUMERIC(m->compute, HU_GO(w, (hu_rows_kernel<F, S>), grid, 32 * HU_SUM_WARPS, 0, *m, (uint32_t)rows,
					      (uint32_t)each, (uint32_t)blocks));
	for (int k = 0; k < F::nout && blocks > 1; k++) {
		hu_slot terms = sum[k];
		HU_TRY(HU_SIDE(sum_along)(w, &terms, rows, blocks, &sum[k]));
	}
	return HU_OK;
}

/* The same, summed down the rows of each of m's channels, in each segment. */
template <class F>
static hu_status
hu_sum_down(hu_work *w, hu_field *m, size_t segments, size_t rows, hu_slot *sum)
{
	size_t blocks = hu_sum_blocks(rows), channels = m->channels;
	unsigned width = 1;

	while (width < HU_SUM_TILE && width < channels)
		width *= 2;
	unsigned grid = (unsigned)(segments * blocks * ((channels + width - 1) / width));
	hu_sum_level(w, m, sum, F::nout, segments * blocks * channels);
	HU_TRY_IN_NUMERIC(m->compute, HU_GO(w, (hu_columns_kernel<F, S>), grid, dim3(width, 32), 0, *m, (uint32_t)rows,
					      (uint32_t)channels, (uint32_t)blocks));
	for (int k = 0; k < F::nout && blocks > 1; k++) {
		hu_slot terms = sum[k];
		HU_TRY(HU_SIDE(sum_down)(w, &terms, segments, blocks, channels, &sum[k]));
	}
	return HU_OK;
}
#endif
