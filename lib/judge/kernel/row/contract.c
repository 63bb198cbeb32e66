/* SPDX-License-Identifier: Apache-2.0
   Matrix products of balls, in any declared order of the sum: five plain products at most, of values, of magnitudes, of
   magnitudes with radii, of variances and of shared parts. */
#include "lib/judge/kernel/row/contract.h"
#include "lib/judge/product/product.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <stdlib.h>
#include <string.h>

enum { X, MAGNITUDE, MOST, VARIANCE, SHARED, PLANES };

/* One operand's matrix as planes of doubles, row-major, transposed where it has to be. A plane without errors is
   NULL. */
typedef struct planes {
	double *p[PLANES], *square;
} planes;

static void
split(planes *s, const hu_ball *b, size_t rows, size_t cols, int turned, const int *wanted)
{
	for (int k = 0; k < PLANES; k++)
		s->p[k] = wanted[k] ? hu_xmalloc((rows * cols + 1) * sizeof(double)) : NULL;
	s->square = wanted[VARIANCE] ? hu_xmalloc((rows * cols + 1) * sizeof(double)) : NULL;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (rows * cols > 16384)
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++) {
			hu_ball a = turned ? b[j * rows + i] : b[i * cols + j];
			size_t at = i * cols + j;
			s->p[X][at] = a.x;
			s->p[MAGNITUDE][at] = fabs(a.x);
			if (wanted[MOST])
				s->p[MOST][at] = hu_ball_most(a);
			if (wanted[VARIANCE]) {
				s->p[VARIANCE][at] = a.v;
				s->square[at] = a.x * a.x;
			}
			if (wanted[SHARED])
				s->p[SHARED][at] = a.c;
		}
}

static void
join(planes *s)
{
	for (int k = 0; k < PLANES; k++)
		free(s->p[k]);
	free(s->square);
}

static void
wants(const hu_balls *a, int *wanted)
{
	int r = 0, v = 0, c = 0;

	for (size_t i = 0; i < a->n; i++) {
		r |= a->b[i].r != 0;
		v |= a->b[i].v != 0;
		c |= a->b[i].c != 0;
	}
	wanted[MOST] |= r;
	wanted[VARIANCE] |= v;
	wanted[SHARED] |= c;
}

void
hu_contract_balls(hu_ball *y, const hu_ball *a, const hu_ball *b, size_t m, size_t n, size_t k, int ta, int tb,
	const int want[3], const hu_roundoffs *roundoffs)
{
	int wanted[PLANES] = { 1, 1, want[0], want[1], want[2] };
	size_t size = m * n;
	double *room = hu_xcalloc(PLANES * size + 1, sizeof *room), *to[PLANES], g, s;
	planes p, q;

	split(&p, a, m, k, ta, wanted);
	split(&q, b, k, n, tb, wanted);
	for (int i = 0; i < PLANES && roundoffs->missing; i++) /* the last rows of b count as zeros */
		if (wanted[i])
			memset(q.p[i] + hu_roundoffs_terms(roundoffs, k) * n, 0,
				(k - hu_roundoffs_terms(roundoffs, k)) * n * sizeof(double));
	for (int i = 0; i < PLANES; i++)
		to[i] = room + (size_t)i * size;
	for (int i = X; i <= MOST; i++)
		if (wanted[i])
			hu_product_add(to[i], p.p[i], q.p[i], m, n, k);
	if (wanted[VARIANCE]) {
		hu_product_add(to[VARIANCE], p.square, q.p[VARIANCE], m, n, k);
		hu_product_add(to[VARIANCE], p.p[VARIANCE], q.square, m, n, k);
		hu_product_add(to[VARIANCE], p.p[VARIANCE], q.p[VARIANCE], m, n, k);
	}
	if (wanted[SHARED]) {
		hu_product_add(to[SHARED], p.p[MAGNITUDE], q.p[SHARED], m, n, k);
		hu_product_add(to[SHARED], p.p[SHARED], q.p[MAGNITUDE], m, n, k);
	}
	hu_roundoffs_sum(roundoffs, k, &g, &s);
	double own = ((double)k + 4) * 0x1p-52, tiny = (double)k * roundoffs->sum_tiny;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (size > 16384)
	for (size_t i = 0; i < size; i++) {
		double m0 = to[MAGNITUDE][i], m1 = wanted[MOST] ? to[MOST][i] : m0;
		y[i] = (hu_ball){ to[X][i], ((m1 - m0) + (g + own) * m1 + (m1 > 0 ? tiny * (1 + g) : 0)) * HU_BALL_UP,
			to[VARIANCE][i] + s * s * m0 * m0 + (m1 > 0 ? tiny * roundoffs->sum_tiny : 0), to[SHARED][i] };
		if (!hu_isfinite(y[i].x))
			y[i] = (hu_ball){ y[i].x, hu_isfinite(m0) ? INFINITY : 0, 0, 0 };
		else if (!(y[i].r >= 0))
			y[i].r = INFINITY;
	}
	join(&p);
	join(&q);
	free(room);
}

hu_status hu_ball_row_matmul(const hu_ball_call *c, const hu_balls *in, hu_balls *out);
hu_status
hu_ball_row_matmul(const hu_ball_call *c, const hu_balls *in, hu_balls *out)
{
	hu_balls a = in[0], b = in[1], x, y, z;
	size_t ta, tb, d[HU_BALLS_RANK];
	int wanted[PLANES] = { 1, 1, 0, 0, 0 };
	char s[HU_BALLS_WORDS], t[HU_BALLS_WORDS];

	HU_TRY(hu_ball_count(c, "ta", 0, &ta));
	HU_TRY(hu_ball_count(c, "tb", 0, &tb));
	size_t m = hu_balls_dim(&a, ta ? -1 : -2), k = hu_balls_dim(&a, ta ? -2 : -1),
	       n = hu_balls_dim(&b, tb ? -2 : -1);
	if (a.rank < 1 || b.rank < 2 || hu_balls_dim(&b, tb ? -1 : -2) != k)
		return hu_ball_misfit(c, "shapes %s%s and %s%s have no product", hu_balls_shape(&a, s),
			ta ? " (transposed)" : "", hu_balls_shape(&b, t), tb ? " (transposed)" : "");
	x = a;
	z = b;
	x.rank = a.rank < 2 ? 0 : a.rank - 2;
	z.rank = b.rank - 2;
	HU_TRY(hu_balls_broadcast(&y, &x, &z, c->row->name));
	memcpy(d, y.d, sizeof d);
	size_t batch = hu_balls_outer(&y, 0);
	int rank = y.rank;
	if (rank + 2 > HU_BALLS_RANK)
		return hu_ball_misfit(c, "the operands have too many axes");
	if (a.rank > 1)
		d[rank++] = m;
	d[rank++] = n;
	HU_TRY(hu_balls_make(&out[0], rank, d, c->row->name));
	wants(&a, wanted);
	wants(&b, wanted);
	x.n = hu_balls_outer(&x, 0);
	z.n = hu_balls_outer(&z, 0);
	if (z.n == 1 && !ta) { /* one matrix for all rows of a */
		m *= batch;
		batch = 1;
	}
	for (size_t i = 0; i < batch; i++)
		hu_contract_balls(out[0].b + i * m * n, a.b + (batch > 1 ? hu_balls_at(&x, &y, i) : 0) * m * k,
			b.b + (batch > 1 ? hu_balls_at(&z, &y, i) : 0) * k * n, m, n, k, ta != 0, tb != 0,
			wanted + MOST, c->roundoffs);
	return HU_OK;
}
