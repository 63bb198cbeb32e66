/* SPDX-License-Identifier: Apache-2.0
   The updates of all parameters in one launch: Adam or AdamW with its moments, or SGD with or without a velocity; the
   next step's casts of the new weights, if the plan asks for them; and counts of swamped updates. */
#include "cuda/fuse/fuse.h"
#include "cuda/element/many.cuh"
#include "cuda/element/update.cuh"

enum { OPERANDS = 4 };

/* Operands without found_inf, and results. copy is the new weight in another format. */
struct update {
	hu_many t;
	const void *in[OPERANDS][HU_MANY];
	void *out[OPERANDS - 1][HU_MANY], *copy[HU_MANY];
	hu_update_tally *count[HU_MANY];
	hu_store_operand from[OPERANDS], found;
	hu_store_result to[OPERANDS - 1], copy_to;
	hu_format compute;
	int nk;
	double k[HU_SGD_CONSTANTS];
	const double *kd;
};

/* Adds up a block's counts, each at most its chunk, in one number: each thread's count goes to the block's first
   thread. Every thread calls it. */
HU_DEVICE void
count_in_block(hu_update_tally *to, const hu_update_tally *mine, uint32_t *warps)
{
	uint32_t both = (uint32_t)mine->updates | (uint32_t)mine->swamped << 16;

	for (unsigned by = 16; by; by /= 2)
		both += hu_shfl_down(both, by);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = both;
	HU_SYNC();
	if (threadIdx.x == 0) {
		both = 0;
		for (int k = 0; k < HU_MANY_THREADS / 32; k++)
			both += warps[k];
		if (both & 0xffff)
			hu_atomic_add(&to->updates, (uint64_t)(both & 0xffff));
		if (both >> 16)
			hu_atomic_add(&to->swamped, (uint64_t)(both >> 16));
	}
	HU_SYNC();
}

/* Loads the operands of run at, found_inf being operand FOUND, and leaves in before the stored weights. */
template <class F, class S, int FOUND, int V>
HU_DEVICE void
load(const update *u, const typename S::C *c, uint32_t tensor, hu_element_run at, typename S::T found,
	typename S::T (*in)[V], double *before)
{
	HU_UNROLL
	for (int k = 0; k < F::nin; k++) {
		int from = k - (k > FOUND);
		if (k == FOUND) {
			HU_UNROLL
			for (int v = 0; v < V; v++)
				in[k][v] = found;
			continue;
		}
		const hu_store_operand *o = &u->from[from];
		const void *data = u->in[from][tensor];
		if constexpr (V > 1)
			if (at.many > 1)
				hu_vector_load<V, 1>(in[k], o, data, at.i);
		if (at.many == 1)
			in[k][0] = S::load(c, o, data, at.i);
		HU_UNROLL
		for (int v = 0; v < V; v++) {
			before[v] = k ? before[v] : (double)in[k][v];
			in[k][v] = S::taken(c, HU_AT_EACH, in[k][v]);
		}
		if (k == 0 && o->kind == HU_KIND_F64 && at.many == 1)
			before[0] = ((const double *)data)[at.i];
	}
}

/* The number of whole runs of a chunk: 0 if one of the tensors is not stored so that runs could be loaded. */
template <class S, int V>
HU_DEVICE uint32_t
whole_runs(const update *u, hu_piece p, int operands, int results)
{
	int serves = !u->copy[p.tensor] || hu_vector_serves<typename S::T>(u->copy_to.kind);

	HU_UNROLL
	for (int k = 0; k < OPERANDS; k++)
		serves &= k >= operands || hu_vector_serves<typename S::T>(u->from[k].kind);
	HU_UNROLL
	for (int k = 0; k < OPERANDS - 1; k++)
		serves &= k >= results || hu_vector_serves<typename S::T>(u->to[k].kind);
	return serves && V > 1 ? p.n / V : 0;
}

/* FOUND is the position of found_inf among F's operands. */
template <class F, class S, int FOUND>
HU_KERNEL
update_kernel(HU_PARAM update u)
{
	enum { TERM = F::nout - 1, V = S::vector };
	HU_SHARED(uint32_t, warps, HU_MANY_THREADS / 32);
	typename S::C c;

	S::begin(&c, &u.compute);
	HU_UNROLL
	for (int k = 0; k < HU_CONSTANTS; k++)
		if (k < u.nk)
			c.k[k] = S::constant(&c, u.kd ? u.kd[k] : u.k[k]);
	typename S::T found = S::at(&c, &u.found, 0);
	for (uint32_t chunk = blockIdx.x; chunk < u.t.first[u.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&u.t, chunk);
		uint32_t whole = whole_runs<S, V>(&u, p, F::nin - 1, TERM), runs = hu_runs(p.n, whole, V);
		hu_update_tally mine = { 0, 0 };
		HU_ONCE
		for (uint32_t t = threadIdx.x; t < runs; t += blockDim.x) {
			hu_element_run at = hu_many_run<V>(p, t, whole);
			typename S::T in[F::nin][V], out[F::nout][V];
			double before[V];
			load<F, S, FOUND, V>(&u, &c, p.tensor, at, found, in, before);
			hu_formula_run<F, S, V>(&c, in, out, at.many);
			HU_UNROLL
			for (int k = 0; k < TERM; k++) {
				void *data = u.out[k][p.tensor];
				if constexpr (V > 1)
					if (at.many > 1)
						hu_vector_store<V, 1>(&u.to[k], data, at.i, out[k]);
				if (at.many == 1) {
					S::store_alone(&u.to[k], data, at.i, out[k][0]);
					out[k][0] = S::settled(&u.to[k], out[k][0]);
				}
			}
			HU_UNROLL
			for (int v = 0; v < V; v++) {
				if ((uint32_t)v < at.many)
					hu_update_count(&mine, before[v], (double)out[TERM][v], (double)out[0][v]);
				out[0][v] = S::taken(&c, HU_AT_EACH, out[0][v]);
			}
			if (u.copy[p.tensor])
				hu_run_store<S, V>(&u.copy_to, u.copy[p.tensor], at, out[0]);
		}
		if (u.count[p.tensor])
			count_in_block(u.count[p.tensor], &mine, warps);
	}
}

template <class F, int FOUND>
static hu_status
run(hu_work *w, const update *u)
{
	if (u->compute.id == HU_FP32)
		return HU_GO(w, (update_kernel<F, hu_in_f32, FOUND>), hu_many_grid(&u->t), HU_MANY_THREADS, 0, *u);
	return HU_GO(w, (update_kernel<F, hu_in_short, FOUND>), hu_many_grid(&u->t), HU_MANY_THREADS, 0, *u);
}

extern "C" int
HU_SIDE(fuse_update_serves)(const hu_work *w, int n)
{
	int same = 1, rate = hu_rate_operand(w[0].call);

	for (int i = 0; i < n; i++)
		same &= hu_same_but_tensors(&w[i], &w[0]) && hu_all_quick(&w[i]) && w[i].all[2] == w[0].all[2] &&
			(w[0].call->nin < 6 || w[i].all[5] == w[0].all[5]) &&
			(rate < 0 || w[i].all[rate] == w[0].all[rate]);
	return same;
}

extern "C" hu_status
HU_SIDE(fuse_update)(hu_work *w, int n)
{
	int decays = w[0].role == HU_ROLE_ADAMW, adam = decays || w[0].role == HU_ROLE_ADAM,
	    moving = !adam && hu_sgd_moves(w[0].call), operands = adam ? 4 : 2 + moving;
	update u;

	memset(&u, 0, sizeof u);
	if (adam) {
		double *k = hu_numbers(w, HU_ADAMW_CONSTANTS);
		u.kd = k;
		HU_TRY((decays ? hu_adamw_constants_of(w, k) : hu_adam_constants_of(w, k)));
	} else
		HU_TRY(hu_sgd_constants_of(&w[0], u.k, &u.kd));
	u.nk = decays ? HU_ADAMW_CONSTANTS : adam ? HU_ADAM_CONSTANTS : HU_SGD_CONSTANTS;
	u.compute = hu_format_of(w[0].call->fmt.compute);
	u.found = hu_operand_of(w[0].in[2], HU_AT_ONE);
	for (int done = 0; done < n;) {
		hu_many_begin(&u.t, 4 * HU_MANY_THREADS);
		for (; done < n && u.t.count < HU_MANY; done++) {
			const hu_work *x = &w[done];
			uint32_t t = u.t.count;
			for (int i = 0, at = 0; at < operands; i++) {
				if (i == 2)
					continue;
				u.from[at] = hu_operand_of(x->in[i], HU_AT_EACH);
				u.in[at++][t] = x->in[i]->data;
			}
			for (int i = 0; i < x->call->nout; i++) {
				u.to[i] = hu_result_of(x->out[i], x->call->flags);
				u.out[i][t] = x->out[i]->data;
			}
			u.count[t] = x->updates;
			u.copy[t] = x->copy ? x->copy->data : NULL;
			if (x->copy)
				u.copy_to = hu_result_of(x->copy, x->copy_flags);
			for (int i = 0; i < operands + (operands > 2); i++)
				HU_ASSERT(i == 2 || hu_aligned(x->in[i]->data));
			for (int i = 0; i < x->call->nout; i++)
				HU_ASSERT(hu_aligned(x->out[i]->data));
			hu_many_add(&u.t, x->in[0]->n, x->copy ? x->copy->data : NULL);
		}
		if (hu_many_chunks(&u.t))
			HU_TRY((decays   ? run<hu_adamw_step, 4>(w, &u)
				: adam   ? run<hu_adam_step, 4>(w, &u)
				: moving ? run<hu_sgd_move, 2>(w, &u)
					 : run<hu_sgd_step, 2>(w, &u)));
	}
	return HU_OK;
}
