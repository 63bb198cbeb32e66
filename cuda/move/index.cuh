/* SPDX-License-Identifier: Apache-2.0
   The index map of move, causal's excepted, and that of its gradient, as kernels compute it: axis by axis, without
   divisions, from a list of axes as short as the call allows. Offsets are computed modulo 2^32: what an element outside
   of the source adds beyond that is never read. */
#ifndef HU_CUDA_INDEX_CUH
#define HU_CUDA_INDEX_CUH

#include "cuda/move/hop.cuh"

/* Along an axis of d elements, those from first on and below last that lie a multiple of every behind first are moved,
   each step elements of the source further. */
typedef struct hu_index_axis { uint32_t d, first, last, step; hu_divisor by, every; } hu_index_axis;

/* The result's axes, the last first; and, of gradients, those of the source that are summed, the last first too. */
struct hu_index {
	hu_index_axis axis[HU_RANK], sum[HU_RANK];
	int axes, sums;
	uint32_t base, count; /* the element that all first ones make; how many are summed */

	HU_DEVICE_MEMBER hu_hop
	at(uint32_t i) const
	{
		hu_hop h = { base, 0, 0, 0, count, 0 };
		int all = 1;

		HU_UNROLL
		for (int k = 0; k < HU_RANK; k++) {
			if (k >= axes)
				break;
			const hu_index_axis *a = &axis[k];
			uint32_t rest = hu_quotient(i, a->by), c = i - rest * a->d, far = c - a->first;
			uint32_t q = a->every.by == 1 ? far : hu_quotient(far & 0x7fffffffu, a->every);
			i = rest;
			h.at += q * a->step;
			if (k == 0) { /* a run lies along this axis */
				h.step = a->step;
				h.from = a->first > c ? a->first - c : 0;
				h.to = a->last > c ? a->last - c : 0;
				all &= a->every.by == 1 || (c >= a->first && q * a->every.by == far);
			} else {
				all &= c >= a->first && c < a->last && q * a->every.by == far;
			}
		}
		h.to = all ? h.to : 0;
		return h;
	}
	HU_DEVICE_MEMBER uint32_t
	term(const hu_hop *h, uint32_t k) const
	{
		uint32_t to = h->at;

		HU_UNROLL
		for (int j = 0; j < HU_RANK; j++) {
			if (j >= sums)
				break;
			uint32_t rest = j + 1 < sums ? hu_quotient(k, sum[j].by) : 0;
			to += (k - rest * sum[j].d) * sum[j].step;
			k = rest;
		}
		return to;
	}
};

/* Everything below is for the host. */

static inline hu_index_axis
hu_index_axis_of(size_t d, size_t first, size_t last, uint32_t step, size_t every)
{
	hu_index_axis a = { (uint32_t)d, (uint32_t)first, (uint32_t)last, step, hu_divisor_of((uint32_t)d),
		hu_divisor_of((uint32_t)every) };

	return a;
}

/* Adds an axis in front of those that are there; two that are one are joined. */
static inline void
hu_index_add(hu_index_axis *list, int *n, hu_index_axis a)
{
	hu_index_axis *b = list + *n - 1;

	if (a.d == 1 && a.first == 0 && a.last == 1)
		return;
	if (*n && a.first == 0 && a.last == a.d && a.every.by == 1 && b->first == 0 && b->last == b->d &&
		b->every.by == 1 && a.step == b->step * b->d)
		*b = hu_index_axis_of((size_t)a.d * b->d, 0, (size_t)a.d * b->d, b->step, 1);
	else
		list[(*n)++] = a;
}

/* A map whose axes are all of one element has one of them still: it says that the element is moved. */
static inline void
hu_index_close(hu_index *m)
{
	if (!m->axes)
		m->axis[m->axes++] = hu_index_axis_of(1, 0, 1, 0, 1);
}

/* The map of a move, to its output from its input. */
static inline hu_index
hu_index_of(const hu_moves *x)
{
	hu_index m;

	memset(&m, 0, sizeof m);
	if (x->flat) {
		size_t n = hu_count(x->out);
		hu_index_add(m.axis, &m.axes, hu_index_axis_of(n, 0, n, 1, 1));
		hu_index_close(&m);
		return m;
	}
	for (int j = x->out.rank - 1; j >= 0; j--) {
		size_t first = x->first[j], last = x->last[j];
		uint32_t step = 0;
		if (x->axis[j] >= 0) {
			uint32_t stride = (uint32_t)x->stride[x->axis[j]];
			step = (uint32_t)x->step[j] * stride;
			m.base += (uint32_t)x->start[j] * stride + (uint32_t)first * step;
		}
		hu_index_add(m.axis, &m.axes, hu_index_axis_of(x->out.d[j], first, last, step, 1));
	}
	hu_index_close(&m);
	return m;
}

/* The map of its gradient, to the input's, of shape in, from the output's: which element, or which of a list, of dy
   belongs to an element of dx. */
static inline hu_index
hu_index_back(const hu_moves *x, const hu_shape *in)
{
	uint32_t stride[HU_RANK], along = 1;
	int by[HU_RANK];
	hu_index m;

	memset(&m, 0, sizeof m);
	m.count = 1;
	if (x->flat) {
		size_t n = hu_count(x->out);
		hu_index_add(m.axis, &m.axes, hu_index_axis_of(n, 0, n, 1, 1));
		hu_index_close(&m);
		return m;
	}
	for (int a = 0; a < HU_RANK; a++)
		by[a] = -1;
	for (int j = x->out.rank - 1; j >= 0; along *= (uint32_t)x->out.d[j], j--) {
		stride[j] = along;
		if (x->axis[j] >= 0)
			by[x->axis[j]] = j;
		if (x->axis[j] >= 0 && x->step[j] != 0)
			continue;
		hu_index_add(m.sum, &m.sums, hu_index_axis_of(x->out.d[j], 0, x->out.d[j], along, 1));
		m.count *= (uint32_t)x->out.d[j];
	}
	for (int a = in->rank - 1; a >= 0; a--) {
		size_t first = 0, last = in->d[a], every = 1;
		uint32_t step = 0;
		if (by[a] >= 0) {
			int j = by[a], up = x->step[j] >= 0;
			size_t from = x->first[j], to = x->last[j];
			size_t low = up ? from : to - 1, high = up ? to - 1 : from; /* whose coordinates ascend */
			first = to > from ? (size_t)(x->start[j] + x->step[j] * (long long)low) : 0;
			last = to > from ? (size_t)(x->start[j] + x->step[j] * (long long)high) + 1 : 0;
			every = x->step[j] ? (size_t)(up ? x->step[j] : -x->step[j]) : 1;
			step = x->step[j] ? up ? stride[j] : 0u - stride[j] : 0;
			m.base += to > from && x->step[j] ? (uint32_t)low * stride[j] : 0;
		}
		hu_index_add(m.axis, &m.axes, hu_index_axis_of(in->d[a], first, last, step, every));
	}
	hu_index_close(&m);
	return m;
}

/* The length of a row of the result, and of how many neighbours (8, 4 or 1) the pieces of the source consist in which
   it lies. */
static inline size_t
hu_index_row(const hu_index *m)
{
	return m->axes && m->axis[0].every.by == 1 ? m->axis[0].d : 1;
}

static inline uint32_t
hu_index_neighbours(const hu_index *m)
{
	uint32_t all = m->base;

	if (!m->axes || m->axis[0].step != 1 || m->axis[0].every.by != 1)
		return 1;
	all |= m->axis[0].first | m->axis[0].last;
	for (int k = 1; k < m->axes; k++)
		all |= m->axis[k].step;
	for (int k = 0; k < m->sums; k++)
		all |= m->sum[k].step;
	return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
}
#endif
