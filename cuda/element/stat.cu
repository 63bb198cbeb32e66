/* SPDX-License-Identifier: Apache-2.0
   What several operators do with stats (stat.h): sums of unchanged numbers, and arithmetic on one number per
   channel. */
#include "cuda/element/reduce.cuh"
#include "cuda/element/scalar.cuh"

#define INVERSE(S, T) out[0][i] = hu_norm_rstd##S(c, in[0][i])
HU_FORMULA(inverse, 1, 1, INVERSE)
template <> inline constexpr int hu_is_long<inverse> = 1;
#undef INVERSE

extern "C" hu_status
HU_SIDE(sum_down)(hu_work *w, const hu_slot *t, size_t segments, size_t rows, size_t channels, hu_slot *sum)
{
	hu_field m = hu_field_of(w, segments * rows * channels, channels);

	hu_field_in(&m, t, HU_AT_EACH);
	return hu_sum_down<hu_itself>(w, &m, segments, rows, sum);
}

extern "C" hu_status
HU_SIDE(sum_along)(hu_work *w, const hu_slot *t, size_t rows, size_t each, hu_slot *sum)
{
	hu_field m = hu_field_of(w, rows * each, each);

	hu_field_in(&m, t, HU_AT_EACH);
	return hu_sum_along<hu_itself>(w, &m, rows, each, sum);
}

extern "C" hu_status
HU_SIDE(stat_out)(hu_work *w, const hu_slot *s, const hu_slot *t)
{
	hu_field m = hu_field_of(w, t->n, 1);

	hu_field_in(&m, s, HU_AT_EACH);
	hu_field_out(w, &m, t);
	return hu_field_run<hu_itself>(w, &m);
}

extern "C" hu_status
HU_SIDE(stat_copy)(hu_work *w, const hu_slot *s, const hu_slot *t)
{
	hu_field m = hu_field_of(w, t->n, 1);

	hu_field_in(&m, s, HU_AT_EACH);
	hu_field_keep(&m, t);
	return hu_field_run<hu_itself>(w, &m);
}

extern "C" hu_status
HU_SIDE(stat_divide)(hu_work *w, hu_slot *s, double n)
{
	hu_field m = hu_field_of(w, s->n, 1);
	hu_slot q = hu_stat_slot(w, s->n);

	hu_field_in(&m, s, HU_AT_EACH);
	hu_field_keep(&m, &q);
	m.nk = 1;
	m.k[0] = n;
	*s = q;
	return hu_field_run<hu_divided>(w, &m);
}

extern "C" hu_status
HU_SIDE(stat_inverse)(hu_work *w, const hu_slot *var, hu_slot *rstd)
{
	hu_field m = hu_field_of(w, var->n, 1);

	*rstd = hu_stat_slot(w, var->n);
	hu_field_in(&m, var, HU_AT_EACH);
	hu_field_keep(&m, rstd);
	m.nk = 1;
	m.k[0] = hu_norm_eps(w->call);
	return hu_field_run<inverse>(w, &m);
}
