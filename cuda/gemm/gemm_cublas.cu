/* SPDX-License-Identifier: Apache-2.0
   What cuBLASLt's products need besides the gathering: which calls they support, the launch, the outputs' rounding. */
#include "cuda/gemm/gemm_cublas.cuh"

static hu_status
refuse(const hu_work *w, const char *why, const char *instead)
{
	return hu_fail(HU_EUNABLE, "gemm=cublas: %s (call %d, layer %s): %s", why, w->call->id,
		*w->call->layer ? w->call->layer : "-", instead);
}

/* The format in which the library reads a tensor's elements; elements that are stored as floats are fp32's. */
static hu_format_id
operand_format(const hu_slot *t)
{
	switch (hu_kind_of(t->format)) {
	case HU_KIND_F32: return HU_FP32;
	case HU_KIND_F64: return HU_FP64;
	default: /* HU_KIND_CODE8 and HU_KIND_CODE16 */
		return t->format == HU_FP16 || t->format == HU_BF16 || t->format == HU_E4M3 || t->format == HU_E5M2
			       ? t->format
			       : HU_NO_FORMAT;
	}
}

extern "C" hu_status
HU_SIDE(cublas_product)(hu_work *w, const hu_gemm *g, hu_cublas_product *p)
{
	const hu_sum *s = &g->sum;
	char sum[128], why[256];

	memset(p, 0, sizeof *p);
	p->fa = operand_format(w->in[0]);
	p->fb = operand_format(w->in[1]);
	hu_sum_print(*s, sum, sizeof sum);
	int fp8 = p->fa == HU_E4M3 || p->fa == HU_E5M2;
	if (p->fa == HU_NO_FORMAT || p->fb == HU_NO_FORMAT ||
		(fp8 ? p->fb != HU_E4M3 && p->fb != HU_E5M2 : p->fa != p->fb) ||
		(p->fa == HU_E5M2 && p->fb == HU_E5M2)) {
		snprintf(why, sizeof why, "cuBLASLt multiplies no %s by %s", hu_format_name(w->in[0]->format),
			hu_format_name(w->in[1]->format));
		return refuse(w, why, "use gemm=simt");
	}
	hu_format_id acc = s->id == HU_SUM_TC ? s->out : s->acc;
	snprintf(why, sizeof why, "cuBLASLt sums in %s, in an order of its own, not as %s says",
		p->fa == HU_FP64 ? "fp64" : "fp32", sum);
	if ((s->id != HU_SUM_FMA && s->id != HU_SUM_SEQUENTIAL && s->id != HU_SUM_TC) || s->mode != HU_RNE ||
		(s->id == HU_SUM_TC && s->n) || acc != (p->fa == HU_FP64 ? HU_FP64 : HU_FP32) ||
		(s->outer != HU_NO_FORMAT && s->outer != acc))
		return refuse(w, why, "use gemm=simt, or another --accumulate");
	if (s->id == HU_SUM_TC && w->arch >= 0 && w->arch != (int)s->arch)
		return refuse(w, why, "its architecture is not this device's; use gemm=simt");
	p->tf32 = p->fa == HU_FP32 && (s->id == HU_SUM_TC || w->in[0]->format == HU_TF32);
#ifdef __CUDACC__
	p->host = 0;
#else
	p->host = 1;
#endif
	hu_format_id f = w->out[0]->format;
	p->fd = f == HU_FP32 || (p->fa == HU_FP64 && f == HU_FP64) || (!fp8 && f == p->fa) ? f
		: p->fa == HU_FP64                                                         ? HU_FP64
											   : HU_FP32;
	p->fd = p->fa == HU_FP64 ? HU_FP64 : p->fd;
	return HU_OK;
}

#ifndef __CUDACC__
/* The shim's queue runs this kernel in order, because a library that computes on the host has no queue. */
HU_KERNEL
library_kernel(hu_cublas_product p, const void *a, const void *b, void *d, void *room)
{
	if (hu_cublas_run(&p, NULL, a, b, d, room) != HU_OK)
		hu_bug(__FILE__, __LINE__, "%s", hu_reason());
}
#endif

extern "C" hu_status
HU_SIDE(cublas_go)(hu_work *w, const hu_cublas_product *at, const void *a, const void *b, void *d, int say)
{
	size_t bytes, used = w->used, places = (size_t)a | (size_t)b | (size_t)d | CUBLASLT_ALIGN;
	hu_cublas_product p = *at;
	int slices;

	if (p.batches > 1) /* each product begins where the one before ends */
		places |= p.step_a * hu_slot_size(p.fa) | p.step_b * hu_slot_size(p.fb) | p.step_d * hu_slot_size(p.fd);
	p.align = (uint32_t)(places & (0 - places));
	HU_TRY(hu_cublas_plan(&p, &bytes, &slices, say ? w->ran : NULL, HU_RAN));
	void *room = hu_work_take(w, bytes);
	w->used = used; /* launches are in order, so the next may use the same scratch space */
	if (w->dry)
		return HU_OK;
#ifdef __CUDACC__
	return hu_cublas_run(&p, w->queue, a, b, d, room);
#else
	return HU_LAUNCH(library_kernel, 1, 1, 0, w->queue, p, a, b, d, room);
#endif
}

HU_KERNEL
store_kernel(HU_PARAM hu_gemm g, const void *d, uint32_t ld, int doubles)
{
	HU_ONCE
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < g.m * g.n; i += gridDim.x * blockDim.x) {
		size_t at = ((size_t)blockIdx.z * g.m + i / g.n) * ld + i % g.n;
		hu_gemm_store(&g, i, doubles ? ((const double *)d)[at] : (double)((const float *)d)[at]);
	}
}

extern "C" hu_status
HU_SIDE(cublas_store)(hu_work *w, const hu_gemm *g, const void *d, uint32_t ld, hu_format_id f)
{
	dim3 grid(hu_blocks_for((size_t)g->m * g->n, 256, 65535), 1, g->batches > 1 ? g->batches : 1);

	return HU_GO(w, store_kernel, grid, 256, 0, *g, d, ld, f == HU_FP64);
}
