/* SPDX-License-Identifier: Apache-2.0
   matmul a, b [, sa, sb] -> y[…,M,N]; attributes batch, ta, tb (the operand is stored transposed), part, scaled. */
#include "cuda/gemm/gemm_run.cuh"

namespace {
struct map {
	static HU_DEVICE_MEMBER uint32_t
	a(const hu_gemm *g, uint32_t m, uint32_t k)
	{
		return blockIdx.z * g->step_a + (g->ta ? k * g->m + m : m * g->k + k);
	}
	static HU_DEVICE_MEMBER uint32_t
	b(const hu_gemm *g, uint32_t k, uint32_t n)
	{
		return blockIdx.z * g->step_b + (g->tb ? n * g->k + k : k * g->n + n);
	}
	/* On the host: whether each s elements from a multiple of s on are contiguous; along k if a_along_k or
	   b_along_k says so, else across k. */
	static int a_groups(const hu_gemm *g, uint32_t s) { return (g->ta ? g->m : g->k) % s == 0; }
	static int b_groups(const hu_gemm *g, uint32_t s) { return (g->tb ? g->k : g->n) % s == 0; }
	static constexpr int patched = 0; /* whether there are kernels for channels that are no group (patch.cuh) */
	static constexpr int bulk = 1; /* whether operands are matrices, which bulk copies read (gemm_bulk.cuh) */
	static constexpr int b_matrix = 0; /* with a gathered, b is too (gemm_split.cuh) */
	static constexpr int narrow = 0; /* whether there are kernels for few columns (gemm_wgmma.cuh) */
	static constexpr int may_lie(int a, int b) { return a >= 0 && b >= 0; }
	static int a_lies(const hu_gemm *g) { (void)g; return g->ta ? HU_LIES_ACROSS_K : HU_LIES_ALONG_K; }
	static int b_lies(const hu_gemm *g) { (void)g; return g->tb ? HU_LIES_ALONG_K : HU_LIES_ACROSS_K; }
	static HU_BOTH_MEMBER int a_along_k(const hu_gemm *g) { return !g->ta; }
	static HU_BOTH_MEMBER int b_along_k(const hu_gemm *g) { return g->tb; }
	/* The map after operands that are stored across k were transposed. */
	typedef map turned;
	static void turn(hu_gemm *g) { g->ta = 0, g->tb = 1; }
};
}

extern "C" hu_status
HU_SIDE(op_matmul)(hu_work *w)
{
	const hu_shape *a = &w->in[0]->shape, *b = &w->in[1]->shape;
	int batch = (int)hu_attr_num(w->call, "batch", 0);
	uint32_t batches = 1, rest[2] = { 1, 1 };
	hu_gemm g;

	for (int i = 0; i < batch; i++)
		batches *= (uint32_t)a->d[i];
	for (int i = batch + 1; i < a->rank; i++)
		rest[0] *= (uint32_t)a->d[i];
	for (int i = batch + 1; i < b->rank; i++)
		rest[1] *= (uint32_t)b->d[i];
	memset(&g, 0, sizeof g);
	g.ta = hu_attr_num(w->call, "ta", 0) != 0;
	g.tb = hu_attr_num(w->call, "tb", 0) != 0;
	g.m = g.ta ? rest[0] : (uint32_t)a->d[batch];
	g.k = g.ta ? (uint32_t)a->d[batch] : rest[0];
	g.n = g.tb ? (uint32_t)b->d[batch] : rest[1];
	HU_TRY(hu_gemm_of(w, &g));
	uint32_t together = hu_gemm_together<map>(w, &g);
	size_t used = w->used, size_a = hu_slot_size(w->in[0]->format), size_b = hu_slot_size(w->in[1]->format);
	g.step_a = g.m * g.k;
	g.step_b = g.k * g.n;
	g.step_y = g.m * g.n;
	for (uint32_t i = 0; i < batches; i += g.batches) {
		g.batches = batches - i < together ? batches - i : together;
		w->used = used; /* launches are in order, so the next may use the same scratch space */
		HU_TRY(hu_gemm_product<map>(w, &g));
		g.first += g.batches * g.step_y;
		g.a.data = (const unsigned char *)g.a.data + (size_t)g.batches * g.step_a * size_a;
		g.b.data = (const unsigned char *)g.b.data + (size_t)g.batches * g.step_b * size_b;
	}
	return hu_result_finish(w, &g.raw, w->out[0]);
}
