/* SPDX-License-Identifier: Apache-2.0
   Loads and stores several elements of a device tensor at once: neighbours, 16 bytes an access where their codes fill
   them, or elements at equal distances, whose loads are all under way before the first is decoded. How a tensor is
   stored is looked up once for all of them. Results have the bits of store.h's functions for one element. */
#ifndef HU_CUDA_VECTOR_CUH
#define HU_CUDA_VECTOR_CUH

#include "cuda/element/store.h"

/* Elements i to i + many - 1: V of them, or one. */
typedef struct hu_run { uint32_t i, many; } hu_run;

/* Of n elements, whose first whole * V are in runs of V and the others alone, the t-th run. */
template <int V>
HU_DEVICE hu_run
hu_run_at(uint32_t t, uint32_t whole)
{
	hu_run at = { t < whole ? t * V : whole * V + (t - whole), t < whole ? (uint32_t)V : 1u };

	return at;
}

/* The number of such runs. */
HU_HD uint32_t hu_runs(uint32_t n, uint32_t whole, uint32_t v) { return whole + (n - whole * v); }

/* Returns 1 if runs may start at the tensor's first element. */
static inline int hu_aligned(const void *data) { return (size_t)data % 16 == 0; }

/* Decodes V codes. */
template <int V>
HU_DEVICE void
hu_decode(float *x, const hu_coding *q, const uint32_t *code)
{
	if (q->native == HU_CODES_HALF) {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			x[v] = hu_half_value(q, code[v]);
	} else if (q->native == HU_CODES_BRAIN) {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			x[v] = hu_brain_value(code[v]);
	} else {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			x[v] = hu_code_value(q, code[v]);
	}
}

/* Loads and stores of one element, called because they are rare beside those of several. */
HU_DEVICE_CALL float hu_load_alone_f32(const hu_store_operand *o, uint32_t i) { return hu_load_f32(o, i); }
HU_DEVICE_CALL double hu_load_alone_f64(const hu_store_operand *o, uint32_t i) { return hu_load_f64(o, i); }
HU_DEVICE_CALL void hu_store_alone_f32(const hu_store_result *r, uint32_t i, float x) { hu_store_f32(r, i, x); }
HU_DEVICE_CALL void hu_store_alone_f64(const hu_store_result *r, uint32_t i, double x) { hu_store_f64(r, i, x); }

/* Whether runs of a carrier of T are loaded from and stored to tensors of this kind: floats do not meet doubles often
   enough for code of their own. */
template <class T> HU_HD int hu_vector_serves(int kind) { return sizeof(T) == sizeof(double) || kind != HU_KIND_F64; }

/* Loads elements i to i + V - 1. i and V are multiples of 4, the tensor starts at a multiple of 16 bytes. */
template <int V, class T>
HU_DEVICE void
hu_vector_load(T *x, const hu_store_operand *o, uint32_t i)
{
	uint32_t code[V];
	float y[V];

	if constexpr (sizeof(T) == sizeof(double)) {
		if (o->kind == HU_KIND_F64) {
			uint32_t w[2 * V];
			hu_load_words<8 * V>(w, (const double *)o->data + i);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				x[v] = hu_from_bits64((uint64_t)w[2 * v + 1] << 32 | w[2 * v]);
			return;
		}
	}
	if (o->kind == HU_KIND_F32) {
		hu_load_words<4 * V>(code, (const float *)o->data + i);
		HU_UNROLL
		for (int v = 0; v < V; v++)
			y[v] = hu_from_bits32(code[v]);
	} else {
		uint32_t w[V];
		if (o->kind == HU_KIND_CODE16) {
			hu_load_words<2 * V>(w, (const uint16_t *)o->data + i);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = w[v / 2] >> (v % 2 * 16) & 0xffff;
		} else {
			hu_load_words<V>(w, (const uint8_t *)o->data + i);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = w[v / 4] >> (v % 4 * 8) & 0xff;
		}
		hu_decode<V>(y, &o->code, code);
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = (T)y[v];
}

/* Loads elements i, i + step, ..., of which the last V - many are not there: they become element i. */
template <int V, class T>
HU_DEVICE void
hu_strided_load(T *x, const hu_store_operand *o, uint32_t i, uint32_t step, uint32_t many)
{
	uint32_t at[V], code[V];
	float y[V];

	HU_UNROLL
	for (int v = 0; v < V; v++)
		at[v] = (uint32_t)v < many ? i + (uint32_t)v * step : i;
	if (o->kind == HU_KIND_F64) {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			x[v] = (T)((const double *)o->data)[at[v]];
		return;
	}
	if (o->kind == HU_KIND_F32) {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			y[v] = ((const float *)o->data)[at[v]];
	} else {
		if (o->kind == HU_KIND_CODE16) {
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = ((const uint16_t *)o->data)[at[v]];
		} else {
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = ((const uint8_t *)o->data)[at[v]];
		}
		hu_decode<V>(y, &o->code, code);
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = (T)y[v];
}

HU_DEVICE float hu_quick(const hu_coding *q, float x) { return hu_quick_f32(q, x); }
HU_DEVICE float hu_quick(const hu_coding *q, double x) { return hu_quick_f64(q, x); }
/* The code to which fp16 rounds x; a double is rounded as such, not to a float first. */
HU_DEVICE uint32_t hu_half_of(const hu_coding *q, float x) { return hu_half_code(q, x); }
HU_DEVICE uint32_t hu_half_of(const hu_coding *q, double x) { return hu_half_code(q, hu_quick_f64(q, x)); }
HU_DEVICE uint32_t hu_brain_of(const hu_coding *, float x) { return hu_brain_code(x); }
HU_DEVICE uint32_t hu_brain_of(const hu_coding *q, double x) { return hu_brain_code(hu_quick_f64(q, x)); }

/* Stores V elements from i on, rounded, and leaves in x what a load returns. i, V and the tensor as hu_vector_load has
   them. */
template <int V, class T>
HU_DEVICE void
hu_vector_store(const hu_store_result *r, uint32_t i, T *x)
{
	const hu_coding *q = &r->code;
	uint32_t w[2 * V];

	if constexpr (sizeof(T) == sizeof(double)) {
		if (r->kind == HU_KIND_F64) {
			HU_UNROLL
			for (int v = 0; v < V; v++) {
				x[v] = x[v] != x[v] ? hu_nan() : x[v];
				w[2 * v] = (uint32_t)hu_bits64(x[v]);
				w[2 * v + 1] = (uint32_t)(hu_bits64(x[v]) >> 32);
			}
			hu_store_words<8 * V>((double *)r->data + i, w);
			return;
		}
	}
	if (r->kind == HU_KIND_F32) {
		HU_UNROLL
		for (int v = 0; v < V; v++) {
			float y = r->exact ? (float)x[v] : hu_quick(q, x[v]);
			y = y != y ? hu_from_bits32(0x7fc00000u) : y;
			x[v] = (T)y;
			w[v] = hu_bits32(y);
		}
		hu_store_words<4 * V>((float *)r->data + i, w);
	} else {
		if (q->native == HU_CODES_HALF) {
			HU_UNROLL
			for (int v = 0; v < V; v++) {
				w[v] = hu_half_of(q, x[v]);
				x[v] = (T)hu_half_value(q, w[v]);
			}
		} else if (q->native == HU_CODES_BRAIN) {
			HU_UNROLL
			for (int v = 0; v < V; v++) {
				w[v] = hu_brain_of(q, x[v]);
				x[v] = (T)hu_brain_value(w[v]);
			}
		} else {
			HU_UNROLL
			for (int v = 0; v < V; v++) {
				float y = hu_quick(q, x[v]);
				w[v] = hu_value_code(q, y);
				x[v] = (T)y;
			}
		}
		if (r->kind == HU_KIND_CODE16) {
			HU_UNROLL
			for (int v = 0; v < V / 2; v++)
				w[v] = w[2 * v] | w[2 * v + 1] << 16;
			hu_store_words<2 * V>((uint16_t *)r->data + i, w);
		} else {
			HU_UNROLL
			for (int v = 0; v < V / 4; v++)
				w[v] = w[4 * v] | w[4 * v + 1] << 8 | w[4 * v + 2] << 16 | w[4 * v + 3] << 24;
			hu_store_words<V>((uint8_t *)r->data + i, w);
		}
	}
}
#endif
