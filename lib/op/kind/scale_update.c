/* SPDX-License-Identifier: Apache-2.0
   scale_update: one step of a loss-scale rule (scaler.h). */
#include "lib/op/element/map.h"

#include "lib/op/scaler.h"

#include <string.h>

static void
step(const hu_call *c, hu_tensor *const *in, double *scale, hu_tracker *t)
{
	const char *rule = hu_attr_text(c, "rule", "pytorch");
	const hu_scaler *row = hu_scaler_at(HU_SCALER_static);
	hu_scaler k;
	int id;

	for (id = 0; id < HU_SCALERS; id++)
		if (!strcmp(hu_scaler_at(id)->name, rule))
			row = hu_scaler_at(id);
	k = *row;
	k.wide = hu_is_wide(in[0]->format);
	k.growth = hu_attr_num(c, "growth", k.growth);
	k.backoff = hu_attr_num(c, "backoff", k.backoff);
	k.interval = (int)hu_attr_count(c, "interval", (size_t)k.interval);
	k.floor = hu_attr_num(c, "floor", k.floor);
	k.cap = hu_attr_num(c, "cap", k.cap);
	k.hysteresis = (int)hu_attr_count(c, "hysteresis", (size_t)k.hysteresis);
	*scale = hu_get(in[0], 0);
	*t = (hu_tracker){ (float)hu_get(in[1], 0), (float)hu_get(in[1], 1), (float)hu_get(in[1], 2),
		(float)hu_get(in[1], 3) };
	hu_scaler_step((hu_scaler_rule)(row - hu_scaler_at(0)), &k, hu_get(in[2], 0) != 0, scale, t);
}

static double
part(const hu_tracker *t, size_t i)
{
	return (double)(i == 0 ? t->good : i == 1 ? t->left : i == 2 ? t->step : t->last);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_tracker t;
	double scale;

	step(c, in, &scale, &t);
	hu_store(c, env, out[0], 0, scale);
	for (size_t i = 0; i < 4 && c->nout > 1; i++)
		hu_store(c, env, out[1], i, part(&t, i));
	return HU_OK;
}

/* The rule is defined on scales of fp32 or of double, so there is no more exact version of it. */
static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_tracker t;
	double scale;

	step(c, in, &scale, &t);
	for (size_t i = 0; i < n; i++)
		hu_exact_set(exact[i], out == 0 ? scale : part(&t, element[i]));
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd v[4];
	hu_tracker t;
	double scale;

	step(c, in, &scale, &t);
	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k;
		v[k] = hu_dd_of(out == 0 ? scale : part(&t, i));
	}
	return hu_enclose_list(c, in, out, element, n, sink, v, NULL);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_scaler row;

	HU_TRY(hu_scaler_find(hu_attr_text(c, "rule", "pytorch"), &row));
	if (!hu_attr_count(c, "interval", (size_t)row.interval))
		return hu_fail(HU_EINVAL, "scale_update: interval must be at least 1");
	HU_TRY(hu_shape_length(c, 0, in[0], 1));
	HU_TRY(hu_shape_length(c, 1, in[1], 4));
	HU_TRY(hu_shape_length(c, 2, in[2], 1));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	return hu_shape_settle(c, 1, out, in[1]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)in;
	(void)out;
	k->flops = 4;
}

const hu_op hu_op_scale_update = {
	.name = "scale_update", .summary = "moves the loss scale by a framework's rule", .min_in = 3, .max_in = 3,
	.nout = 2, .same = "==", .attrs = "rule growth backoff interval floor cap hysteresis", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT,
	.role = HU_ROLE_SCALE_UPDATE,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .enclose = enclose,
	},
};
