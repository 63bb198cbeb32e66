/* SPDX-License-Identifier: Apache-2.0
   Normalisations along the last axes: RMSNorm and LayerNorm. The error of a line's statistics is shared by the line.
   The deviations from a mean sum to 0, so that an error of the mean enters the variance only squared. */
#include "lib/judge/kernel/row/lines.h"
#include "lib/judge/kernel/store.h"

#include "lib/base/thread.h"

#include <string.h>

typedef struct norm {
	const hu_roundoffs *a;
	double eps, kappa; /* kappa: how the variance is computed, see variance() */
	int centred;
	hu_format inner; /* the format that x rstd is stored in before the weight */
	hu_format stats; /* the format that mean and rstd are stored in */
	hu_stores stores;
} norm;

/* 1/sqrt(s + eps); relative errors of the variance halve. */
static hu_ball
inverse_root(const norm *p, hu_ball s)
{
	double x = s.x + p->eps, r, y = 1 / sqrt(x);

	r = s.r + 2 * p->a->u * x;
	if (!(x - r > 0))
		return (hu_ball){ y, INFINITY, 0, 0 };
	r = 1 / sqrt(x - r) - y;
	return (hu_ball){ y, (r + (p->a->fn + HU_BALL_OWN) * (y + r)) * HU_BALL_UP, 0,
		y / x / 2 * (sqrt(s.v) + s.c) + p->a->fn * y };
}

static hu_ball
squares(const norm *p, const hu_ball *x, size_t n)
{
	double sum = 0, most = 0, r = 0, v = 0, c = 0, g, s;

	for (size_t k = 0; k < hu_roundoffs_terms(p->a, n); k++) {
		double q = x[k].x * x[k].x;
		sum += q;
		most += hu_ball_most(x[k]) * hu_ball_most(x[k]);
		r += (2 * fabs(x[k].x) + x[k].r) * x[k].r;
		v += 4 * q * x[k].v;
		c += 2 * fabs(x[k].x) * x[k].c;
	}
	hu_roundoffs_sum(p->a, n, &g, &s);
	g += ((double)n + 4) * 0x1p-52 + 2 * p->a->u * (1 + g);
	return (hu_ball){ sum / (double)n, (r + g * most) / (double)n + p->a->tiny,
		v / (double)n / (double)n + (s * sum / (double)n) * (s * sum / (double)n) + p->a->tiny * p->a->tiny,
		c / (double)n };
}

static hu_ball
mean_of(const norm *p, const hu_ball *x, size_t n)
{
	hu_ball_sum s = { .n = 0 };

	for (size_t k = 0; k < hu_roundoffs_terms(p->a, n); k++)
		hu_ball_sum_add(&s, x[k]);
	return hu_ball_rounded(hu_ball_div(hu_ball_sum_end(&s, p->a), hu_ball_of((double)n)), 2 * p->a->u, p->a->tiny);
}

/* Σ(x - mean)²/n errs by g (σ² + κ + r_mean²) + r_mean²: κ = 0 in two passes, 2 sqrt(σ² E x²) where any
   algorithm is allowed that updates mean and squares together, and 2 E x² + mean² for E x² - mean². The operands'
   errors come on top. */
static hu_ball
variance(const norm *p, const hu_ball *x, size_t n, hu_ball mean)
{
	double sum = 0, second = 0, r = 0, v = 0, c = 0, g, s;

	for (size_t k = 0; k < n; k++) {
		double d = x[k].x - mean.x;
		sum += d * d;
		second += x[k].x * x[k].x;
		r += (2 * fabs(d) + x[k].r) * x[k].r;
		v += 4 * d * d * x[k].v;
		c += 2 * fabs(d) * x[k].c;
	}
	double N = (double)n, var = sum / N, ex2 = second / N;
	double kappa = p->kappa == 0 ? 0 : p->kappa == 1 ? 2 * sqrt(var * ex2) : 2 * ex2 + mean.x * mean.x;
	hu_roundoffs_sum(p->a, n + 2, &g, &s);
	g += (N + 8) * 0x1p-52 + 2 * p->a->u;
	double most = var + kappa + r / N + mean.r * mean.r;
	return (hu_ball){ var,
		(r / N + g * most * (1 + 2 * g) + mean.r * mean.r + 4 * p->a->u * mean.r * sqrt(var) +
			4 * p->a->u * p->a->u * ex2 + p->a->tiny) *
			HU_BALL_UP,
		v / N / N + s * s * (var + kappa) * (var + kappa) + p->a->tiny * p->a->tiny, c / N };
}

static void
one_line(const norm *p, const hu_ball *x, size_t n, const hu_balls *w, const hu_balls *b, hu_ball *y)
{
	hu_ball mean = hu_ball_of(0), spread, inverse;

	if (p->centred)
		mean = mean_of(p, x, n);
	spread = p->centred ? variance(p, x, n, mean) : squares(p, x, n);
	inverse = hu_ball_store(inverse_root(p, spread), p->stats, p->stores);
	mean = hu_ball_store(mean, p->stats, p->stores);
	for (size_t k = 0; k < n; k++) {
		hu_ball d = x[k], z;
		if (p->centred) { /* also where a kernel computes x rstd + (-mean rstd) */
			d.x -= mean.x;
			d.r += mean.r + 2 * p->a->u * (hu_ball_most(x[k]) + hu_ball_most(mean)) +
			       0x1p-50 * fabs(mean.x);
			d.v += p->a->u * p->a->u * (x[k].x * x[k].x + mean.x * mean.x);
			d.c += sqrt(mean.v) + mean.c;
		}
		z = hu_ball_rounded(hu_ball_mul(d, inverse), 2 * p->a->u, p->a->tiny);
		z = hu_ball_store(z, p->inner, p->stores);
		if (w->b)
			z = hu_ball_rounded(hu_ball_mul(z, w->b[k % w->n]), p->a->u, p->a->tiny);
		if (b->b)
			z = hu_ball_rounded(hu_ball_add(z, b->b[k % b->n]), p->a->u, 0);
		y[k] = z;
	}
}

static hu_status
normalise(const hu_ball_call *c, const hu_balls *in, hu_balls *out, int centred)
{
	norm p = { .a = c->roundoffs, .centred = centred, .stores = c->stores };
	const char *how = hu_ball_text(c, "variance", "any");
	hu_format_id inner, stats;
	size_t axes, n;

	HU_TRY(hu_ball_real(c, "eps", 1e-5, &p.eps));
	HU_TRY(hu_ball_format(c, "inner", &inner));
	HU_TRY(hu_ball_count(c, "axes", 1, &axes));
	HU_TRY(hu_ball_format(c, "stats", &stats));
	p.inner = hu_format_of(inner);
	p.stats = hu_format_of(stats);
	p.kappa = !strcmp(how, "two_pass") ? 0 : !strcmp(how, "any") ? 1 : 2;
	if (p.kappa == 2 && strcmp(how, "one_pass"))
		return hu_fail(HU_EINVAL, "--set variance=%s: two_pass, one_pass or any is needed", how);
	n = hu_balls_inner(&in[0], (int)axes);
	hu_balls none = { .b = NULL }, w = c->nin > 1 ? in[1] : none, b = c->nin > 2 ? in[2] : none;
	if (!n || (w.b && n % w.n) || (b.b && n % b.n))
		return hu_ball_misfit(c, "the weight or bias does not have the %zu elements of a line of the input", n);
	HU_TRY(hu_balls_like(&out[0], &in[0], c->row->name));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0].n > 4096)
	for (size_t i = 0; i < in[0].n / n; i++)
		one_line(&p, in[0].b + i * n, n, &w, &b, out[0].b + i * n);
	return HU_OK;
}

hu_status hu_ball_row_rmsnorm(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_rmsnorm(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return normalise(c, in, out, 0);
}

hu_status hu_ball_row_layernorm(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_layernorm(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	return normalise(c, in, out, 1);
}

/* 1/sqrt(mean(x x) + eps), or of the variance with centred=1, for each line; the axis keeps the length 1. */
hu_status hu_ball_row_rstd(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_rstd(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	norm p = { .a = c->roundoffs, .kappa = 1, .stores = c->stores };
	size_t n = hu_balls_dim(&in[0], -1), d[HU_BALLS_RANK], centred;
	hu_format_id stats;

	HU_TRY(hu_ball_real(c, "eps", 1e-5, &p.eps));
	HU_TRY(hu_ball_count(c, "centred", 0, &centred));
	HU_TRY(hu_ball_format(c, "stats", &stats));
	memcpy(d, in[0].d, sizeof d);
	if (!n || !in[0].rank)
		return hu_ball_misfit(c, "an array of one axis or more is needed");
	d[in[0].rank - 1] = 1;
	HU_TRY(hu_balls_make(&out[0], in[0].rank, d, c->row->name));
	for (size_t i = 0; i < out[0].n; i++) {
		const hu_ball *x = in[0].b + i * n;
		hu_ball s = centred ? variance(&p, x, n, mean_of(&p, x, n)) : squares(&p, x, n);
		out[0].b[i] = hu_ball_store(inverse_root(&p, s), hu_format_of(stats), c->stores);
	}
	return HU_OK;
}
