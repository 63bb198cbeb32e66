/* SPDX-License-Identifier: Apache-2.0
   Every pointwise operator: one kernel for each formula of lib/op/element/formulas.def, with the operands and constants
   that the operator's row names. Formulas that call functions, and all in plain rounding, share one kernel, in
   which choosing the formula does not count beside computing it, because each kernel takes time to compile. */
#include "cuda/element/map.cuh"
#include "cuda/element/stat.h"

static_assert((int)HU_AT_EACH == HU_EACH && (int)HU_AT_CHANNEL == HU_CHANNEL && (int)HU_AT_ROW == HU_ROW &&
		      (int)HU_AT_IMAGE == HU_IMAGE && (int)HU_AT_ONE == HU_ONE && (int)HU_AT_INDEX == HU_INDEX,
	"operands are read as the CPU reads them");

#define ONE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i])
#define TWO(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i])
#define THREE(NAME, S, T) out[0][i] = hu_formula_##NAME##S(c, in[0][i], in[1][i], in[2][i])
/* Elementary functions and roots take hundreds of instructions: as text Y calls one of these. */
static constexpr int
calls_function(const char *y)
{
	const char *names[] = { "EXP", "LOG", "ERF", "TANH", "SIGMOID", "SQRT", "POW", "SIN", "COS", "gelu",
		"silu", "softplus" };

	for (; *y; y++)
		for (const char *name : names) {
			int n = 0;
			while (name[n] && y[n] == name[n])
				n++;
			if (!name[n])
				return 1;
		}
	return 0;
}

#define FORMULA(NAME, N, F, Y)                   \
	HU_FORMULA_OF(of_##NAME, N, 1, F, NAME) \
	template <> inline constexpr int hu_is_long<of_##NAME> = calls_function(#Y);
#define FORMULA1(NAME, Y) FORMULA(NAME, 1, ONE, Y)
#define FORMULA2(NAME, Y) FORMULA(NAME, 2, TWO, Y)
#define FORMULA3(NAME, Y) FORMULA(NAME, 3, THREE, Y)
#include "lib/op/element/formulas.def"
#undef FORMULA
#undef ONE
#undef TWO
#undef THREE

/* Whether the formula F in numeric type S is computed by the kernel of all such: if it calls a function, and in plain
   rounding, which takes hundreds of instructions an operation, always. */
template <class F, class S> constexpr int shares = hu_is_long<F>;
template <class F> constexpr int shares<F, hu_in_plain> = 1;

template <class F, class S>
HU_DEVICE void
run_shared(const typename S::C *c, typename S::T (*in)[S::vector], typename S::T (*out)[S::vector], uint32_t many)
{
	if constexpr (shares<F, S>)
		hu_formula_run<F, S, S::vector>(c, in, out, many);
}

template <class S>
HU_KERNEL
shared_kernel(HU_PARAM hu_field m, int formula)
{
	enum { V = S::vector };
	typename S::C c;
	uint32_t runs = hu_runs(m.n, m.whole, V);

	hu_field_context<S>(&m, &c);
	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < runs; t += gridDim.x * blockDim.x) {
		hu_element_run at = hu_run_at<V>(t, m.whole);
		typename S::T in[3][V], out[1][V];
		HU_UNROLL
		for (int k = 0; k < 3; k++)
			if (k < m.nin)
				hu_field_load<S, V>(&m, &c, &m.in[k], at, in[k]);
		switch (formula) {
#define FORMULA1(NAME, Y) case HU_FORMULA_##NAME: run_shared<of_##NAME, S>(&c, in, out, at.many); break;
#define FORMULA2(NAME, Y) FORMULA1(NAME, Y)
#define FORMULA3(NAME, Y) FORMULA1(NAME, Y)
#include "lib/op/element/formulas.def"
		}
		hu_run_store<S, V>(&m.out[0], m.out[0].data, at, out[0]);
	}
}

/* The kernel of F alone in numeric type S; of none where F shares one. */
template <class F, class S>
static inline hu_field_choice
own()
{
	if constexpr (shares<F, S>)
		return hu_field_in_numeric<S>(NULL);
	else
		return hu_field_in_numeric<S>(hu_field_kernel<F, S>);
}

template <class S>
static hu_status
start(hu_work *w, const hu_field *field, hu_field_choice c, int formula)
{
	if (c.kernel)
		return hu_field_start(w, field, c);
	hu_field m = *field;
	unsigned blocks = hu_field_blocks(&m, c.v, c.doubles);
	HU_TRY(HU_GO(w, shared_kernel<S>, blocks, HU_FIELD_THREADS, 0, m, formula));
	return hu_result_finish(w, &m.raw[0], m.to[0]);
}

template <class S>
static hu_status
run(hu_work *w, const hu_field *m, int formula)
{
	switch (formula) {
#define FORMULA1(NAME, Y) case HU_FORMULA_##NAME: return start<S>(w, m, own<of_##NAME, S>(), formula);
#define FORMULA2(NAME, Y) FORMULA1(NAME, Y)
#define FORMULA3(NAME, Y) FORMULA1(NAME, Y)
#include "lib/op/element/formulas.def"
	default: return HU_EUNABLE;
	}
}

extern "C" hu_status
HU_SIDE(formula)(hu_work *w, const hu_field *m, int formula)
{
	if (m->n)
		HU_TRY_IN_NUMERIC(m->compute, run<S>(w, m, formula));
	return HU_OK;
}

extern "C" hu_status
HU_SIDE(op_pointwise)(hu_work *w)
{
	hu_pointwise_call p;
	hu_field m = hu_field_of(w, w->in[0]->n, hu_last(w->in[0]->shape));

	if (!hu_pointwise_describe(&p, w->call))
		return hu_fail(HU_EUNABLE, "operator %s is not a pointwise operator with a formula of its own", w->op);
	if (w->in[0]->shape.rank)
		m.by_image = hu_divisor_of((uint32_t)(w->in[0]->n / w->in[0]->shape.d[0]));
	for (int i = 0; i < p.nin; i++)
		hu_field_in(&m, w->in[i], i ? hu_pointwise_how(p.how[i], w->in[i]->shape.rank) : p.how[i]);
	hu_field_out(w, &m, w->out[0]);
	m.nk = p.nk;
	for (int i = 0; i < p.nk; i++)
		m.k[i] = p.k[i];
	return HU_SIDE(formula)(w, &m, p.formula);
}
