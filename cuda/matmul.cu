/* SPDX-License-Identifier: Apache-2.0
   matmul a, b [, sa, sb] -> y[M,N]; attributes ta, tb (operand stored transposed), part, scaled. */
#include "cuda/gemm_run.cuh"

namespace {
struct map {
	static HU_DEVICE_MEMBER uint32_t a(const hu_gemm *g, uint32_t m, uint32_t k) { return g->ta ? k * g->m + m : m * g->k + k; }
	static HU_DEVICE_MEMBER uint32_t b(const hu_gemm *g, uint32_t k, uint32_t n) { return g->tb ? n * g->k + k : k * g->n + n; }
	static HU_DEVICE_MEMBER int a_along_k(const hu_gemm *g) { return !g->ta; }
	static HU_DEVICE_MEMBER int b_along_k(const hu_gemm *g) { return g->tb; }
};
}

extern "C" hu_status
HU_SIDE(op_matmul)(hu_work *w)
{
	const hu_shape *a = &w->in[0]->shape, *b = &w->in[1]->shape;
	uint32_t rest = (uint32_t)(hu_count(*a) / a->d[0]);
	hu_gemm g;

	memset(&g, 0, sizeof g);
	g.ta = hu_attr_num(w->call, "ta", 0) != 0;
	g.tb = hu_attr_num(w->call, "tb", 0) != 0;
	g.m = g.ta ? rest : (uint32_t)a->d[0];
	g.k = g.ta ? (uint32_t)a->d[0] : rest;
	g.n = (uint32_t)(g.tb ? b->d[0] : hu_count(*b) / b->d[0]);
	HU_TRY(hu_gemm_of(w, &g));
	return hu_gemm_run<map>(w, &g);
}
