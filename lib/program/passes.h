/* SPDX-License-Identifier: Apache-2.0
   Everything that changes a program is a pass. A model's builder makes a forward
   program in fp32; then, in this order: policy, differentiate, loss scaling, the
   optimizer's updates (trainer/optim), accumulator. */
#ifndef HU_PROGRAM_PASSES_H
#define HU_PROGRAM_PASSES_H

#include "lib/op/scaler.h"
#include "lib/program/policy.h"
#include "lib/program/program.h"

/* A new program in which every call runs in the formats that POLICY gives it, with the casts
   that this implies as calls of their own (a cast of one tensor to one format is made once).
   Applies to forward programs. */
hu_status hu_pass_policy(const hu_program *p, const hu_policy *policy, hu_program **out);

/* Appends the backward calls that lead from SEED, the gradient of scalar tensor LOSS, to every
   trainable tensor, and fills in info.grad. Gradients have the format of what they are gradients
   of (8-bit formats: bf16); a call whose attribute `grad` names a format has its incoming
   gradient cast to it first. */
hu_status hu_pass_differentiate(hu_program *p, int loss, int seed);

typedef struct hu_scaling {
	hu_scaler rule;        /* algorithm and constants; name "none": scale 1, nothing is ever skipped */
	double loss_weight;    /* W: multiplies the loss and is divided out with the scale */
} hu_scaling;

/* Before differentiation: the state scaler.scale and the seed gradient S*W. Returns the seed's id. */
int hu_pass_loss_seed(hu_program *p, const hu_scaling *s);
/* After it: unscale every parameter's gradient (info.grad then names the unscaled one), the finite
   check and the scale's update. found_inf's id in *found. */
hu_status hu_pass_loss_scaling(hu_program *p, const hu_scaling *s, int *found);

/* Gives calls of class GEMM whose layer matches PATTERN ("*": all) the accumulation model SUM. */
void hu_pass_accumulate(hu_program *p, const char *pattern, hu_sum sum);
#endif
