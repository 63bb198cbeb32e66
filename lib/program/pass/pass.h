/* SPDX-License-Identifier: Apache-2.0
   A pass is a function that changes a program. A model's builder makes a forward program in fp32; the passes then run
   in this order: policy, differentiate, recipe, micro-batches, loss scaling, error feedback, the optimizer's updates
   (trainer/optim), accumulator. */
#ifndef HU_PROGRAM_PASS_H
#define HU_PROGRAM_PASS_H

#include "lib/op/scaler.h"
#include "lib/program/policy/policy.h"
#include "lib/program/program.h"

/* Appends the backward calls that compute the gradient of every trainable tensor from seed, the gradient of the scalar
   tensor loss, and fills in info.grad. A gradient has the format of its tensor (bf16 for formats of 8 bits). If a
   call's attribute `grad` names a format, the gradient coming into it is cast to that format first. */
hu_status hu_pass_differentiate(hu_program *p, int loss, int seed);

typedef struct hu_scaling {
	hu_scaler rule;     /* algorithm and constants; with the name "none" the scale is 1 and nothing is skipped */
	double loss_weight; /* multiplies the loss and is divided out with the scale */
} hu_scaling;

/* Returns 1 where the loss scale may change from step to step. */
int hu_scaling_moves(const hu_scaling *s);

/* Before differentiation: adds the state scaler.scale and the seed gradient, scale times loss_weight. Returns the
   seed's id. */
int hu_pass_loss_seed(hu_program *p, const hu_scaling *s);
/* After differentiation: adds the calls that unscale every parameter's gradient (info.grad then names the unscaled
   one), check that all are finite, and update the scale. *found gets the id of found_inf. */
hu_status hu_pass_loss_scaling(hu_program *p, const hu_scaling *s, int *found);

/* How gradients are added over ranks: by a call of the operator all_reduce with the model sum, a collective operation
   over `ranks` of them, or by the same tree as micro-batches where ranks is 0. library: NCCL computes it, in an order
   of its own, and sum is a ring, whose bound holds for any order. A sum whose model names no wire sends the gradient's
   own format; the accumulator of fp64 gradients is fp64 unless own_acc is set: the model names one. scale, a power of
   two: gradients are multiplied by it before they are sent, which short formats with little range need, and divided by
   it behind the sum. feedback: each rank keeps what the cast to the wire lost, and adds it to what it sends in the next
   step (below); rescaled: the loss scale changes from step to step, so that what was kept has to be multiplied by the
   present one. */
typedef struct hu_all_reduce {
	int ranks, own_acc, after, library, feedback, rescaled;
	double scale;
	hu_sum sum;
} hu_all_reduce;

/* Reads the model: NAME:N[,key=value...] of a collective operation, of which scale=S is a key too and feedback a word;
   tree, nccl:N, or nccl for as many ranks as are here. HU_EINVAL says what is wrong, without the option's name. */
hu_status hu_all_reduce_parse(const char *text, int here, hu_all_reduce *out);

/* After differentiation and before loss scaling: gradient accumulation. *p, the calls of one micro-batch, becomes a
   program of n of them, n from 2 on. An input has n times as many rows, of which micro-batch k, from 0 on, takes the
   k-th part; tensors that differ between micro-batches are called LAYER.ROLE_microK. Running statistics pass from each
   to the next. Each parameter's gradient is the sum of its n gradients, added in pairs of neighbours, their sums in
   pairs again, and so on: whoever has all of a group of 2^j from a multiple of 2^j on computes the same partial sum.
   Partial sums have the gradient's format. The scalar tensor loss becomes the mean of the n losses, and the tensor rows
   what all have, one behind the other; both keep their names. That the seed gradient is divided by n is up to the
   caller.

   With r->ranks = R, from 2 to n, the micro-batches are dealt to R ranks: rank i has those from floor(i n / R) to
   before floor((i+1) n / R), whose gradients are added as above, and a call all_reduce adds the sums of the ranks.
   Where r->after is set a call scale then divides by R, and the caller divides the seed gradient by n / R. */
void hu_pass_micro_batches(hu_program **p, int n, int loss, int rows, const hu_all_reduce *r);

/* After loss scaling, which gives found_inf: where r->feedback is set, appends the calls that make the next values of
   the ranks' errors (feedback.h). HU_EINVAL where no gradient loses anything in the cast to the wire. */
hu_status hu_pass_feedback(hu_program *p, const hu_all_reduce *r, int found);

/* Sets the accumulation model of the calls of class GEMM whose layer matches pattern ("*": all). */
void hu_pass_accumulate(hu_program *p, const char *pattern, hu_sum sum);
/* Of a forward program: divides the products with weights of layers that match pattern along their sums among sum.n
   ranks. Each rank's product has the format of the whole one, and a call of all_reduce adds them by `sum`, a collective
   operation, which sends that format unless the model names a wire. HU_EINVAL where the terms of a sum cannot be dealt
   equally, or where no layer fits. */
hu_status hu_pass_tensor_parallel(hu_program **p, const char *pattern, hu_sum sum);
/* Sets the summation model of all other sums but the losses' in layers that match pattern. HU_EINVAL where no reduction
   adds by it. */
hu_status hu_pass_reductions(hu_program *p, const char *pattern, hu_sum sum);
#endif
