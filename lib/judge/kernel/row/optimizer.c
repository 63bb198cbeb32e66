/* SPDX-License-Identifier: Apache-2.0
   One step of an optimizer, as PyTorch computes it: new weights and moments from weights, gradients and moments. */
#include "lib/judge/kernel/row/update.h"

/* AdamW: w (1 - lr decay) - lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps); Adam where coupled=1, with decay in
   the gradient. Operands w, g, m, v; results w, m, v. */
hu_status hu_ball_row_adamw(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_adamw(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *r = c->roundoffs;
	double lr, b1, b2, eps, decay, t, coupled;

	HU_TRY(hu_ball_real(c, "lr", 1e-3, &lr));
	HU_TRY(hu_ball_real(c, "beta1", 0.9, &b1));
	HU_TRY(hu_ball_real(c, "beta2", 0.999, &b2));
	HU_TRY(hu_ball_real(c, "eps", 1e-8, &eps));
	HU_TRY(hu_ball_real(c, "decay", 0.01, &decay));
	HU_TRY(hu_ball_real(c, "step", 1, &t));
	HU_TRY(hu_ball_real(c, "coupled", 0, &coupled));
	for (int k = 1; k < 4; k++)
		if (in[k].n != in[0].n)
			return hu_ball_misfit(c, "w, g, m and v need one shape");
	for (int k = 0; k < 3; k++)
		HU_TRY(hu_balls_like(&out[k], &in[0], c->row->name));
	double c1 = 1 - pow(b1, t), c2 = 1 - pow(b2, t);
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball w = in[0].b[i], g = in[1].b[i], m = in[2].b[i], v = in[3].b[i];
		if (coupled != 0)
			g = hu_update_plus(g, hu_update_times(w, decay, r), r);
		else
			w = hu_update_times(w, 1 - lr * decay, r);
		/* m + (g - m)(1 - beta1) or beta1 m + (1 - beta1) g: the terms of both have these magnitudes at most */
		hu_ball m1 = hu_update_plus(hu_update_times(m, b1, r), hu_update_times(g, 1 - b1, r), r);
		if (!hu_isfinite(m.x) || !hu_isfinite(g.x))
			m1 = hu_ball_special(
				NAN, 0); /* the first gives NaN where m is an infinity, the second need not */
		m1.r += 2 * r->u * (1 - b1) * (hu_ball_most(g) + hu_ball_most(m)) + r->u * hu_ball_most(m);
		hu_ball g2 = hu_ball_rounded(hu_ball_smooth(g, g.x * g.x, 2 * g.x, 2), 2 * r->u, r->tiny);
		hu_ball v1 = hu_update_plus(hu_update_times(v, b2, r), hu_update_times(g2, 1 - b2, r), r);
		double x = v1.x / c2, low = (v1.x - v1.r) / c2, y = sqrt(x);
		hu_ball root = { y, low > 0 ? y - sqrt(low) : sqrt(x + v1.r / c2), 0, 0 };
		hu_ball below = hu_update_plus(hu_ball_rounded(root, 4 * r->u, r->tiny),
			hu_ball_rounded(hu_ball_of(eps), r->u, r->tiny), r);
		hu_ball step = hu_ball_rounded(
			hu_ball_div(hu_update_times(m1, lr / c1, r), below), fmax(2 * r->u, r->fn), r->tiny);
		out[0].b[i] = hu_update_plus(w, hu_ball_neg(step), r);
		out[1].b[i] = m1;
		out[2].b[i] = v1;
	}
	return HU_OK;
}

/* Lion: w (1 - lr decay) - lr sign(beta1 m + (1 - beta1) g); m = beta2 m + (1 - beta2) g. A sign within its radius of 0
   has no bound. */
hu_status hu_ball_row_lion(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_lion(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	const hu_roundoffs *r = c->roundoffs;
	double lr, b1, b2, decay;

	HU_TRY(hu_ball_real(c, "lr", 1e-4, &lr));
	HU_TRY(hu_ball_real(c, "beta1", 0.9, &b1));
	HU_TRY(hu_ball_real(c, "beta2", 0.99, &b2));
	HU_TRY(hu_ball_real(c, "decay", 0, &decay));
	if (in[1].n != in[0].n || in[2].n != in[0].n)
		return hu_ball_misfit(c, "w, g and m need one shape");
	for (int k = 0; k < 2; k++)
		HU_TRY(hu_balls_like(&out[k], &in[0], c->row->name));
	for (size_t i = 0; i < in[0].n; i++) {
		hu_ball w = hu_update_times(in[0].b[i], 1 - lr * decay, r), g = in[1].b[i], m = in[2].b[i];
		hu_ball d = hu_update_plus(hu_update_times(m, b1, r), hu_update_times(g, 1 - b1, r), r);
		hu_ball s = { d.x > 0   ? lr
			      : d.x < 0 ? -lr
					: 0,
			fabs(d.x) > d.r ? r->u * lr
			: d.r > 0       ? (2 + r->u) * lr
					: 0,
			0, 0 };
		out[0].b[i] = hu_update_plus(w, hu_ball_neg(s), r);
		out[1].b[i] = hu_update_plus(hu_update_times(m, b2, r), hu_update_times(g, 1 - b2, r), r);
	}
	return HU_OK;
}
