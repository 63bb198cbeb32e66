/* SPDX-License-Identifier: Apache-2.0
   A mixture of experts in place of a transformer's dense layers. */
#ifndef HU_TRAINER_LAYER_EXPERTS_H
#define HU_TRAINER_LAYER_EXPERTS_H

#include "trainer/model/layer/layer_attention.h"

/* Sends each token of x [B S, H] to top_k of `experts` dense layers with gelu between, NAME_expert1_up and so on, and
   adds their results, each times its gate, in ascending order. The layer NAME_router has the logits y = x w without a
   bias; of equal ones the first is chosen, and NAME_router.chosen (lib/program/routers.h) says which are. Gates are the
   softmax over the chosen logits (Jiang and others: Mixtral of experts, 2024), or, where one is chosen, its share in
   the softmax over all (Fedus, Zoph, Shazeer: Switch transformers, 2022), without which a router would have no
   gradient. Logits that are not chosen count as -10000, as
   keys that a mask hides do.
   Every expert computes all tokens, and those that it does not have are rows of zeros before it, so that neither they
   nor what they would make reach its sums, gradients or scales. How many tokens an expert gets is balanced by
   hu_layer_balance alone. */
int hu_layer_experts(hu_program *p, const hu_transformer *t, const char *name, int x);
/* Appends the balance loss of the router of layer NAME, and returns a tensor of one number: `balance` times N / k times
   the sum of f P over the N experts. f is the share of the tokens that have the expert among their k, a constant for
   the gradient, and P the mean over the tokens of its share in the softmax over all logits (Fedus, Zoph, Shazeer:
   Switch transformers, 2022, equation 4, for k = 1). It is `balance` where every expert has equally many tokens. Of
   micro-batches each has its own. */
int hu_layer_balance(hu_program *p, const hu_transformer *t, const char *name);
#endif
