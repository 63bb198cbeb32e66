/* SPDX-License-Identifier: Apache-2.0
   Everything between a parameter's gradient and its update, for all parameters at once: the cast to the variable's
   format, the count of elements that are not finite, unscaling, and the sum of squares by the fixed tree, with one read
   of each gradient. A block computes one of the tree's blocks of 4096. The search for the first overflow reads the
   step's other tensors only if a gradient is not finite. */
#include "cuda/fuse/fuse.h"
#include "cuda/element/many.cuh"
#include "cuda/element/reduce.cuh"
#include "cuda/element/scalar.cuh"
#include "cuda/element/search.cuh"

#define UNSCALE(S, T) out[0][i] = hu_scaled##S(c, in[0][i], c->k[0])
HU_FORMULA(of_unscale, 1, 1, UNSCALE)
#undef UNSCALE

enum { KINDS = 4, MOST_TENSORS = 256 };

/* How a gradient's tensors are stored: as computed; in the variable's format, if that is another; unscaled. */
struct kind { hu_store_operand from; hu_store_result wide, to; };

struct gradients {
	hu_many t;
	const void *in[HU_MANY];
	void *wide[HU_MANY], *out[HU_MANY];
	uint8_t kind_of[HU_MANY];
	kind kinds[KINDS];
	hu_store_operand scale;
	double weight;
	hu_format compute;
	uint64_t *bad;            /* for the first of these tensors */
	hu_store_result sums;           /* one for each block */
	uint32_t sums_from;
};

template <class S>
HU_KERNEL
gradients_kernel(HU_PARAM gradients g)
{
	typedef typename S::T T;
	enum { V = S::vector };
	HU_SHARED(T, squares, HU_SUM_BLOCK);
	typename S::C c;
	uint32_t lane = threadIdx.x;

	S::begin(&c, &g.compute);
	c.k[0] = S::constant(&c, hu_unscale_by(hu_load_f64(&g.scale, 0), g.weight));
	for (uint32_t chunk = blockIdx.x; chunk < g.t.first[g.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&g.t, chunk);
		const kind *k = &g.kinds[g.kind_of[p.tensor]];
		void *wide = g.wide[p.tensor];
		uint64_t bad = 0;
		uint32_t whole = hu_many_whole<S, V>(p, k->from.kind, k->to.kind);
		whole = hu_vector_serves<T>(k->wide.kind) ? whole : 0;
		uint32_t runs = hu_runs(p.n, whole, V);
		HU_ONCE
		for (uint32_t t = threadIdx.x; t < runs; t += blockDim.x) {
			hu_element_run at = hu_many_run<V>(p, t, whole);
			T x[1][V], y[1][V];
			hu_run_load<S, V>(&c, &k->from, g.in[p.tensor], at, x[0]);
			if (wide)
				hu_run_pass<S, V>(&c, &k->wide, wide, at, x[0]);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				bad += (uint32_t)v < at.many && !hu_isfinite((double)x[0][v]);
			hu_formula_run<of_unscale, S, V>(&c, x, y, at.many);
			hu_run_pass<S, V>(&c, &k->to, g.out[p.tensor], at, y[0]);
			hu_formula_run<hu_squared, S, V>(&c, y, x, at.many);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				if ((uint32_t)v < at.many)
					squares[at.i - p.from + (uint32_t)v] = x[0][v];
		}
		hu_count_in(&g.bad[p.tensor], bad);
		HU_SYNC();
		if (lane < 32) {
			T sum = 0;
			HU_UNROLL_BY(8)
			for (uint32_t j = lane; j < p.n; j += 32)
				sum = S::add(&c, sum, squares[j]);
			for (unsigned by = 16; by; by /= 2)
				sum = S::add(&c, sum, hu_shfl_down(sum, by));
			if (lane == 0)
				S::store(&g.sums, g.sums_from + chunk, sum);
		}
		HU_SYNC();
	}
}

/* The block sums of tensor t are first[t] to first[t + 1]. */
struct verdict {
	uint32_t tensors, inputs, judged;
	uint32_t first[MOST_TENSORS + 1];
	const uint64_t *bad;
	hu_store_operand sums, each;
	hu_store_result each_to, found, where, norm;
	hu_format compute;
};

template <class S>
HU_KERNEL
gradients_verdict_kernel(HU_PARAM verdict v)
{
	typename S::C c;
	uint32_t lane = threadIdx.x % 32;

	S::begin(&c, &v.compute);
	for (uint32_t t = threadIdx.x / 32; t < v.tensors; t += blockDim.x / 32) {
		uint32_t blocks = v.first[t + 1] - v.first[t];
		typename S::T sum = 0;
		for (uint32_t j = lane; j < blocks; j += 32)
			sum = S::add(&c, sum, S::at(&c, &v.sums, v.first[t] + j));
		for (unsigned by = 16; by; by /= 2)
			sum = S::add(&c, sum, hu_shfl_down(sum, by));
		if (lane == 0)
			S::store(&v.each_to, t, sum);
	}
	HU_SYNC();
	if (threadIdx.x)
		return;
	double all = hu_load_f64(&v.each, 0), place[3] = { -1, 0, 0 };
	int any = 0;
	for (uint32_t t = 1; t < v.tensors; t++)
		all = hu_rne(v.compute, all + hu_load_f64(&v.each, t));
	hu_store_f64(&v.norm, 0, hu_rne(v.compute, sqrt(all)));
	for (uint32_t i = 0; i < v.judged; i++)
		any |= v.bad[i] != 0;
	for (uint32_t i = v.judged; i < v.inputs && any; i++)
		if (v.bad[i]) {
			if (place[2] == 0) {
				place[0] = i;
				place[1] = (double)v.bad[i];
			}
			place[2]++;
		}
	hu_put_f32(&v.found, 0, (float)any);
	for (uint32_t i = 0; i < 3 && v.where.data; i++)
		hu_store_f64(&v.where, i, place[i]);
}

/* The calls in the plan's order: for each gradient its cast, if it has one, and its unscale; then the check and the
   norm. */
struct calls { hu_work *check, *norm; int n; hu_work *cast[MOST_TENSORS], *unscale[MOST_TENSORS]; };

static int
sort_calls(hu_work *w, int n, calls *c)
{
	hu_work *cast = NULL;

	memset(c, 0, sizeof *c);
	for (int i = 0; i < n; i++) {
		hu_role role = w[i].role;
		if (role == HU_ROLE_CAST)
			cast = &w[i];
		else if (role == HU_ROLE_CHECK)
			c->check = &w[i];
		else if (role == HU_ROLE_NORM)
			c->norm = &w[i];
		else {
			if (c->n == MOST_TENSORS)
				return 0;
			c->cast[c->n] = cast;
			c->unscale[c->n++] = &w[i];
			cast = NULL;
		}
	}
	return c->check && c->norm && c->n;
}

extern "C" int
HU_SIDE(fuse_gradients_serves)(const hu_work *w, int n)
{
	calls c;

	if (!sort_calls((hu_work *)w, n, &c) || c.norm->call->nin != c.n || c.check->call->nin <= c.n)
		return 0;
	int judged = (int)hu_attr_num(c.check->call, "judged", c.check->call->nin),
	    fits = (judged == 0 || judged == c.n) && hu_all_quick(c.check) && hu_all_quick(c.norm);
	for (int i = 0; i < c.n && fits; i++) {
		const hu_work *u = c.unscale[i], *k = c.cast[i];
		fits = hu_all_quick(u) && u->all[1] == c.unscale[0]->all[1] &&
		       u->call->fmt.compute == c.norm->call->fmt.compute &&
		       u->call->fmt.compute == c.unscale[0]->call->fmt.compute && u->in[0] == c.check->all[i] &&
		       u->out[0] == c.norm->all[i] && hu_sum_blocks(hu_sum_blocks(u->in[0]->n)) == 1 &&
		       u->in[0]->n > 0 &&
		       hu_attr_num(u->call, "loss_weight", 1) == hu_attr_num(c.unscale[0]->call, "loss_weight", 1);
		if (k)
			fits = fits && hu_all_quick(k) && k->out[0] == u->in[0] && k->call->nout == 1 &&
			       k->call->fmt.compute == u->call->fmt.compute && k->in[0]->format != HU_FP64 &&
			       hu_attr_num(k->call, "scaled", 0) == 0;
	}
	return fits;
}

/* What distinguishes kinds of gradients: formats and flags. */
struct way { int in, wide, flags, out; };

static way
way_of(const hu_slot *in, const hu_work *cast, const hu_slot *out)
{
	way y = { in->format, cast ? cast->out[0]->format : -1, cast ? cast->call->flags : 0, out->format };

	return y;
}

/* Collects the gradients of one launch, from number at; *next gets the number after them. */
static void
gather(gradients *g, const calls *c, int at, int *next)
{
	way of[KINDS];
	int kinds = 0, k;

	hu_many_begin(&g->t, HU_SUM_BLOCK);
	for (; at < c->n && g->t.count < HU_MANY; at++) {
		const hu_work *u = c->unscale[at], *cast = c->cast[at];
		const hu_slot *in = cast ? cast->in[0] : u->in[0], *wide = cast ? cast->out[0] : NULL, *out = u->out[0];
		way y = way_of(in, cast, out);
		for (k = 0; k < kinds && memcmp(&of[k], &y, sizeof y); k++)
			;
		if (k == KINDS)
			break;
		if (k == kinds) {
			of[kinds++] = y;
			g->kinds[k].from = hu_operand_of(in, HU_AT_EACH);
			g->kinds[k].wide = wide ? hu_result_of(wide, cast->call->flags) : hu_result_none();
			g->kinds[k].to = hu_result_of(out, u->call->flags);
		}
		g->in[g->t.count] = in->data;
		g->wide[g->t.count] = wide ? wide->data : NULL;
		g->out[g->t.count] = out->data;
		g->kind_of[g->t.count] = (uint8_t)k;
		HU_ASSERT(hu_aligned(out->data) && (!wide || hu_aligned(wide->data)));
		hu_many_add(&g->t, in->n, in->data);
	}
	*next = at;
}

template <class S>
static hu_status
run(hu_work *w, const calls *c)
{
	const hu_work *u = c->unscale[0];
	uint64_t *bad;
	gradients g;
	verdict v;
	int judged = (int)hu_attr_num(c->check->call, "judged", c->check->call->nin);

	memset(&g, 0, sizeof g);
	memset(&v, 0, sizeof v);
	HU_TRY(hu_counters(w, &bad, (size_t)c->check->call->nin));
	for (int i = 0; i < c->n; i++)
		v.first[i + 1] = v.first[i] + (uint32_t)hu_sum_blocks(c->unscale[i]->in[0]->n);
	hu_slot sums = hu_raw_slot(w, v.first[c->n], u->call->fmt.compute == HU_FP32 ? HU_FP32 : HU_FP64),
		each = hu_raw_slot(w, (size_t)c->n, sums.format);
	g.scale = hu_operand_of(u->in[1], HU_AT_ONE);
	g.weight = hu_attr_num(u->call, "loss_weight", 1);
	g.compute = v.compute = hu_format_of(u->call->fmt.compute);
	g.sums = hu_result_of(&sums, 0);
	for (int at = 0; at < c->n;) {
		g.bad = bad + at;
		g.sums_from = v.first[at];
		gather(&g, c, at, &at);
		HU_TRY(HU_GO(w, gradients_kernel<S>, hu_many_grid(&g.t), HU_MANY_THREADS, 0, g));
	}
	if (judged)
		HU_TRY(hu_search(w, c->check, c->n, bad));
	v.tensors = (uint32_t)c->n;
	v.inputs = (uint32_t)c->check->call->nin;
	v.judged = (uint32_t)judged;
	v.bad = bad;
	v.sums = hu_operand_of(&sums, HU_AT_EACH);
	v.each = hu_operand_of(&each, HU_AT_EACH);
	v.each_to = hu_result_of(&each, 0);
	v.found = hu_result_of(c->check->out[0], 0);
	v.where = c->check->call->nout > 1 ? hu_result_of(c->check->out[1], 0) : hu_result_none();
	v.norm = hu_result_of(c->norm->out[0], c->norm->call->flags);
	return HU_GO(w, gradients_verdict_kernel<S>, 1, HU_MANY_THREADS, 0, v);
}

extern "C" hu_status
HU_SIDE(fuse_gradients)(hu_work *w, int n)
{
	calls c;

	if (!sort_calls(w, n, &c))
		return hu_fail(HU_EUNABLE, "the gradients' pass was given calls that it does not know");
	return c.unscale[0]->call->fmt.compute == HU_FP32 ? run<hu_in_f32>(w, &c) : run<hu_in_short>(w, &c);
}
