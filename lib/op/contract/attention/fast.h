/* SPDX-License-Identifier: Apache-2.0
   Attention in blocks by the loops of lanes.h: what flash.h computes plainly, with the same bits. */
#ifndef HU_OP_CONTRACT_ATTENTION_FAST_H
#define HU_OP_CONTRACT_ATTENTION_FAST_H

#include "lib/op/contract/attention/flash.h"

/* Returns 1 where the loops serve the call: it computes in fp32, its sums are fused multiply-adds in fp32 to nearest
   even, and no tensor holds doubles. */
int hu_flash_has_fast(const hu_flash *x, hu_tensor *const *in, int nin);
/* Settles the call and computes its outputs, by the loops where they serve it. */
hu_status hu_flash_run(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env, int gradient);
void hu_flash_fast_forward(const hu_flash *x, hu_tensor *const *out, const hu_env *env);
void hu_flash_fast_backward(const hu_flash *x, hu_tensor *const *out, const hu_env *env);
#endif
