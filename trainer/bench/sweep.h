/* SPDX-License-Identifier: Apache-2.0
   A benchmark over lists of options, such as --batch 32,64 --policy float32,mixed_float16: each combination of their
   entries is a cell, and each cell makes a configuration. */
#ifndef HU_TRAINER_BENCH_SWEEP_H
#define HU_TRAINER_BENCH_SWEEP_H

#include "trainer/bench/bench.h"
#include "trainer/run/config.h"

/* The lists, from the one that changes slowest to the one that changes fastest: policies come last, because rows of
   different policies are compared. */
enum {
	HU_SWEEP_BATCH,
	HU_SWEEP_WIDTH,
	HU_SWEEP_LR,
	HU_SWEEP_SEED,
	HU_SWEEP_GEMM,
	HU_SWEEP_SIMD,
	HU_SWEEP_POLICY,
	HU_SWEEPS
};

/* A list that was not given has one entry, NULL. float32 is first among the policies, so that the ratios of the others
   to it can be computed. */
typedef struct hu_bench_sweep { const hu_args *a; char **word[HU_SWEEPS]; int n[HU_SWEEPS]; } hu_bench_sweep;

/* A cell: its entry of each list, as text and as index. */
typedef struct hu_bench_cell { const char *word[HU_SWEEPS]; int at[HU_SWEEPS]; } hu_bench_cell;

/* Reads the lists from the options batch, model:width, optimizer:lr, seeds, backend:gemm, backend:simd and policy.
   Words are checked when their cell is reached, except simd's. `--backend simd=all` means every level that this
   processor has. */
hu_status hu_sweep_init(hu_bench_sweep *s, const hu_args *a);
void hu_sweep_release(hu_bench_sweep *s);
int hu_sweep_cells(const hu_bench_sweep *s);
hu_bench_cell hu_sweep_cell(const hu_bench_sweep *s, int i);

/* Makes the cell's configuration on backend for `steps` steps, and sets its SIMD level where that is in a list
   (HU_EUNABLE where the processor lacks it). Where digits are generated, only as many images are made as these steps
   take, unless --data train= says otherwise. The caller releases c. */
hu_status hu_sweep_config(
	hu_config *c, const hu_bench_sweep *s, const hu_bench_cell *cell, const char *backend, size_t steps);

/* Makes the cells the units of a benchmark's work: checks the words of every cell, and that every given option has an
   effect in at least one of them (HU_EINVAL otherwise). A cell costs, at a guess, 0.1 ms for each image of its `steps`
   steps; with `moves` its measurement moves the bar by as many. */
hu_status hu_sweep_work(const hu_bench_sweep *s, hu_bench_work *w, const char *backend, size_t steps, int moves);
/* The name of cell i: the entries of lists that were given. The caller frees it. */
char *hu_sweep_name(const hu_bench_sweep *s, int i);
#endif
