/* SPDX-License-Identifier: Apache-2.0
   A benchmark over lists of options: --batch 32,64 --policy float32,mixed_float16 and the like
   make a cell of every combination, and each cell a configuration. */
#ifndef HU_TRAINER_BENCH_SWEEP_H
#define HU_TRAINER_BENCH_SWEEP_H

#include "trainer/bench/bench.h"
#include "trainer/run/config.h"

/* From the slowest to the fastest: policies stand next to each other, since they are compared. */
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

/* A list that was not given has one entry, NULL. float32 comes first among the policies, so that the others have their
   ratio. */
typedef struct hu_bench_sweep { const hu_args *a; char **word[HU_SWEEPS]; int n[HU_SWEEPS]; } hu_bench_sweep;

/* What a cell's options say, and which of each list. */
typedef struct hu_bench_cell { const char *word[HU_SWEEPS]; int at[HU_SWEEPS]; } hu_bench_cell;

/* Lists from options batch, width, lr, seeds, gemm, simd and policy; the words are checked when their cell comes, but
   for simd's. simd all: every level that this processor has. */
hu_status hu_sweep_init(hu_bench_sweep *s, const hu_args *a);
void hu_sweep_release(hu_bench_sweep *s);
int hu_sweep_cells(const hu_bench_sweep *s);
hu_bench_cell hu_sweep_cell(const hu_bench_sweep *s, int i);

/* The cell's configuration on backend for `steps` steps, and its SIMD level set (where it is a list's; HU_EUNABLE: not
   here). Where digits are generated, as few images as these steps take unless --train says. The caller releases c. */
hu_status hu_sweep_config(
	hu_config *c, const hu_bench_sweep *s, const hu_bench_cell *cell, const char *backend, size_t steps);

/* Every cell's words are good, and every option that was given has an effect in one of them: HU_EINVAL otherwise.
   *images: of `steps` steps of every cell. */
hu_status hu_sweep_check(const hu_bench_sweep *s, const char *backend, size_t steps, size_t *images);
#endif
