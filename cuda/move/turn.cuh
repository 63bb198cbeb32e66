/* SPDX-License-Identifier: Apache-2.0
   Transposes: moves that take rows of the source to columns of the result. A block moves 32 x 32 elements through
   shared memory, so that neighbouring threads read neighbours of the source and write neighbours of the result; a line
   has one element more than the tile, which puts the elements of a column into different banks. */
#ifndef HU_CUDA_TURN_CUH
#define HU_CUDA_TURN_CUH

#include "cuda/move/index.cuh"

enum { HU_TURN = 32, HU_TURN_THREADS = 256 };

/* Matrices of wide columns, whose neighbours are neighbours in the result, and high rows, whose neighbours are
   neighbours in the source. Columns are step elements apart there, and rows stride elements in the result. The other
   axes count the matrices. across and down are the tiles of one. */
typedef struct hu_turn {
	uint32_t wide, high, step, stride, base, tiles;
	hu_divisor by_across, by_down;
	struct { hu_divisor by; uint32_t step, stride; } other[HU_RANK];
	int others;
} hu_turn;

template <class T>
HU_KERNEL_OF(HU_TURN_THREADS)
hu_turn_kernel(HU_PARAM hu_turn q, HU_PARAM hu_moving m)
{
	HU_SHARED(T, tile, HU_TURN * (HU_TURN + 1));
	uint32_t lane = threadIdx.x % HU_TURN, first = threadIdx.x / HU_TURN;
	uint32_t t = blockIdx.x, line = hu_quotient(t, q.by_across), rest = hu_quotient(line, q.by_down),
		 col0 = (t - line * q.by_across.by) * HU_TURN, row0 = (line - rest * q.by_down.by) * HU_TURN,
		 from = q.base, to = 0;

	HU_UNROLL
	for (int k = 0; k < HU_RANK; k++)
		if (k < q.others) {
			uint32_t next = hu_quotient(rest, q.other[k].by), c = rest - next * q.other[k].by.by;
			from += c * q.other[k].step;
			to += c * q.other[k].stride;
			rest = next;
		}
	HU_UNROLL
	for (uint32_t c = first; c < HU_TURN; c += HU_TURN_THREADS / HU_TURN)
		if (col0 + c < q.wide && row0 + lane < q.high)
			tile[c * (HU_TURN + 1) + lane] =
				hu_move_load(&m.x, from + (col0 + c) * q.step + row0 + lane, T());
	HU_SYNC();
	HU_UNROLL
	for (uint32_t r = first; r < HU_TURN; r += HU_TURN_THREADS / HU_TURN)
		if (row0 + r < q.high && col0 + lane < q.wide)
			hu_move_store(
				&m.y, to + (row0 + r) * q.stride + col0 + lane, tile[lane * (HU_TURN + 1) + r]);
}

/* Returns 1 if m is a transpose of matrices that fill half a tile or more each way, and describes it. */
static inline int
hu_turn_of(hu_turn *q, const hu_index *m)
{
	uint32_t stride = 1;
	int rows = -1;

	memset(q, 0, sizeof *q);
	for (int k = 0; k < m->axes; k++)
		if (m->axis[k].first || m->axis[k].last != m->axis[k].d || m->axis[k].every.by != 1)
			return 0;
		else if (k && rows < 0 && m->axis[k].step == 1)
			rows = k;
	if (rows < 0 || m->axis[0].step == 1 || m->axis[0].d < HU_TURN / 2 || m->axis[rows].d < HU_TURN / 2)
		return 0;
	uint32_t matrices = 1;
	for (int k = 0; k < m->axes; stride *= m->axis[k].d, k++) {
		const hu_index_axis *a = &m->axis[k];
		if (k == rows)
			q->stride = stride;
		if (k == 0 || k == rows)
			continue;
		q->other[q->others].by = a->by;
		q->other[q->others].step = a->step;
		q->other[q->others++].stride = stride;
		matrices *= a->d;
	}
	q->wide = m->axis[0].d;
	q->step = m->axis[0].step;
	q->high = m->axis[rows].d;
	q->base = m->base;
	q->by_across = hu_divisor_of((q->wide + HU_TURN - 1) / HU_TURN);
	q->by_down = hu_divisor_of((q->high + HU_TURN - 1) / HU_TURN);
	q->tiles = q->by_across.by * q->by_down.by * matrices;
	return 1;
}

/* Moves x to the call's output so. */
static inline hu_status
hu_turn_run(hu_work *w, const hu_turn *q, const hu_slot *x)
{
	hu_slot raw;
	hu_moving m;

	if (hu_moving_begin(&m, &raw, w, x, 0))
		HU_TRY(HU_GO(w, hu_turn_kernel<double>, q->tiles, HU_TURN_THREADS, 0, *q, m));
	else
		HU_TRY(HU_GO(w, hu_turn_kernel<float>, q->tiles, HU_TURN_THREADS, 0, *q, m));
	return hu_result_finish(w, &raw, w->out[0]);
}
#endif
