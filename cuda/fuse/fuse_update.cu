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

HU_DEVICE double stored(hu_in_f32, const hu_store_result *r, float x) { return (double)hu_settled_f32(r, x); }
HU_DEVICE double stored(hu_in_short, const hu_store_result *r, double x) { return hu_settled_f64(r, x); }

/* FOUND is the position of found_inf among F's operands. */
template <class F, class S, int FOUND>
HU_KERNEL
update_kernel(HU_PARAM update u)
{
	enum { TERM = F::nout - 1 };
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
		hu_update_tally mine = { 0, 0 };
		HU_ONCE
		for (uint32_t j = threadIdx.x; j < p.n; j += blockDim.x) {
			uint32_t i = p.from + j;
			typename S::T in[F::nin][1], out[F::nout][1], w = 0;
			hu_store_operand old = hu_many_operand(&u.from[0], u.in[0][p.tensor]);
			double before = hu_load_f64(&old, i), after = 0;
			HU_UNROLL
			for (int k = 0; k < F::nin; k++) {
				int at = k - (k > FOUND);
				if (k == FOUND) {
					in[k][0] = found;
				} else {
					hu_store_operand o = hu_many_operand(&u.from[at], u.in[at][p.tensor]);
					in[k][0] = S::at(&c, &o, i);
				}
			}
			F::run(S(), &c, in, out);
			HU_UNROLL
			for (int k = 0; k < TERM; k++) {
				hu_store_result r = hu_many_result(&u.to[k], u.out[k][p.tensor]);
				typename S::T y = S::pass(&c, &r, i, out[k][0]);
				w = k ? w : y;
				after = k ? after : stored(S(), &r, out[k][0]);
			}
			hu_update_count(&mine, before, (double)out[TERM][0], after);
			if (u.copy[p.tensor]) {
				hu_store_result r = hu_many_result(&u.copy_to, u.copy[p.tensor]);
				S::store(&r, i, w);
			}
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
	int same = 1;

	for (int i = 0; i < n; i++)
		same &= hu_same_but_tensors(&w[i], &w[0]) && hu_all_quick(&w[i]) && w[i].all[2] == w[0].all[2] &&
			(w[0].call->nin < 6 || w[i].all[5] == w[0].all[5]);
	return same;
}

extern "C" hu_status
HU_SIDE(fuse_update)(hu_work *w, int n)
{
	int decays = w[0].role == HU_ROLE_ADAMW, adam = decays || w[0].role == HU_ROLE_ADAM,
	    moving = w[0].call->nin > 3;
	double *k = adam ? hu_numbers(w, HU_ADAMW_CONSTANTS) : NULL;
	update u;

	memset(&u, 0, sizeof u);
	if (adam)
		HU_TRY((decays ? hu_adamw_constants_of(w, k) : hu_adam_constants_of(w, k)));
	else
		hu_sgd_constants_of(w[0].call, u.k);
	u.kd = k;
	u.nk = decays ? HU_ADAMW_CONSTANTS : adam ? HU_ADAM_CONSTANTS : HU_SGD_CONSTANTS;
	u.compute = hu_format_of(w[0].call->fmt.compute);
	u.found = hu_operand_of(w[0].in[2], HU_AT_ONE);
	for (int done = 0; done < n;) {
		hu_many_begin(&u.t, 4 * HU_MANY_THREADS);
		for (; done < n && u.t.count < HU_MANY; done++) {
			const hu_work *x = &w[done];
			uint32_t t = u.t.count;
			for (int i = 0, at = 0; i < x->call->nin && at < OPERANDS; i++) {
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
			hu_many_add(&u.t, x->in[0]->n);
		}
		if (hu_many_chunks(&u.t))
			HU_TRY((decays   ? run<hu_adamw_step, 4>(w, &u)
				: adam   ? run<hu_adam_step, 4>(w, &u)
				: moving ? run<hu_sgd_move, 2>(w, &u)
					 : run<hu_sgd_step, 2>(w, &u)));
	}
	return HU_OK;
}
