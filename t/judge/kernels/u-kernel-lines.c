/* SPDX-License-Identifier: Apache-2.0
   Radii of the kernel judge's operators on lines of elements against MPFR: reductions, softmax, norms, scans, products.
   Every operand is a ball, the true operand any number of it; each result that MPFR computes of those must lie in the
   ball that the operator returns. Lines have repeated maxima, cancellation, outliers, one size or all sizes.
   HALFULP_RADII_DRAWS says how many elements each operator gets. */
#include "t/judge/kernels/radii.h"

enum { MOST = 24 };

#include "t/judge/kernels/as_extended.inc"
#include "t/judge/kernels/exact_lines.inc"
#include "t/judge/kernels/as_mpfr.inc"
#include "t/judge/kernels/exact_lines.inc"

typedef mpfr_t vector[MOST];

static const struct line {
	const char *name, *keys;
	void (*exact)(mpfr_t *y, mpfr_t *x, mpfr_t *z, int n);
	void (*quick)(extended_t *y, extended_t *x, extended_t *z, int n);
	int nin, whole; /* operands; 1: a result for each element */
} lines[] = {
#define ROW(name, keys, nin, whole) { #name, keys, line_##name##_mpfr, line_##name##_extended, nin, whole }
	ROW(sum, "", 1, 0),
	ROW(mean, "", 1, 0),
	ROW(sum_abs, "", 1, 0),
	ROW(sum_squares, "", 1, 0),
	ROW(norm2, "", 1, 0),
	ROW(reduce_max, "", 1, 0),
	ROW(reduce_min, "", 1, 0),
	ROW(prod, "", 1, 0),
	ROW(logsumexp, "", 1, 0),
	ROW(log_softmax, "", 1, 1),
	ROW(softmax, "", 1, 1),
	ROW(rstd, "eps=1e-5", 1, 0),
	ROW(rmsnorm, "eps=1e-5", 1, 1),
	ROW(layernorm, "eps=1e-5", 1, 1),
	ROW(cumsum, "", 1, 1),
	ROW(cumprod, "", 1, 1),
	ROW(recurrence, "", 2, 1),
	ROW(matmul, "", 2, 0),
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

/* One line's results y: whether MPFR has to decide of one of them. */
static int
is_open(found *f, const struct line *l, int n, const hu_ball *y, extended_t *x, extended_t *z, extended_t *about)
{
	int results = l->whole ? n : 1, open = 0, held = 0;

	for (int j = 0; j < results; j++)
		held += !is_boundless(f, y[j]);
	if (!held)
		return 0;
	extended_open = 0;
	l->quick(about, x, z, n);
	for (int j = 0; j < results && !open; j++)
		open = y[j].r < INFINITY && !isnan(y[j].x) && !is_settled(y[j], about[j]);
	return open;
}

static void
hold_line(found *f, const struct line *l, int n, const hu_roundoffs *a, vector x, vector z, vector y)
{
	enum { ROWS = 64 };
	hu_balls in[2], out = { 0 };
	extended_t s[MOST], t[MOST], about[MOST];
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
		const hu_ball *ball = out.b + i * results;
		for (int j = 0; j < n; j++) {
			inside(s[j], in[0].b[i * n + j]);
			inside(t[j], in[1].b[columns ? j : i * n + j]);
		}
		if (!is_open(f, l, n, ball, s, t, about))
			continue;
		for (int j = 0; j < n; j++) {
			mpfr_set_ld(x[j], s[j]->x, R);
			mpfr_set_ld(z[j], t[j]->x, R);
		}
		l->exact(y, x, z, n);
		for (int j = 0; j < results; j++)
			if (ball[j].r < INFINITY && !isnan(ball[j].x))
				hold(f, ball[j], y[j], about[j], in[0].b[i * n + (l->whole ? j : 0)], hu_ball_of(n));
	}
	hu_balls_release(&in[0]);
	hu_balls_release(&in[1]);
	hu_balls_release(&out);
}

int
main(void)
{
	size_t draws = draws_of(20000);
	hu_roundoffs a = { .u = 0x1p-53, .acc = 0x1p-53, .outer = 0x1p-53, .order = HU_ORDER_ANY };
	vector x, y, z;

	for (int i = 0; i < 3; i++)
		mpfr_init2(scratch_mpfr[i], BITS);
	for (int i = 0; i < MOST; i++)
		mpfr_inits2(BITS, x[i], y[i], z[i], (mpfr_ptr)0);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		found f = { 0 };
		if (!is_wanted(lines[i].name))
			continue;
		while (f.n < draws)
			hold_line(&f, &lines[i], 1 + (int)draw(MOST), &a, x, z, y);
		tell(&f, lines[i].name, "");
	}
	for (int i = 0; i < MOST; i++)
		mpfr_clears(x[i], y[i], z[i], (mpfr_ptr)0);
	for (int i = 0; i < 3; i++)
		mpfr_clear(scratch_mpfr[i]);
	mpfr_free_cache();
	return done_testing();
}
