/* SPDX-License-Identifier: Apache-2.0
   Radii of the kernel judge's operators on lines of elements against MPFR: reductions, softmax, norms, scans, products.
   Every operand is a ball, the true operand any number of it; each result that MPFR computes of those must lie in the
   ball that the operator returns. Lines have repeated maxima, cancellation, outliers, one size or all sizes.
   HALFULP_RADII_DRAWS says how many elements each operator gets. */
#include "t/judge/kernels/radii.h"

enum { MOST = 24 };
static mpfr_t A, B, C;

typedef mpfr_t vector[MOST];

#define LINE(name) static void line_##name(mpfr_t *y, mpfr_t *x, mpfr_t *z, int n)

LINE(sum)
{
	(void)z;
	mpfr_set_zero(y[0], 1);
	for (int i = 0; i < n; i++)
		mpfr_add(y[0], y[0], x[i], R);
}

LINE(mean)
{
	line_sum(y, x, z, n);
	mpfr_div_si(y[0], y[0], n, R);
}

LINE(sum_abs)
{
	(void)z;
	mpfr_set_zero(y[0], 1);
	for (int i = 0; i < n; i++) {
		mpfr_abs(A, x[i], R);
		mpfr_add(y[0], y[0], A, R);
	}
}

LINE(sum_squares)
{
	(void)z;
	mpfr_set_zero(y[0], 1);
	for (int i = 0; i < n; i++) {
		mpfr_sqr(A, x[i], R);
		mpfr_add(y[0], y[0], A, R);
	}
}

LINE(norm2)
{
	line_sum_squares(y, x, z, n);
	mpfr_sqrt(y[0], y[0], R);
}

LINE(reduce_max)
{
	(void)z;
	mpfr_set(y[0], x[0], R);
	for (int i = 1; i < n; i++)
		mpfr_max(y[0], y[0], x[i], R);
}

LINE(reduce_min)
{
	(void)z;
	mpfr_set(y[0], x[0], R);
	for (int i = 1; i < n; i++)
		mpfr_min(y[0], y[0], x[i], R);
}

LINE(prod)
{
	(void)z;
	mpfr_set_ui(y[0], 1, R);
	for (int i = 0; i < n; i++)
		mpfr_mul(y[0], y[0], x[i], R);
}

LINE(logsumexp)
{
	line_reduce_max(&C, x, z, n);
	mpfr_set_zero(B, 1);
	for (int i = 0; i < n; i++) {
		mpfr_sub(A, x[i], C, R);
		mpfr_exp(A, A, R);
		mpfr_add(B, B, A, R);
	}
	mpfr_log(B, B, R);
	mpfr_add(y[0], B, C, R);
}

LINE(log_softmax)
{
	mpfr_t l;

	mpfr_init2(l, BITS);
	line_logsumexp(&l, x, z, n);
	for (int i = 0; i < n; i++)
		mpfr_sub(y[i], x[i], l, R);
	mpfr_clear(l);
}

LINE(softmax)
{
	line_log_softmax(y, x, z, n);
	for (int i = 0; i < n; i++)
		mpfr_exp(y[i], y[i], R);
}

/* 1 / sqrt(mean(x x) + eps), eps 1e-5. */
LINE(rstd)
{
	line_sum_squares(&B, x, z, n);
	mpfr_div_si(B, B, n, R);
	mpfr_add_d(B, B, 1e-5, R);
	mpfr_rec_sqrt(y[0], B, R);
}

LINE(rmsnorm)
{
	line_rstd(&C, x, z, n);
	for (int i = 0; i < n; i++)
		mpfr_mul(y[i], x[i], C, R);
}

LINE(layernorm)
{
	mpfr_t mean;

	mpfr_init2(mean, BITS);
	line_mean(&mean, x, z, n);
	for (int i = 0; i < n; i++)
		mpfr_sub(y[i], x[i], mean, R);
	line_rmsnorm(y, y, z, n);
	mpfr_clear(mean);
}

LINE(cumsum)
{
	(void)z;
	mpfr_set_zero(A, 1);
	for (int i = 0; i < n; i++) {
		mpfr_add(A, A, x[i], R);
		mpfr_set(y[i], A, R);
	}
}

LINE(cumprod)
{
	(void)z;
	mpfr_set_ui(A, 1, R);
	for (int i = 0; i < n; i++) {
		mpfr_mul(A, A, x[i], R);
		mpfr_set(y[i], A, R);
	}
}

/* h = a h + b, x being a and z b. */
LINE(recurrence)
{
	mpfr_set_zero(A, 1);
	for (int i = 0; i < n; i++) {
		mpfr_fma(A, A, x[i], z[i], R);
		mpfr_set(y[i], A, R);
	}
}

/* One row times one column. */
LINE(matmul)
{
	mpfr_set_zero(y[0], 1);
	for (int i = 0; i < n; i++)
		mpfr_fma(y[0], x[i], z[i], y[0], R);
}

static const struct line {
	const char *name, *keys;
	void (*exact)(mpfr_t *y, mpfr_t *x, mpfr_t *z, int n);
	int nin, whole; /* operands; 1: a result for each element */
} lines[] = {
	{ "sum", "", line_sum, 1, 0 },
	{ "mean", "", line_mean, 1, 0 },
	{ "sum_abs", "", line_sum_abs, 1, 0 },
	{ "sum_squares", "", line_sum_squares, 1, 0 },
	{ "norm2", "", line_norm2, 1, 0 },
	{ "reduce_max", "", line_reduce_max, 1, 0 },
	{ "reduce_min", "", line_reduce_min, 1, 0 },
	{ "prod", "", line_prod, 1, 0 },
	{ "logsumexp", "", line_logsumexp, 1, 0 },
	{ "log_softmax", "", line_log_softmax, 1, 1 },
	{ "softmax", "", line_softmax, 1, 1 },
	{ "rstd", "eps=1e-5", line_rstd, 1, 0 },
	{ "rmsnorm", "eps=1e-5", line_rmsnorm, 1, 1 },
	{ "layernorm", "eps=1e-5", line_layernorm, 1, 1 },
	{ "cumsum", "", line_cumsum, 1, 1 },
	{ "cumprod", "", line_cumprod, 1, 1 },
	{ "recurrence", "", line_recurrence, 2, 1 },
	{ "matmul", "", line_matmul, 2, 0 },
};

/* A line: all of one size, of many, with one outlier, with elements that repeat, that cancel, that share their radius.
 */
static void
fill(hu_ball *b, int n)
{
	int how = (int)draw(6), e = (int)draw(20) - 10;
	double size = ldexp(1 + uniform(), e), rel = ldexp(1, -(int)draw(30) - 3), same = radius(size);

	for (int i = 0; i < n; i++) {
		double x = how == 0 ? operand() : size * (2 * uniform() - 1);
		if (how == 1 && i && draw(2))
			x = b[draw((unsigned)i)].x;
		else if (how == 2 && i)
			x = i % 2 ? -b[i - 1].x * (1 + rel * uniform()) : x;
		else if (how == 3 && i == n / 2)
			x *= 4096;
		else if (how == 4)
			x = size + rel * x;
		b[i].x = x;
		b[i].r = how == 5 ? same : draw(4) ? fabs(x) * rel : 0;
	}
}

static void
hold_line(found *f, const struct line *l, int n, const hu_roundoffs *a, vector x, vector z, vector y)
{
	enum { ROWS = 64 };
	hu_balls in[2], out = { 0 };
	int columns = !strcmp(l->name, "matmul"), results = l->whole ? n : 1;

	for (int k = 0; k < 2; k++)
		hu_balls_make(
			&in[k], 2, (size_t[]){ k && columns ? (size_t)n : ROWS, k && columns ? 1 : (size_t)n }, "in");
	for (int i = 0; i < ROWS; i++) {
		fill(in[0].b + i * n, n);
		if (!columns || !i)
			fill(in[1].b + i * n, n);
	}
	compute(l->name, l->keys, a, l->nin, in, &out);
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < n; j++) {
			inside(x[j], in[0].b[i * n + j]);
			inside(z[j], in[1].b[columns ? j : i * n + j]);
		}
		l->exact(y, x, z, n);
		for (int j = 0; j < results; j++)
			hold(f, out.b[i * results + j], y[j], in[0].b[i * n + (l->whole ? j : 0)], hu_ball_of(n));
	}
	hu_balls_release(&in[0]);
	hu_balls_release(&in[1]);
	hu_balls_release(&out);
}

int
main(void)
{
	const char *s = getenv("HALFULP_RADII_DRAWS");
	size_t draws = s ? strtoul(s, NULL, 10) : 20000;
	hu_roundoffs a = { .u = 0x1p-53, .acc = 0x1p-53, .outer = 0x1p-53, .order = HU_ORDER_ANY };
	vector x, y, z;

	mpfr_inits2(BITS, A, B, C, (mpfr_ptr)0);
	for (int i = 0; i < MOST; i++)
		mpfr_inits2(BITS, x[i], y[i], z[i], (mpfr_ptr)0);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		found f = { 0 };
		while (f.n < draws)
			hold_line(&f, &lines[i], 1 + (int)draw(MOST), &a, x, z, y);
		tell(&f, lines[i].name, "");
	}
	for (int i = 0; i < MOST; i++)
		mpfr_clears(x[i], y[i], z[i], (mpfr_ptr)0);
	mpfr_clears(A, B, C, (mpfr_ptr)0);
	mpfr_free_cache();
	return done_testing();
}
