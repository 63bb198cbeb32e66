/* SPDX-License-Identifier: Apache-2.0
   What the operators adam and adamw share: operands (weight, gradient, found_inf, m, v, clock), results
   (weight, m, v), epsilon's rounding, and the choice of the old values where found_inf is set. */
#ifndef HU_OP_MOMENTS_H
#define HU_OP_MOMENTS_H

#include "lib/op/reduce/reduce.h"

/* What is done to an element in a step that is skipped, for HU_BLOCKS(keep, HU_MOMENTS_KEEP, hu_moments_exact_keep). */
#define HU_MOMENTS_KEEP(S, T) (out[0][i] = in[0][i], out[1][i] = in[2][i], out[2][i] = in[3][i])
void hu_moments_exact_keep(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y);

/* The map over the call's elements by BLOCKS, its operands weight, gradient, m, v. */
void hu_moments_init(hu_map *m, const hu_call *c, const hu_blocks *blocks, hu_tensor *const *in);
/* The step is skipped: found_inf is set. */
int hu_moments_skipped(hu_tensor *const *in);
/* Epsilon, the map's constant I, is stored where v is: rounded to v's format, it may become 0. */
void hu_moments_round_eps(hu_map *m, int i, hu_tensor *const *in);
hu_status hu_moments_shape(const hu_call *c, const hu_shape *in, hu_shape *out);

/* m' and v' of one element in exact arithmetic; b1 and b2 are the betas, x the map's operands. */
void hu_moments_exact(mpfr_t m, mpfr_t v, const mpfr_t b1, const mpfr_t b2, const mpfr_t *x);
/* y = 1 - a */
void hu_moments_rest(mpfr_t y, const mpfr_t a);

/* The faces that adam and adamw define alike, from prepare(map, call, in), the place EPS of epsilon among the map's
   constants and the blocks step_term, whose last result is what the update takes off the weight. */
#define HU_MOMENTS_FACES                                                                                                         \
	static void emulated(hu_map *m, const hu_call *c, hu_tensor *const *in)                                                  \
	{                                                                                                                        \
		prepare(m, c, in);                                                                                               \
		hu_moments_round_eps(m, EPS, in);                                                                                \
	}                                                                                                                        \
	static hu_status emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)               \
	{                                                                                                                        \
		hu_map m;                                                                                                        \
		emulated(&m, c, in);                                                                                             \
		hu_map_emulate(&m, out, 3, env);                                                                                 \
		return HU_OK;                                                                                                    \
	}                                                                                                                        \
	static hu_status reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact) \
	{                                                                                                                        \
		hu_map m;                                                                                                        \
		prepare(&m, c, in);                                                                                              \
		return hu_map_reference(&m, out, element, n, exact);                                                             \
	}                                                                                                                        \
	static hu_status bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)      \
	{                                                                                                                        \
		hu_map m;                                                                                                        \
		emulated(&m, c, in);                                                                                             \
		return hu_map_bound(&m, 3, out, hu_output_format(c, in, out), element, n, b);                                    \
	}                                                                                                                        \
	static hu_status swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env, hu_swamp *count) \
	{                                                                                                                        \
		hu_map m;                                                                                                        \
		if (out != 0 || hu_moments_skipped(in))                                                                          \
			return HU_OK;                                                                                            \
		emulated(&m, c, in);                                                                                             \
		m.blocks = &step_term;                                                                                           \
		return hu_update_swamping(&m, element, n, env, count);                                                           \
	}                                                                                                                        \
	static void updates(const hu_call *c, hu_tensor *const *in, const hu_tensor *out, hu_update_tally *count)                \
	{                                                                                                                        \
		hu_map m;                                                                                                        \
		if (hu_moments_skipped(in))                                                                                      \
			return;                                                                                                  \
		emulated(&m, c, in);                                                                                             \
		m.blocks = &step_term;                                                                                           \
		hu_update_tally_all(&m, in[0], out, count);                                                                      \
	}
#endif
