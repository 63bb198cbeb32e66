/* SPDX-License-Identifier: Apache-2.0
   The numeric types of cuda/element/short.h as the kernels' template parameters, and the choice of one for a compute
   format. HU_AT_… says which element of an operand belongs to an element of the result (map.cuh). */
#ifndef HU_CUDA_NUMERIC_CUH
#define HU_CUDA_NUMERIC_CUH

#include "cuda/element/short.h"
#include "cuda/element/vector.cuh"

/* HU_AT_FLAG is as HU_AT_ONE, without rounding if 0 is not a value of the compute format. */
enum { HU_AT_EACH, HU_AT_CHANNEL, HU_AT_ROW, HU_AT_IMAGE, HU_AT_ONE, HU_AT_INDEX, HU_AT_FLAG };

/* The numeric types (lib/op/element/formula.h, cuda/element/short.h): type, context, loads, stores and one rounded
   addition. A thread computes vector elements at a time, and fused in the simplest passes; of doubles only one in most,
   because their arithmetic takes longer than memory does. taken is what a formula gets of a loaded number. */
struct hu_in_f32 {
	typedef float T;
	typedef hu_ctx_f32 C;
	enum { vector = 4, fused = 8 };
	static HU_DEVICE_MEMBER void begin(C *c, const hu_format *f) { c->f = *f; }
	static HU_DEVICE_MEMBER T constant(const C *, double x) { return (float)x; }
	static HU_DEVICE_MEMBER T taken(const C *, int, T x) { return x; }
	static HU_DEVICE_MEMBER T load(const C *, const hu_store_operand *o, const void *data, uint32_t i)
	{
		return o->kind == HU_KIND_F32 ? ((const float *)data)[i] : hu_load_alone_f32(o, data, i);
	}
	static HU_DEVICE_MEMBER void store_alone(const hu_store_result *r, void *data, uint32_t i, T x)
	{
		hu_store_alone_f32(r, data, i, x);
	}
	static HU_DEVICE_MEMBER T at(const C *, const hu_store_operand *o, uint32_t i) { return hu_load_f32(o, i); }
	static HU_DEVICE_MEMBER void store(const hu_store_result *r, uint32_t i, T x) { hu_store_f32(r, i, x); }
	/* What a load returns after x was stored. */
	static HU_DEVICE_MEMBER T settled(const hu_store_result *r, T x) { return hu_settled_f32(r, x); }
	static HU_DEVICE_MEMBER T add(const C *, T a, T b) { return a + b; }
};

struct hu_in_short {
	typedef double T;
	typedef hu_ctx_short C;
	enum { vector = 1, fused = 4 };
	static HU_DEVICE_MEMBER void begin(C *c, const hu_format *f) { c->f = hu_short_of(*f); }
	static HU_DEVICE_MEMBER T constant(const C *c, double x) { return hu_short_round(&c->f, x); }
	static HU_DEVICE_MEMBER T taken(const C *c, int, T x) { return hu_short_round(&c->f, x); }
	static HU_DEVICE_MEMBER T load(const C *, const hu_store_operand *o, const void *data, uint32_t i)
	{
		return o->kind == HU_KIND_F64 ? ((const double *)data)[i] : hu_load_alone_f64(o, data, i);
	}
	static HU_DEVICE_MEMBER void store_alone(const hu_store_result *r, void *data, uint32_t i, T x)
	{
		hu_store_alone_f64(r, data, i, x);
	}
	static HU_DEVICE_MEMBER T
	at(const C *c, const hu_store_operand *o, uint32_t i)
	{
		return hu_short_round(&c->f, hu_load_f64(o, i));
	}
	static HU_DEVICE_MEMBER void store(const hu_store_result *r, uint32_t i, T x) { hu_store_f64(r, i, x); }
	static HU_DEVICE_MEMBER T settled(const hu_store_result *r, T x) { return hu_settled_f64(r, x); }
	static HU_DEVICE_MEMBER T add(const C *c, T a, T b) { return hu_short_round(&c->f, a + b); }
};

struct hu_in_plain {
	typedef double T;
	typedef hu_ctx_f64 C;
	enum { vector = 1 };
	static HU_DEVICE_MEMBER void begin(C *c, const hu_format *f) { c->f = *f; }
	static HU_DEVICE_MEMBER T constant(const C *c, double x) { return hu_plain_round(&c->f, x); }
	static HU_DEVICE_MEMBER T taken(const C *c, int how, T x)
	{
		return how == HU_AT_FLAG ? x : hu_plain_round(&c->f, x);
	}
	static HU_DEVICE_MEMBER T load(const C *, const hu_store_operand *o, const void *data, uint32_t i)
	{
		return o->kind == HU_KIND_F64 ? ((const double *)data)[i] : hu_load_alone_f64(o, data, i);
	}
	static HU_DEVICE_MEMBER void store_alone(const hu_store_result *r, void *data, uint32_t i, T x)
	{
		hu_store_alone_f64(r, data, i, x);
	}
	static HU_DEVICE_MEMBER T
	at(const C *c, const hu_store_operand *o, uint32_t i)
	{
		return hu_plain_round(&c->f, hu_load_f64(o, i));
	}
	static HU_DEVICE_MEMBER void store(const hu_store_result *r, uint32_t i, T x) { hu_store_f64(r, i, x); }
	static HU_DEVICE_MEMBER T add(const C *c, T a, T b) { return hu_plain_round(&c->f, a + b); }
};

/* On the host: go, a launch of kernels of the numeric type S, with the numeric type of format f. Passes of several
   calls (cuda/fuse/fuse.h) do not support hu_in_plain. */
#define HU_TRY_IN_NUMERIC(f, go)                 \
	do {                                     \
		if ((f).id == HU_FP32) {         \
			typedef hu_in_f32 S;     \
			HU_TRY(go);              \
		} else if (hu_short_serves(f)) { \
			typedef hu_in_short S;   \
			HU_TRY(go);              \
		} else {                         \
			typedef hu_in_plain S;    \
			HU_TRY(go);              \
		}                                \
	} while (0)
#endif
