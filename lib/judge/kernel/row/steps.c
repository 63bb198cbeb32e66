/* SPDX-License-Identifier: Apache-2.0
   One step of SGD and of Muon, as PyTorch computes them. */
#include "lib/judge/kernel/row/update.h"

/* a + (b - a) t, or b - (b - a) (1 - t), or a (1 - t) + b t. In the first two b - a, t and their product round, by 3 u
   of these magnitudes, and the sum's rounding is of a result that is as much farther off. Of infinities they give NaN,
   and the third need not. */
static hu_ball
lerp(hu_ball a, hu_ball b, double t, const hu_roundoffs *r)
{
	hu_ball y = hu_update_plus(hu_update_times(a, 1 - t, r), hu_update_times(b, t, r), r);
	double size = hu_ball_most(a) + hu_ball_most(b);

	if (!hu_isfinite(a.x) || !hu_isfinite(b.x))
		return hu_ball_special(NAN, 0);
	return hu_ball_widened(y, 3 * r->u * (1 + r->u) * size, 0.5 * r->u * size);
}

static hu_status
same(const hu_ball_call *c, const hu_balls *in, hu_balls *out, int n, int results)
{
	for (int k = 1; k < n; k++)
		if (in[k].n != in[0].n)
			return hu_ball_misfit(c, "all operands need one shape");
	for (int k = 0; k < results; k++)
		HU_TRY(hu_balls_like(&out[k], &in[0], c->row->name));
	return HU_OK;
}

/* SGD: d = g + decay w; m = momentum m + (1 - dampening) d; w - lr m, or with nesterov=1 w - lr (d + momentum m). In
   the first step m is d, as with m = 0 and no dampening. Operands w, g, m; results w, m. */
hu_status hu_ball_row_sgd(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_sgd(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *r = c->roundoffs;
	double lr, momentum, dampening, decay;
	size_t nesterov;

	HU_TRY(hu_ball_real(c, "lr", 1e-3, &lr));
	HU_TRY(hu_ball_real(c, "momentum", 0, &momentum));
	HU_TRY(hu_ball_real(c, "dampening", 0, &dampening));
	HU_TRY(hu_ball_real(c, "decay", 0, &decay));
	HU_TRY(hu_ball_count(c, "nesterov", 0, &nesterov));
	HU_TRY(same(c, in, out, 3, 2));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball w = in[0].b[i],
			d = decay != 0 ? hu_update_plus(in[1].b[i], hu_update_times(w, decay, r), r) : in[1].b[i],
			m = d;
		if (momentum != 0)
			m = hu_update_plus(hu_update_times(in[2].b[i], momentum, r),
				dampening != 0 ? hu_update_times(d, 1 - dampening, r) : d, r);
		hu_ball by = nesterov ? hu_update_plus(d, hu_update_times(m, momentum, r), r) : m;
		out[0].b[i] = hu_update_plus(w, hu_update_times(by, -lr, r), r);
		out[1].b[i] = m;
	}
	return HU_OK;
}

/* Muon around its iteration: m = momentum m + (1 - momentum) g, the update u = (1 - momentum) g + momentum m, which the
   iteration makes orthogonal, and w (1 - lr decay) - lr scale o, where o is what the iteration returned. Operands w, g,
   m, o; results w, m, u. */
hu_status hu_ball_row_muon(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_muon(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *r = c->roundoffs;
	double lr, momentum, decay, scale;
	size_t nesterov;

	HU_TRY(hu_ball_real(c, "lr", 1e-3, &lr));
	HU_TRY(hu_ball_real(c, "momentum", 0.95, &momentum));
	HU_TRY(hu_ball_real(c, "decay", 0.1, &decay));
	HU_TRY(hu_ball_real(c, "scale", 1, &scale));
	HU_TRY(hu_ball_count(c, "nesterov", 1, &nesterov));
	HU_TRY(same(c, in, out, 4, 3));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball g = in[1].b[i], m = lerp(in[2].b[i], g, 1 - momentum, r),
			step = hu_update_times(in[3].b[i], lr * scale, r);
		step.r += 2 * r->u * hu_ball_most(step);
		out[0].b[i] = hu_update_plus(hu_update_times(in[0].b[i], 1 - lr * decay, r), hu_ball_neg(step), r);
		out[1].b[i] = m;
		out[2].b[i] = nesterov ? lerp(g, m, momentum, r) : m;
	}
	return HU_OK;
}
