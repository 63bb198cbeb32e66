/* SPDX-License-Identifier: Apache-2.0
   Loads and stores several elements of a device tensor at once: neighbours, 16 bytes an access where their codes fill
   them, or elements at equal distances, whose loads are all under way before the first is decoded. How a tensor is
   stored is looked up once for all of them. Results have the bits of store.h's functions for one element. */
#ifndef HU_CUDA_VECTOR_CUH
#define HU_CUDA_VECTOR_CUH

#include "cuda/element/store.h"

/* Another tensor that is stored in the same way. */
HU_DEVICE hu_store_operand
hu_operand_at(const hu_store_operand *like, const void *data)
{
	hu_store_operand o = *like;

	o.data = data;
	return o;
}
HU_DEVICE hu_store_result
hu_result_at(const hu_store_result *like, void *data)
{
	hu_store_result r = *like;

	r.data = data;
	return r;
}

/* Elements i to i + many - 1: V of them, or one. */
typedef struct hu_element_run { uint32_t i, many; } hu_element_run;

/* Of n elements, whose first whole * V are in runs of V and the others alone, the t-th run. */
template <int V>
HU_DEVICE hu_element_run
hu_run_at(uint32_t t, uint32_t whole)
{
	hu_element_run at = { t < whole ? t * V : whole * V + (t - whole), t < whole ? (uint32_t)V : 1u };

	return at;
}

/* The number of such runs. */
HU_HD uint32_t hu_runs(uint32_t n, uint32_t whole, uint32_t v) { return whole + (n - whole * v); }

/* Returns 1 if runs may start at the tensor's first element. */
static inline int hu_aligned(const void *data) { return (size_t)data % 16 == 0; }

/* Decodes V codes. With CALLED set other formats than fp16 and bf16 are decoded by a function, which is slower and
   shorter. */
HU_DEVICE_CALL float hu_code_value_called(const hu_coding *q, uint32_t code) { return hu_code_value(q, code); }
template <int V, int CALLED>
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
			x[v] = CALLED ? hu_code_value_called(q, code[v]) : hu_code_value(q, code[v]);
	}
}

/* Loads and stores of one element, called because they are rare beside those of several. Here and below data is where
   the tensor lies that o or r describes: a description that several tensors share stays in the kernel's parameters. */
HU_DEVICE_CALL float
hu_load_alone_f32(const hu_store_operand *o, const void *data, uint32_t i)
{
	hu_store_operand x = hu_operand_at(o, data);

	return hu_load_f32(&x, i);
}
HU_DEVICE_CALL double
hu_load_alone_f64(const hu_store_operand *o, const void *data, uint32_t i)
{
	hu_store_operand x = hu_operand_at(o, data);

	return hu_load_f64(&x, i);
}
HU_DEVICE_CALL void
hu_store_alone_f32(const hu_store_result *r, void *data, uint32_t i, float x)
{
	hu_store_result to = hu_result_at(r, data);

	hu_store_f32(&to, i, x);
}
HU_DEVICE_CALL void
hu_store_alone_f64(const hu_store_result *r, void *data, uint32_t i, double x)
{
	hu_store_result to = hu_result_at(r, data);

	hu_store_f64(&to, i, x);
}

/* Whether runs of doubles, or of floats, are loaded from and stored to tensors of this kind: floats do not meet doubles
   often enough for code of their own. T is the C type of a numeric type. */
HU_HD int hu_vector_serves_kind(int doubles, int kind) { return doubles || kind != HU_KIND_F64; }
template <class T>
HU_HD int
hu_vector_serves(int kind)
{
	return hu_vector_serves_kind(sizeof(T) == sizeof(double), kind);
}

/* Loads elements i to i + V - 1. i and V are multiples of 4, the tensor starts at a multiple of 16 bytes. */
template <int V, int CALLED, class T>
HU_DEVICE void
hu_vector_load(T *x, const hu_store_operand *o, const void *data, uint32_t i)
{
	uint32_t code[V];
	float y[V];

	if constexpr (sizeof(T) == sizeof(double)) {
		if (o->kind == HU_KIND_F64) {
			uint32_t w[2 * V];
			hu_load_words<8 * V>(w, (const double *)data + i);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				x[v] = hu_from_bits64((uint64_t)w[2 * v + 1] << 32 | w[2 * v]);
			return;
		}
	}
	if (o->kind == HU_KIND_F32) {
		hu_load_words<4 * V>(code, (const float *)data + i);
		HU_UNROLL
		for (int v = 0; v < V; v++)
			y[v] = hu_from_bits32(code[v]);
	} else {
		uint32_t w[V];
		if (o->kind == HU_KIND_CODE16) {
			hu_load_words<2 * V>(w, (const uint16_t *)data + i);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = w[v / 2] >> (v % 2 * 16) & 0xffff;
		} else {
			hu_load_words<V>(w, (const uint8_t *)data + i);
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = w[v / 4] >> (v % 4 * 8) & 0xff;
		}
		hu_decode<V, CALLED>(y, &o->code, code);
	}
	HU_UNROLL
	for (int v = 0; v < V; v++)
		x[v] = (T)y[v];
}

/* Loads elements i, i + step, ..., of which the last V - many are not there: they become element i. */
template <int V, class T>
HU_DEVICE void
hu_strided_load(T *x, const hu_store_operand *o, const void *data, uint32_t i, uint32_t step, uint32_t many)
{
	uint32_t at[V], code[V];
	float y[V];

	HU_UNROLL
	for (int v = 0; v < V; v++)
		at[v] = (uint32_t)v < many ? i + (uint32_t)v * step : i;
	if (o->kind == HU_KIND_F64) {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			x[v] = (T)((const double *)data)[at[v]];
		return;
	}
	if (o->kind == HU_KIND_F32) {
		HU_UNROLL
		for (int v = 0; v < V; v++)
			y[v] = ((const float *)data)[at[v]];
	} else {
		if (o->kind == HU_KIND_CODE16) {
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = ((const uint16_t *)data)[at[v]];
		} else {
			HU_UNROLL
			for (int v = 0; v < V; v++)
				code[v] = ((const uint8_t *)data)[at[v]];
		}
		hu_decode<V, 1>(y, &o->code, code);
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

/* Rounds x, and returns its code. */
HU_DEVICE uint32_t
hu_code_of(const hu_coding *q, float x, float *rounded)
{
	*rounded = hu_quick_f32(q, x);
	return hu_value_code(q, *rounded);
}
HU_DEVICE uint32_t
hu_code_of(const hu_coding *q, double x, float *rounded)
{
	*rounded = hu_quick_f64(q, x);
	return hu_value_code(q, *rounded);
}
template <class T>
HU_DEVICE_CALL uint32_t
hu_code_of_called(const hu_coding *q, T x, float *rounded)
{
	return hu_code_of(q, x, rounded);
}

/* Stores V elements from i on, rounded, and leaves in x what a load returns. i, V and the tensor as hu_vector_load has
   them. */
template <int V, int CALLED, class T>
HU_DEVICE void
hu_vector_store(const hu_store_result *r, void *data, uint32_t i, T *x)
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
			hu_store_words<8 * V>((double *)data + i, w);
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
		hu_store_words<4 * V>((float *)data + i, w);
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
				float y;
				w[v] = CALLED ? hu_code_of_called(q, x[v], &y) : hu_code_of(q, x[v], &y);
				x[v] = (T)y;
			}
		}
		if (r->kind == HU_KIND_CODE16) {
			HU_UNROLL
			for (int v = 0; v < V / 2; v++)
				w[v] = w[2 * v] | w[2 * v + 1] << 16;
			hu_store_words<2 * V>((uint16_t *)data + i, w);
		} else {
			HU_UNROLL
			for (int v = 0; v < V / 4; v++)
				w[v] = w[4 * v] | w[4 * v + 1] << 8 | w[4 * v + 2] << 16 | w[4 * v + 3] << 24;
			hu_store_words<V>((uint8_t *)data + i, w);
		}
	}
}
#endif
