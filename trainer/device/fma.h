/* SPDX-License-Identifier: Apache-2.0
   A core's measured peak of fp32 fused multiply-adds: independent chains in registers, long enough to
   hide the latency. What no product on that core can pass. */
#ifndef HU_TRAINER_FMA_H
#define HU_TRAINER_FMA_H

/* FLOP/s of one thread with the instruction set in use (a multiply-add being two), the best of a few trials of some
   milliseconds; negative where it has no fused multiply-add of its own (scalar, NEON: a call of fmaf). */
double hu_fma_peak(void);

/* A trial: seconds, and *flops operations done. Each chain x/2 + 1 starts below 12 and must end at 2, else negative. */
double hu_fma_trial_avx2(double *flops);
double hu_fma_trial_avx512(double *flops);
#endif
