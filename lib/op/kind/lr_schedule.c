/* SPDX-License-Identifier: Apache-2.0
   lr_schedule: the learning rate of step t, and t + 1. It is a function of t alone (lib/op/schedule.h), so that a
   training that is resumed or replayed has the same rates. t counts skipped steps as well, as in PyTorch, where a
   scheduler's step() does not ask whether GradScaler skipped the optimizer's. */
#include "lib/op/element/map.h"

#include "lib/op/schedule.h"

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_lr_schedule s = hu_schedule_of(c);
	double t = hu_schedule_step(hu_get(in[0], 0));

	hu_store(c, env, out[0], 0, hu_schedule_rate(&s, t));
	if (c->nout > 1)
		hu_store(c, env, out[1], 0, t + 1);
	return HU_OK;
}

/* Sets y to the rate that lies between lr and lr_end, where share of the way is left to go. */
static void
between(mpfr_t y, const hu_lr_schedule *s, const mpfr_t share)
{
	mpfr_set_d(y, s->lr, MPFR_RNDN);
	mpfr_sub_d(y, y, s->lr_end, MPFR_RNDN);
	mpfr_mul(y, y, share, MPFR_RNDN);
	mpfr_add_d(y, y, s->lr_end, MPFR_RNDN);
}

static void
exact_rate(mpfr_t y, const hu_lr_schedule *s, double t)
{
	double u = t - s->warmup;
	mpfr_t x;

	mpfr_init2(x, HU_EXACT_BITS);
	mpfr_set_d(y, s->lr, MPFR_RNDN);
	if (t < s->warmup) {
		mpfr_mul_d(y, y, t + 1, MPFR_RNDN);
		mpfr_div_d(y, y, s->warmup + 1, MPFR_RNDN);
	} else if (s->rule == HU_SCHEDULE_step) {
		mpfr_set_d(x, u, MPFR_RNDN);
		mpfr_div_d(x, x, s->decay_steps, MPFR_RNDD);
		unsigned long drops = mpfr_get_ui(x, MPFR_RNDD);
		mpfr_set_d(x, s->decay_rate, MPFR_RNDN);
		mpfr_pow_ui(x, x, drops, MPFR_RNDN);
		mpfr_mul(y, y, x, MPFR_RNDN);
	} else if (s->rule == HU_SCHEDULE_cosine && u < s->decay_steps) {
		mpfr_const_pi(x, MPFR_RNDN);
		mpfr_mul_d(x, x, u, MPFR_RNDN);
		mpfr_div_d(x, x, s->decay_steps, MPFR_RNDN);
		mpfr_cos(x, x, MPFR_RNDN);
		mpfr_add_ui(x, x, 1, MPFR_RNDN);
		mpfr_div_2ui(x, x, 1, MPFR_RNDN);
		between(y, s, x);
	} else if (s->rule == HU_SCHEDULE_linear && u < s->decay_steps) {
		mpfr_set_d(x, s->decay_steps - u, MPFR_RNDN);
		mpfr_div_d(x, x, s->decay_steps, MPFR_RNDN);
		between(y, s, x);
	} else if (s->rule != HU_SCHEDULE_constant) {
		mpfr_set_d(y, s->lr_end, MPFR_RNDN);
	}
	mpfr_clear(x);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_lr_schedule s = hu_schedule_of(c);
	double t = hu_schedule_step(hu_get(in[0], 0));

	(void)element;
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		if (out == 0)
			exact_rate(exact[i], &s, t);
		else
			hu_exact_set(exact[i], t + 1);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_lr_schedule s = hu_schedule_of(c);
	double t = hu_schedule_step(hu_get(in[0], 0)), v = hu_schedule_rate(&s, t);
	hu_bounded y = out == 0 ? (hu_bounded){ v, hu_schedule_error(&s, t, v) } : (hu_bounded){ t + 1, 0 };

	(void)element;
	for (size_t i = 0; i < n; i++)
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), y);
	return HU_OK;
}

/* The reference's value as two doubles, whose remainder is at most half a unit of the second. */
static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	const size_t first = 0;
	hu_dd v = { 0, 0, 0 };
	mpfr_t exact;

	(void)element;
	HU_ASSERT(n <= 1);
	mpfr_init2(exact, HU_EXACT_BITS);
	reference(c, in, out, &first, 1, &exact);
	v.h = mpfr_get_d(exact, MPFR_RNDN);
	mpfr_sub_d(exact, exact, v.h, MPFR_RNDN);
	v.l = mpfr_get_d(exact, MPFR_RNDN);
	v.e = mpfr_zero_p(exact) ? 0 : hu_abs(v.l) * 0x1p-53 + 0x1p-1074;
	mpfr_clear(exact);
	return hu_enclose_list(c, in, out, &first, n, sink, &v, NULL);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_length(c, 0, in[0], 1));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	return hu_shape_settle(c, 1, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)in;
	(void)out;
	k->flops = 4;
}

const hu_op hu_op_lr_schedule = {
	.name = "lr_schedule", .summary = "the learning rate of a step by a schedule", .min_in = 1, .max_in = 1,
	.nout = 2, .same = "==", .attrs = "schedule lr lr_end warmup decay_steps decay_rate", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_EXACT, .like = "-0",
	.own = { .shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose },
};
