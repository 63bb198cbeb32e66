/* SPDX-License-Identifier: Apache-2.0
   Makes an operator mlas_NAME of each row of mlas.def: floats are computed as ONNX Runtime's CPU does, all else is that
   of the function that the row approximates. */
#include "lib/number/simd.h"
#include "lib/op/element/pointwise.h"

#define MLAS_LOOP(NAME) hu_mlas_##NAME##_plain
#include "lib/op/element/runtime/mlas.inc"

/* Bounds of n floats: where the loop's value differs from that of the function's own arithmetic, which is within y.e of
   the exact one, the difference is added. Other formats have the function's own arithmetic. */
static void
widen(hu_formula_loop *loop, const hu_ctx_bounded *c, size_t n, const hu_bounded *x, hu_bounded *y)
{
	for (size_t i = 0; i < n && c->f.id == HU_FP32; i++) {
		float from = (float)x[i].v, to;
		loop(NULL, 1, (const float *const[]){ &from }, (float *const[]){ &to });
		double v = (double)to, apart = hu_abs(v - y[i].v);
		if (apart == 0)
			continue;
		y[i].e = apart < hu_inf(0) ? hu_up(y[i].e + apart) : hu_inf(0);
		y[i].v = v;
	}
}

/* What is not computed in floats is the function's own, found under another name: so loops for several values, whose
   bounds are not these, are not found (ddw_loops.h). */
#define OWN(FUNCTION) hu_formula_blocks(HU_FORMULA_##FUNCTION)
#define TABLE(NAME, LOOP) \
	{ LOOP, NAME##_f64, NAME##_any, NAME##_run, NAME##_dd, NULL, NAME##_count }
#define MLAS(NAME, FUNCTION, SUMMARY)                                                                                  \
	static void NAME##_f64(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out)             \
	{                                                                                                              \
		OWN(FUNCTION)->f64(c, n, in, out);                                                               \
	}                                                                                                              \
	static void NAME##_any(const hu_ctx_f64 *c, size_t n, const double *const *in, double *const *out)             \
	{                                                                                                              \
		OWN(FUNCTION)->any(c, n, in, out);                                                               \
	}                                                                                                              \
	static void NAME##_run(                                                                                        \
		const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in, hu_bounded *const *out)                \
	{                                                                                                              \
		OWN(FUNCTION)->run(c, n, in, out);                                                               \
		widen(hu_mlas_##NAME##_plain, c, n, in[0], out[0]);                                                    \
	}                                                                                                              \
	static void NAME##_dd(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out)                 \
	{                                                                                                              \
		OWN(FUNCTION)->dd(c, n, in, out);                                                                \
	}                                                                                                              \
	static uint64_t NAME##_count(                                                                                  \
		const hu_ctx_count *c, size_t n, const double *const *in, double *const *out)                          \
	{                                                                                                              \
		return OWN(FUNCTION)->count(c, n, in, out);                                                      \
	}                                                                                                              \
	static const hu_blocks NAME##_plain = TABLE(NAME, hu_mlas_##NAME##_plain);                                     \
	WIDE(NAME)                                                                                                     \
	static void NAME##_prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)                                  \
	{                                                                                                              \
		hu_map_init(m, c, HU_SIMD_PICK(&NAME##_avx512, &NAME##_avx2, &NAME##_plain), in[0]->n,                 \
			hu_last(in[0]->shape));                                                                        \
		m->exact = hu_op_##FUNCTION.pointwise->form[0].exact;                                                  \
		hu_map_add(m, in[0], HU_EACH);                                                                         \
	}                                                                                                              \
	static const hu_pointwise NAME##_row = {                                                                       \
		.how = { HU_EACH }, .form = { { HU_FORMULA_##FUNCTION, NULL, 1 } }, .prepare = NAME##_prepare,         \
	};                                                                                                             \
	const hu_op hu_op_mlas_##NAME = {                                                                              \
		.name = "mlas_" #NAME, .summary = SUMMARY, .min_in = 1, .max_in = 1, .nout = 1,                        \
		.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_NONE,                                                   \
		.family = &hu_family_pointwise, .pointwise = &NAME##_row,                                              \
	};
#if defined(__x86_64__)
#define WIDE(NAME)                                                                                                     \
	static const hu_blocks NAME##_avx2 = TABLE(NAME, hu_mlas_##NAME##_avx2),                                       \
			       NAME##_avx512 = TABLE(NAME, hu_mlas_##NAME##_avx512);
#else
#define WIDE(NAME)
#endif
#include "lib/op/mlas.def"
