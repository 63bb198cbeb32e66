/* SPDX-License-Identifier: Apache-2.0
   What the files of losses (NAME.c) share: calls of the layer "loss". */
#ifndef HU_TRAINER_LOSS_PARTS_H
#define HU_TRAINER_LOSS_PARTS_H

#include "trainer/model/layer/layer.h"
#include "trainer/model/loss/loss.h"

/* Appends a call on labels, weights and the like, which no policy casts, and returns its output loss.ROLE. */
int hu_loss_other(
	hu_program *p, const char *op, const char *role, const int *in, int nin, const hu_attr *attr, int nattr);
/* Appends a call on activations, on a alone where b is below 0. */
int hu_loss_call(hu_program *p, const char *op, const char *role, int a, int b);
/* Appends a tensor of x's shape that is value everywhere: a move whose coordinates all lie outside x. */
int hu_loss_constant(hu_program *p, const char *role, int x, double value);
/* Writes the attributes of the move that repeats each element of a tensor of shape s along one more axis; returns how
   many there are. */
int hu_loss_repeat(hu_attr *attr, hu_shape s, size_t times);

/* loss.p, the softmax of x; the labels one-hot; and the weights of all classes. x has the labels' shape and an axis of
   classes behind. */
typedef struct hu_loss_target {
	int p, hot, weight;
} hu_loss_target;

hu_loss_target hu_loss_targets(hu_program *p, int x, int labels, int weight);
/* Appends the cross-entropy OP, softmax_xent or sigmoid_xent: loss.y and loss.p. */
void hu_loss_entropy(hu_program *p, const hu_model_sizes *s, const char *op, int x, int labels, int weight);
#endif
