/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/element/pointwise.h"

#include <string.h>

void
hu_pointwise_map(hu_map *m, const hu_pointwise *p, const hu_call *c, const hu_blocks *b, hu_tensor *const *in)
{
	hu_map_init(m, c, b, in[0]->n, hu_last(in[0]->shape));
	for (int i = 0; i < c->nin; i++)
		hu_map_add(m, in[i], p->how[i]);
}

hu_status
hu_pointwise_shape(const hu_pointwise *p, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	for (int i = 1; i < c->nin; i++)
		HU_TRY(p->how[i] == HU_EACH
				? hu_shape_expect(c, i, in[i], in[0])
				: hu_shape_length(c, i, in[i], p->how[i] == HU_CHANNEL ? hu_last(in[0]) : 1));
	return hu_shape_settle(c, 0, out, in[0]);
}

int
hu_approx_tanh(const hu_call *c)
{
	return !strcmp(hu_attr_text(c, "approx", "none"), "tanh");
}

hu_status
hu_approx_check(const hu_call *c)
{
	const char *a = hu_attr_text(c, "approx", "none");

	if (strcmp(a, "none") && strcmp(a, "tanh"))
		return hu_fail(HU_EINVAL, "%s: approx is none or tanh, not '%s'", c->op->name, a);
	return HU_OK;
}

void
hu_pair_exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_add(y, x[0], x[1], MPFR_RNDN);
}

hu_status
hu_pair_magnitude(const hu_call *c, hu_tensor *const *in, hu_how how, const size_t *element, size_t n, double *all)
{
	size_t channels = hu_last(in[0]->shape);

	(void)c;
	for (size_t i = 0; i < n; i++)
		all[i] = hu_abs(hu_get(in[0], element[i])) +
			 hu_abs(hu_get(in[1], how == HU_CHANNEL ? element[i] % channels : element[i]));
	return HU_OK;
}
