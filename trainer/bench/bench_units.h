/* SPDX-License-Identifier: Apache-2.0
   The units of a benchmark, which shards or the ranks that mpirun starts share (lib/base/parts/share.h), or which such
   ranks measure together. On one machine processes that share a benchmark take turns, so that no measurement disturbs
   another. */
#ifndef HU_TRAINER_BENCH_UNITS_H
#define HU_TRAINER_BENCH_UNITS_H

#include "trainer/bench/bench_rows.h"

/* Measures the units of sink's benchmark, or this process's share of them, and hands all rows to the sink where *ends
   is 0 afterwards. given: the command line; a: the same with the benchmark's own defaults. */
hu_status hu_bench_share(hu_bench_sink *sink, const hu_args *given, const hu_args *a, int *ends);

/* Waits until no other process of this user on this machine has the turn, and takes it; *turn is what gives it back,
   also when the process ends. Where the machine's folder for temporary files has no locks nobody waits. */
void hu_bench_turn_take(int *turn);
void hu_bench_turn_give(int turn);
#endif
