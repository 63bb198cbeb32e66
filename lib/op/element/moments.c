/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/element/moments.h"

void
hu_moments_rest(mpfr_t y, const mpfr_t a)
{
	mpfr_ui_sub(y, 1, a, MPFR_RNDN);
}

void
hu_moments_exact(mpfr_t m, mpfr_t v, const mpfr_t b1, const mpfr_t b2, const mpfr_t *x)
{
	mpfr_t t;

	mpfr_init2(t, mpfr_get_prec(m));
	hu_moments_rest(t, b1);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_mul(m, b1, x[2], MPFR_RNDN);
	mpfr_add(m, m, t, MPFR_RNDN);
	hu_moments_rest(t, b2);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_mul(v, b2, x[3], MPFR_RNDN);
	mpfr_add(v, v, t, MPFR_RNDN);
	mpfr_clear(t);
}

void
hu_moments_exact_keep(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	mpfr_set(y, x[out == 0 ? 0 : out + 1], MPFR_RNDN);
}

int
hu_moments_skipped(hu_tensor *const *in)
{
	return hu_get(in[2], 0) != 0;
}

void
hu_moments_init(hu_map *m, const hu_call *c, const hu_blocks *blocks, hu_tensor *const *in)
{
	hu_map_init(m, c, blocks, in[0]->n, 1);
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_EACH);
	hu_map_add(m, in[3], HU_EACH);
	hu_map_add(m, in[4], HU_EACH);
}

void
hu_moments_round_eps(hu_map *m, int i, hu_tensor *const *in)
{
	double eps = m->k[i];

	m->k[i] = hu_rne(hu_format_of(in[4]->format), eps);
	m->ke[i] = hu_abs(m->k[i] - eps);
}

hu_status
hu_moments_shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_expect(c, 1, in[1], in[0]));
	HU_TRY(hu_shape_length(c, 2, in[2], 1));
	HU_TRY(hu_shape_expect(c, 3, in[3], in[0]));
	HU_TRY(hu_shape_expect(c, 4, in[4], in[0]));
	HU_TRY(hu_shape_length(c, 5, in[5], 3));
	for (int k = 0; k < 3; k++)
		HU_TRY(hu_shape_settle(c, k, out, in[0]));
	return HU_OK;
}
