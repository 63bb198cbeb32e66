/* SPDX-License-Identifier: Apache-2.0
   Many tensors in one launch. Their descriptions are in the kernel's parameters (so that a recorded graph holds them
   too), and the tensors are cut into chunks that blocks process in turn, in runs of several elements (vector.cuh):
   every tensor starts at a multiple of 16 bytes, and chunks are multiples of the longest run. */
#ifndef HU_CUDA_MANY_CUH
#define HU_CUDA_MANY_CUH

#include "cuda/element/map.cuh"

/* A kernel's parameters are limited to 4096 bytes. */
enum { HU_MANY = 32, HU_MANY_THREADS = 256 };

/* Chunks first[k] to first[k + 1] belong to tensor k. */
typedef struct hu_many { uint32_t count, chunk, first[HU_MANY + 1], n[HU_MANY]; } hu_many;

/* The tensor, first element and number of elements of a chunk. */
typedef struct hu_piece { uint32_t tensor, from, n; } hu_piece;

HU_DEVICE hu_piece
hu_many_piece(const hu_many *m, uint32_t chunk)
{
	hu_piece p = { 0, 0, 0 };

	while (chunk >= m->first[p.tensor + 1])
		p.tensor++;
	p.from = (chunk - m->first[p.tensor]) * m->chunk;
	p.n = m->n[p.tensor] - p.from < m->chunk ? m->n[p.tensor] - p.from : m->chunk;
	return p;
}

static inline void
hu_many_begin(hu_many *m, uint32_t chunk)
{
	m->count = m->first[0] = 0;
	m->chunk = chunk;
}

static inline void
hu_many_add(hu_many *m, size_t n, const void *data)
{
	HU_ASSERT(hu_aligned(data));
	m->n[m->count] = (uint32_t)n;
	m->first[m->count + 1] = m->first[m->count] + (uint32_t)((n + m->chunk - 1) / m->chunk);
	m->count++;
}

static inline uint32_t hu_many_chunks(const hu_many *m) { return m->first[m->count]; }
/* The host has few blocks, so that a block always processes several chunks there and an error in what it keeps between
   two of them shows. */
#ifdef __CUDACC__
enum { HU_MANY_BLOCKS = 65535 };
#else
enum { HU_MANY_BLOCKS = 2 };
#endif
static inline unsigned hu_many_grid(const hu_many *m) { return hu_blocks_for(hu_many_chunks(m), 1, HU_MANY_BLOCKS); }

/* The number of whole runs of V elements in a chunk, if tensors of these two kinds are loaded and stored. */
template <class S, int V>
HU_DEVICE uint32_t
hu_many_whole(hu_piece p, int kind, int other)
{
	return V > 1 && hu_vector_serves<typename S::T>(kind) && hu_vector_serves<typename S::T>(other) ? p.n / V : 0;
}

/* Run t of a chunk. */
template <int V>
HU_DEVICE hu_element_run
hu_many_run(hu_piece p, uint32_t t, uint32_t whole)
{
	hu_element_run at = hu_run_at<V>(t, whole);

	at.i += p.from;
	return at;
}

/* Returns 1 if two calls differ only in their tensors. */
static inline int
hu_same_but_tensors(const hu_work *a, const hu_work *b)
{
	const hu_call *x = a->call, *y = b->call;
	int same = x->op == y->op && x->nin == y->nin && x->nout == y->nout && x->fmt.compute == y->fmt.compute &&
		   x->mode == y->mode && x->flags == y->flags && x->nattr == y->nattr;

	for (int i = 0; same && i < x->nin; i++)
		same = a->all[i]->format == b->all[i]->format;
	for (int i = 0; same && i < x->nout; i++)
		same = a->out[i]->format == b->out[i]->format;
	for (int i = 0; same && i < x->nattr; i++)
		same = !strcmp(x->attr[i].key, y->attr[i].key) && x->attr[i].num == y->attr[i].num &&
		       !strcmp(x->attr[i].text, y->attr[i].text);
	return same;
}

/* Returns 1 if passes of several calls have a numeric type for w's compute format. */
static inline int
hu_carried(const hu_work *w)
{
	hu_format f = hu_format_of(w->call->fmt.compute);

	return f.id == HU_FP32 || hu_short_serves(f);
}

/* Returns 1 if, besides, they can round every output themselves. */
static inline int
hu_all_quick(const hu_work *w)
{
	int quick = hu_carried(w);

	for (int i = 0; i < w->call->nout; i++)
		quick &= hu_result_quick(w, w->out[i]);
	return quick;
}
#endif
