/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/axis/axes.h"

static hu_status
check(const hu_call *c, hu_shape x, size_t axis, size_t axes)
{
	if (!hu_count(x))
		return hu_fail(HU_EINVAL, "%s: the operand has no elements", c->op->name);
	if (!axes || axis + axes > (size_t)x.rank)
		return hu_fail(HU_EINVAL, "%s: axis=%zu and %zu axes from there on: the operand has %d, counted from 0",
			c->op->name, axis, axes, x.rank);
	return HU_OK;
}

/* Multiplies out the dimensions before, among and behind the reduced axes. */
static hu_reduce_dims
dims(hu_shape x, size_t axis, size_t axes)
{
	hu_reduce_dims d = { 1, 1, 1 };

	for (size_t k = 0; k < (size_t)x.rank; k++)
		*(k < axis ? &d.outer : k < axis + axes ? &d.middle : &d.inner) *= x.d[k];
	return d;
}

hu_status
hu_axes_of(const hu_call *c, hu_shape x, hu_shape *y, hu_reduce_dims *d)
{
	int all = hu_attr_num(c, "axis", -1) < 0, keep = hu_attr_num(c, "keep", 0) != 0;
	size_t axis = all ? 0 : hu_attr_count(c, "axis", 0), axes = all ? (size_t)x.rank : hu_attr_count(c, "axes", 1);

	if (all && hu_attr_num(c, "axes", 0) != 0)
		return hu_fail(
			HU_EINVAL, "%s: axes has an effect only beside axis, the first one reduced", c->op->name);
	if (!all || !hu_count(x))
		HU_TRY(check(c, x, axis, axes));
	*y = hu_shape0();
	for (size_t k = 0; k < (size_t)x.rank; k++)
		if (k < axis || k >= axis + axes)
			y->d[y->rank++] = x.d[k];
		else if (keep)
			y->d[y->rank++] = 1;
	*d = dims(x, axis, axes);
	return HU_OK;
}

hu_status
hu_axis_of(const hu_call *c, hu_shape x, hu_reduce_dims *d)
{
	size_t last = x.rank ? (size_t)x.rank - 1 : 0, axis = hu_attr_count(c, "axis", last);

	HU_TRY(check(c, x, axis, 1));
	*d = dims(x, axis, 1);
	return HU_OK;
}

static hu_groups
groups(const hu_call *c, hu_shape x)
{
	hu_reduce_dims d = { 1, 1, 1 };
	hu_shape y;

	HU_ASSERT(hu_axes_of(c, x, &y, &d) == HU_OK);
	return hu_groups_middle(d.outer, d.middle, d.inner);
}

hu_groups hu_axes_groups0(const hu_call *c, hu_tensor *const *in) { return groups(c, in[0]->shape); }
hu_groups hu_axes_groups1(const hu_call *c, hu_tensor *const *in) { return groups(c, in[1]->shape); }

hu_groups
hu_axis_groups(const hu_call *c, hu_tensor *const *in)
{
	hu_reduce_dims d = { 1, 1, 1 };

	HU_ASSERT(hu_axis_of(c, in[0]->shape, &d) == HU_OK);
	return hu_groups_middle(d.outer, d.middle, d.inner);
}

void
hu_axes_find(const hu_groups *g, size_t i, size_t *group, size_t *at)
{
	if (g->how == HU_ROW) {
		*group = i / g->channels;
		*at = i % g->channels;
		return;
	}
	*group = g->how == HU_CHANNEL ? i % g->channels : i / g->image * g->channels + i % g->channels;
	*at = (g->how == HU_CHANNEL ? i : i % g->image) / g->channels;
}

hu_status
hu_axis_shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_reduce_dims d;

	HU_TRY(hu_axis_of(c, in[0], &d));
	for (int k = 1; k < c->nin; k++)
		HU_TRY(hu_shape_expect(c, k, in[k], in[0]));
	return hu_shape_settle(c, 0, out, in[0]);
}

hu_status
hu_axes_shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(c, in[0], &y, &d));
	return hu_shape_settle(c, 0, out, y);
}

static hu_status
shape_dx(const hu_call *c, const hu_shape *in, hu_shape *out, int which)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(c, in[which], &y, &d));
	for (int k = 0; k < c->nin; k++)
		if (k != which)
			HU_TRY(hu_shape_expect(c, k, in[k], y));
	return hu_shape_settle(c, 0, out, in[which]);
}

hu_status
hu_axes_shape_dx0(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	return shape_dx(c, in, out, 0);
}

hu_status
hu_axes_shape_dx1(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	return shape_dx(c, in, out, 1);
}

hu_status
hu_axes_reference_dx0(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	enum { MOST = 2 };
	hu_groups g = hu_axes_groups0(c, in);
	size_t group, at;
	mpfr_t of[MOST];

	(void)out;
	HU_ASSERT(c->nin <= MOST + 1);
	for (int k = 0; k < MOST; k++)
		mpfr_init2(of[k], HU_EXACT_BITS);
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], element[i]);
		for (int k = 1; k < c->nin; k++)
			hu_exact_get(of[k - 1], in[k], group);
		c->op->stats->slope(exact[i], of);
	}
	for (int k = 0; k < MOST; k++)
		mpfr_clear(of[k]);
	return HU_OK;
}

hu_status
hu_axes_reference_dx1(
	const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axes_groups1(c, in);
	size_t group, at;

	(void)out;
	for (size_t i = 0; i < n; i++) {
		hu_axes_find(&g, element[i], &group, &at);
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], group);
	}
	return HU_OK;
}
