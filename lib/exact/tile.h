/* SPDX-License-Identifier: Apache-2.0
   The inside of a tile of an exact product: the packed operands, and its sums in one of two forms. On grids (grid.h)
   and from bins (bins.h) a sum is up to 16 doubles; from the integer multiplier and the BLAS it is p 2^52 + q in units
   of the operands' lowest bits. fill.c and gemm.c fill tiles, tile.c reads them. */
#ifndef HU_EXACT_TILE_H
#define HU_EXACT_TILE_H

#include "lib/exact/bins.h"
#include "lib/exact/gemm.h"
#include "lib/exact/grid/grid.h"
#include "lib/exact/operand.h"

enum {
	HU_TILE_M = 288, HU_TILE_N = 192, /* multiples of every panel's width */
	HU_TILE_PANELS = HU_TILE_M / HU_GRID_ROWS,
	HU_TILE_PAIRS = HU_TILE_PANELS * HU_TILE_N / 8, /* the narrowest right panel has 8 vectors */
	HU_TILE_SIZE = HU_GRID_ROWS * HU_GRID_COLS,
	HU_TILE_HELD = 4096,              /* terms that are packed at once */
	HU_TILE_LINE = HU_TILE_HELD,      /* doubles that are fetched at once, HU_TILE_N at least */
	HU_BY_MPFR = 0                    /* stands in place of a number of levels */
};

typedef enum hu_way { HU_WAY_GRIDS, HU_WAY_INTEGERS, HU_WAY_BLAS } hu_way;

/* How a panel pair is summed into doubles: on grids, where its products are doubles or are not, or in bins. */
typedef enum hu_tile_by { HU_TILE_BY_NARROW, HU_TILE_BY_WIDE, HU_TILE_BY_BINS } hu_tile_by;

/* A thread's memory for tiles. */
typedef struct hu_worker {
	hu_operand a, b;
	double *t, *line;      /* sums on grids; one fetched row, column or slab */
	int64_t *p, *q;        /* sums as integers: those of panel pair i begin at i * HU_TILE_SIZE */
	double *ya, *yb, *c;   /* slices and products for the BLAS */
	uint64_t *half;        /* sums of the low and of the high halves */
	size_t t_room, ya_room, yb_room;
	hu_bins bins;
	int converted;         /* a holds doubles for integers (integer.h), whose sums are sum_a */
	int64_t sum_a[HU_TILE_M + HU_GRID_ROWS];
	unsigned char levels[HU_TILE_PAIRS]; /* of panel pair (p, q) at q * pa + p; or HU_BY_MPFR */
	unsigned char by[HU_TILE_PAIRS];   /* its hu_tile_by */
	size_t at[HU_TILE_PAIRS];            /* where its sums begin in t */
	size_t batch, i0;      /* which rows of A are in a, */
	int holds;             /* if any are */
} hu_worker;

struct hu_exact_tile {
	const hu_exact_source *s;
	const hu_grid_plan *plan, *wide; /* for products that are doubles, and for others */
	hu_worker *w;
	hu_way way;
	int wa, wb;            /* for integers: the operands are multiples of 2^-wa and 2^-wb */
	size_t batch, i0, m, j0, n, pa, pb;
	hu_exact_kernels kernels;
	int all_by_mpfr;
};

/* Where the levels of a panel pair start: its plan's, or zeros for digits of bins. */
static inline const double *
hu_tile_start(const hu_exact_tile *t, size_t pair)
{
	static const double zeros[HU_GRID_LEVELS];
	hu_tile_by by = (hu_tile_by)t->w->by[pair];

	return by == HU_TILE_BY_BINS ? zeros : by == HU_TILE_BY_NARROW ? t->plan->start : t->wide->start;
}

/* Packs the operands and computes all sums. The caller has set s, plan, wide, w, kernels, all_by_mpfr and the
   corner. */
void hu_tile_fill(hu_exact_tile *t, int try_blas);
/* Copies row i of A and column j of B of the tile from its source, k doubles each. */
void hu_tile_operands(const hu_exact_tile *t, size_t i, size_t j, double *a, double *b);
/* Returns 1 where the engine has the sum, 0 where MPFR must compute it. */
int hu_tile_has(const hu_exact_tile *t, size_t i, size_t j);
#endif
