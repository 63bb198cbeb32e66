/* SPDX-License-Identifier: Apache-2.0
   Measures the peak rate of fp32 fused multiply-adds of one core, on independent chains in registers that are enough to
   hide the instruction's latency. No product on that core can be faster. */
#ifndef HU_TRAINER_FMA_H
#define HU_TRAINER_FMA_H

/* Returns the FLOP/s of one thread with the instruction set in use, counting a multiply-add as two operations: the best
   of a few trials of some milliseconds. Negative where the instruction set has no fused multiply-add (scalar and NEON
   call fmaf). */
double hu_fma_peak(void);

/* One trial: returns its seconds and sets *flops to the operations done. Each chain repeats x/2 + 1 from a start below
   12 and must end at 2; where it does not, the result is negative. */
double hu_fma_trial_avx2(double *flops);
double hu_fma_trial_avx512(double *flops);
#endif
