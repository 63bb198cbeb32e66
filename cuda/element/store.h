/* SPDX-License-Identifier: Apache-2.0
   Loads and stores elements of device tensors. Loads decode exactly; stores round and encode by the fast functions of
   cuda/element/code.h. A result that these do not support (other rounding modes, flags, formats) is kept unrounded, and
   cuda/element/round.cu rounds it. */
#ifndef HU_CUDA_STORE_H
#define HU_CUDA_STORE_H

#include "cuda/base/launch.h"

#include "cuda/element/code.h"
#include "cuda/element/kernel.h"

enum { HU_KIND_F32, HU_KIND_F64, HU_KIND_CODE8, HU_KIND_CODE16 };

static inline int
hu_kind_of(hu_format_id f)
{
	size_t bytes = hu_slot_size(f);

	return bytes == 8 ? HU_KIND_F64 : bytes == 4 ? HU_KIND_F32 : bytes == 2 ? HU_KIND_CODE16 : HU_KIND_CODE8;
}

/* A tensor that a kernel reads. how says which element (cuda/element/map.cuh). */
typedef struct hu_store_operand { const void *data; int kind, how; hu_coding code; } hu_store_operand;
/* A tensor that a kernel writes. exact is 1 if values need no rounding: a float or double of the tensor's own format,
   or a stat. */
typedef struct hu_store_result { void *data; int kind, exact; hu_coding code; } hu_store_result;

HU_DEVICE float
hu_load_f32(const hu_store_operand *o, uint32_t i)
{
	switch (o->kind) {
	case HU_KIND_F32: return ((const float *)o->data)[i];
	case HU_KIND_F64: return (float)((const double *)o->data)[i];
	case HU_KIND_CODE16: return hu_code_value(&o->code, ((const uint16_t *)o->data)[i]);
	default: /* HU_KIND_CODE8 */
		return hu_code_value(&o->code, ((const uint8_t *)o->data)[i]);
	}
}

HU_DEVICE double
hu_load_f64(const hu_store_operand *o, uint32_t i)
{
	return o->kind == HU_KIND_F64 ? ((const double *)o->data)[i] : (double)hu_load_f32(o, i);
}

/* x must be a value of the format, or a NaN of a float or double. */
HU_DEVICE void
hu_put_f32(const hu_store_result *r, uint32_t i, float x)
{
	switch (r->kind) {
	case HU_KIND_F32: ((float *)r->data)[i] = x != x ? hu_from_bits32(0x7fc00000u) : x; break;
	case HU_KIND_F64: ((double *)r->data)[i] = x != x ? hu_nan() : (double)x; break;
	case HU_KIND_CODE16: ((uint16_t *)r->data)[i] = (uint16_t)hu_value_code(&r->code, x); break;
	default: /* HU_KIND_CODE8 */
		((uint8_t *)r->data)[i] = (uint8_t)hu_value_code(&r->code, x); break;
	}
}

HU_DEVICE void
hu_store_f32(const hu_store_result *r, uint32_t i, float x)
{
	hu_put_f32(r, i, r->exact ? x : hu_quick_f32(&r->code, x));
}

HU_DEVICE void
hu_store_f64(const hu_store_result *r, uint32_t i, double x)
{
	if (r->kind == HU_KIND_F64)
		((double *)r->data)[i] = x != x ? hu_nan() : x;
	else
		hu_put_f32(r, i, r->exact ? (float)x : hu_quick_f64(&r->code, x));
}

/* What a load returns after x was stored. */
HU_DEVICE float
hu_settled_f32(const hu_store_result *r, float x)
{
	float y = r->exact ? x : hu_quick_f32(&r->code, x);

	return y != y ? hu_from_bits32(0x7fc00000u) : y;
}

HU_DEVICE double
hu_settled_f64(const hu_store_result *r, double x)
{
	if (r->kind == HU_KIND_F64)
		return x != x ? hu_nan() : x;
	float y = r->exact ? (float)x : hu_quick_f64(&r->code, x);
	return y != y ? hu_nan() : (double)y;
}

/* For the host: makes an operand of t. */
static inline hu_store_operand
hu_operand_of(const hu_slot *t, int how)
{
	hu_store_operand o = { t->data, hu_kind_of(t->format), how, hu_coding_of(hu_format_of(t->format), 0) };

	return o;
}

/* Makes a result of t that rounds to nearest even, saturating if flags say so. */
static inline hu_store_result
hu_result_of(const hu_slot *t, int flags)
{
	hu_store_result r = { t->data, hu_kind_of(t->format), t->format == HU_FP32 || t->format == HU_FP64,
		hu_coding_of(hu_format_of(t->format), flags) };

	return r;
}

/* A result that is not written. */
static inline hu_store_result
hu_result_none(void)
{
	hu_store_result r;

	memset(&r, 0, sizeof r);
	return r;
}

/* Returns 1 if kernels can do call w's rounding to t themselves. */
static inline int
hu_result_quick(const hu_work *w, const hu_slot *t)
{
	int flags = w->call->flags;

	if (w->call->mode != HU_RNE)
		return 0;
	if (t->format == HU_FP32 || t->format == HU_FP64)
		return flags == 0;
	return (flags == 0 || flags == HU_SATURATE) && hu_code_serves(hu_format_of(t->format));
}

static inline hu_slot
hu_raw_slot(hu_work *w, size_t n, hu_format_id f)
{
	hu_slot s;

	s.format = f;
	s.shape = hu_shape1(n);
	s.n = n;
	s.data = hu_work_take(w, (n ? n : 1) * hu_slot_size(f));
	return s;
}

/* An intermediate result in the compute format, exactly: floats for fp32, doubles for every other format. */
static inline hu_slot
hu_stat_slot(hu_work *w, size_t n)
{
	return hu_raw_slot(w, n, w->call->fmt.compute == HU_FP32 ? HU_FP32 : HU_FP64);
}

/* Launches kernel. A dry run launches nothing, but says whether a device would accept that many blocks and threads. */
#define HU_GO(w, kernel, grid, block, shared, ...)                                                                     \
	((w)->dry ? hu_launch_fits(#kernel, grid, block)                                                               \
		  : HU_LAUNCH(kernel, grid, block, shared, (w)->queue, __VA_ARGS__))

/* cuda/element/round.cu: rounds from, floats or doubles, to the call's output to as the call says; element i draws
   random number i. */
extern "C" hu_status HU_SIDE(round)(hu_work *w, const hu_slot *from, const hu_slot *to);

/* Returns where a kernel writes output t: to t itself or, if kernels cannot do the rounding, to *raw, which is
   allocated here (as doubles if wide is set or the call computes in doubles) and which hu_result_finish rounds. */
static inline hu_store_result
hu_result_begin(hu_work *w, const hu_slot *t, hu_slot *raw, int wide)
{
	raw->data = NULL;
	raw->n = 0;
	if (hu_result_quick(w, t))
		return hu_result_of(t, w->call->flags);
	*raw = hu_raw_slot(w, t->n, wide || w->call->fmt.compute != HU_FP32 ? HU_FP64 : HU_FP32);
	return hu_result_of(raw, 0);
}

static inline hu_status
hu_result_finish(hu_work *w, const hu_slot *raw, const hu_slot *t)
{
	return raw->n ? HU_SIDE(round)(w, raw, t) : HU_OK;
}
#endif
