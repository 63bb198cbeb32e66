/* SPDX-License-Identifier: Apache-2.0
   Cuts an exact product into tiles, shares them among threads, and lets MPFR check a sample. */
#include "lib/exact/gemm.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/exact/blas.h"
#include "lib/exact/dot.h"
#include "lib/exact/integer.h"
#include "lib/exact/judge.h"
#include "lib/exact/tile.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 24 }; /* multiply-adds of a product for which loading and timing a BLAS pays */

static hu_exact_kernels kernels;

void
hu_exact_kernels_set(hu_exact_kernels k)
{
	kernels = k;
}

const char *
hu_exact_describe(void)
{
	static char *lines[HU_SIMDS];
	const char *blas = hu_blas_describe();
	hu_simd level = hu_simd_level();

#pragma omp critical(hu_exact_describe)
	if (!lines[level])
		lines[level] = hu_xprintf(
			"%s grids%s; BLAS %s", hu_simd_name(), hu_integer_get() ? ", 52-bit integers" : "", blas);
	return lines[level];
}

/* Lets MPFR check one sum of about every eighth tile and of the first. Which one is a function of the operands. */
static void
judge(const hu_exact_tile *t)
{
	const hu_worker *w = t->w;
	uint64_t h = hu_mix64(
		hu_bits64(w->a.x[0]) ^
		hu_mix64(hu_bits64(w->b.x[0]) ^ hu_mix64(t->s->k ^ hu_mix64(t->i0 ^ t->j0 << 20 ^ t->batch << 40))));
	size_t i = h % t->m, j = (h >> 20) % t->n;
	mpfr_t x, y;

	if ((h >> 60 & 7 && (t->i0 || t->j0 || t->batch)) || !hu_tile_has(t, i, j))
		return;
	double *a = hu_xmalloc(2 * t->s->k * sizeof *a), *b = a + t->s->k;
	mpfr_inits(x, y, (mpfr_ptr)0);
	hu_exact_tile_mpfr(x, t, i, j);
	hu_tile_operands(t, i, j, a, b);
	hu_exact_dot_mpfr(y, a, b, t->s->k);
	if (mpfr_cmp(x, y))
		hu_exact_disagree(x, y, a, b, t->s->k);
	free(a);
	mpfr_clears(x, y, (mpfr_ptr)0);
	hu_exact_count_judged(1);
}

void
hu_exact_gemm(const hu_exact_source *s, hu_exact_take *take, void *context)
{
	size_t tm = (s->m + HU_TILE_M - 1) / HU_TILE_M, tn = (s->n + HU_TILE_N - 1) / HU_TILE_N,
	       tiles = s->batches * tm * tn;
	int by_mpfr = hu_exact_way_get() == HU_EXACT_MPFR;
	int try_blas = !by_mpfr &&
		       (kernels == HU_KERNELS_BLAS ||
			       (kernels == HU_KERNELS_AUTO &&
				       (double)s->batches * (double)s->m * (double)s->n * (double)s->k >= LARGE)) &&
		       hu_blas_works();
	hu_grid_plan plan, wide;

	hu_plan_make(&plan, s->k, 1);
	hu_plan_make(&wide, s->k, 2);
#pragma omp parallel
	{
		hu_worker *w = hu_xcalloc(1, sizeof *w);
		w->line = hu_xmalloc(HU_TILE_LINE * sizeof *w->line);
#pragma omp for schedule(dynamic)
		for (size_t i = 0; i < tiles; i++) {
			hu_exact_tile t = {
				.s = s, .plan = &plan, .wide = &wide, .w = w, .kernels = kernels, .all_by_mpfr = by_mpfr
			};
			t.batch = i / (tm * tn);
			t.i0 = i / tn % tm * HU_TILE_M;
			t.j0 = i % tn * HU_TILE_N;
			t.m = s->m - t.i0 < HU_TILE_M ? s->m - t.i0 : HU_TILE_M;
			t.n = s->n - t.j0 < HU_TILE_N ? s->n - t.j0 : HU_TILE_N;
			hu_tile_fill(&t, try_blas);
			if (!by_mpfr && s->k)
				judge(&t);
			take(context, &t, t.batch, t.i0, t.m, t.j0, t.n);
		}
		hu_operand_release(&w->a);
		hu_operand_release(&w->b);
		free(w->t);
		free(w->line);
		free(w->p);
		free(w->half);
		free(w->ya);
		free(w->yb);
		free(w->c);
		free(w->bins.m);
		free(w->bins.g);
		free(w);
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
	}
}

typedef struct arrays { const double *a, *b; size_t lda, ldb; } arrays;

static void
array_row(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *x)
{
	const arrays *c = context;

	(void)batch;
	memcpy(x, c->a + i * c->lda + k0, (k1 - k0) * sizeof *x);
}

static void
array_slab(void *context, size_t batch, size_t k, size_t j0, size_t j1, double *x)
{
	const arrays *c = context;

	(void)batch;
	memcpy(x, c->b + k * c->ldb + j0, (j1 - j0) * sizeof *x);
}

void
hu_exact_gemm_arrays(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
	hu_exact_take *take, void *context)
{
	arrays c = { a, b, lda, ldb };
	hu_exact_source s = {
		.batches = 1, .m = m, .n = n, .k = k, .row = array_row, .slab = array_slab, .context = &c
	};

	hu_exact_gemm(&s, take, context);
}
